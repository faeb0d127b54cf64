/**
 * The retry state: everything a decision needs to know of a call's past, as plain JSON.
 * Its owner may keep the fields in a record of its own and update them in place; `snapshot` gives the value.
 * Times are milliseconds on whatever scale the driver passes as `now`. Imports nothing at run time.
 */
import type { Draw } from './time.js'

/** What a call's past means for its next decision, as plain JSON. Times are on the scale of the driver's `now`. */
export interface RetryState {
  /** Attempts of the policy that failed so far, hedges included in theirs: n of "the delay after the n-th failure". */
  failures: number
  /**
   * Number of the last launch that was asked for. In a ledger nothing is hedged and a denied launch is not written, so there
   * it is the number of attempts begun.
   */
  launched: number
  /** Sum of all waits chosen, jitter and `Retry-After` included. */
  totalDelayMs: number
  /** The wait before the attempt that is running or to come; 0 for the first. */
  lastDelayMs: number
  /** First failure + time budget; null before a first failure or without a budget. Never moved. */
  expiresAtMs: number | null
  /** End of the whole call; null without a timeout. Set at the first start. */
  deadlineAtMs: number | null
  /**
   * It had failed at least once when it was taken up again: from a lost owner, by a resume of its run, or by a program that
   * was started again. Then the expiry counts beside the sum of delays. Set once.
   */
  resumed: boolean
}

export const STATE_VERSION = 1

/** A retry state as a store keeps it. */
export interface StoredState extends RetryState {
  /** The version of this format; `1`. */
  readonly version: typeof STATE_VERSION
  /** Every draw of the call is a function of this and of the number of the failure. */
  readonly seed: number
}

/**
 * The retry state of a call that has not begun. `deadlineAtMs`: the end of the whole call, null without a timeout.
 * @example const fresh = initialState(clock.monotonicMs() + 10_000)
 */
export function initialState(deadlineAtMs: number | null): RetryState {
  return {
    failures: 0,
    launched: 0,
    totalDelayMs: 0,
    lastDelayMs: 0,
    expiresAtMs: null,
    deadlineAtMs,
    resumed: false,
  }
}

/**
 * The state as a value of its own, with the seed of its draws: what a driver writes to its store.
 * @example const stored = JSON.stringify(snapshot(state, 42))
 */
export function snapshot(state: RetryState, seed: number): StoredState {
  return {
    version: STATE_VERSION,
    seed,
    failures: state.failures,
    launched: state.launched,
    totalDelayMs: state.totalDelayMs,
    lastDelayMs: state.lastDelayMs,
    expiresAtMs: state.expiresAtMs,
    deadlineAtMs: state.deadlineAtMs,
    resumed: state.resumed,
  }
}

/**
 * The draws of a call with this seed. A counter-based generator (seed and number through the finaliser of MurmurHash3):
 * no generator state has to be kept, so a call that continues in another process draws what it would have drawn in the
 * first.
 * @example
 * const draw = drawsOf(42)
 * const jitterOfFirstFailure = draw(1)
 */
export function drawsOf(seed: number): Draw {
  return (failure) => {
    let z = (seed ^ Math.imul(failure, 0x9e3779b9)) | 0
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b)
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35)
    return ((z ^ (z >>> 16)) >>> 0) / 4294967296
  }
}
