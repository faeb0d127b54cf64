/**
 * The record of one call: the values that passed by, not a second bookkeeping. Imports types of core only.
 */
import type { Policy } from './policy.js'
import type { AttemptKind, AttemptResult, BreakerPhase, StopReason } from './words.js'

export interface AttemptRecord {
  /** Launch order within the call; a denied attempt carries the number it would have had. */
  readonly number: number
  /** The attempt of the policy (1..attempts) that this launch belongs to; a hedge shares its primary's. */
  readonly group: number
  readonly kind: AttemptKind
  readonly hedge: boolean
  /** Milliseconds since the epoch as of the first use of the clock, advanced by its monotonic side. */
  readonly startMs: number
  readonly endMs: number
  readonly delayBeforeMs: number
  /** Time spent in a budget's line before the start. */
  readonly parkedMs: number
  readonly outcome: AttemptResult
  /** Whether the call's result is this attempt's. */
  readonly won: boolean
  readonly error?: unknown
  readonly budget?: string | undefined
  readonly budgetAllowed: boolean
  readonly budgetReason: string
  readonly breaker?: BreakerPhase | undefined
}

export interface Timeline {
  readonly key: string
  readonly policy: Policy
  readonly notes: readonly string[]
  readonly attempts: readonly AttemptRecord[]
  readonly stopReason?: StopReason | undefined
  readonly budgetReason?: string | undefined
  readonly totalDelayMs: number
  readonly elapsedMs: number
}
