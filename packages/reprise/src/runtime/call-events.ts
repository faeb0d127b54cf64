/**
 * What observers are told, made of what the call and its attempts already know. Only called while somebody observes.
 * Events are written out field by field: spreading a common part is ten times slower on Node 20.
 * Imports core and the runtime's types.
 */
import type { Decision } from '../core/budget.js'
import type { RepriseEvent } from '../core/event.js'
import { BudgetPanic } from '../core/gate.js'
import type { BudgetRef } from '../core/policy.js'
import type { AttemptResult, StopReason } from '../core/words.js'
import type { Attempt } from './attempt.js'
import type { CallRecord } from './call-record.js'

export type DecisionMode = Extract<RepriseEvent, { type: 'budget_decision' }>['mode']

export function started(call: CallRecord): void {
  const { environment } = call.plan
  const { key, callId, attempts } = call
  environment.emit({ type: 'call_started', timeMs: environment.stretchMs(), key, callId, attempt: 0, attempts })
}

export function attemptStarted(call: CallRecord, begun: Attempt): void {
  const { environment } = call.plan
  const { key, callId, attempts } = call
  const { attempt, launch, kind, delayBeforeMs, parkedMs, startMs: timeMs } = begun
  if (kind === 'hedge') {
    environment.emit({ type: 'hedge_started', timeMs, key, callId, attempt, attempts, launch })
  }
  environment.emit({
    type: 'attempt_started',
    timeMs,
    key,
    callId,
    attempt,
    attempts,
    launch,
    kind,
    delayBeforeMs,
    parkedMs,
  })
}

export function attemptFinished(call: CallRecord, ended: Attempt): void {
  const { environment } = call.plan
  const { key, callId, attempts } = call
  const { attempt, launch, kind, won, error, endMs: timeMs } = ended
  const outcome = ended.result as Exclude<AttemptResult, 'denied'>
  if (kind === 'hedge' && outcome === 'aborted') {
    environment.emit({ type: 'hedge_cancelled', timeMs, key, callId, attempt, attempts, launch })
  }
  environment.emit({
    type: 'attempt_finished',
    timeMs,
    key,
    callId,
    attempt,
    attempts,
    launch,
    kind,
    outcome,
    durationMs: Math.max(0, ended.endMs - ended.startMs),
    won,
    error,
  })
}

export function decision(call: CallRecord, asked: Attempt, ref: BudgetRef, mode: DecisionMode, answer: Decision): void {
  const { environment } = call.plan
  const { key, callId, attempts } = call
  environment.emit({
    type: 'budget_decision',
    timeMs: environment.stretchMs(),
    key,
    callId,
    attempt: asked.attempt,
    attempts,
    launch: asked.launch,
    kind: asked.kind,
    budget: ref.name,
    cost: ref.cost,
    mode,
    allowed: answer.allowed,
    reason: answer.reason,
    error: answer instanceof BudgetPanic ? answer.error : undefined,
  })
}

export function parked(call: CallRecord, inLine: Attempt): void {
  const { environment } = call.plan
  const { key, callId, attempts } = call
  const timeMs = environment.stretchMs()
  const budget = inLine.budgetRef?.name ?? ''
  const { attempt, launch } = inLine
  environment.emit({ type: 'parked', timeMs, key, callId, attempt, attempts, launch, budget })
}

/** `failures` already counts the attempt that failed. */
export function waiting(call: CallRecord, error: unknown): void {
  const { environment } = call.plan
  const { key, callId, attempts, failures, lastDelayMs: delayMs } = call
  const timeMs = environment.stretchMs()
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

export function succeeded(call: CallRecord, attempt: number): void {
  const { environment } = call.plan
  const { key, callId, attempts, totalDelayMs } = call
  const { attemptsMade, launches } = call.made()
  const timeMs = environment.stretchMs()
  environment.emit({
    type: 'call_succeeded',
    timeMs,
    key,
    callId,
    attempt,
    attempts,
    attemptsMade,
    launches,
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
  const { key, callId, attempts, totalDelayMs } = call
  const { attemptsMade, launches } = call.made()
  const timeMs = environment.stretchMs()
  environment.emit({
    type: 'call_failed',
    timeMs,
    key,
    callId,
    attempt: Math.min(call.attempt, attempts),
    attempts,
    stopReason,
    budgetReason,
    attemptsMade,
    launches,
    totalDelayMs,
    elapsedMs: elapsed(call, timeMs),
    error,
  })
}

function elapsed(call: CallRecord, timeMs: number): number {
  return Math.max(0, timeMs - (call.session?.startedMs ?? timeMs))
}
