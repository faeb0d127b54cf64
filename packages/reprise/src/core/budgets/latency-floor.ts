/**
 * What a dependency takes when it is well: the smallest mean success latency of its recent buckets. A bucket is 5 s long
 * and counts only with enough successes, so a long outage evicts nothing and a slow spell raises nothing.
 * O(1) per success. Imports core only.
 */
import { expectList, expectNumber } from './numbers.js'

const BUCKET_MS = 5000
const BUCKETS = 24
const MIN_SUCCESSES = 5

export class LatencyFloor {
  /** Of the buckets that counted, oldest first. */
  private means: number[] = []
  private least: number | undefined = undefined
  private bucket = -Infinity
  private count = 0
  private sumMs = 0

  /** Undefined until there were enough successes. While no bucket has ended, the running one speaks. */
  get ms(): number | undefined {
    if (this.least !== undefined || this.count < MIN_SUCCESSES) return this.least
    return this.sumMs / this.count
  }

  add(latencyMs: number, now: number): void {
    const bucket = Math.floor(now / BUCKET_MS)
    if (bucket > this.bucket) this.turn(bucket)
    this.count++
    this.sumMs += latencyMs
  }

  snapshot(): readonly number[] {
    return [...this.means]
  }

  restore(means: unknown): void {
    const place = 'adaptiveBudget snapshot latencies'
    const read = expectList(place, means).map((mean) => expectNumber(place, mean))
    this.means = read.slice(-BUCKETS)
    this.least = this.smallest()
    this.bucket = -Infinity
    this.count = 0
    this.sumMs = 0
  }

  private turn(bucket: number): void {
    if (this.count >= MIN_SUCCESSES) {
      this.means.push(this.sumMs / this.count)
      if (this.means.length > BUCKETS) this.means.shift()
      this.least = this.smallest()
    }
    this.bucket = bucket
    this.count = 0
    this.sumMs = 0
  }

  private smallest(): number | undefined {
    return this.means.length === 0 ? undefined : Math.min(...this.means)
  }
}
