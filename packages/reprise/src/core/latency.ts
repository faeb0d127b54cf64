/**
 * Latency percentiles in fixed memory: counts in buckets that grow by an eighth, halved when they have become many, so
 * that the past fades. O(1) per sample. Imports nothing.
 */

const BUCKETS = 240
const GROWTH = 1.125
/** The upper end of the first bucket; 240 buckets of an eighth reach beyond a year. */
const FIRST_MS = 0.05
/** Fewer samples say nothing of a tail. */
export const MIN_SAMPLES = 50
/** At so many the counts are halved. */
const FADE_AT = 2000

export class LatencyHistogram {
  readonly #counts = new Uint32Array(BUCKETS)
  #total = 0

  add(latencyMs: number): void {
    const bucket = latencyMs <= FIRST_MS ? 0 : Math.ceil(Math.log(latencyMs / FIRST_MS) / Math.log(GROWTH))
    this.#counts[Math.min(bucket, BUCKETS - 1)]!++
    if (++this.#total >= FADE_AT) this.#fade()
  }

  /** The latency that `percentile` per cent of the samples do not exceed (rounded up to its bucket), if there are enough. */
  percentile(percentile: number): number | undefined {
    if (this.#total < MIN_SAMPLES) return undefined
    let left = Math.ceil((this.#total * percentile) / 100)
    let bucket = -1
    while (left > 0 && bucket < BUCKETS - 1) left -= this.#counts[++bucket] as number
    return FIRST_MS * GROWTH ** bucket
  }

  #fade(): void {
    this.#total = 0
    for (let i = 0; i < BUCKETS; i++) {
      const half = (this.#counts[i] as number) >>> 1
      this.#counts[i] = half
      this.#total += half
    }
  }
}
