/**
 * How many attempts are in flight. An operation that ignores its signal may never end, and must not hold a slot for
 * longer than anybody waits for it: starts are counted in slices of time, and a slice that has become older than the
 * patience of the callers is given up for lost. The end of an attempt is told by its start: one that comes after its
 * slice has been given up is not counted a second time.
 *
 * Invariant: `count` is the sum of the slices; there are at most `SLICES` + 1 of them, so every event is O(1).
 * Imports core only.
 */
import { expectNumber } from './numbers.js'

const SLICES = 8
/** A start may be known to the millisecond only. */
const TOLERANCE_MS = 1

/** How long somebody waits who says nothing about it. */
export const DEFAULT_PATIENCE_MS = 30_000

/** Attempts that started before `toMs`, and after the slice before. */
interface Slice {
  readonly toMs: number
  count: number
}

export class InFlight {
  count = 0
  /** Oldest first. */
  private slices: Slice[] = []
  private longestMs = DEFAULT_PATIENCE_MS
  /** What started before that has been given up. */
  private forgottenMs = -Infinity

  /** How long the most patient caller of those in flight would wait. */
  get patienceMs(): number {
    return this.longestMs
  }

  started(now: number, patienceMs: number): void {
    this.forgetLost(now)
    if (patienceMs > this.longestMs || this.count === 0) this.setPatience(patienceMs, now)
    this.sliceAt(now).count++
    this.count++
  }

  /** The attempt that started at `startMs` has ended. */
  ended(startMs: number): void {
    if (startMs < this.forgottenMs) return
    const running = this.slices.filter(({ count }) => count > 0)
    const slice = running.find(({ toMs }) => toMs > startMs) ?? running.at(-1)
    if (slice === undefined) return
    slice.count--
    this.count--
  }

  /** When the oldest is given up for lost; `Infinity` if there is none. */
  get lostAtMs(): number {
    const oldest = this.slices.find(({ count }) => count > 0)
    return oldest === undefined ? Infinity : oldest.toMs + this.longestMs
  }

  forgetLost(now: number): void {
    while (now >= this.lostAtMs) {
      const [oldest, ...others] = this.slices as [Slice, ...Slice[]]
      this.count -= oldest.count
      this.slices = others
      this.forgottenMs = oldest.toMs - TOLERANCE_MS
    }
  }

  restore(used: unknown, now: number, patienceMs: number): void {
    const count = expectNumber('adaptiveBudget snapshot used', used, undefined, 'a whole number of 0 or more')
    this.longestMs = patienceMs
    this.slices = [{ toMs: now, count }]
    this.count = count
    this.forgottenMs = -Infinity
  }

  /** Slices of another length: what is in flight is taken to have started just now, so nothing is given up too early. */
  private setPatience(patienceMs: number, now: number): void {
    this.longestMs = Math.max(1, patienceMs)
    this.slices = this.count === 0 ? [] : [{ toMs: this.sliceEndMs(now), count: this.count }]
  }

  /** The slice of now; of a clock that went back, the newest. */
  private sliceAt(now: number): Slice {
    const newest = this.slices.at(-1)
    if (newest !== undefined && newest.toMs > now) return newest
    const slice = { toMs: this.sliceEndMs(now), count: 0 }
    this.slices = [...this.slices.filter(({ count }) => count > 0), slice]
    return slice
  }

  private sliceEndMs(now: number): number {
    const lengthMs = this.longestMs / SLICES
    return (Math.floor(now / lengthMs) + 1) * lengthMs
  }
}
