/**
 * Calls that a budget has to know again at their next attempt. A request does not name its call, but its deadline does:
 * no two calls of a client begin at the same moment, and here all have a deadline.
 * Invariant: calls whose deadline has passed are forgotten, the longest known first, so it does not grow for ever.
 * Imports types of core only.
 */
import type { BudgetRequest } from '../../core/budget.js'

type Call = Pick<BudgetRequest, 'deadlineMs'>

export class CallSet {
  private readonly deadlines = new Set<number>()

  get size(): number {
    return this.deadlines.size
  }

  add(call: Call): void {
    this.deadlines.add(call.deadlineMs)
  }

  /** Whether it was there; it is not any more. */
  take(call: Call): boolean {
    return this.deadlines.delete(call.deadlineMs)
  }

  forgetUntil(now: number): void {
    for (const deadlineMs of this.deadlines) {
      if (deadlineMs > now) return
      this.deadlines.delete(deadlineMs)
    }
  }
}
