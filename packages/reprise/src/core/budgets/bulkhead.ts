/**
 * How many attempts may be in flight: what rate and latency floor explain, and room for it to be wrong.
 *
 * A dependency that has become slow for good needs more slots than the floor explains; one that is short of capacity
 * must not get them. A client cannot tell the two by latency alone, but it need not: what matters is whether answers
 * still come in good time. So when calls have found no slot, a round of answers that took less than half the patience
 * of their callers widens the bulkhead, one that took more narrows it again. A short capacity settles at waits that
 * nobody gives up on, and a new normal gets all the slots it can use.
 *
 * A round of time limits without a single answer halves it, down to one slot: what is sent to a server that hangs is
 * what it has to work off afterwards. The first answer takes that back. O(1) per event. Imports nothing.
 */

const FLOORS = 4
const MIN_SLOTS = 2
/** Answers in less than this share of the patience let it grow. */
const COMFORTABLE = 0.5
/** By half per round until it was once too wide, by one slot afterwards. */
const SEARCH_GROWTH = 1.5
const CUT = 0.7
/** What nobody needs fades. */
const FADE = 0.95
const MIN_ROUND = 5
const MAX_HALVINGS = 30

export class Bulkhead {
  /** Slots beyond what rate and floor explain. */
  private extra = 0
  private halvings = 0
  /** Of the running round: answers, the share of patience they took, time limits, whether a call found no slot. */
  private answers = 0
  private patience = 0
  private misses = 0
  private crowded = false
  private searching = true

  slots(callsPerSecond: number, floorMs: number | undefined): number {
    if (floorMs === undefined) return Infinity
    const wide = this.explained(callsPerSecond, floorMs) + this.extra
    return Math.max(1, Math.floor(wide / 2 ** this.halvings))
  }

  /** A first attempt found no slot. */
  refused(): void {
    this.crowded = true
  }

  /** An attempt ran into its time limit. */
  missed(callsPerSecond: number, floorMs: number | undefined): void {
    this.misses++
    if (this.misses < Math.max(MIN_ROUND, this.slots(callsPerSecond, floorMs))) return
    this.misses = 0
    this.halvings = Math.min(this.halvings + 1, MAX_HALVINGS)
  }

  /** An attempt succeeded, after this share of the time its caller would have waited. */
  answered(share: number, callsPerSecond: number, floorMs: number | undefined): void {
    this.misses = 0
    this.halvings = 0
    if (floorMs === undefined) return
    this.answers++
    this.patience += share
    const explained = this.explained(callsPerSecond, floorMs)
    if (this.answers >= Math.max(MIN_ROUND, explained + this.extra)) this.endRound(explained)
  }

  private endRound(explained: number): void {
    const slots = explained + this.extra
    if (this.patience > COMFORTABLE * this.answers) {
      this.extra = Math.max(0, slots * CUT - explained)
      this.searching = false
    } else if (this.crowded) {
      this.extra += this.searching ? slots * (SEARCH_GROWTH - 1) : 1
    } else {
      this.extra *= FADE
      if (this.extra < 0.5) this.searching = true
    }
    this.answers = 0
    this.patience = 0
    this.crowded = false
  }

  private explained(callsPerSecond: number, floorMs: number): number {
    return Math.max(MIN_SLOTS, Math.ceil((FLOORS * callsPerSecond * floorMs) / 1000))
  }
}
