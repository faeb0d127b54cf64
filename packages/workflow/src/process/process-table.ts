/**
 * The processes of this machine: who started whom, in which group, since when. From `/proc` where there is one, else
 * from `ps`.
 *
 * Invariants: a process is named by its pid and its start, never by the pid alone, since pids are used again. What ends
 * while it is looked at is left out, not an error. The event loop is not held for longer than a slice of the list.
 * Without `/proc` (macOS) starts are exact to a second, and environments and starts of single processes are not told.
 * Imports Node only.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'

export interface ProcessRow {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** 0 where the system does not tell. */
  readonly session: number
  /** Ticks since the boot, or a date: the same as long as it is the same process. */
  readonly start: string
}

const HAS_PROC = existsSync('/proc/self/stat')
/** Looked at in one go: a millisecond or so. */
export const SLICE = 64

/** Everything that runs; what has ended and was not yet taken note of by its parent is left out. */
export async function listProcesses(from: 'proc' | 'ps' = HAS_PROC ? 'proc' : 'ps'): Promise<ProcessRow[]> {
  return from === 'proc' ? await listFromProc() : await listFromPs()
}

async function listFromProc(): Promise<ProcessRow[]> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const rows: ProcessRow[] = []
  for (const [index, pid] of pids.entries()) {
    if (index % SLICE === SLICE - 1) await nextTurn()
    const row = readRow(pid)
    if (row !== null) rows.push(row)
  }
  return rows
}

function readRow(pid: string): ProcessRow | null {
  const stat = readIfThere(`/proc/${pid}/stat`, 'latin1')
  return stat === null ? null : parseStat(Number(pid), stat)
}

/** Fields are counted behind the name, which may contain anything. */
export function parseStat(pid: number, stat: string): ProcessRow | null {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group, session] = fields
  const start = fields[19]
  if (start === undefined || state === 'Z' || state === 'X') return null
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), start }
}

async function listFromPs(): Promise<ProcessRow[]> {
  const text = await new Promise<string>((resolve, reject) => {
    const options = { maxBuffer: 64 * 1024 * 1024, env: { ...process.env, LC_ALL: 'C' } }
    execFile('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,lstart='], options, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    )
  })
  return parsePs(text)
}

export function parsePs(text: string): ProcessRow[] {
  const rows: ProcessRow[] = []
  for (const line of text.split('\n')) {
    const [, pid, parent, group, state, start] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)\s*$/.exec(line) ?? []
    if (pid === undefined || start === undefined || state?.startsWith('Z')) continue
    rows.push({ pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, start })
  }
  return rows
}

/** null: it is gone, or the system does not tell. */
export function processStart(pid: number): string | null {
  return HAS_PROC ? (readRow(String(pid))?.start ?? null) : null
}

/** The entries `NAME=value` that the process was started with; none if it is gone, somebody else's, or not told. */
export function environmentOf(pid: number): string[] {
  return HAS_PROC ? (readIfThere(`/proc/${pid}/environ`, 'utf8') ?? '').split('\0') : []
}

/** Asking for each of this many pids costs less than the kernel's list of all processes. */
const FEW_PIDS = 32

/** Pids that may have been given since this one was, also of processes that are gone; all where the system does not tell. */
export function pidsGivenSince(pid: number): readonly number[] {
  const last = Number(readIfThere('/proc/loadavg', 'latin1')?.trim().split(' ').at(-1))
  if (!HAS_PROC || last === pid) return []
  if (last > pid && last - pid <= FEW_PIDS) return Array.from({ length: last - pid }, (_, index) => pid + 1 + index)
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []))
  if (!Number.isSafeInteger(last)) return pids
  // They begin anew once the largest was given.
  return pids.filter((one) => (last > pid ? one > pid && one <= last : one > pid || one <= last))
}

/** This boot and this space of pids: within it, a pid and a start are one process. Empty if the system does not tell. */
export function pidSpace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return ''
  }
}

/** This process and those above it. */
export function ownLine(rows: readonly ProcessRow[]): Set<number> {
  const parents = new Map(rows.map((row) => [row.pid, row.parent]))
  const line = new Set<number>()
  for (
    let pid: number | undefined = process.pid;
    pid !== undefined && pid > 0 && !line.has(pid);
    pid = parents.get(pid)
  )
    line.add(pid)
  return line
}

function readIfThere(file: string, encoding: 'latin1' | 'utf8'): string | null {
  const { stackTraceLimit } = Error
  // Often there is no such process, and nobody looks at the trace of that error.
  Error.stackTraceLimit = 0
  try {
    return readFileSync(file, encoding)
  } catch {
    return null
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
