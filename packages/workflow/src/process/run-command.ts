/**
 * Runs a program to its end, and everything that it started with it.
 *
 * How it ends: the *program* has exited, and what is left of its group, and whatever else has its marks, is told to go
 * (TERM, a short grace, KILL): a command takes its background processes with it. Or the *signal* was given: then all of its
 * tree is, with the command's own grace. What is in the pipes is heard; who holds them longer is not waited for, but ended.
 *
 * Invariants: the promise settles when nothing of the group is left, or KILL was given and waited for. Nothing is read
 * faster than `onOutput` takes it; memory is bounded by what is kept. An error of `onOutput`, of the input, or of noting the
 * group ends the tree and rejects; whatever else happens is a value. Should this process be killed, the keeper ends the tree.
 *
 * Not on macOS: finding by marks what has left group and parents. Nor anywhere: a process that has left group and session,
 * has got rid of its marks, and whose parents are gone.
 * Imports the parts of this directory.
 */
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ByteHead } from './byte-head.js'
import { ByteTail } from './byte-tail.js'
import { refuseCommand } from './command-limits.js'
import type { Command, CommandEnd } from './command.js'
import { closeMark, type FileId, holdsMark, openMark } from './descriptor-mark.js'
import { endProcesses, repeat, send } from './end-tree.js'
import { agentMark } from './agent-mark.js'
import { removeGroupFile, writeGroupFile } from './group-file.js'
import { keeper, PARENT_MARK } from './keeper.js'
import { OutputPump } from './output-pump.js'
import { environmentOf, pidsGivenSince, processStart } from './process-table.js'
import { ProcessTree } from './process-tree.js'
import { type Exit, type Spawned, spawnCommand } from './spawn-command.js'

/** Enough for a stack trace and what led to it. */
const TAIL_BYTES = 64 * 1024
/** `producer | tee >(gzip > file)`: a shell does not wait for such ends, and they need a moment. */
const SETTLE_MS = 100
/** For what is left when the program has exited by itself. */
const LEFT_GRACE_MS = 2000
/** For so long no more pids are given than there are. */
const PIDS_KNOWN_MS = 10_000
/** For the news of the program's own exit, once it was killed. */
const EXIT_WAIT_MS = 1000

export async function runCommand(command: Command): Promise<CommandEnd> {
  const output = new CommandOutput(command)
  const refused = refuseCommand(command)
  if (refused !== null) return output.end({ exitCode: null, signal: null }, refused, 0)
  let kept: number | null = null
  let startedAtMs = 0
  const mark = openMark(command.groupFile)
  try {
    const spawned = await spawnCommand(command, mark?.descriptor ?? null, () => {
      kept = keeper.begin(command.graceMs)
      startedAtMs = performance.now()
    })
    if (spawned instanceof Error && mark !== null) removeGroupFile(command.groupFile ?? '')
    if (spawned instanceof Error) return output.end({ exitCode: null, signal: null }, spawned, 0)
    const start = processStart(spawned.pid)
    keeper.started(kept ?? 0, spawned.pid, start)
    const running = new RunningCommand(command, { spawned, start, mark: mark?.id ?? null }, output)
    const exit = await running.finish()
    return output.end(exit, null, running.exitedAtMs - startedAtMs)
  } finally {
    // Not before: if the file is removed meanwhile, a new file gets its number once nobody has it open. That is the mark of
    // the next execution, by the process which took this run over.
    closeMark(mark)
    if (kept !== null) keeper.ended(kept)
  }
}

/** What is kept of the output, on its way to who wants all of it. */
class CommandOutput {
  private readonly command: Command
  private readonly head: ByteHead
  private readonly tails = { stdout: new ByteTail(TAIL_BYTES), stderr: new ByteTail(TAIL_BYTES) }

  constructor(command: Command) {
    this.command = command
    this.head = new ByteHead(command.keepStdoutBytes)
  }

  take(stream: 'stdout' | 'stderr', bytes: Uint8Array): void | Promise<void> {
    if (stream === 'stdout') this.head.push(bytes)
    this.tails[stream].push(bytes)
    return this.command.onOutput(stream, bytes)
  }

  end({ exitCode, signal }: Exit, spawnError: Error | null, durationMs: number): CommandEnd {
    return {
      exitCode,
      signal,
      spawnError,
      stdout: this.head.text(),
      stdoutExceeded: this.head.exceeded,
      stderrTail: this.tails.stderr.text(),
      stdoutTail: this.tails.stdout.text(),
      durationMs,
    }
  }
}

/** Programs of all commands that have not exited: each is this process's own child, so it strays from no other command. */
const leaders = new Set<number>()

/** The program, as it was started. */
interface Begun {
  readonly spawned: Spawned
  readonly start: string | null
  readonly mark: FileId | null
}

