/**
 * Who waits for credit. First come, first served — until somebody's time runs out before his turn. Then the line is
 * longer than it can be served, and serving the oldest would give everybody too late an answer: from there on the
 * newest go first, until the line has been empty.
 *
 * A doubly linked list, so that joining, leaving from the middle and taking from either end are O(1). Imports types only.
 */
import type { Decision } from '../budget.js'

export interface Waiter {
  /** What its attempt will take of the waste; 0 for a first attempt. */
  readonly cost: number
  readonly deadlineMs: number
  readonly attemptTimeoutMs: number | undefined
  /** An attempt that starts later than this cannot be expected to end in time. */
  readonly lastStartMs: number
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
  private overrun = false

  join(waiter: Waiter): Place {
    const place: Place = { waiter, before: this.newest, after: undefined, taken: true }
    if (this.newest === undefined) this.oldest = place
    else this.newest.after = place
    this.newest = place
    this.size++
    return place
  }

  /** Leaving twice is no fault: who was woken, or passed over, has left. */
  leave(place: Place): void {
    if (!place.taken) return
    place.taken = false
    if (place.before === undefined) this.oldest = place.after
    else place.before.after = place.after
    if (place.after === undefined) this.newest = place.before
    else place.after.before = place.before
    place.before = place.after = undefined
    this.size--
    if (this.size === 0) this.overrun = false
  }

  /** Whose turn it is. Who cannot make it any more is passed over, and waits for his deadline alone. */
  next(now: number): Place | undefined {
    for (;;) {
      const place = this.overrun ? this.newest : this.oldest
      if (place === undefined || now <= place.waiter.lastStartMs) return place
      this.leave(place)
      this.overrun = this.size > 0
    }
  }
}
