/**
 * The histogram of lengths of time, and the bounds that all of ours have.
 * Kept in milliseconds, so that sums of whole milliseconds stay exact; read in seconds. Imports nothing.
 */

/**
 * From a cache's answer to the longest default wait. Few, because each bound is a series per key: with them a key whose
 * calls succeed takes 15 of the 2 000.
 */
export const BOUNDS_SECONDS: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

const BOUNDS_MS = BOUNDS_SECONDS.map((seconds) => seconds * 1000)

/** One per bound, and `+Inf`, sum and count. */
export const SERIES_PER_HISTOGRAM: number = BOUNDS_SECONDS.length + 3

export interface Bucket {
  /** Upper bound in seconds, inclusive. The bucket without a bound is the count of the whole. */
  readonly le: number
  /** How many were at most that long: cumulative, as Prometheus has it. */
  readonly count: number
}

export class Durations {
  private count = 0
  private sumMs = 0
  private readonly counts: number[] = BOUNDS_MS.map(() => 0)

  /** What is not a length of time counts as none, so that one odd event cannot spoil the sum. */
  observe(ms: number): void {
    const length = ms > 0 && ms < Infinity ? ms : 0
    this.count++
    this.sumMs += length
    const index = BOUNDS_MS.findIndex((bound) => length <= bound)
    if (index >= 0) this.counts[index] = (this.counts[index] ?? 0) + 1
  }

  read(): { readonly count: number; readonly sum: number; readonly buckets: readonly Bucket[] } {
    let below = 0
    const buckets = BOUNDS_SECONDS.map((le, index) => {
      below += this.counts[index] ?? 0
      return { le, count: below }
    })
    return { count: this.count, sum: this.sumMs / 1000, buckets }
  }
}
