/**
 * `reprise/core`: the decisions alone, for programs that bring their own driver: a loop that waits, launches attempts and
 * keeps the state itself. Pure: no clock, timer, randomness or I/O. Policies and budgets are made with `reprise`.
 * Re-exports only.
 */
export { Breaker, type BreakerState } from './breaker.js'
export { isRetryable } from './classify.js'
export {
  type Admission,
  type AllotmentDecision,
  admit,
  advance,
  decide,
  type LaunchGates,
  type Outcome,
  type RetryGates,
  type RetryVerdict,
  type Verdict,
} from './decide.js'
export type { Backoff, BreakerPolicy, BudgetRef, HedgePolicy, Matcher } from './policy.js'
export { retryAfterMs } from './retry-after.js'
export { drawsOf, initialState, type RetryState, snapshot, type StoredState } from './state.js'
export type { Draw } from './time.js'
