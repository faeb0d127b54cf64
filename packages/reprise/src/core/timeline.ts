/**
 * The record of one call: the values that passed by, not a second bookkeeping. Imports types of core only.
 */
import type { Policy } from './policy.js'
import type { AttemptKind, AttemptResult, BreakerPhase, StopReason } from './words.js'

/** One launch of the operation in a timeline, or one that a budget denied. */
export interface AttemptRecord {
  /** 1..attempts of the policy. A hedge has the attempt of the launch that it copies. */
  readonly attempt: number
  /** 1, 2, 3 … over retries and hedges, in the order in which they were asked for. A denied launch uses its number up. */
  readonly launch: number
  /** `retry` for attempts in sequence, the first included; `hedge` for one that ran beside another. */
  readonly kind: AttemptKind
  /** Whether it was a hedge. */
  readonly hedge: boolean
  /** Milliseconds since the epoch as of the first use of the clock, advanced by its monotonic side. */
  readonly startMs: number
  /** When it ended, on the same scale. */
  readonly endMs: number
  /** The wait before it, jitter included; 0 for the first attempt and for hedges. */
  readonly delayBeforeMs: number
  /** Time spent in a budget's line before the start. */
  readonly parkedMs: number
  /** How it ended; `denied` if a budget did not let it start. */
  readonly outcome: AttemptResult
  /** Whether the call's result is that of this launch. */
  readonly won: boolean
  /** What it failed with, or what its budget threw; absent if neither happened. */
  readonly error?: unknown
  /** The name of the budget that was asked; absent without one. */
  readonly budget?: string | undefined
  /** Whether the budget let it start; true without a budget. */
  readonly budgetAllowed: boolean
  /** The budget's word for its answer; `no_budget` without one. */
  readonly budgetReason: string
  /** The phase of the breaker at the start; absent without one. */
  readonly breaker?: BreakerPhase | undefined
}

/** The record of a call that has ended. */
export interface Timeline {
  /** The key of the call. */
  readonly key: string
  /** The policy that it ran under, every default filled in. */
  readonly policy: Policy
  /** What is odd about the policy, in sentences: see `normalizePolicy`. */
  readonly notes: readonly string[]
  /** Every launch, in the order in which they were asked for. */
  readonly attempts: readonly AttemptRecord[]
  /** Why the call ended without success; undefined if it succeeded. */
  readonly stopReason?: StopReason | undefined
  /** The word of the budget that ended the call; undefined if none did. */
  readonly budgetReason?: string | undefined
  /** The sum of all waits between attempts. */
  readonly totalDelayMs: number
  /** From the start of the call to its end. */
  readonly elapsedMs: number
}
