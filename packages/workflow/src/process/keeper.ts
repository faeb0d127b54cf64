/**
 * Sees to it that nothing outlives this process, should it be killed: it tells a shell on the other side of a pipe what
 * it starts, and that shell ends it when the pipe does (`keeper-program.ts`). One for all commands, so that a command
 * costs three short writes and no process. That shell also makes the pipes of commands.
 *
 * Invariants: a command is announced before it starts, so no moment is without somebody who knows. The keeper has a
 * session of its own, ignores signals, and has neither tag nor mark, so whoever ends a tree spares it. If it dies, the
 * next one is told of all that runs. Without `sh` there is none, and leftovers are found at the next resume only.
 * It holds neither the event loop nor the exit of this process. Imports the keeper's program and signals.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { send } from './end-tree.js'
import { KEEPER_PROGRAM } from './keeper-program.js'

/** In the environment of everything that this process starts, and of nothing else. */
export const PARENT_MARK = `REPRISE_PARENT=${randomUUID()}`

/** A shell that ends again and again is of no use; one that has lasted so long was ended by somebody. */
const MOST_STARTS = 5
const LASTED_MS = 10_000

interface Kept {
  readonly graceMs: number
  group?: { readonly id: number; readonly start: string }
}

class Keeper {
  private child: ChildProcess | null = null
  private starts = 0
  private startedAtMs = 0
  private count = 0
  private readonly live = new Map<number, Kept>()
  private room: string | null = null
  /** Those who wait for pipes, in the order in which they asked. */
  private asking: ((made: boolean) => void)[] = []

  /** Before anything starts; the number is what the rest is told by. */
  begin(graceMs: number): number {
    const id = ++this.count
    this.ensure()
    this.live.set(id, { graceMs })
    this.tell(beginning(id, graceMs))
    return id
  }

  started(id: number, group: number, start: string | null): void {
    const kept = this.live.get(id)
    if (kept === undefined) return
    kept.group = { id: group, start: start ?? '0' }
    this.tell(grouping(id, kept.group))
  }

  /** Nothing of it is left. */
  ended(id: number): void {
    if (this.live.delete(id)) this.tell(`e ${id}\n`)
  }

  /** A directory that is nobody's when this process is gone. */
  removeLater(directory: string): void {
    this.room = directory
    this.ensure()
    this.tell(`d ${directory}\n`)
  }

  /** In that directory, named by numbers from `first` on; false if there are none. */
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

  /** Kills what runs without asking it first; what hides from that is killed when this process has ended. */
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
    const child = startShell()
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
    if (this.room !== null) this.tell(`d ${this.room}\n`)
    for (const [id, { graceMs, group }] of this.live) {
      this.tell(beginning(id, graceMs))
      if (group !== undefined) this.tell(grouping(id, group))
    }
  }

  private replace(child: ChildProcess): void {
    if (this.child !== child) return
    this.child = null
    for (const tell of this.asking.splice(0)) tell(false)
    if (performance.now() - this.startedAtMs > LASTED_MS) this.starts = 0
    if (this.live.size > 0) this.ensure()
  }

  /** Written at once: what is in the pipe is read even if this process ends now. */
  private tell(line: string): void {
    if (this.child?.stdin?.writable === true) this.child.stdin.write(line)
  }
}

function startShell(): ChildProcess | null {
  try {
    return spawn('/bin/sh', ['-c', KEEPER_PROGRAM, 'reprise-keeper', PARENT_MARK], {
      cwd: '/',
      detached: true,
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
  } catch {
    return null
  }
}

/** What holds the event loop. */
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

/** Ends everything that this process has started, at once; for one that is about to exit. */
export function killCommands(): void {
  keeper.killAll()
}
