/**
 * What observers are told, made of what the call and its attempts already know. Only called while somebody observes.
 * Events are written out field by field: spreading a common part is ten times slower on Node 20.
 * Imports core and the runtime's types.
 */
import type { Decision } from '../core/budget.js'
import type { RepriseEvent } from '../core/event.js'
import type { BudgetRef } from '../core/policy.js'
import type { AttemptResult, StopReason } from '../core/words.js'
import type { Attempt } from './attempt.js'
import type { CallRecord } from './call-record.js'

export type DecisionMode = Extract<RepriseEvent, { type: 'budget_decision' }>['mode']

export function started(call: CallRecord): void {
  const { environment } = call.plan
  const { key, callId, attempts } = call
  environment.emit({ type: 'call_started', timeMs: environment.exactMs(), key, callId, attempt: 0, attempts })
}

export function attemptStarted(call: CallRecord, launch: Attempt): void {
  const { environment } = call.plan
  const { key, callId, attempts } = call
  const { attempt: number, kind, delayBeforeMs, parkedMs, group: attempt } = launch
  const timeMs = launch.startMs
  if (kind === 'hedge') {
    environment.emit({ type: 'hedge_started', timeMs, key, callId, attempt, attempts, number })
  }
  environment.emit({
    type: 'attempt_started',
    timeMs,
    key,
    callId,
    attempt,
    attempts,
    number,
    kind,
    delayBeforeMs,
    parkedMs,
  })
}

export function attemptFinished(call: CallRecord, launch: Attempt): void {
  const { environment } = call.plan
  const { key, callId, attempts } = call
  const { attempt: number, kind, won, error, group: attempt } = launch
  const timeMs = launch.endMs
  const outcome = launch.result as Exclude<AttemptResult, 'denied'>
  if (kind === 'hedge' && outcome === 'aborted') {
    environment.emit({ type: 'hedge_cancelled', timeMs, key, callId, attempt, attempts, number })
  }
  environment.emit({
    type: 'attempt_finished',
    timeMs,
    key,
    callId,
    attempt,
    attempts,
    number,
    kind,
    outcome,
    durationMs: Math.max(0, launch.endMs - launch.startMs),
    won,
    error,
  })
}

export function decision(
  call: CallRecord,
  launch: Attempt,
  ref: BudgetRef,
  mode: DecisionMode,
  answer: Decision,
): void {
  const { environment } = call.plan
  const { key, callId, attempts } = call
  environment.emit({
    type: 'budget_decision',
    timeMs: environment.exactMs(),
    key,
    callId,
    attempt: launch.group,
    attempts,
    number: launch.attempt,
    kind: launch.kind,
    budget: ref.name,
    cost: ref.cost,
    mode,
    allowed: answer.allowed,
    reason: answer.reason,
  })
}

export function parked(call: CallRecord, launch: Attempt): void {
  const { environment } = call.plan
  const { key, callId, attempts } = call
  const timeMs = environment.exactMs()
  const budget = launch.budgetRef?.name ?? ''
  const { group: attempt, attempt: number } = launch
  environment.emit({ type: 'parked', timeMs, key, callId, attempt, attempts, number, budget })
}

/** `failures` already counts the attempt that failed. */
export function waiting(call: CallRecord, error: unknown): void {
  const { environment } = call.plan
  const { key, callId, attempts, failures, lastDelayMs: delayMs } = call
  const timeMs = environment.exactMs()
  const nextAttempt = failures + 1
  environment.emit({
    type: 'waiting',
    timeMs,
    key,
    callId,
    attempt: failures,
    attempts,
    delayMs,
    nextAttempt,
    error,
  })
}

export function succeeded(call: CallRecord, group: number): void {
  const { environment } = call.plan
  const { key, callId, attempts, launched: attemptsMade, totalDelayMs } = call
  const timeMs = environment.exactMs()
  environment.emit({
    type: 'call_succeeded',
    timeMs,
    key,
    callId,
    attempt: group,
    attempts,
    attemptsMade,
    totalDelayMs,
    elapsedMs: elapsed(call, timeMs),
  })
}

export function failed(
  call: CallRecord,
  stopReason: StopReason,
  budgetReason: string | undefined,
  error: unknown,
): void {
  const { environment } = call.plan
  const { key, callId, attempts, launched: attemptsMade, totalDelayMs } = call
  const timeMs = environment.exactMs()
  environment.emit({
    type: 'call_failed',
    timeMs,
    key,
    callId,
    attempt: Math.min(call.group, attempts),
    attempts,
    stopReason,
    budgetReason,
    attemptsMade,
    totalDelayMs,
    elapsedMs: elapsed(call, timeMs),
    error,
  })
}

function elapsed(call: CallRecord, timeMs: number): number {
  return Math.max(0, timeMs - (call.session?.startedMs ?? timeMs))
}
