/**
 * The one place where a retry is decided.
 *
 * `decide` is asked after an attempt and answers succeed, retry or stop; `admit` is asked before one and answers start,
 * park or stop. Both are pure: time, chance and the gates are arguments, the state is read and never written. A driver
 * applies a retry with `advance`, waits until `dueAtMs`, and asks `admit`. Order of the checks is part of the contract:
 * the first that stops names the reason. Imports core only.
 */
import { type BackoffDelay, backoffDelay } from './backoff.js'
import { REFUSED, type Breaker } from './breaker.js'
import type { Decision } from './budget.js'
import { ALLOWED } from './gate.js'
import type { Policy } from './policy.js'
import type { RetryState } from './state.js'
import type { Draw } from './time.js'
import type { BreakerPhase, StopReason } from './words.js'

/** How an attempt ended, as far as the decision depends on it. */
export type Outcome =
  | { readonly type: 'success' }
  | { readonly type: 'aborted' }
  | {
      readonly type: 'failure'
      /** Whether the policy retries such a failure: see `isRetryable`. */
      readonly retryable: boolean
      /** The wait that the failure asks for: see `retryAfterMs`; undefined if it asks for none. */
      readonly retryAfterMs: number | undefined
    }

/** The call goes on: the next attempt is due after the wait. */
export interface RetryVerdict {
  readonly type: 'retry'
  /** The wait, jitter included. */
  readonly delayMs: number
  /** When the wait is over, on the scale of `now`. */
  readonly dueAtMs: number
  /** The end of the policy's retry budget; null without one. */
  readonly expiresAtMs: number | null
  /**
   * The allotment has charged nothing yet: it is asked again when the wait is over.
   * @default the retry is paid, or free
   * @example const parked = { type: 'retry', delayMs: 5_000, dueAtMs: 6_000, expiresAtMs: null, postponed: true } as const
   */
  readonly postponed?: true
}

/** The answer of an allotment. */
export interface AllotmentDecision extends Decision {
  /**
   * The retry is neither charged nor denied: after this time the allotment is asked again, in place of the backoff.
   * @default the retry is charged, or denied
   * @example const parked = { allowed: true, reason: 'parked', postponeMs: 5_000 }
   */
  readonly postponeMs?: number
}

interface StopVerdict {
  readonly type: 'stop'
  /** Why the call stops. */
  readonly reason: StopReason
  /** The allotment's own word, where it is what stops. */
  readonly budgetReason?: string
}

/** What follows from an outcome: the call succeeds, retries or stops. */
export type Verdict = { readonly type: 'succeed' } | RetryVerdict | StopVerdict

/** What may still forbid a retry that the policy alone would make; each is asked at most once, in this order. */
export interface RetryGates {
  /** The call's breaker; undefined without one. */
  readonly breaker: Breaker | undefined
  /**
   * Would the gate budget allow it once the wait is over? Consumes nothing.
   * @default none: the budget is asked only when the wait is over
   * @example const gates = { breaker: undefined, peek: (dueAtMs: number) => budget.peek({ ...request, now: dueAtMs }) }
   */
  peek?(dueAtMs: number): boolean
  /**
   * A count that is charged at the failure, before the wait. Last, since a call that stops must not be charged.
   * @default none: nothing is charged
   * @example
   * let left = 3
   * const allot = () => (left-- > 0 ? { allowed: true, reason: 'allowed' } : { allowed: false, reason: 'used_up' })
   */
  allot?(): AllotmentDecision
}

const SUCCEED: Verdict = Object.freeze({ type: 'succeed' })
function stop(reason: StopReason): StopVerdict {
  return { type: 'stop', reason }
}

/**
 * Decides what follows from an outcome. Pure: time and randomness are arguments, and the state is not changed;
 * `advance` applies a retry to it.
 * @example
 * const failed = { type: 'failure', retryable: true, retryAfterMs: undefined } as const
 * const verdict = decide(policy, state, failed, clock.monotonicMs(), drawsOf(42), { breaker: undefined })
 * if (verdict.type === 'retry') advance(state, verdict)
 */
