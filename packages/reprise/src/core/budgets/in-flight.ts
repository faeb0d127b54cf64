/**
 * How many attempts are in flight. An operation that ignores its signal may never end, and must not hold a slot for ever:
 * when nothing has started or ended for twice as long as anybody would wait, what is in flight is given up for lost, and
 * its end, should it come, is not counted a second time. Imports core only.
 */
import { expectNumber } from './numbers.js'

const LOST_AFTER = 2

export class InFlight {
  count = 0
  private lost = 0
  private lastEventMs = 0
  private patienceMs = 0

  started(now: number, patienceMs: number): void {
    this.count++
    this.lastEventMs = now
    this.patienceMs = patienceMs
  }

  ended(now: number): void {
    this.lastEventMs = now
    if (this.lost > 0) this.lost--
    else if (this.count > 0) this.count--
  }

  /** When what is in flight is given up for lost, if nothing happens until then. */
  get lostAtMs(): number {
    return this.lastEventMs + LOST_AFTER * this.patienceMs
  }

  forgetLost(now: number): void {
    if (this.count === 0 || now < this.lostAtMs) return
    this.lost += this.count
    this.count = 0
  }

  restore(used: unknown, now: number): void {
    this.count = expectNumber('adaptiveBudget snapshot used', used, undefined, 'a whole number of 0 or more')
    this.lost = 0
    this.lastEventMs = now
  }
}