class RunningCommand {
  exitedAtMs = 0
  private readonly command: Command
  private readonly spawned: Spawned
  private readonly start: string | null
  private readonly marks: readonly FileId[]
  private readonly startedAtMs = performance.now()
  private readonly pumps: readonly OutputPump[]
  private exit: Exit | null = null
  private isNoted = false
  private failure: { readonly error: unknown } | null = null
  private callOff: () => void = () => undefined
  /** Settles when it is to end before its time. */
  private readonly calledOff = new Promise<void>((resolve) => (this.callOff = resolve))

  constructor(command: Command, { spawned, start, mark }: Begun, output: CommandOutput) {
    this.command = command
    this.spawned = spawned
    this.start = start
    this.marks = mark === null ? [] : [mark]
    this.pumps = (['stdout', 'stderr'] as const).map(
      (stream) =>
        new OutputPump(
          spawned[stream],
          (bytes) => output.take(stream, bytes),
          (error) => this.fail(error),
        ),
    )
    if (spawned.stdin !== null) this.feed(spawned.stdin)
  }

  private feed(into: Writable): void {
    const { stdin } = this.command
    // It may end without having read what it was given.
    into.on('error', () => undefined)
    if (typeof stdin === 'object' && 'feed' in stdin) stdin.feed(into).catch((error: unknown) => this.fail(error))
    else into.end(stdin)
  }

  async finish(): Promise<Exit> {
    const { signal, groupFile } = this.command
    signal.addEventListener('abort', this.callOff)
    if (signal.aborted) this.callOff()
    this.noteGroup()
    const exited = this.waitForExit()
    await Promise.race([exited, this.calledOff])
    await (this.exit === null ? this.endTree(this.command.graceMs) : this.endLeft())
    if (this.exit === null) await Promise.race([exited, sleep(EXIT_WAIT_MS)])
    await this.closePipes()
    signal.removeEventListener('abort', this.callOff)
    // What could not be noted there is not ours to remove.
    if (groupFile !== undefined && (this.isNoted || this.marks.length > 0)) removeGroupFile(groupFile)
    if (this.failure !== null) throw this.failure.error
    if (this.exit === null) this.exitedAtMs = performance.now()
    return this.exit ?? { exitCode: null, signal: 'SIGKILL' }
  }

  private async waitForExit(): Promise<void> {
    leaders.add(this.spawned.pid)
    this.exit = await this.spawned.exit
    leaders.delete(this.spawned.pid)
    this.exitedAtMs = performance.now()
  }

  private fail(error: unknown): void {
    this.failure ??= { error }
    this.callOff()
  }

  private noteGroup(): void {
    const { groupFile, tag } = this.command
    if (groupFile === undefined || this.start === null) return
    try {
      const agent = agentMark()
      writeGroupFile(groupFile, { group: this.spawned.pid, start: this.start, tag, ...(agent && { agent }) })
      this.isNoted = true
    } catch (error) {
      this.fail(error)
    }
  }

  private async endTree(graceMs: number): Promise<void> {
    await this.end(this.tree(), graceMs)
  }

  private tree(): ProcessTree {
    return new ProcessTree({ groups: this.groups(), isMarked: (pid) => this.isMarked(pid), since: this.start })
  }

  private isMarked(pid: number): boolean {
    const environment = environmentOf(pid)
    const isTagged = environment.includes(PARENT_MARK) && environment.includes(`REPRISE_TAG=${this.command.tag}`)
    return isTagged || holdsMark(pid, this.marks)
  }

  /** What is left when the program has exited by itself, in its group and out of it. */
  private async endLeft(): Promise<void> {
    const isOver = async (): Promise<boolean> => !send(-this.spawned.pid, 0) && !(await this.hasStrays())
    if (await repeat(SETTLE_MS, isOver)) return
    await this.endTree(Math.min(this.command.graceMs, LEFT_GRACE_MS))
  }

  /** Whether something that the program has started runs on outside of its group. As a rule nothing does, so little is read. */
  private async hasStrays(): Promise<boolean> {
    // Later, pids may have begun anew more than once.
    const isLong = performance.now() - this.startedAtMs > PIDS_KNOWN_MS
    if (isLong && this.start !== null) return (await this.tree().find()).length > 0
    return pidsGivenSince(this.spawned.pid).some((pid) => !leaders.has(pid) && this.isMarked(pid))
  }

  private async end(tree: ProcessTree, graceMs: number): Promise<void> {
    await endProcesses(() => tree.find(), graceMs, this.spawned.pid)
  }

  private groups(): Map<number, string | null> {
    return new Map([[this.spawned.pid, this.start]])
  }

  private async closePipes(): Promise<void> {
    this.spawned.stdin?.destroy()
    const isPatient = (): boolean => !this.command.signal.aborted && this.failure === null
    const drain = async (): Promise<boolean> =>
      (await Promise.all(this.pumps.map((pump) => pump.drain(isPatient)))).every(Boolean)
    if (!(await drain())) {
      await this.endTree(Math.min(this.command.graceMs, LEFT_GRACE_MS))
      await drain()
    }
    for (const pump of this.pumps) pump.close()
  }
}
