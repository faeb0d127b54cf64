/**
 * The attempts that run in this process: each is executed after its intent was committed, and its end is written together
 * with what follows from it. Imports core and its own layer.
 *
 * Invariants: the end of an attempt whose task was taken over is not written, since the fence has moved. An attempt that
 * has succeeded leaves its slot at once; after a failure the slot is kept, since the next attempt may be committed with it.
 */
import type { Ledger } from '../ledger/ledger.js'
import type { TaskKey, TaskRecord } from '../ledger/records.js'
import { TaskMap } from '../ledger/task-map.js'
import { isStopped } from './activity.js'
import type { Started } from './admission.js'
import { type BatchContext, type BatchRule, endOfMember, type MemberOutcome } from './batch.js'
import { type Concluded, type Conclusion, type ConclusionPorts, Conclusions, type EndedAttempt } from './conclusions.js'
import type { Definition } from './definition.js'
import { checkpointWriter, lastCheckpointOf } from './checkpoints.js'
import { contextOf, type DurableContext, Execution, type ExecutionEnd } from './execution.js'
import type { LedgerClock } from './ledger-clock.js'
import { isTransient } from './persistence.js'
import { isPlain } from './plain.js'
import type { Slots } from './slots.js'
import type { TaskWriter } from './task-writer.js'
import type { Begun } from './transitions.js'

export interface RunningPorts extends ConclusionPorts {
  readonly ledger: Ledger
  readonly slots: Slots
  readonly writer: TaskWriter
  readonly clock: LedgerClock
  /** Of this process: after so long without a renewal, others may take its tasks over. */
  readonly leaseMs: number
  /** The next attempt was committed with the end of this one. */
  readonly follow: (definition: Definition, next: Started) => void
  /** The task waits, or is over. */
  readonly rested: (task: TaskRecord) => void
  /** Another process has the task. */
  readonly taken: (task: TaskRecord) => void
  /** Whether this process has the task: it may have begun again here meanwhile. */
  readonly isHere: (task: TaskRecord) => boolean
  /** An attempt has ended, and left its slot. */
  readonly left: (definition: Definition) => void
  readonly onFailure: (error: unknown) => void
}

interface Running extends EndedAttempt {
  readonly execution: Execution
  /** When it was last known that the task is this process's. */
  readonly checkedAtMs: number
  /** From then until the whole task must have ended; undefined without a limit. */
  readonly remainingMs: number | undefined
  /** Of a batch whose first task is another one: that one alone ends the execution. */
  readonly rides: boolean
  isTold: boolean
  /** Whether it has left its slot before its outcome was written. */
  hasLeft: boolean
}

/** Tasks that one execution is for. */
interface RunningBatch {
  readonly rule: BatchRule
  readonly execution: Execution
  /** The first holds the place of all, and their checkpoint. */
  readonly members: readonly Running[]
  /** What was reported, by id. */
  readonly outcomes: Map<string, MemberOutcome>
}

type Operation = Definition['run']
/** Not stopped by this process. */
type Finished = Exclude<ExecutionEnd, { type: 'stopped' }>

export class RunningAttempts {
  private readonly ports: RunningPorts
  private readonly running = new TaskMap<Running>()
  /** Attempts whose end could not be written before this process gave up: another one finds them running. */
  unwritten = 0

  private readonly conclusions: Conclusions

  constructor(ports: RunningPorts) {
    this.ports = ports
    this.conclusions = new Conclusions(ports)
  }

  get size(): number {
    return this.running.size
  }

  has(key: TaskKey): boolean {
    return this.running.has(key)
  }

  /** Stops one, or all of them. A task that rides in a batch leaves it: the batch goes on, and its end is not written. */
  stop(reason: unknown, key?: TaskKey): void {
    const one = key && this.running.get(key)
    if (one !== undefined && !one.rides) one.execution.stop(reason)
    if (key === undefined) for (const { execution } of this.running.values()) execution.stop(reason)
  }

  /** Places of a queue that are taken: of a batch, its first task has one for all. */
  countIn(queue: string): number {
    let count = 0
    for (const { definition, rides } of this.running.values()) if (definition.queue === queue && !rides) count++
    return count
  }

  some(isMeant: (definition: Definition) => boolean): boolean {
    return [...this.running.values()].some(({ definition }) => isMeant(definition))
  }

