/**
 * Hedging as decisions: when the next copy may start, and how an attempt with copies ends.
 * An attempt of the policy is one primary launch and the hedges launched beside it. Imports types of core only.
 */
import type { HedgePolicy } from './policy.js'

/** How one launch of an attempt ended. An abort is one that somebody else's signal caused. */
export type LaunchResult = 'success' | 'not_retryable' | 'aborted' | 'retryable'

/**
 * When the next hedge of an attempt is due, or undefined if there is none.
 * One per due time: the n-th starts n delays after the primary. `delayMs` is the fixed delay or the latency percentile.
 */
export function nextHedgeAtMs(
  hedge: HedgePolicy,
  primaryStartMs: number,
  hedgesAsked: number,
  delayMs: number | undefined,
): number | undefined {
  if (delayMs === undefined || hedgesAsked >= hedge.maxHedges) return undefined
  return primaryStartMs + delayMs * (hedgesAsked + 1)
}

/** Not retryable speaks for the dependency, an abort for the caller, retryable for chance: the strongest decides. */
const STRENGTH: Record<LaunchResult, number> = { retryable: 0, aborted: 1, not_retryable: 2, success: 3 }

/** Whether `challenger` decides the attempt rather than `held`; on equal terms the earlier one stays. */
export function outweighs(challenger: LaunchResult, held: LaunchResult | undefined): boolean {
  return held === undefined || STRENGTH[challenger] > STRENGTH[held]
}

/** Whether the attempt is over once a launch ended with `result` and `running` others still run. */
export function endsAttempt(hedge: HedgePolicy, result: LaunchResult, running: number): boolean {
  if (result === 'success' || running === 0) return true
  return result === 'not_retryable' && hedge.cancelOnFirstTerminal
}
