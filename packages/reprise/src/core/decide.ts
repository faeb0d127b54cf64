/**
 * The one place where a retry is decided.
 *
 * `decide` is asked after an attempt and answers succeed, retry or stop; `admit` is asked before one and answers start,
 * park or stop. Both are pure: time, chance and the gates are arguments, the state is read and never written. A driver
 * applies a retry with `advance`, waits until `dueAtMs`, and asks `admit`. Order of the checks is part of the contract:
 * the first that stops names the reason. Imports core only.
 */
import { backoffDelay } from './backoff.js'
import { REFUSED, type Breaker } from './breaker.js'
import type { Decision } from './budget.js'
import type { Policy } from './policy.js'
import type { RetryState } from './state.js'
import type { Draw } from './time.js'
import type { BreakerPhase, StopReason } from './words.js'

export type Outcome =
  | { readonly type: 'success' }
  | { readonly type: 'aborted' }
  | { readonly type: 'failure'; readonly retryable: boolean; readonly retryAfterMs: number | undefined }

export interface RetryVerdict {
  readonly type: 'retry'
  readonly delayMs: number
  readonly dueAtMs: number
  readonly expiresAtMs: number | null
}

interface StopVerdict {
  readonly type: 'stop'
  readonly reason: StopReason
}

export type Verdict = { readonly type: 'succeed' } | RetryVerdict | StopVerdict

/** What may still forbid a retry that the policy alone would make; each is asked at most once, in this order. */
export interface RetryGates {
  /** A count that is charged at the failure, before the wait. */
  allot?(): boolean
  readonly breaker: Breaker | undefined
  /** Would the gate budget allow it once the wait is over? Consumes nothing. */
  peek?(dueAtMs: number): boolean
}

const SUCCEED: Verdict = Object.freeze({ type: 'succeed' })
const stops = new Map<StopReason, StopVerdict>()

function stop(reason: StopReason): StopVerdict {
  let verdict = stops.get(reason)
  if (verdict === undefined) {
    verdict = Object.freeze({ type: 'stop', reason })
    stops.set(reason, verdict)
  }
  return verdict
}

export function decide(
  policy: Policy,
  state: RetryState,
  outcome: Outcome,
  now: number,
  draw: Draw,
  gates: RetryGates,
): Verdict {
  if (outcome.type === 'aborted') return stop('aborted')
  if (outcome.type === 'success') return SUCCEED
  if (!outcome.retryable) return stop('not_retryable')
  const failures = state.failures + 1
  if (failures >= policy.attempts) return stop('attempts_exhausted')

  const backoffMs = backoffDelay(policy, failures, state.lastDelayMs, draw)
  const retryAfterMs = outcome.retryAfterMs ?? 0
  if (retryAfterMs > policy.maxRetryAfterMs) return stop('retry_after_too_long')
  const delayMs = Math.max(backoffMs, retryAfterMs)

  const budgetMs = policy.retryBudgetMs
  const expiresAtMs = state.expiresAtMs ?? (budgetMs === undefined ? null : now + budgetMs)
  if (budgetMs !== undefined && state.totalDelayMs + delayMs > budgetMs) return stop('retry_budget_exhausted')
  if (isExpired(state, now)) return stop('retry_budget_exhausted')

  const dueAtMs = now + delayMs
  if (state.deadlineAtMs !== null && dueAtMs >= state.deadlineAtMs) return stop('timeout')
  if (gates.allot !== undefined && !gates.allot()) return stop('budget_denied')
  if (gates.breaker?.refusesAt(dueAtMs)) return stop('breaker_open')
  if (gates.peek !== undefined && !gates.peek(dueAtMs)) return stop('budget_denied')
  return { type: 'retry', delayMs, dueAtMs, expiresAtMs }
}

/** Applies a retry to the state its owner keeps. */
export function advance(state: RetryState, verdict: RetryVerdict): void {
  state.failures++
  state.totalDelayMs += verdict.delayMs
  state.lastDelayMs = verdict.delayMs
  state.expiresAtMs = verdict.expiresAtMs
}

/** Before and after a resume the delay sum counts; after one the date does too. */
function isExpired(state: RetryState, now: number): boolean {
  return state.resumed && state.expiresAtMs !== null && now >= state.expiresAtMs
}

// ── before an attempt ────────────────────────────────────────────────────────────────────────────

/** What is asked before an attempt. `now` may be a getter: it is read only where something depends on it. */
export interface LaunchGates {
  readonly aborted: boolean
  readonly now: number
  /**
   * What the expiry of a resumed call is compared with: the later of its due time and the time of taking it up, so that
   * waiting for a free worker does not let the budget expire. `now` when absent.
   */
  readonly dueMs?: number
  readonly breaker: Breaker | undefined
  /** Asks the budget, once; a grant handed out of the line is answered instead of asking again. */
  ask(): Decision
  /** Whether a denial is a place in line rather than an end. */
  readonly parks: boolean
}

export interface Start {
  readonly type: 'start'
  /** What the breaker wants to hear with the result; 0 without one. */
  readonly epoch: number
  /** The breaker's phase as of the admission. */
  readonly breaker: BreakerPhase | undefined
  readonly decision: Decision
}

export interface Stop {
  readonly type: 'stop'
  readonly reason: StopReason
  /** What the budget said, if it was asked. */
  readonly decision: Decision | undefined
}

export type Admission = Start | { readonly type: 'park'; readonly decision: Decision } | Stop

export function admit(state: RetryState, gates: LaunchGates): Admission {
  if (gates.aborted) return refuse('aborted')
  const late = state.deadlineAtMs === null && !state.resumed ? undefined : tooLate(state, gates)
  if (late !== undefined) return refuse(late)
  const { breaker } = gates
  // A closed breaker takes no slot and needs no clock.
  const phase = breaker === undefined || breaker.closed ? breaker && 'closed' : 'half_open'
  const epoch = breaker === undefined ? 0 : breaker.admit(phase === 'closed' ? 0 : gates.now)
  if (epoch === REFUSED) return refuse('breaker_open')
  const decision = phase === 'half_open' ? askOrGiveBack(gates, epoch) : gates.ask()
  if (decision.allowed) return { type: 'start', epoch, breaker: phase, decision }
  breaker?.giveBack(epoch)
  return gates.parks ? { type: 'park', decision } : { type: 'stop', reason: 'budget_denied', decision }
}

/** The deadline counts for every attempt, the expiry of a resumed call for its retries. */
function tooLate(state: RetryState, gates: LaunchGates): StopReason | undefined {
  if (state.deadlineAtMs !== null && gates.now >= state.deadlineAtMs) return 'timeout'
  return state.failures > 0 && isExpired(state, gates.dueMs ?? gates.now) ? 'retry_budget_exhausted' : undefined
}

function refuse(reason: StopReason): Admission {
  return { type: 'stop', reason, decision: undefined }
}

/** A budget that throws must not keep a probe's slot. */
function askOrGiveBack(gates: LaunchGates, epoch: number): Decision {
  try {
    return gates.ask()
  } catch (error) {
    gates.breaker?.giveBack(epoch)
    throw error
  }
}
