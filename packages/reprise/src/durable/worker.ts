/**
 * The hands of a process: attempts that run, tasks that stand in line, and the search for what is due. What has been
 * committed is done here, and nothing else. Imports core's types, the runtime's environment, the ledger's port and its
 * own layer.
 *
 * Invariants: an attempt starts after its intent was committed. At most `concurrency` attempts run.
 */
import type { Ledger } from '../ledger/ledger.js'
import { nameOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import { Beginning, type Started } from './beginning.js'
import type { Definition } from './definition.js'
import { DueTasks } from './due.js'
import type { GateBook } from './gate-book.js'
import { Parked } from './parked.js'
import { RunningAttempts } from './running.js'
import { Slots } from './slots.js'
import { Telling } from './telling.js'
import type { Begun } from './transitions.js'
import { isOver, type Waiters } from './waiters.js'

export interface WorkerParts {
  readonly ledger: Ledger
  readonly environment: Environment
  readonly gates: GateBook
  readonly waiters: Waiters
  readonly owner: string
  readonly concurrency: number
  /** When a task that waits was taken up again by this process, if it was. */
  readonly resumedAtMs: (task: TaskRecord) => number | undefined
  /** Whether others may have taken over, since this process has not been heard of for a lease. */
  readonly isLate: () => boolean
  /** The ledger cannot be used any more; whether somebody is told of it. */
  readonly onFailure: (error: unknown, isTold?: boolean) => void
}

export class Worker {
  readonly definitions: Map<string, Definition>
  readonly parts: WorkerParts
  readonly slots: Slots
  readonly telling: Telling
  readonly beginning: Beginning
  readonly due: DueTasks
  stopped = false
  private readonly attempts: RunningAttempts
  private readonly parked = new Map<string, Parked>()
  /** Writes that may still begin something. */
  private readonly pending = new Set<Promise<unknown>>()
  private idle: (() => void)[] = []
  private mark: number | undefined = undefined
  private aheadMs = 0
  private isLooking = false

  constructor(parts: WorkerParts, definitions: Map<string, Definition>) {
    this.parts = parts
    this.definitions = definitions
    this.slots = new Slots(parts.concurrency, () => this.wake())
    this.telling = new Telling(parts.environment)
    this.beginning = new Beginning(parts.gates, parts.owner, parts.resumedAtMs)
    this.due = new DueTasks(this)
    this.attempts = new RunningAttempts(this)
  }

  begin(): void {
    this.due.begin()
    this.wake()
  }

  /** The ledger's time as far as is known here, without asking: its clock need not be this process's. */
  get ledgerMs(): number {
    return this.parts.environment.exactMs() + this.aheadMs
  }

  /** What the ledger's clock says now. */
  heardTime(ledgerMs: number): void {
    this.aheadMs = ledgerMs - this.parts.environment.exactMs()
  }

  /** A stop waits for it. */
  readonly track = <T>(work: Promise<T>): Promise<T> => {
    const done = work.finally(() => this.pending.delete(done))
    this.pending.add(done)
    return done
  }

  /** Something may be due. */
  wake(): void {
    if (!this.stopped) this.due.wake()
  }

  /** Others may have added tasks, or taken some. */
  look(): void {
    this.wake()
    if (this.stopped || this.isLooking) return
    this.isLooking = true
    const looked = this.dropLost().finally(() => (this.isLooking = false))
    void this.track(looked).catch(this.parts.onFailure)
  }

  /** What was cancelled or taken over by another process is told here; looks only if another one has written. */
  private async dropLost(): Promise<void> {
    const { ledger } = this.parts
    if (this.attempts.size + this.parked.size === 0) return
    const mark = await ledger.changeMark()
    if (mark === this.mark) return
    await this.attempts.stopLost()
    const looks = Array.from(this.parked.values(), async ({ task }) => {
      const now = await ledger.get(task)
      if (now?.fence === task.fence) return
      this.abandon(task)
      this.taken(task)
    })
    await Promise.all(looks)
    this.mark = mark
  }

  /** No new attempts from now on; resolves when those that run have ended. */
  async drain(): Promise<void> {
    this.close()
    await Promise.all([...this.parked.values()].map((one) => one.release()))
    while (this.attempts.size > 0 || this.pending.size > 0) {
      if (this.pending.size > 0) await Promise.allSettled(this.pending)
      else await new Promise<void>((resolve) => this.idle.push(resolve))
    }
  }

  /** Tells running attempts to stop, and records that they were interrupted on purpose. */
  async stop(reason: unknown): Promise<void> {
    this.close()
    this.attempts.stop(reason)
    await this.drain()
  }

  /** The ledger is gone: nothing can be written, so nothing is waited for. */
  halt(reason: unknown): void {
    this.close()
    for (const one of this.parked.values()) one.abandon()
    this.attempts.stop(reason)
  }

  /** Attempts that run. */
  get running(): number {
    return this.attempts.size
  }

  checkIdle(): void {
    if (this.attempts.size === 0) for (const resolve of this.idle.splice(0)) resolve()
  }

  /** Those that stand in line are in memory: no more of them than may run are taken out of the ledger. */
  get hasRoomInLine(): boolean {
    return this.parked.size < this.parts.concurrency
  }

  /** Whether this process runs it, or will hear of its end. */
  isHere(key: TaskKey): boolean {
    return this.attempts.has(key) || this.parked.has(nameOf(key))
  }

  /** Another process has the task, or has ended it already: then who waits for it here hears of that now. */
  taken(key: TaskKey): void {
    const { ledger, waiters, onFailure } = this.parts
    const look = async (): Promise<void> => {
      const task = await ledger.get(key)
      if (task !== undefined && isOver(task)) waiters.settled(task)
    }
    void this.track(look()).catch(onFailure)
  }

  /** The task was taken from its attempt, which is told so. */
  abandon(key: TaskKey): void {
    this.attempts.stop(new Error('The task was cancelled'), key)
    this.parked.get(nameOf(key))?.abandon()
    this.parked.delete(nameOf(key))
  }

  /** What has been committed is done. */
  follow(begun: Begun | Started): void {
    const { task, epoch } = begun
    const definition = this.definitions.get(task.queue) as Definition
    this.parts.gates.committed(definition)
    if ('asked' in begun && begun.asked !== undefined) this.telling.decision(definition, task, 'gate', begun.asked)
    if (task.status === 'running') this.execute(definition, task, epoch)
    else if (task.status === 'parked') this.park(definition, task)
    else if (isOver(task)) this.over(definition, task)
  }

  /** The answer may have been long in coming, or this process have slept: then it may be somebody else's by now. */
  private execute(definition: Definition, task: TaskRecord, epoch: number): void {
    const { isLate, ledger, onFailure } = this.parts
    if (!isLate()) {
      this.attempts.execute(definition, task, epoch)
      return
    }
    const look = async (): Promise<void> => {
      const now = await ledger.get(task)
      if (now?.fence === task.fence && now.owner === task.owner) this.attempts.execute(definition, task, epoch)
      else this.taken(task)
    }
    void this.track(look()).catch(onFailure)
  }

  /** The task waits, or is over: what it led to has been told. */
  rested(task: TaskRecord): void {
    if (isOver(task)) this.parts.waiters.settled(task)
    else if (task.status === 'waiting') this.due.scheduleIn((task.dueAtMs ?? 0) - task.updatedAtMs)
  }

  private over(definition: Definition, task: TaskRecord): void {
    this.telling.followed(definition, task)
    this.parts.waiters.settled(task)
  }

  private close(): void {
    this.stopped = true
    this.slots.close()
    this.due.end()
  }

  private park(definition: Definition, task: TaskRecord): void {
    const parked = new Parked(this, definition, task, (left) => {
      if (this.parked.get(nameOf(task)) === parked) this.parked.delete(nameOf(task))
      // There is room in the line for another one.
      this.wake()
      if (left === undefined) this.taken(task)
      else this.follow(left)
    })
    this.telling.parked(definition, task)
    if (this.stopped) {
      void parked.turnAway()
      return
    }
    this.parked.set(nameOf(task), parked)
    parked.join()
  }
}
