/**
 * A breaker's phase as a number for gauges. Imports types of core only.
 */
import type { BreakerPhase } from '../core/words.js'

/** Higher is worse, so that the maximum over breakers makes an alert. */
export function breakerLevel(phase: BreakerPhase): number {
  return phase === 'open' ? 2 : phase === 'half_open' ? 1 : 0
}
