/**
 * The part of a process that executes tasks: it puts together the attempts that run, the tasks in line, the search for
 * what is due and the writer, and does what has been committed. Imports core's types, the runtime's environment, the
 * ledger's port and its own layer.
 *
 * Invariants: an attempt starts after its intent was committed. At most `concurrency` attempts run.
 */
import type { Changes, Ledger } from '../ledger/ledger.js'
import { queueKey } from '../ledger/queue-limit.js'
import type { TaskKey, TaskRecord } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import { Activity } from './activity.js'
import { type Started, TaskAdmission } from './admission.js'
import { type Conductor, type Definition, isShared } from './definition.js'
import { DueTasks } from './due.js'
import type { GateBook } from './gate-book.js'
import { Holds } from './holds.js'
import { LedgerClock } from './ledger-clock.js'
import { ParkedTasks } from './parked-tasks.js'
import { retryWhileBusy } from './persistence.js'
import { hasQueueGate, writeQueueGate } from './queue-gate.js'
import { RunningAttempts } from './running.js'
import { Slots } from './slots.js'
import { TaskEvents } from './task-events.js'
import { TaskWriter } from './task-writer.js'
import type { Begun } from './transitions.js'
import { isOver, type Waiters } from './waiters.js'

/** After this long between the commit of an attempt and its start, the ledger is asked for the time: its clock may have been set. */
const LATE_START_MS = 1000

export interface WorkerPorts {
  readonly ledger: Ledger
  readonly environment: Environment
  readonly gates: GateBook
  readonly waiters: Waiters
  readonly owner: string
  readonly concurrency: number
  /** When a task that waits was taken up again by this process, if it was. */
  readonly resumedAtMs: (task: TaskRecord) => number | undefined
  /** Other processes that serve the queue, by id. */
  readonly othersServing: (queue: string) => readonly string[]
  /** How long its lease is after each renewal. */
  readonly leaseMs: number
  /** Whether this process has not renewed its lease for so long that others may have taken over. */
  readonly isLate: () => boolean
  /** The ledger cannot be used any more; `isTold`: somebody has been told of it. */
  readonly onFailure: (error: unknown, isTold?: boolean) => void
  /** Whether a task that was written last at this time had been left by another process. */
  readonly wasWaiting: (updatedAtMs: number) => boolean
}

export class Worker {
  readonly definitions = new Map<string, Definition>()
  readonly activity = new Activity()
  private readonly holds: Holds
  readonly slots: Slots
  readonly events: TaskEvents
  readonly admission: TaskAdmission
  readonly writer: TaskWriter
  readonly due: DueTasks
  readonly clock: LedgerClock
  private readonly ports: WorkerPorts
  private readonly attempts: RunningAttempts
  private readonly parked: ParkedTasks
  private onAttemptLeft: (() => void)[] = []
  private mark: number | undefined = undefined
  private isLooking = false
  /** Outcomes of attempts that the store has not taken yet. */
  private outcomesWaiting = 0

  constructor(ports: WorkerPorts) {
    const { ledger, environment, gates, waiters, owner, concurrency, leaseMs } = ports
    const { resumedAtMs, othersServing, onFailure } = ports
    this.ports = ports
    const { activity, definitions } = this
    this.clock = new LedgerClock(environment)
    this.slots = new Slots(concurrency, () => this.wake())
    this.events = new TaskEvents(environment)
    this.holds = new Holds(this.events.ofQueues((queue) => definitions.get(queue)))
    this.admission = new TaskAdmission(gates, owner, resumedAtMs)
    this.writer = new TaskWriter({
      ledger,
      gates,
      owner,
      isStopped: () => activity.isStopped,
      onOutcomeWaits: (change) => this.outcomeWaits(change),
      onGroupChanged: (changes) => this.groupChanged(changes),
    })
    const { slots, events, admission, writer, holds } = this
    const { clock } = this
    const common = { ledger, environment, gates, holds, slots, events, admission, writer, activity, clock, onFailure }
    const follow = (definition: Definition, begun: Begun | Started): void => this.follow(definition, begun)
    const taken = (task: TaskRecord): void => this.taken(task)
    this.due = new DueTasks({
      ...common,
      definitions,
      waiters,
      owner,
      othersServing,
      follow,
      followBatch: (definition, started) => this.followBatch(definition, started),
      look: () => this.look(),
      mayClaim: () => this.outcomesWaiting === 0,
      runningIn: (queue) => this.attempts.countIn(queue) + this.parked.countIn(queue),
      hasRoomInLine: () => this.parked.size < concurrency,
      wasWaiting: ports.wasWaiting,
    })
    this.attempts = new RunningAttempts({
      ...common,
      leaseMs,
      follow,
      taken,
      rested: (task) => this.rested(task),
      isHere: (task) => this.isHere(task),
      left: (definition) => {
        this.placeLeft(definition)
        this.attemptLeft()
      },
    })
    this.parked = new ParkedTasks({ ...common, follow, taken, onRoom: (definition) => this.lineLeft(definition) })
  }

