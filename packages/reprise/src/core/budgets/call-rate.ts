/**
 * How many calls a second, as an exponential window: each call counts 1 and fades with a time constant of 5 s. Of a
 * window that is not full yet, only the part that has been seen counts, so a fresh start is not taken for few calls.
 * A clock that goes back fades nothing. O(1). Imports core only.
 */
import { expectNumber } from './numbers.js'

const WINDOW_MS = 5000
/** A rate is of a whole second at least: one early call is not a thousand a second. */
const SECOND_MS = 1000

export interface CallRateState {
  readonly perSecond: number
  readonly atMs: number
}

export class CallRate {
  private weight = 0
  private atMs = 0
  private startMs: number | undefined = undefined

  count(now: number): void {
    this.startMs ??= now
    this.weight = this.weightAt(now) + 1
    this.atMs = Math.max(this.atMs, now)
  }

  perSecond(now: number): number {
    if (this.startMs === undefined) return 0
    const seenMs = Math.max(SECOND_MS, Math.max(now, this.atMs) - this.startMs)
    const windowMs = WINDOW_MS * (1 - Math.exp(-seenMs / WINDOW_MS))
    return (this.weightAt(now) * SECOND_MS) / windowMs
  }

  /** As of the last call, however long ago that was. */
  get latest(): number {
    return this.perSecond(this.atMs)
  }

  snapshot(): CallRateState {
    return { perSecond: this.latest, atMs: this.atMs }
  }

  restore(state: unknown): void {
    const { perSecond, atMs } = (state ?? {}) as Partial<CallRateState>
    const place = 'adaptiveBudget snapshot rate'
    this.weight = (expectNumber(place, perSecond) * WINDOW_MS) / SECOND_MS
    this.atMs = expectNumber(place, atMs, 'a finite number')
    this.startMs = this.weight === 0 ? undefined : -Infinity
  }

  private weightAt(now: number): number {
    return now > this.atMs ? this.weight * Math.exp((this.atMs - now) / WINDOW_MS) : this.weight
  }
}
