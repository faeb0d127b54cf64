/**
 * Hedging as decisions: when the next copy may start, and how a group of copies ends.
 * A group is one attempt of the policy with the hedges launched beside it. Imports types of core only.
 */
import type { HedgePolicy } from './policy.js'

/** How one member of a group ended. An abort is one that somebody else's signal caused. */
export type MemberResult = 'success' | 'not_retryable' | 'aborted' | 'retryable'

/**
 * When the next hedge of a group is due, or undefined if there is none.
 * One per due time: the n-th starts n delays after the primary. `delayMs` is the fixed delay or the latency percentile.
 */
export function nextHedgeAtMs(
  hedge: HedgePolicy,
  groupStartMs: number,
  hedgesAsked: number,
  delayMs: number | undefined,
): number | undefined {
  if (delayMs === undefined || hedgesAsked >= hedge.maxHedges) return undefined
  return groupStartMs + delayMs * (hedgesAsked + 1)
}

/** Not retryable speaks for the dependency, an abort for the caller, retryable for chance: the strongest decides. */
const STRENGTH: Record<MemberResult, number> = { retryable: 0, aborted: 1, not_retryable: 2, success: 3 }

/** Whether `challenger` decides the group rather than `held`; on equal terms the earlier one stays. */
export function outweighs(challenger: MemberResult, held: MemberResult | undefined): boolean {
  return held === undefined || STRENGTH[challenger] > STRENGTH[held]
}

/** Whether the group is over once a member ended with `result` and `running` others still run. */
export function endsGroup(hedge: HedgePolicy, result: MemberResult, running: number): boolean {
  if (result === 'success' || running === 0) return true
  return result === 'not_retryable' && hedge.cancelOnFirstTerminal
}