  begin(): void {
    this.due.begin()
    this.wake()
  }

  /** Tasks of this definition are claimed no more; those that run here go on. */
  unregister(definition: Definition): void {
    // Another one of the same queue may have been registered since.
    if (this.definitions.get(definition.queue) === definition) this.definitions.delete(definition.queue)
  }

  /** Tasks of this definition are claimed from now on. */
  register(definition: Definition): void {
    this.definitions.set(definition.queue, definition)
    if (hasQueueGate(definition) && definition.hasForeignGate !== true) this.limit(definition)
    this.wake()
  }

  private limit(definition: Definition): void {
    const { ledger, onFailure } = this.ports
    const written = retryWhileBusy(
      () => writeQueueGate(ledger, definition),
      () => this.isStopped,
    )
    void this.activity.track(written).catch(onFailure)
  }

  get isStopped(): boolean {
    return this.activity.isStopped
  }

  /** Something may be due. */
  wake(): void {
    if (!this.isStopped) this.due.wake()
  }

  /** Something may be due, and held queues may be open again: tasks were taken over or changed, or a poll looks. */
  wakeAll(): void {
    this.holds.releaseAll()
    this.wake()
  }

  /** Another process has told that tasks are due, or places free. */
  hinted(): void {
    this.holds.releaseUntimed()
    this.wake()
  }

  /** An attempt that ended here has given back its place in the queue, and what its gates had granted. */
  private placeLeft(definition: Definition): void {
    const gates = this.ports.gates.keysOf(definition)
    if (hasQueueGate(definition)) gates.push(queueKey(definition.queue))
    if (gates.length > 0 && this.holds.attemptEnded(gates)) this.wake()
  }

  /** There is room in the line, and a place in the queue. */
  private lineLeft(definition: Definition): void {
    this.placeLeft(definition)
    this.wake()
  }

  /** Others may have added tasks, or taken some. */
  private look(): void {
    this.wakeAll()
    if (this.isStopped || this.isLooking) return
    this.isLooking = true
    const looked = this.dropLost().finally(() => (this.isLooking = false))
    void this.activity.track(looked).catch(this.ports.onFailure)
  }

  /** Stops what was cancelled or taken over by another process. Asks only if another process has written since. */
  private async dropLost(): Promise<void> {
    if (this.attempts.size + this.parked.size === 0) return
    const mark = await this.ports.ledger.changeMark()
    if (mark === this.mark) return
    await this.attempts.stopLost()
    await this.parked.dropLost()
    this.mark = mark
  }

  /** No new attempts from now on; resolves when those that run have ended. */
  async drain(): Promise<void> {
    const { activity } = this
    this.close()
    await this.parked.release(() => true)
    while (this.attempts.size > 0 || activity.hasPending) {
      if (activity.hasPending) await activity.settled()
      else await new Promise<void>((resolve) => this.onAttemptLeft.push(resolve))
    }
  }

  /** Stops the attempts that run, and records that they were interrupted on purpose. */
  async stop(reason: unknown): Promise<void> {
    this.close()
    this.attempts.stop(reason)
    await this.drain()
  }

  /** The ledger is gone: nothing can be written, so nothing is waited for. */
  halt(reason: unknown): void {
    this.close()
    this.parked.abandonAll()
    this.attempts.stop(reason)
  }

  /** Attempts that run; without those that have ended, and whose outcome is being written. */
  get running(): number {
    return Math.max(0, this.attempts.size - this.slots.unwritten)
  }

  /** Attempts whose end is not recorded: those that run, and those whose end could not be written. */
  get unrecorded(): number {
    return this.attempts.size + this.attempts.unwritten
  }

  /** Queues that are served here, and that any process may serve. */
  get sharedQueues(): string[] {
    return [...this.definitions.values()].flatMap((definition) => (isShared(definition) ? [definition.queue] : []))
  }

  /** The same for the tasks of one run; the others go on. */
  async stopConducted(conductor: Conductor, reason: unknown): Promise<void> {
    const isOfRun = (definition: Definition): boolean => definition.conductor === conductor
    this.attempts.stopWhere(isOfRun, reason)
    await this.parked.release(isOfRun)
    do {
      while (this.attempts.some(isOfRun)) await new Promise<void>((resolve) => this.onAttemptLeft.push(resolve))
      // Attempts whose start was being recorded when the run was stopped have begun by then, and end at once.
      await this.activity.settled()
    } while (this.attempts.some(isOfRun))
  }

  /**
   * A store that was away takes the outcomes first. If others have taken this process for lost, a claim could move the
   * fence of a task whose result waits here.
   */
  private outcomeWaits(change: 1 | -1): void {
    this.outcomesWaiting += change
    if (this.outcomesWaiting === 0) this.wake()
  }

  private attemptLeft(): void {
    for (const resolve of this.onAttemptLeft.splice(0)) resolve()
  }

