/**
 * The events of durable tasks for observers: emitted after the commit that made them true, with the types of every other
 * call. The id of the call comes from the task's correlation id, so that it is the same in every process. Imports core,
 * the runtime's environment and its own layer.
 */
import type { Decision } from '../core/budget.js'
import type { EventBase, RepriseEvent } from '../core/event.js'
import type { AttemptResult } from '../core/words.js'
import type { StoreAvailability } from '../ledger/ledger.js'
import type { TaskRecord } from '../ledger/records.js'
import { signatureOf } from '../ledger/signature.js'
import type { Environment } from '../runtime/environment.js'
import type { Definition } from './definition.js'
import { errorOf } from './failure-record.js'
import type { HoldListener } from './holds.js'

type Mode = Extract<RepriseEvent, { type: 'budget_decision' }>['mode']
type EventDetail = RepriseEvent extends infer Event
  ? Event extends RepriseEvent
    ? Omit<Event, keyof EventBase>
    : never
  : never

type QueueEvent = Extract<EventDetail, { type: 'queue_held' | 'queue_released' }>

/** How an attempt ended, for observers. */
export interface Finish {
  readonly outcome: Exclude<AttemptResult, 'denied'>
  /** As it was thrown; of an attempt that another process made, what the ledger knows. */
  readonly error?: unknown
}

export class TaskEvents {
  private readonly environment: Environment

  constructor(environment: Environment) {
    this.environment = environment
  }

  get isObserved(): boolean {
    return this.environment.observed
  }

  created(definition: Definition, task: TaskRecord): void {
    this.emit(definition, task, { type: 'call_started' })
  }

  decision(definition: Definition, task: TaskRecord, mode: Mode, { allowed, reason }: Decision): void {
    const { budget } = definition.policy
    if (budget === undefined) return
    const launch = task.progress.current?.attempt ?? task.progress.retry.launched + 1
    const { name, cost } = budget
    this.emit(definition, task, {
      type: 'budget_decision',
      launch,
      kind: 'retry',
      budget: name,
      cost,
      mode,
      allowed,
      reason,
    })
  }

  parked(definition: Definition, task: TaskRecord): void {
    const launch = task.progress.retry.launched + 1
    this.emit(definition, task, { type: 'parked', launch, budget: definition.policy.budget?.name ?? '' })
  }

  began(definition: Definition, task: TaskRecord): void {
    const { current, retry } = task.progress
    const launch = current?.attempt ?? retry.launched
    const delayBeforeMs = retry.lastDelayMs
    this.emit(definition, task, { type: 'attempt_started', launch, kind: 'retry', delayBeforeMs, parkedMs: 0 })
  }

  /** `task` as it was while the attempt ran. */
  finished(definition: Definition, task: TaskRecord, { outcome, error }: Finish, endMs: number): void {
    const { current, retry } = task.progress
    this.emit(definition, task, {
      type: 'attempt_finished',
      launch: current?.attempt ?? retry.launched,
      kind: 'retry',
      outcome,
      durationMs: Math.max(0, endMs - (current?.startedAtMs ?? endMs)),
      won: outcome === 'success',
      ...(error !== undefined && { error }),
    })
  }

  /** What follows from an end: a wait, or that the task is over. */
  followed(definition: Definition, task: TaskRecord, error?: unknown): void {
    const { retry, lastFailure, budgetReason } = task.progress
    const cause = error ?? errorOf(lastFailure)
    if (task.status === 'waiting') {
      const [delayMs, nextAttempt] = [retry.lastDelayMs, retry.failures + 1]
      this.emit(definition, task, { type: 'waiting', delayMs, nextAttempt, error: cause })
      return
    }
    const sums = {
      attemptsMade: retry.launched,
      launches: retry.launched,
      totalDelayMs: retry.totalDelayMs,
      elapsedMs: Math.max(0, task.updatedAtMs - task.createdAtMs),
    }
    if (task.status === 'succeeded') this.emit(definition, task, { type: 'call_succeeded', ...sums })
    if (task.status !== 'failed' && task.status !== 'cancelled') return
    const stopReason = task.stopReason ?? 'aborted'
    this.emit(definition, task, {
      type: 'call_failed',
      stopReason,
      ...(budgetReason !== undefined && { budgetReason }),
      ...sums,
      error: cause,
    })
    if (task.status === 'failed')
      this.emit(definition, task, { type: 'dead_lettered', signature: signatureOf(lastFailure) })
  }

