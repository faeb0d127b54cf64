/**
 * Ensures that no command outlives this process when it is killed. This process reports what it starts to a shell on the
 * other side of a pipe, and that shell ends it when the pipe closes (`keeper-program.ts`). One shell serves all commands,
 * so a command costs at most three short writes and no process: one, if it follows another soon, since it then takes over
 * the number that was announced for that one. That shell also makes the pipes of commands.
 *
 * Invariants: a command is announced before it starts, so a living keeper knows of every command. An ended command that is
 * still announced harms nobody: its group counts only while the leader has the noted start. The keeper has a
 * session of its own, ignores signals, and has neither tag nor mark, so ending a tree spares it. If it dies, the next
 * one is started with everything that is live as its argument: it knows of them from its first instruction, so only the
 * time until this process notices the death is uncovered. Without `sh` there is no keeper, and leftovers are found at
 * the next resume only. The keeper holds neither the event loop nor the exit of this process. Imports the keeper's
 * program and signals.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { send } from './end-tree.js'
import { KEEPER_PROGRAM } from './keeper-program.js'

/** In the environment of everything that this process starts, and of nothing else. */
export const PARENT_MARK = `REPRISE_PARENT=${randomUUID()}`

/** A shell that keeps ending by itself is of no use. One that has lasted this long was ended from outside. */
const MOST_STARTS = 5
const LASTED_MS = 10_000

/** Linux refuses a single argument of 128 KiB or more. The rest is written to the pipe. */
const MOST_ARGUMENT_BYTES = 100_000

interface Kept {
  readonly graceMs: number
  group?: { readonly id: number; readonly start: string }
}

/** How long the number of an ended command stays announced for the next one. */
const SPARE_MS = 50

/** Where the system does not tell when a process has started. */
const UNKNOWN_START = '0'

class Keeper {
  private child: ChildProcess | null = null
  private starts = 0
  private startedAtMs = 0
  private count = 0
  private readonly live = new Map<number, Kept>()
  /** Announced numbers whose commands have ended, by their grace. */
  private readonly spare = new Map<number, number[]>()
  private spareTimer: NodeJS.Timeout | null = null
  private isToldAtExit = false
  private room: string | null = null
  /** Callers that wait for pipes, in the order of their requests. */
  private asking: ((made: boolean) => void)[] = []

  /** Called before a command starts. The number identifies the command in the other calls. */
  begin(graceMs: number): number {
    this.ensure()
    const taken = this.spare.get(graceMs)?.pop()
    const id = taken ?? ++this.count
    this.live.set(id, { graceMs })
    if (taken !== undefined) return id
    this.tell(beginning(id, graceMs))
    return id
  }

  started(id: number, group: number, start: string | null): void {
    const kept = this.live.get(id)
    if (kept === undefined) return
    kept.group = { id: group, start: start ?? UNKNOWN_START }
    this.tell(grouping(id, kept.group))
  }

  /** Called when no process of the command is left. */
  ended(id: number): void {
    const kept = this.live.get(id)
    if (kept === undefined) return
    this.live.delete(id)
    // Without a start, a group that is used again could not be told from the one that has ended.
    if (kept.group === undefined || kept.group.start === UNKNOWN_START) return this.tell(`e ${id}\n`)
    const spare = this.spare.get(kept.graceMs)
    if (spare === undefined) this.spare.set(kept.graceMs, [id])
    else spare.push(id)
    this.spareTimer ??= setTimeout(() => this.endSpare(), SPARE_MS).unref()
    if (!this.isToldAtExit) process.once('exit', () => this.endSpare())
    this.isToldAtExit = true
  }

  /** Says that the commands of spare numbers have ended. */
  private endSpare(): void {
    if (this.spareTimer !== null) clearTimeout(this.spareTimer)
    this.spareTimer = null
    const ids = [...this.spare.values()].flat()
    this.spare.clear()
    if (ids.length > 0) this.tell(ids.map((id) => `e ${id}\n`).join(''))
  }