  stopWhere(isMeant: (definition: Definition) => boolean, reason: unknown): void {
    for (const { definition, execution } of this.running.values()) if (isMeant(definition)) execution.stop(reason)
  }

  /** Its intent is committed. */
  execute(definition: Definition, task: TaskRecord, epoch: number): void {
    const { environment, events, slots, activity } = this.ports
    const execution = new Execution(environment.clock)
    const isVerification = task.progress.unverified === true
    const running = this.begin(definition, { task, epoch }, execution, false)
    slots.occupy()
    const { remainingMs } = running
    const checkpoint = checkpointWriter(this.ports.ledger, task, () => activity.isStopped)
    const context = contextOf(definition, task, () => execution.signal, remainingMs, checkpoint)
    const { attemptTimeoutMs, timeoutMs } = definition.policy
    const limits = { attemptTimeoutMs, remainingMs, timeoutMs }
    const { verify, runClaimed } = definition
    const run: Operation = runClaimed === undefined ? definition.run : (input, own) => runClaimed(input, own, task)
    // The definition may have changed since the interruption: without `verify`, its rule answers.
    const mayRerun = definition.onInterrupt === 'rerun' || definition.onInterrupt === 'charge'
    const look = verify ?? (() => (mayRerun ? 'rerun' : 'unknown'))
    const operation = isVerification ? look : run
    // An attempt that was committed just before a stop does not begin any more.
    if (isStopped(activity, definition)) execution.stop(new Error('The process stops'))
    else if (isVerification || this.mayCall(running)) {
      running.isTold = !isVerification
      if (running.isTold) events.began(definition, task)
      execution.run(() => this.call(operation, running, context), definition.name, context.attempt, limits)
    }
    execution.whenEnded((end) => this.ended(running, end))
  }

  /** The same for tasks that were claimed together. */
  executeBatch(definition: Definition, rule: BatchRule, begun: readonly Begun[]): void {
    const { environment, events, slots, activity, ledger } = this.ports
    const execution = new Execution(environment.clock)
    const members = begun.map((one, index) => this.begin(definition, one, execution, index > 0))
    const [first] = members
    if (first === undefined) return
    slots.occupy()
    const batch: RunningBatch = { rule, execution, members, outcomes: new Map() }
    const checkpoint = checkpointWriter(ledger, first.task, () => activity.isStopped)
    const { attemptTimeoutMs, timeoutMs } = definition.policy
    const times = members.flatMap(({ remainingMs }) => remainingMs ?? [])
    const remainingMs = times.length === 0 ? undefined : Math.min(...times)
    if (isStopped(activity, definition)) execution.stop(new Error('The process stops'))
    else if (members.every((member) => this.mayCall(member))) {
      for (const member of members) {
        member.isTold = true
        events.began(definition, member.task)
      }
      const { attempt = 1 } = first.task.progress.current ?? {}
      const limits = { attemptTimeoutMs, remainingMs, timeoutMs }
      execution.run(() => this.callBatch(batch, checkpoint), definition.name, attempt, limits)
    }
    execution.whenEnded((end) => this.follow(this.concludeBatch(batch, end), members))
  }

  /** Registers the attempt. */
  private begin(
    definition: Definition,
    { task, epoch }: Pick<Begun, 'task' | 'epoch'>,
    execution: Execution,
    rides: boolean,
  ): Running {
    const checkedAtMs = this.ports.environment.exactMs()
    const remainingMs = this.remainingOf(definition, task)
    const running: Running = {
      definition,
      task,
      epoch,
      execution,
      checkedAtMs,
      remainingMs,
      rides,
      isTold: false,
      hasLeft: false,
    }
    // Another process took the task for lost meanwhile, and it begins here again: nothing else would stop the former.
    const former = this.running.get(task)
    // An error has a stack, which costs more than the rest of this function: it is made only where there is a former.
    if (former !== undefined) former.execution.stop(new Error('The task was taken over, and runs again'))
    this.running.set(task, running)
    return running
  }

  /** Its end is written; then its slot is free, if it was not before. The attempt that follows has taken its own by now. */
  private follow(written: Promise<void>, all: readonly Running[]): void {
    const leave = (): void => this.leave(all)
    const failed = (error: unknown): void => {
      leave()
      this.fail(error, all)
    }
    void written.then(leave, failed).catch(this.ports.onFailure)
  }