  /** `task` as it was while the attempt ran. */
  interrupted(definition: Definition, task: TaskRecord, orderly: boolean): void {
    const { current } = task.progress
    if (current === null) return
    const { attempt: launch, execution } = current
    this.emit(definition, task, { type: 'interrupted', launch, execution, orderly })
  }

  resumed(definition: Definition, task: TaskRecord, from: string): void {
    this.emit(definition, task, { type: 'resumed', from })
  }

  reset(definition: Definition, task: TaskRecord): void {
    this.emit(definition, task, { type: 'reset', generation: task.generation })
  }

  refused(definition: Definition, task: TaskRecord, faults: readonly string[]): void {
    this.emit(definition, task, { type: 'state_refused', faults })
  }

  /** What a resume has found, of all tasks together. */
  restored(found: Omit<Extract<EventDetail, { type: 'restored' }>, 'type'>): void {
    if (!this.isObserved) return
    const base = { timeMs: this.environment.exactMs(), key: '', callId: 0, attempt: 0, attempts: 0 }
    this.environment.emit({ type: 'restored', ...found, ...base })
  }

  /** Of queues, by name; a queue that this program does not know is not told of. */
  ofQueues(definitionOf: (queue: string) => Definition | undefined): HoldListener {
    return {
      held: (queue, { gate, reason, waitMs }) => {
        const wait = waitMs === undefined || waitMs === Infinity ? {} : { waitMs }
        this.emitQueue(definitionOf(queue), { type: 'queue_held', gate, reason, ...wait })
      },
      released: (queue, { gate }) => this.emitQueue(definitionOf(queue), { type: 'queue_released', gate }),
    }
  }

  /** The store is away, or back. */
  ofStore(store: string): (state: StoreAvailability) => void {
    return (state) => {
      if (!this.isObserved) return
      const base = { timeMs: this.environment.exactMs(), key: '', callId: 0, attempt: 0, attempts: 0, store }
      const event = state.isAway
        ? { type: 'store_away' as const, reason: state.reason }
        : { type: 'store_back' as const, awayMs: state.awayMs }
      this.environment.emit({ ...base, ...event })
    }
  }

  private emitQueue(definition: Definition | undefined, event: QueueEvent): void {
    if (!this.isObserved || definition === undefined) return
    const { name, policy, scopeKind, scope } = definition
    const base = { timeMs: this.environment.exactMs(), key: name, callId: 0, attempt: 0, attempts: policy.attempts }
    this.environment.emit({ ...event, ...base, scopeKind, scope })
  }

  private emit(definition: Definition, task: TaskRecord, event: EventDetail): void {
    if (!this.isObserved) return
    const { name, policy } = definition
    const { resumeId } = task.progress
    this.environment.emit({
      ...event,
      timeMs: this.environment.exactMs(),
      key: name,
      callId: callIdOf(task),
      taskId: task.id,
      scopeKind: task.scopeKind,
      scope: task.scope,
      correlationId: task.correlationId,
      ...(resumeId !== undefined && { resumeId }),
      attempt: 'launch' in event ? event.launch : attemptOf(event, task),
      attempts: policy.attempts,
    })
  }
}

/** n of "attempt n/N": of a failure the attempt that failed, of a start the one that starts. */
function attemptOf({ type }: EventDetail, { progress, status }: TaskRecord): number {
  const { failures } = progress.retry
  if (type === 'call_started') return 0
  return status === 'running' || status === 'parked' ? failures + 1 : Math.max(failures, progress.retry.launched)
}

/** The first 52 bits of the correlation id: a whole number in every language. */
function callIdOf({ correlationId }: TaskRecord): number {
  const id = Number.parseInt(correlationId.replaceAll('-', '').slice(0, 13), 16)
  return Number.isNaN(id) ? 0 : id
}
