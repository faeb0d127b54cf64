/**
 * Attempts that wait for their turn. First come, first served, until the time of one runs out before its turn. Then the
 * line is longer than can be served, and the oldest would all be answered too late: from there on the newest go first,
 * until the line has been empty.
 *
 * A doubly linked list, so that joining, leaving from the middle and taking from either end are O(1). Imports core only.
 */
import type { BudgetRequest, Decision } from '../budget.js'
import { FAST_SHARE } from './evidence.js'

export interface Waiter {
  readonly request: BudgetRequest
  /** What its attempt takes of the waste tokens; 0 for a first attempt. */
  readonly cost: number
  readonly joinedMs: number
  readonly deadlineMs: number
  /** How long its caller waits for one answer. */
  readonly patienceMs: number
  readonly wake: (grant: Decision) => void
}

export interface Place {
  readonly waiter: Waiter
  before: Place | undefined
  after: Place | undefined
  taken: boolean
}

export class WaitingLine {
  size = 0
  private oldest: Place | undefined = undefined
  private newest: Place | undefined = undefined
  private isOverrun = false

  join(waiter: Waiter): Place {
    const place: Place = { waiter, before: this.newest, after: undefined, taken: true }
    if (this.newest === undefined) this.oldest = place
    else this.newest.after = place
    this.newest = place
    this.size++
    return place
  }

  /** Leaving twice is no error: a waiter that was woken or passed over has left already. */
  leave(place: Place): void {
    if (!place.taken) return
    place.taken = false
    if (place.before === undefined) this.oldest = place.after
    else place.before.after = place.after
    if (place.after === undefined) this.newest = place.before
    else place.after.before = place.before
    place.before = place.after = undefined
    this.size--
    if (this.size === 0) this.isOverrun = false
  }

  /** The place whose turn it is, whether its time has run out or not. */
  peek(): Place | undefined {
    return this.isOverrun ? this.newest : this.oldest
  }

  /**
   * The place whose turn it is. A waiter with less time left than an answer takes, as answers come now, loses its place
   * and waits for its deadline alone.
   */
  next(now: number, answerMs: number): Place | undefined {
    for (;;) {
      const place = this.peek()
      if (place === undefined || now <= lastStartMs(place.waiter, answerMs)) return place
      this.leave(place)
      this.isOverrun = this.size > 0
    }
  }
}

/** The last time at which an attempt can still be answered. A call that joins with less time left has one chance, at once. */
function lastStartMs({ joinedMs, deadlineMs, patienceMs }: Waiter, answerMs: number): number {
  const neededMs = Math.min(Math.max(answerMs, FAST_SHARE * patienceMs), patienceMs)
  return Math.max(joinedMs, deadlineMs - neededMs)
}