  private leave(all: readonly Running[]): void {
    const { slots, left } = this.ports
    for (const running of all) this.remove(running)
    const [first] = all
    if (first?.hasLeft === true) slots.written()
    else slots.give()
    if (first !== undefined) left(first.definition)
  }

  /** Nothing follows a success in its commit: another attempt may begin meanwhile. */
  private leaveEarly(running: Running, isSuccess: boolean | undefined): void {
    if (isSuccess) running.hasLeft = this.ports.slots.leave()
  }

  private fail(error: unknown, all: readonly Running[]): void {
    if (isTransient(error)) this.unwritten += all.length
    this.ports.onFailure(error)
  }

  /** With the task's last checkpoint, which is read only where there is one. */
  private call(operation: Operation, running: Running, context: DurableContext): unknown {
    const { task } = running
    if (task.progress.checkpoint === undefined)
      return this.mayCall(running) ? operation(task.input as never, context as DurableContext<never>) : undefined
    return this.afterCheckpoint(running, (lastCheckpoint) => {
      // Stopped or out of time while it was read: the end is recorded, and the function must not begin after it.
      if (!this.mayCall(running)) return undefined
      Object.defineProperty(context, 'lastCheckpoint', { value: lastCheckpoint, enumerable: true })
      return operation(task.input as never, context as DurableContext<never>)
    })
  }

  /** With the last checkpoint of its first task. */
  private callBatch(batch: RunningBatch, checkpoint: BatchContext['checkpoint']): unknown {
    const { rule, members, outcomes, execution } = batch
    const [first] = members
    const signal = (): AbortSignal => execution.signal
    const contexts = members.map(({ definition, task, remainingMs }) =>
      contextOf(definition, task, signal, remainingMs, checkpoint),
    )
    const given = members.map(({ task }, index) => ({
      input: task.input as never,
      context: contexts[index] as DurableContext,
    }))
    const run = (lastCheckpoint: BatchContext['lastCheckpoint']): unknown => {
      if (!members.every((member) => this.mayCall(member))) return undefined
      return rule.run(given, {
        get signal() {
          return execution.signal
        },
        lastCheckpoint,
        checkpoint,
        report: (taskId, outcome) => void outcomes.set(taskId, outcome),
      })
    }
    if (first?.task.progress.checkpoint === undefined) return run(undefined)
    return this.afterCheckpoint(first, run)
  }

  private afterCheckpoint(
    { task, execution }: Running,
    then: (lastCheckpoint: Awaited<ReturnType<typeof lastCheckpointOf>>) => unknown,
  ): Promise<unknown> {
    const { ledger, activity, onFailure } = this.ports
    return lastCheckpointOf(ledger, task, () => activity.isStopped).then(then, (error: unknown) => {
      // Not a failure of the attempt: nothing of it has begun.
      execution.stop(error, false)
      onFailure(error)
    })
  }

  /**
   * Asked right before the operation is called: the process may have been suspended (SIGSTOP, a virtual machine that
   * slept) since the attempt was committed. An attempt that is out of time by then ends with `timeout`, and one whose
   * lease has passed is given back, both without having started.
   */
  private mayCall(running: Running): boolean {
    const { definition, task, execution, checkedAtMs, remainingMs } = running
    if (execution.isOver) return false
    const { environment, leaseMs } = this.ports
    const passedMs = environment.exactMs() - checkedAtMs
    if (this.isOutOfTime(running) && task.progress.unverified !== true)
      execution.expire(definition.name, definition.policy.timeoutMs ?? remainingMs ?? 0)
    else if (passedMs >= leaseMs)
      execution.stop(new Error('The process was suspended for longer than its lease'), false)
    return !execution.isOver
  }

  /** Whether the whole task must have ended by now. */
  private isOutOfTime({ checkedAtMs, remainingMs }: Running): boolean {
    return remainingMs !== undefined && this.ports.environment.exactMs() - checkedAtMs >= remainingMs
  }

  /** Never more than the whole: the clock may have been set back since. Less what has passed since the commit. */
  private remainingOf({ policy }: Definition, { progress, updatedAtMs }: TaskRecord): number | undefined {
    const { deadlineAtMs } = progress.retry
    if (deadlineAtMs === null) return undefined
    return Math.min(deadlineAtMs - updatedAtMs, policy.timeoutMs ?? Infinity) - this.ports.clock.since(updatedAtMs)
  }

