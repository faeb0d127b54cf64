/**
 * What is written of an attempt that has ended: its outcome, together with what follows from it. Imports core and its own
 * layer.
 *
 * Invariant: a transition may be asked several times, and changes nothing once the fence has moved.
 */
import type { RetryGates } from '../core/decide.js'
import type { Decided, View } from '../ledger/ledger.js'
import type { TaskRecord } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import type { Activity } from './activity.js'
import type { Started, TaskAdmission } from './admission.js'
import { attemptEndOf, errorOfEnd, verificationOf } from './attempt-end.js'
import type { SplitOff } from './batch.js'
import type { Definition } from './definition.js'
import { endedAt } from './delivery.js'
import type { ExecutionEnd } from './execution.js'
import { failureOf } from './failure-record.js'
import type { GateBook } from './gate-book.js'
import { interrupt, settleLate, splitOff, verified } from './interruption.js'
import { hasQueueGate } from './queue-gate.js'
import type { TaskEvents } from './task-events.js'
import { inOneCommit } from './together.js'
import { type TaskView, type Transition } from './task-writer.js'
import { type AttemptEnd, settle, type Settled } from './transitions.js'

/** An attempt of which something is to be written. */
export interface EndedAttempt {
  readonly definition: Definition
  readonly task: TaskRecord
  /** What its breaker wants to hear with the result. */
  readonly epoch: number
  /** Whether observers have heard of its start. */
  readonly isTold: boolean
}

/** What was written at the end of an attempt: what the task became, and its next attempt if that is due at once. */
export interface Concluded {
  readonly settled: Settled
  readonly next: Started | undefined
  /** The attempt had been charged as lost. */
  readonly isLate: boolean
}

/** What is to be written of an attempt, and told once it is. */
export interface Conclusion {
  readonly transition: Transition<Concluded>
  tell(after: Concluded): void
}

/** What is to be written of the attempt of a plain task. */
interface PlainConclusion {
  readonly isSuccess: boolean
  readonly decide: (view: View) => Decided<Concluded | undefined>
}

export interface ConclusionPorts {
  readonly environment: Environment
  readonly gates: GateBook
  readonly admission: TaskAdmission
  readonly events: TaskEvents
  readonly activity: Activity
}

/** A success needs no decision about a retry, and a plain task has no gates: nobody is asked. */
const NO_RETRY: RetryGates = { breaker: undefined }

export class Conclusions {
  private readonly ports: ConclusionPorts

  constructor(ports: ConclusionPorts) {
    this.ports = ports
  }

  /** Of an attempt that ended, was stopped, or failed as a part of its batch. */
  of(ended: EndedAttempt, end: ExecutionEnd | SplitOff): Conclusion {
    return end.type === 'split' ? this.ofSplit(ended, end) : this.ofEnd(ended, end)
  }

  /** Of an attempt of a plain task: what the transaction decides that has locked the task alone. */
  ofPlain({ definition, task }: EndedAttempt, end: Exclude<ExecutionEnd, { type: 'stopped' }>): PlainConclusion {
    const { environment } = this.ports
    const endOf = this.timeOfEnd()
    const attemptEnd = attemptEndOf(definition, end, task.progress.retry.launched, environment.clock.wallMs())
    const decide = (view: View): Decided<Concluded | undefined> => {
      const current = view.task(task)
      const isHeld = current?.fence === task.fence && current.owner === task.owner && current.status === task.status
      if (!isHeld) return { result: undefined }
      const changes = settle(current, definition.policy, attemptEnd, NO_RETRY, view.now)
      const settled = endedAt(changes, endOf(view.now))
      const next = this.nextOf(definition, settled.task, { now: view.now, isConducted: true })
      const result = { settled, next, isLate: false }
      return next === undefined ? { ...settled, result } : { ...inOneCommit(settled, next), result }
    }
    return { decide, isSuccess: attemptEnd.result === 'success' }
  }

  /** Of a look at an attempt that was interrupted. */
  ofVerification(ended: EndedAttempt, end: ExecutionEnd): Conclusion {
    const { definition } = ended
    const { events } = this.ports
    const found = verificationOf(end)
    const transition = this.transition(ended, { mayRetry: true }, ({ task, now, retryGates }) => {
      if (found === undefined) return interrupt(task, definition.policy, 'verify', true, retryGates, now)
      return verified(task, found, definition.policy, retryGates, now)
    })
    const tell = ({ settled, next }: Concluded): void => {
      if (next === undefined) events.followed(definition, settled.task)
    }
    return { transition, tell }
  }

