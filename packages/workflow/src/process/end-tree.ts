/**
 * Ends processes: TERM, a grace, KILL, and looks until they are gone.
 *
 * Invariants: nobody is told TERM twice. A stopped process is woken, or it would never hear of TERM. Who is started in the
 * grace by one who has heard of it is left to clean up; who was overlooked and has lost its parent is told. It ends: what
 * KILL cannot end (a process that hangs in the kernel, or somebody else's) is waited for a few seconds and then left.
 * Imports the process table's types.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessRow } from './process-table.js'

/** After KILL nothing but the kernel can be in the way. */
const KILL_WAIT_MS = 5000
const FIRST_PAUSE_MS = 4
const LONGEST_PAUSE_MS = 100

/**
 * How many there were. `find` says who is left; it is asked again and again. A group is killed at one stroke, so that
 * nothing that multiplies gets away.
 */
export async function endProcesses(
  find: () => Promise<readonly ProcessRow[]>,
  graceMs: number,
  group?: number,
): Promise<number> {
  const told = new Set<string>()
  const ended = await repeat(graceMs, async () => {
    const left = await find()
    const pids = new Set(left.map(({ pid }) => pid))
    const isFirst = told.size === 0
    for (const row of left) {
      if (told.has(nameOf(row)) || (!isFirst && pids.has(row.parent))) continue
      told.add(nameOf(row))
      send(row.pid, 'SIGTERM')
      send(row.pid, 'SIGCONT')
    }
    return left.length === 0
  })
  if (!ended) {
    await repeat(KILL_WAIT_MS, async () => {
      const left = await find()
      if (group !== undefined && left.some((row) => row.group === group)) send(-group, 'SIGKILL')
      for (const row of left) {
        told.add(nameOf(row))
        send(row.pid, 'SIGKILL')
      }
      return left.length === 0
    })
  }
  return told.size
}

/** Asks until the answer is yes, at least once and for so long at most; with growing pauses. */
export async function repeat(mostMs: number, isDone: () => boolean | Promise<boolean>): Promise<boolean> {
  const until = performance.now() + mostMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (await isDone()) return true
    const restMs = until - performance.now()
    if (restMs <= 0) return false
    await sleep(Math.min(pauseMs, restMs))
  }
}

/** To a process, or to a group by its negative number. False: there is nobody, or it may not be told. */
export function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  const { stackTraceLimit } = Error
  // Asked after every command, and as a rule there is nobody: nobody looks at the trace of that error either.
  Error.stackTraceLimit = 0
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function nameOf(row: ProcessRow): string {
  return `${row.pid} ${row.start}`
}