  /** A directory that the keeper removes when this process is gone. */
  removeLater(directory: string): void {
    this.room = directory
    this.ensure()
    this.tell(`d ${directory}\n`)
  }

  /** Makes pipes in that directory, named by numbers from `first` on; false if that failed. */
  makePipes(first: number, count: number): Promise<boolean> {
    this.ensure()
    const child = this.child
    if (child === null) return Promise.resolve(false)
    socketOf(child.stdout).ref()
    return new Promise((resolve) => {
      this.asking.push(resolve)
      this.tell(`m ${first} ${count}\n`)
    })
  }

  /** Kills all groups without a grace. A process outside its group is killed by the keeper when this process has ended. */
  killAll(): void {
    this.tell('n\n')
    for (const { group } of this.live.values()) if (group !== undefined) send(-group.id, 'SIGKILL')
  }

  private answer(made: boolean): void {
    this.asking.shift()?.(made)
    if (this.asking.length === 0 && this.child !== null) socketOf(this.child.stdout).unref()
  }

  private ensure(): void {
    if (this.child !== null || this.starts >= MOST_STARTS) return
    this.starts++
    this.startedAtMs = performance.now()
    const [argument, rest] = this.known()
    const child = startShell(argument)
    if (child === null) return
    this.child = child
    child.once('error', () => this.replace(child))
    child.once('exit', () => this.replace(child))
    child.stdin?.on('error', () => undefined)
    child.stdout?.on('error', () => undefined)
    child.stdout?.on('data', (bytes: Buffer) => {
      // A line each, and no answer is longer than what a pipe takes at once.
      for (const line of bytes.toString().trim().split('\n')) this.answer(line !== '0')
    })
    child.unref()
    socketOf(child.stdin).unref()
    socketOf(child.stdout).unref()
    if (rest !== '') this.tell(rest)
  }

  /** Everything a new keeper must know: what fits into an argument, and what does not. */
  private known(): [argument: string, rest: string] {
    const parts = ['', ''] as [string, string]
    let bytes = 0
    const add = (line: string): void => {
      bytes += Buffer.byteLength(line)
      parts[bytes <= MOST_ARGUMENT_BYTES ? 0 : 1] += line
    }
    if (this.room !== null) add(`d ${this.room}\n`)
    for (const [id, { graceMs, group }] of this.live) {
      add(beginning(id, graceMs))
      if (group !== undefined) add(grouping(id, group))
    }
    return parts
  }

  private replace(child: ChildProcess): void {
    if (this.child !== child) return
    this.child = null
    // The next one has never heard of them.
    this.spare.clear()
    for (const tell of this.asking.splice(0)) tell(false)
    if (performance.now() - this.startedAtMs > LASTED_MS) this.starts = 0
    if (this.live.size > 0) this.ensure()
  }

  /** Written at once: the keeper reads what is in the pipe even if this process ends now. */
  private tell(line: string): void {
    if (this.child?.stdin?.writable === true) this.child.stdin.write(line)
  }
}

function startShell(known: string): ChildProcess | null {
  try {
    return spawn('/bin/sh', ['-c', KEEPER_PROGRAM, 'reprise-keeper', PARENT_MARK, known], {
      cwd: '/',
      detached: true,
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
  } catch {
    return null
  }
}

/** The part of a stream that can hold the event loop. */
function socketOf(stream: unknown): { ref(): void; unref(): void } {
  return stream as { ref(): void; unref(): void }
}

function beginning(id: number, graceMs: number): string {
  return `b ${id} ${Math.ceil(Math.min(graceMs, 3_600_000) / 100)}\n`
}

function grouping(id: number, group: { readonly id: number; readonly start: string }): string {
  return `g ${id} ${group.id} ${group.start}\n`
}

export const keeper = new Keeper()

/** Ends everything that this process has started, at once. For a process that is about to exit. */
export function killCommands(): void {
  keeper.killAll()
}