  private ofEnd(ended: EndedAttempt, end: ExecutionEnd): Conclusion {
    const { definition, task } = ended
    const { environment } = this.ports
    const endOf = this.timeOfEnd()
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
    const transition = this.transition(ended, { settlesGates, mayRetry, acceptsLate, isSuccess }, (view) => {
      const { task: current, now, isBudgetFresh } = view
      const settled = (): Settled | undefined => {
        if (view.isLate) return attemptEnd && settleLate(current, attemptEnd, now)
        if (attemptEnd === undefined) return interrupt(current, definition.policy, rule, true, view.retryGates, now)
        if (hasRun) this.tellBreaker(ended, current, attemptEnd, now)
        if (hasRun && (!isBudgetTold || isBudgetFresh)) this.tellBudget(ended, attemptEnd, now, endOf(now))
        isBudgetTold = true
        const retryGates = attemptEnd.result === 'success' ? NO_RETRY : view.retryGates
        return settle(current, definition.policy, attemptEnd, retryGates, now)
      }
      const changes = settled()
      return changes && endedAt(changes, endOf(now))
    })
    return { transition, tell: (after) => this.tellEnd(ended, end, attemptEnd, after) }
  }

  private ofSplit(ended: EndedAttempt, { error }: SplitOff): Conclusion {
    const { definition, task } = ended
    const endOf = this.timeOfEnd()
    const failure = failureOf(error)
    const transition = this.transition(ended, {}, ({ task: current, now }) =>
      endedAt(splitOff(current, failure, now), endOf(now)),
    )
    return { transition, tell: () => this.ports.events.interrupted(definition, task, true) }
  }

  /** When the attempt ended by the ledger's time: a store that was away meanwhile made it no longer. */
  private timeOfEnd(): (now: number) => number {
    const { environment } = this.ports
    const endedAtMs = environment.exactMs()
    return (now) => now - Math.max(0, Math.floor(environment.exactMs() - endedAtMs))
  }

  /** The outcome, with the next attempt if that is due at once. */
  private transition(
    { definition, task }: EndedAttempt,
    kind: Pick<Transition<unknown>, 'settlesGates' | 'mayRetry' | 'acceptsLate' | 'isSuccess'>,
    change: (view: TaskView) => Settled | undefined,
  ): Transition<Concluded> {
    // Field by field: a spread takes as long as the rest of the call.
    const { settlesGates = false, mayRetry = false, acceptsLate = false, isSuccess = false } = kind
    return {
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
    }
  }

  private nextOf(
    definition: Definition,
    task: TaskRecord,
    view: Pick<TaskView, 'now' | 'isConducted'>,
  ): Started | undefined {
    const isDue = task.status === 'waiting' && (task.dueAtMs as number) <= view.now
    // A claim looks at the gate of the queue, which may be paused by now, puts batches together, and leaves the task to
    // others if they are preferred.
    if (!isDue || hasQueueGate(definition) || definition.batch !== undefined || definition.prefersOthers)
      return undefined
    if (task.progress.unpaid || this.ports.activity.isStopped || !view.isConducted) return undefined
    // The claim refuses it, and says why.
    if (this.ports.gates.faultsOf(definition).length > 0) return undefined
    const started = this.ports.admission.start(definition, task, view.now)
    // The task waits, and is claimed when its gate allows it.
    return 'denial' in started ? undefined : started
  }

  private tellEnd(
    { definition, task, isTold }: EndedAttempt,
    end: ExecutionEnd,
    attemptEnd: AttemptEnd | undefined,
    after: Concluded,
  ): void {
    const { events } = this.ports
    if (!events.isObserved) return
    if (attemptEnd === undefined) {
      events.interrupted(definition, task, true)
      return
    }
    const error = errorOfEnd(end, attemptEnd)
    const { task: settled } = after.settled
    const outcome = { outcome: attemptEnd.result, ...(error !== undefined && { error }) }
    const endedAtMs = after.settled.attempts?.[0]?.endedAtMs ?? settled.updatedAtMs
    if (isTold) events.finished(definition, task, outcome, endedAtMs)
    events.followed(definition, settled, error)
  }

  private tellBreaker(
    { definition, task, epoch }: EndedAttempt,
    current: TaskRecord,
    end: AttemptEnd,
    now: number,
  ): void {
    // Another process took this one for lost, and gave the slot back: the result of the next probe counts instead.
    if (task.progress.current?.probe !== undefined && current.progress.current?.probe === undefined) return
    const breaker = this.ports.gates.breakerOf(definition)
    if (end.result === 'success') breaker?.success(epoch)
    else if (end.isNotYet) breaker?.giveBack(epoch)
    else breaker?.failure(epoch, now)
  }

  private tellBudget({ definition, task }: EndedAttempt, { result }: AttemptEnd, now: number, endedAtMs: number): void {
    const latencyMs = Math.max(0, endedAtMs - (task.progress.current?.startedAtMs ?? endedAtMs))
    this.ports.gates.settle(definition, task, { result, latencyMs, won: result === 'success', now })
  }
}
