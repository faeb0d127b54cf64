/**
 * Chance that repeats itself. Imports types of core only.
 */
import type { Random } from './time.js'

/**
 * A generator that gives the same numbers in [0, 1) for the same seed (mulberry32's recurrence).
 * @example
 * const random = seededRandom(42)
 * const repeatable = createExecutor({ random })
 */
export function seededRandom(seed: number): Random {
  if (!Number.isFinite(seed)) throw new RangeError(`A seed is a number, not ${String(seed)}`)
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let z = Math.imul(state ^ (state >>> 15), state | 1)
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61)
    return ((z ^ (z >>> 14)) >>> 0) / 4294967296
  }
}
