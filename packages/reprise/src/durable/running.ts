/**
 * The attempts that run in this process: each is executed after its intent was committed, and its end is written together
 * with what follows from it. Imports core and its own layer.
 *
 * Invariant: the end of an attempt whose task was taken over is not written, since the fence has moved.
 */
import type { RetryGates } from '../core/decide.js'
import type { Ledger } from '../ledger/ledger.js'
import { nameOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import { type Activity, isStopped } from './activity.js'
import type { Started, TaskAdmission } from './admission.js'
import { attemptEndOf, errorOfEnd, verificationOf } from './attempt-end.js'
import type { Definition } from './definition.js'
import { checkpointWriter, lastCheckpointOf } from './checkpoints.js'
import { contextOf, type DurableContext, Execution, type ExecutionEnd } from './execution.js'
import type { GateBook } from './gate-book.js'
import { interrupt, settleLate, verified } from './interruption.js'
import type { LedgerClock } from './ledger-clock.js'
import { hasQueueGate } from './queue-gate.js'
import type { Slots } from './slots.js'
import type { TaskEvents } from './task-events.js'
import { inOneCommit, type TaskView, type TaskWriter, type Transition } from './task-writer.js'
import { type AttemptEnd, settle, type Settled } from './transitions.js'

export interface RunningPorts {
  readonly ledger: Ledger
  readonly environment: Environment
  readonly gates: GateBook
  readonly slots: Slots
  readonly writer: TaskWriter
  readonly admission: TaskAdmission
  readonly events: TaskEvents
  readonly activity: Activity
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

interface Running {
  readonly definition: Definition
  readonly task: TaskRecord
  readonly epoch: number
  readonly execution: Execution
  /** When it was last known that the task is this process's. */
  readonly checkedAtMs: number
  /** From then until the whole task must have ended; undefined without a limit. */
  readonly remainingMs: number | undefined
  /** Whether observers have heard of its start. */
  isTold: boolean
}

type Operation = Definition['run']

/** What was written at the end of an attempt: what the task became, and its next attempt if that is due at once. */
interface Concluded {
  readonly settled: Settled
  readonly next: Started | undefined
  /** The attempt had been charged as lost. */
  readonly isLate: boolean
}

/** A success needs no decision about a retry, so no gate is asked. */
const NO_RETRY: RetryGates = { breaker: undefined }

export class RunningAttempts {
  private readonly ports: RunningPorts
  private readonly running = new Map<string, Running>()

  constructor(ports: RunningPorts) {
    this.ports = ports
  }

  get size(): number {
    return this.running.size
  }

  has(key: TaskKey): boolean {
    return this.running.has(nameOf(key))
  }

  /** Stops one, or all of them. */
  stop(reason: unknown, key?: TaskKey): void {
    if (key !== undefined) this.running.get(nameOf(key))?.execution.stop(reason)
    else for (const { execution } of this.running.values()) execution.stop(reason)
  }

  some(isMeant: (definition: Definition) => boolean): boolean {
    return [...this.running.values()].some(({ definition }) => isMeant(definition))
  }

  stopWhere(isMeant: (definition: Definition) => boolean, reason: unknown): void {
    for (const { definition, execution } of this.running.values()) if (isMeant(definition)) execution.stop(reason)
  }

  /** Its intent is committed. */
  execute(definition: Definition, task: TaskRecord, epoch: number): void {
    const { environment, events, slots, activity, onFailure } = this.ports
    const execution = new Execution(environment.clock)
    const isVerification = task.progress.unverified === true
    const remainingMs = this.remainingOf(definition, task)
    const checkedAtMs = environment.exactMs()
    const running: Running = { definition, task, epoch, execution, checkedAtMs, remainingMs, isTold: false }
    // Another process took the task for lost meanwhile, and it begins here again: nothing else would stop the former.
    const name = nameOf(task)
    const former = this.running.get(name)
    // An error has a stack, which costs more than the rest of this function: it is made only where there is a former.
    if (former !== undefined) former.execution.stop(new Error('The task was taken over, and runs again'))
    this.running.set(name, running)
    slots.occupy()
    const checkpoint = checkpointWriter(this.ports.ledger, task, () => activity.isStopped)
    const context = contextOf(definition, task, () => execution.signal, remainingMs, checkpoint)
    const { attemptTimeoutMs, timeoutMs } = definition.policy
    const limits = { attemptTimeoutMs, remainingMs, timeoutMs }
    const { verify, run } = definition
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
    void execution.ended
      .then((end) => (isVerification ? this.concludeVerification(running, end) : this.conclude(running, end)))
      .finally(() => this.leave(running))
      .catch(onFailure)
  }

  /** With the task's last checkpoint, which is read only where there is one. */
  private call(operation: Operation, running: Running, context: DurableContext): unknown {
    const { task, execution } = running
    const { ledger, activity, onFailure } = this.ports
    if (task.progress.checkpoint === undefined)
      return this.mayCall(running) ? operation(task.input as never, context as DurableContext<never>) : undefined
    return lastCheckpointOf(ledger, task, () => activity.isStopped).then(
      (lastCheckpoint) => {
        // Stopped or out of time while it was read: the end is recorded, and the function must not begin after it.
        if (!this.mayCall(running)) return undefined
        Object.defineProperty(context, 'lastCheckpoint', { value: lastCheckpoint, enumerable: true })
        return operation(task.input as never, context as DurableContext<never>)
      },
      (error: unknown) => {
        // Not a failure of the attempt: nothing of it has begun.
        execution.stop(error, false)
        onFailure(error)
      },
    )
  }

  /**
   * Asked right before the operation is called: the process may have been suspended (SIGSTOP, a virtual machine that
   * slept) since the attempt was committed. An attempt that is out of time by then ends with `timeout`, and one whose
   * lease has passed is given back, both without having started.
   */
  private mayCall({ definition, task, execution, checkedAtMs, remainingMs }: Running): boolean {
    if (execution.isOver) return false
    const { environment, leaseMs } = this.ports
    const passedMs = environment.exactMs() - checkedAtMs
    const isLate = remainingMs !== undefined && passedMs >= remainingMs && task.progress.unverified !== true
    if (isLate) execution.expire(definition.name, definition.policy.timeoutMs ?? remainingMs)
    else if (passedMs >= leaseMs)
      execution.stop(new Error('The process was suspended for longer than its lease'), false)
    return !execution.isOver
  }

  /** Never more than the whole: the clock may have been set back since. Less what has passed since the commit. */
  private remainingOf({ policy }: Definition, { progress, updatedAtMs }: TaskRecord): number | undefined {
    const { deadlineAtMs } = progress.retry
    if (deadlineAtMs === null) return undefined
    return Math.min(deadlineAtMs - updatedAtMs, policy.timeoutMs ?? Infinity) - this.ports.clock.since(updatedAtMs)
  }

  /** The attempt that follows has taken its own slot by now. */
  private leave(running: Running): void {
    this.remove(running)
    this.ports.slots.give()
    this.ports.left(running.definition)
  }

  /** Stops attempts whose task was cancelled or taken over by another process. */
  async stopLost(): Promise<void> {
    const { ledger } = this.ports
    // All at once: a store that is far away is asked once.
    const looks = Array.from(this.running.values(), async ({ task, execution }) => {
      const now = await ledger.get(task)
      if (now?.fence !== task.fence) execution.stop(new Error('The task was cancelled, or another process has it'))
    })
    await Promise.all(looks)
  }

  // ── the end of an attempt ──────────────────────────────────────────────────────────────────────

  private async conclude(running: Running, end: ExecutionEnd): Promise<void> {
    const { definition, task } = running
    const { environment } = this.ports
    const attemptEnd =
      end.type === 'stopped'
        ? undefined
        : attemptEndOf(definition, end, task.progress.retry.launched, environment.clock.wallMs())
    const rule = end.type === 'stopped' && !end.started ? 'rerun' : definition.onInterrupt
    let isBudgetTold = false
    // Of an attempt that did not run the gates learn nothing: what they granted goes back unused.
    const hasRun = end.type !== 'call_timeout' || end.started
    const settlesGates = attemptEnd !== undefined && hasRun
    const mayRetry = settlesGates && attemptEnd.result !== 'success'
    const acceptsLate = definition.onInterrupt === 'charge'
    const isSuccess = attemptEnd?.result === 'success'
    const after = await this.write(running, { settlesGates, mayRetry, acceptsLate, isSuccess }, (view) => {
      const { task: current, now, isBudgetFresh } = view
      if (view.isLate) return attemptEnd && settleLate(current, attemptEnd, now)
      if (attemptEnd === undefined) return interrupt(current, definition.policy, rule, true, view.retryGates, now)
      if (hasRun) this.tellBreaker(running, current, attemptEnd, now)
      if (hasRun && (!isBudgetTold || isBudgetFresh)) this.tellBudget(running, attemptEnd, now)
      isBudgetTold = true
      const retryGates = attemptEnd.result === 'success' ? NO_RETRY : view.retryGates
      return settle(current, definition.policy, attemptEnd, retryGates, now)
    })
    if (!this.forget(running, after)) return
    this.emitEnd(running, end, attemptEnd, after)
    this.follow(definition, after)
  }

  private async concludeVerification(running: Running, end: ExecutionEnd): Promise<void> {
    const { definition } = running
    const { events } = this.ports
    const found = verificationOf(end)
    const after = await this.write(running, { mayRetry: true }, ({ task, now, retryGates }) => {
      if (found === undefined) return interrupt(task, definition.policy, 'verify', true, retryGates, now)
      return verified(task, found, definition.policy, retryGates, now)
    })
    if (!this.forget(running, after)) return
    if (after.next === undefined) events.followed(definition, after.settled.task)
    this.follow(definition, after)
  }

  /** The outcome, with the next attempt if that is due at once; undefined if another process has taken the task. */
  private write(
    running: Running,
    kind: Pick<Transition<unknown>, 'settlesGates' | 'mayRetry' | 'acceptsLate' | 'isSuccess'>,
    change: (view: TaskView) => Settled | undefined,
  ): Promise<Concluded | undefined> {
    const { definition, task } = running
    // Field by field: a spread takes as long as the rest of the call.
    const { settlesGates = false, mayRetry = false, acceptsLate = false, isSuccess = false } = kind
    return this.ports.writer.write<Concluded>({
      settlesGates,
      mayRetry,
      acceptsLate,
      isSuccess,
      definition,
      key: task,
      heldAs: task,
      isOutcome: true,
      decide: (view) => {
        const settled = change(view)
        if (settled === undefined) return undefined
        const next = this.nextOf(definition, settled.task, view)
        const changes = next === undefined ? settled : inOneCommit(settled, next)
        return { changes, result: { settled, next, isLate: view.isLate } }
      },
    })
  }

  /**
   * The attempt is over; false if another process had taken its task. `follow` comes in the same turn: a stop ends once no
   * attempt is known, and the next one may be committed already.
   */
  private forget(running: Running, after: Concluded | undefined): after is Concluded {
    this.remove(running)
    if (after === undefined) this.ports.taken(running.task)
    if (after === undefined || after.isLate) this.dropGrant(running)
    return after !== undefined
  }

  private nextOf(definition: Definition, task: TaskRecord, view: TaskView): Started | undefined {
    const isDue = task.status === 'waiting' && (task.dueAtMs as number) <= view.now
    // A claim looks at the gate of the queue, which may be paused by now, and leaves the task to others if they are preferred.
    if (!isDue || hasQueueGate(definition) || definition.prefersOthers) return undefined
    if (task.progress.unpaid || this.ports.activity.isStopped || !view.isConducted) return undefined
    const started = this.ports.admission.start(definition, task, view.now)
    // The task waits, and is claimed when its gate allows it.
    return 'denial' in started ? undefined : started
  }

  private follow(definition: Definition, { settled, next }: Concluded): void {
    if (next !== undefined) this.ports.follow(definition, next)
    else this.ports.rested(settled.task)
  }

  private emitEnd(running: Running, end: ExecutionEnd, attemptEnd: AttemptEnd | undefined, after: Concluded): void {
    const { events } = this.ports
    if (!events.isObserved) return
    const { definition, task } = running
    if (attemptEnd === undefined) {
      events.interrupted(definition, task, true)
      return
    }
    const error = errorOfEnd(end, attemptEnd)
    const { task: settled } = after.settled
    const outcome = { outcome: attemptEnd.result, ...(error !== undefined && { error }) }
    if (running.isTold) events.finished(definition, task, outcome, settled.updatedAtMs)
    events.followed(definition, settled, error)
  }

  /** The task may have begun again here meanwhile. */
  private remove(running: Running): void {
    const name = nameOf(running.task)
    if (this.running.get(name) === running) this.running.delete(name)
  }

  /** The process that took the task over has its grant too, and has given back the slot of its breaker. */
  private dropGrant({ definition, task }: Running): void {
    const { gates, isHere, clock } = this.ports
    if (!isHere(task)) gates.lost(definition, task, clock.nowMs)
  }

  private tellBreaker(running: Running, current: TaskRecord, end: AttemptEnd, now: number): void {
    const { definition, task, epoch } = running
    // Another process took this one for lost, and gave the slot back: the result of the next probe counts instead.
    if (task.progress.current?.probe !== undefined && current.progress.current?.probe === undefined) return
    const breaker = this.ports.gates.breakerOf(definition)
    if (end.result === 'success') breaker?.success(epoch)
    else breaker?.failure(epoch, now)
  }

  private tellBudget({ definition, task }: Running, { result }: AttemptEnd, now: number): void {
    const latencyMs = now - (task.progress.current?.startedAtMs ?? now)
    this.ports.gates.settle(definition, task, { result, latencyMs, won: result === 'success', now })
  }
}