  /** Whether this process executes the task, or holds it in a line: then it learns of its end by itself. */
  isHere(key: TaskKey): boolean {
    return this.attempts.has(key) || this.parked.has(key)
  }

  /** Another process has the task. If that has ended it already, callers that wait here get the result now. */
  private taken(key: TaskKey): void {
    const { ledger, waiters, onFailure } = this.ports
    const look = async (): Promise<void> => {
      const task = await ledger.get(key)
      if (task !== undefined && isOver(task)) waiters.settled(task)
    }
    void this.activity.track(look()).catch(onFailure)
  }

  /** The task was cancelled: its attempt is stopped. */
  abandon(key: TaskKey): void {
    this.attempts.stop(new Error('The task was cancelled'), key)
    this.parked.abandon(key)
  }

  /** Does what has been committed. The queue of a step may not be looked at any more by now: its caller has gone. */
  follow(definition: Definition, begun: Begun | Started): void {
    const { task, epoch } = begun
    this.ports.gates.committed(definition)
    if ('asked' in begun && begun.asked !== undefined) this.events.decision(definition, task, 'gate', begun.asked)
    if (task.status === 'running') this.execute(definition, task, epoch)
    else if (task.status === 'parked') this.parked.park(definition, task)
    else if (isOver(task)) this.over(definition, task)
  }

  /** The same for tasks that were claimed together: they are executed. */
  private followBatch(definition: Definition, started: readonly Started[]): void {
    this.ports.gates.committed(definition)
    for (const { task, asked } of started)
      if (asked !== undefined) this.events.decision(definition, task, 'gate', asked)
    const { isLate, onFailure } = this.ports
    if (!started.some(({ task }) => this.mayBeOver(task)) && !isLate()) this.executeAll(definition, started)
    else void this.activity.track(this.executeThoseOfOurs(definition, started)).catch(onFailure)
  }

  private executeAll(definition: Definition, begun: readonly Pick<Begun, 'task' | 'epoch'>[]): void {
    const { batch } = definition
    if (batch !== undefined && begun.every(({ task }) => task.progress.unverified !== true))
      this.attempts.executeBatch(definition, batch, begun)
    else for (const { task, epoch } of begun) this.attempts.execute(definition, task, epoch)
  }

  /**
   * If the commit took longer than the lease, or the process was suspended, another process may have the task, and its
   * time may be over: both are looked up before it begins.
   */
  private execute(definition: Definition, task: TaskRecord, epoch: number): void {
    const { isLate, onFailure } = this.ports
    if (task.progress.unverified === true || definition.batch === undefined) {
      if (!this.mayBeOver(task) && !isLate()) this.attempts.execute(definition, task, epoch)
      else void this.activity.track(this.executeThoseOfOurs(definition, [{ task, epoch }])).catch(onFailure)
    } else this.followBatch(definition, [{ task, epoch, asked: undefined }])
  }

  private mayBeOver({ progress, updatedAtMs }: TaskRecord): boolean {
    return progress.retry.deadlineAtMs !== null && this.clock.since(updatedAtMs) >= LATE_START_MS
  }

  private async executeThoseOfOurs(
    definition: Definition,
    begun: readonly Pick<Begun, 'task' | 'epoch'>[],
  ): Promise<void> {
    const { ledger } = this.ports
    this.slots.occupy()
    try {
      this.clock.heard(await ledger.now())
      const rows = await Promise.all(begun.map(({ task }) => ledger.get(task)))
      const isOurs = ({ task }: Pick<Begun, 'task'>, index: number): boolean =>
        rows[index]?.fence === task.fence && rows[index].owner === task.owner
      for (const [index, one] of begun.entries()) if (!isOurs(one, index)) this.taken(one.task)
      this.executeAll(definition, begun.filter(isOurs))
    } finally {
      this.slots.give()
    }
  }

  /** The task waits, or is over; observers have been told. */
  private rested(task: TaskRecord): void {
    if (isOver(task)) this.ports.waiters.settled(task)
    else if (task.status === 'waiting') this.due.scheduleIn((task.dueAtMs ?? 0) - task.updatedAtMs)
  }

  /** Tasks that a group has changed or created are treated like any others. */
  private groupChanged({ created = [], tasks = [] }: Changes): void {
    for (const { task } of created) {
      const definition = this.definitions.get(task.queue)
      if (definition !== undefined) this.events.created(definition, task)
    }
    for (const task of tasks) {
      if (!isOver(task)) continue
      const definition = this.definitions.get(task.queue)
      if (task.status === 'cancelled') this.abandon(task)
      if (definition !== undefined) this.events.followed(definition, task)
      this.ports.waiters.settled(task)
    }
    if (created.length + tasks.length > 0) this.wake()
  }

  private over(definition: Definition, task: TaskRecord): void {
    this.events.followed(definition, task)
    this.ports.waiters.settled(task)
  }

  private close(): void {
    this.activity.isStopped = true
    this.slots.close()
    this.due.end()
  }
}
