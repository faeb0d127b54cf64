/**
 * How many attempts are in flight. An operation that ignores its signal may never end, and must not hold a slot for ever:
 * when nothing has started or ended for twice as long as anybody would wait, what is in flight is given up for lost.
 * Should its end come after all, it is told by its start and not counted. Imports core only.
 */
import { expectNumber } from './numbers.js'

const LOST_AFTER = 2

export class InFlight {
  count = 0
  /** What started before that is counted no more. */
  private forgottenMs = -Infinity
  private lastEventMs = 0
  private patienceMs = 0

  started(now: number, patienceMs: number): void {
    this.count++
    this.lastEventMs = now
    this.patienceMs = this.count === 1 ? patienceMs : Math.max(this.patienceMs, patienceMs)
    // A clock that went back must not make it look lost.
    this.forgottenMs = Math.min(this.forgottenMs, now)
  }

  ended(now: number, startMs: number): void {
    if (startMs < this.forgottenMs) return
    this.lastEventMs = now
    if (this.count > 0) this.count--
  }

  /** When what is in flight is given up for lost, if nothing happens until then. */
  get lostAtMs(): number {
    return this.lastEventMs + LOST_AFTER * this.patienceMs
  }

  forgetLost(now: number): void {
    if (this.count === 0 || now < this.lostAtMs) return
    // Starts are kept in whole milliseconds; what is lost started long before.
    this.forgottenMs = now - 1
    this.count = 0
  }

  restore(used: unknown, now: number, patienceMs: number): void {
    this.count = expectNumber('adaptiveBudget snapshot used', used, undefined, 'a whole number of 0 or more')
    this.forgottenMs = -Infinity
    this.lastEventMs = now
    this.patienceMs = patienceMs
  }
}
