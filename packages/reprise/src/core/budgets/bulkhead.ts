/**
 * How many attempts may be in flight: what rate and latency floor explain, and room for it to be wrong.
 *
 * A dependency that has become slow for good needs more slots than the floor explains; one that is short of capacity
 * must not get them. A client cannot tell the two by latency alone, but it need not: what matters is whether answers
 * still come before their callers give up. So when calls have found no slot, a round of answers widens the bulkhead;
 * if answers took nearly half the patience of their callers or more and some were too late, it narrows again. A short
 * capacity settles where few give up, and a new normal gets all the slots it can use.
 *
 * A round of time limits without a single answer halves it, down to one slot: what is sent to a server that hangs is
 * what it has to work off afterwards. The first answer takes that back. O(1) per event. Imports nothing.
 */

const FLOORS = 4
const MIN_SLOTS = 2
/** Answers in less than this share of the patience are no reason to narrow. */
const COMFORTABLE = 0.45
/** Nor is this share of attempts that were too late. */
const TOLERATED = 0.1
/** What a round of comfortable answers widens it by, and one with late ones narrows it. */
const GROWTH = 1.25
const CUT = 0.7
/** A dependency that has never been found out of breath is tried faster. */
const FIRST_GROWTH = 2
/** What nobody needs fades. */
const FADE = 0.95
const MIN_ROUND = 5
const MAX_HALVINGS = 30

export class Bulkhead {
  /** Slots beyond what rate and floor explain. */
  private extra = 0
  private halvings = 0
  /** Time limits since the last answer. */
  private misses = 0
  /** Of the running round: answers, the share of patience they took, time limits, whether a call found no slot. */
  private answers = 0
  private patience = 0
  private late = 0
  private crowded = false
  private settling: 'wider' | 'narrower' | undefined = undefined
  /** While it is tried wider: what it was, and what answers take if they wait for each other. */
  private trial: { readonly queueingMean: number; readonly extra: number } | undefined = undefined
  private failedTrials = 0
  /** Rounds until the next trial. */
  private patienceRounds = 0

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
    this.late++
    this.misses++
    if (floorMs !== undefined && this.answers > 0) {
      const explained = this.explained(callsPerSecond, floorMs)
      // So many too late need no whole round to tell.
      if (this.late > Math.max(MIN_ROUND, TOLERATED * (explained + this.extra))) this.endRound(explained)
    }
    if (this.misses < Math.max(MIN_ROUND, this.slots(callsPerSecond, floorMs))) return
    this.misses = 0
    this.halvings = Math.min(this.halvings + 1, MAX_HALVINGS)
  }

  /** An attempt succeeded, after this share of the time its caller would have waited. Answers how many slots that adds. */
  answered(share: number, callsPerSecond: number, floorMs: number | undefined): number {
    this.misses = 0
    this.halvings = 0
    if (floorMs === undefined) return 0
    this.answers++
    this.patience += share
    const explained = this.explained(callsPerSecond, floorMs)
    const before = this.extra
    if (this.answers >= Math.max(MIN_ROUND, explained + this.extra)) this.endRound(explained)
    return Math.max(0, Math.floor(this.extra) - Math.floor(before))
  }

  private endRound(explained: number): void {
    const slots = explained + this.extra
    const mean = this.patience / this.answers
    const slow = mean > COMFORTABLE
    const isLate = slow && this.late > Math.max(1, TOLERATED * this.answers)
    // The answers of the round after a change are of attempts from before it.
    const { settling } = this
    this.settling = undefined
    if (isLate && settling !== 'narrower') this.narrowTo(this.trial?.extra ?? slots * CUT - explained)
    else if (settling !== undefined) this.settling = undefined
    else if (this.trial !== undefined && mean > this.trial.queueingMean) this.narrowTo(this.trial.extra)
    else this.widen(slots, slow, mean)
    this.answers = 0
    this.patience = 0
    this.late = 0
    this.crowded = false
  }

  private widen(slots: number, slow: boolean, mean: number): void {
    this.trial = undefined
    if (!this.crowded) {
      this.extra *= FADE
      if (this.extra < 0.5) this.patienceRounds = 0
    } else if (!slow) {
      this.extra += Math.max(1, slots * (GROWTH - 1))
      this.settling = 'wider'
    } else if (this.patienceRounds > 0) {
      this.patienceRounds--
    } else {
      // If answers become slower by it, they are waiting for each other.
      const growth = this.failedTrials === 0 ? FIRST_GROWTH : GROWTH
      this.trial = { queueingMean: mean * (1 + (growth - 1) / 2), extra: this.extra }
      this.extra += Math.max(1, slots * (growth - 1))
      this.settling = 'wider'
    }
  }

  /** Too wide. The next trial is further away every time. */
  private narrowTo(extra: number): void {
    this.extra = Math.max(0, extra)
    this.trial = undefined
    this.settling = 'narrower'
    this.failedTrials = Math.min(this.failedTrials + 1, MAX_HALVINGS)
    this.patienceRounds = 2 ** this.failedTrials
  }

  private explained(callsPerSecond: number, floorMs: number): number {
    return Math.max(MIN_SLOTS, Math.ceil((FLOORS * callsPerSecond * floorMs) / 1000))
  }
}
