/**
 * The record of one call: the values that passed by, not a second bookkeeping. Imports types of core only.
 */
import type { Policy } from './policy.js'
import type { AttemptKind, AttemptResult, BreakerPhase, StopReason } from './words.js'

export interface AttemptRecord {
  /** 1..attempts of the policy. A hedge has the attempt of the launch that it copies. */
  readonly attempt: number
  /** 1, 2, 3 … over retries and hedges, in the order in which they were asked for. A denied launch uses its number up. */
  readonly launch: number
  readonly kind: AttemptKind
  readonly hedge: boolean
  /** Milliseconds since the epoch as of the first use of the clock, advanced by its monotonic side. */
  readonly startMs: number
  readonly endMs: number
  readonly delayBeforeMs: number
  /** Time spent in a budget's line before the start. */
  readonly parkedMs: number
  readonly outcome: AttemptResult
  /** Whether the call's result is that of this launch. */
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