  /** Stops attempts whose task was cancelled or taken over by another process. */
  async stopLost(): Promise<void> {
    const { ledger } = this.ports
    // All at once: a store that is far away is asked once.
    const looks = Array.from(this.running.values(), async ({ task, execution, rides }) => {
      if (rides) return
      const now = await ledger.get(task)
      if (now?.fence !== task.fence) execution.stop(new Error('The task was cancelled, or another process has it'))
    })
    await Promise.all(looks)
  }

  // ── the end of an attempt ──────────────────────────────────────────────────────────────────────

  private ended(running: Running, end: ExecutionEnd): void {
    if (!this.isConcludedPlainly(running, end)) {
      this.follow(this.conclude(running, end), [running])
      return
    }
    try {
      this.concludePlain(running, end)
    } catch (error) {
      // An error of the program whose fields cannot be read, for example.
      this.leave([running])
      this.fail(error, [running])
    }
  }

  private isConcludedPlainly({ definition, task }: Running, end: ExecutionEnd): end is Finished {
    return end.type !== 'stopped' && isPlain(definition) && !task.progress.unverified && !this.ports.events.isObserved
  }

  /** The same rows as the long way writes, without asking gates, counts and groups, of which a plain task has none. */
  private concludePlain(running: Running, end: Finished): void {
    const { ledger, writer, onFailure } = this.ports
    const keys = { tasks: [running.task] }
    const { decide, isSuccess } = this.conclusions.ofPlain(running, end)
    this.leaveEarly(running, isSuccess)
    const commit = (): Promise<Concluded | undefined> => ledger.transact(keys, decide)
    const written = (after: Concluded | undefined): void => {
      try {
        this.concluded(running, undefined, after)
      } finally {
        this.leave([running])
      }
    }
    const writeAgain = async (error: unknown): Promise<void> => {
      this.concluded(running, undefined, await writer.writeOutcomeAgain(commit, error))
    }
    const failed = (error: unknown): void => this.follow(writeAgain(error), [running])
    void commit().then(written, failed).catch(onFailure)
  }

  private async conclude(running: Running, end: ExecutionEnd): Promise<void> {
    const isVerification = running.task.progress.unverified === true
    const conclusion = isVerification
      ? this.conclusions.ofVerification(running, end)
      : this.conclusions.of(running, end)
    this.leaveEarly(running, conclusion.transition.isSuccess)
    const after = await this.ports.writer.write(conclusion.transition)
    if (!isVerification) running.definition.onRecorded?.(running.task, after !== undefined)
    this.concluded(running, conclusion, after)
  }

  /** All its tasks end in one commit. */
  private async concludeBatch(batch: RunningBatch, end: ExecutionEnd): Promise<void> {
    const { members, outcomes } = batch
    const isSingle = members.length === 1
    const conclusions = members.map((member) => {
      const outcome = outcomes.get(member.task.id)
      return this.conclusions.of(member, endOfMember(end, { outcome, isSingle, isLate: this.isOutOfTime(member) }))
    })
    const [first] = members
    const isSuccess = conclusions.every(({ transition }) => transition.isSuccess === true)
    if (first !== undefined) this.leaveEarly(first, isSuccess)
    const afters = await this.ports.writer.writeAll(conclusions.map(({ transition }) => transition))
    for (const [index, member] of members.entries()) this.concluded(member, conclusions[index], afters[index])
  }

  /**
   * The attempt is over; `after` is undefined if another process had taken its task. The next attempt begins in the same
   * turn: a stop ends once no attempt is known, and the next one may be committed already.
   */
  private concluded(running: Running, conclusion: Conclusion | undefined, after: Concluded | undefined): void {
    this.remove(running)
    if (after === undefined) this.ports.taken(running.task)
    if (after === undefined || after.isLate) this.dropGrant(running)
    if (after === undefined) return
    conclusion?.tell(after)
    if (after.next !== undefined) this.ports.follow(running.definition, after.next)
    else this.ports.rested(after.settled.task)
  }

  /** The task may have begun again here meanwhile. */
  private remove(running: Running): void {
    if (this.running.get(running.task) === running) this.running.delete(running.task)
  }

  /** The process that took the task over has its grant too, and has given back the slot of its breaker. */
  private dropGrant({ definition, task }: Running): void {
    const { gates, isHere, clock } = this.ports
    if (!isHere(task)) gates.lost(definition, task, clock.nowMs)
  }
}