export function decide(
  policy: Policy,
  state: RetryState,
  outcome: Outcome,
  now: number,
  draw: Draw,
  gates: RetryGates,
): Verdict {
  return decideBy(backoffDelay, policy, state, outcome, now, draw, gates)
}

/** `decide` with the computation of waits as an argument: see `plainBackoffDelay`. */
export function decideBy(
  delayOf: BackoffDelay,
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

  const backoffMs = delayOf(policy, failures, state.lastDelayMs, draw)
  const retryAfterMs = outcome.retryAfterMs ?? 0
  if (retryAfterMs > policy.maxRetryAfterMs) return stop('retry_after_too_long')
  const delayMs = Math.max(backoffMs, retryAfterMs)

  const budgetMs = policy.retryBudgetMs
  const expiresAtMs = state.expiresAtMs ?? (budgetMs === undefined ? null : now + budgetMs)
  if (budgetMs !== undefined && state.totalDelayMs + delayMs > budgetMs) return stop('retry_budget_exhausted')
  if (isExpired(state, now)) return stop('retry_budget_exhausted')

  const dueAtMs = now + delayMs
  if (state.deadlineAtMs !== null && dueAtMs >= state.deadlineAtMs) return stop('timeout')
  if (gates.breaker?.refusesAt(dueAtMs)) return stop('breaker_open')
  if (gates.peek !== undefined && !gates.peek(dueAtMs)) return stop('budget_denied')
  const allotted = gates.allot?.()
  if (allotted?.allowed === false) return { type: 'stop', reason: 'budget_denied', budgetReason: allotted.reason }
  const postponeMs = allotted?.postponeMs
  if (postponeMs === undefined) return { type: 'retry', delayMs, dueAtMs, expiresAtMs }
  return { type: 'retry', delayMs: postponeMs, dueAtMs: now + postponeMs, expiresAtMs, postponed: true }
}

/**
 * Applies a retry to the state that its owner keeps.
 * @example
 * const verdict = { type: 'retry', delayMs: 100, dueAtMs: 1100, expiresAtMs: null } as const
 * advance(state, verdict)
 */
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
  /** Whether the caller has aborted the call. */
  readonly aborted: boolean
  /** The time, on the scale of the state. */
  readonly now: number
  /**
   * What the expiry of a resumed call is compared with: the later of its due time and the time of taking it up, so that
   * waiting for a free worker does not let the budget expire.
   * @default `now`
   * @example const gates = { now: 5_000, dueMs: 4_000 }
   */
  readonly dueMs?: number
  /** The call's breaker; undefined without one. */
  readonly breaker: Breaker | undefined
  /**
   * Asks the budget, once; a grant handed out of the line is answered instead of asking again.
   * @example const gates = { aborted: false, now: 0, breaker, parks: false, ask: () => budget.allowAttempt(request) }
   */
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
  /** The answer of the budget. */
  readonly decision: Decision
}

export interface Stop {
  readonly type: 'stop'
  /** Why the call stops. */
  readonly reason: StopReason
  /** What the budget said, if it was asked. */
  readonly decision: Decision | undefined
}

/** Whether an attempt may start, has to wait in a budget's line (`park`), or the call stops. */
export type Admission =
  | Start
  | {
      readonly type: 'park'
      /** The answer of the budget. */
      readonly decision: Decision
    }
  | Stop

/** What most attempts with a budget get: nothing is made for them. */
const START_ALLOWED: Start = Object.freeze({ type: 'start', epoch: 0, breaker: undefined, decision: ALLOWED })

/**
 * Decides whether an attempt may start now: not aborted, in time, let through by the breaker and allowed by the budget,
 * asked in this order.
 * @example
 * const gates = { aborted: false, now: 0, breaker, parks: false, ask: () => budget.allowAttempt(request) }
 * const admission = admit(state, gates)
 * if (admission.type === 'start') await fetchPrice('tea')
 */
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
  if (decision.allowed) {
    const isUsual = decision === ALLOWED && breaker === undefined
    return isUsual ? START_ALLOWED : { type: 'start', epoch, breaker: phase, decision }
  }
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
