/**
 * An attempt in a budget's line: joins, and leaves exactly once — with a grant, at its time limit, or because its call
 * has ended. A grant that comes too late goes back unused. Imports core and the runtime's types.
 */
import type { Budget, BudgetRequest, Decision } from '../core/budget.js'
import { DEFAULT_MAX_PARK_MS, PARK_EXPIRED } from '../core/gate.js'
import type { Timer } from '../core/time.js'
import type { Attempt } from './attempt.js'
import type { Call } from './call.js'
import { report, reportLater } from './hook-errors.js'
import type { WheelLinks } from './timer-wheel.js'

export class Parking implements Timer, WheelLinks {
  wheelNext = undefined
  wheelPrev = undefined
  wheelDue = 0
  private readonly call: Call
  private readonly attempt: Attempt
  private readonly budget: Budget
  private readonly sinceMs: number
  private leaveLine: (() => void) | undefined
  private left = false
  private woken = false

  /** The attempt was denied by a budget that parks. */
  constructor(call: Call, attempt: Attempt) {
    this.call = call
    this.attempt = attempt
    this.budget = attempt.budget as Budget
    this.sinceMs = call.plan.environment.exactMs()
  }

  /** Throws what the budget throws. The budget may answer at once. */
  join(): void {
    const { environment } = this.call.plan
    const limitMs = this.sinceMs + (this.budget.maxParkMs ?? DEFAULT_MAX_PARK_MS)
    environment.schedule(this, Math.min(limitMs, this.call.deadlineAtMs ?? Infinity))
    environment.lineOf(this.budget).joined()
    try {
      const leave = this.budget.park?.(this.attempt.request as BudgetRequest, (grant) => this.wake(grant))
      if (typeof leave === 'function') this.leaveLine = leave
      else reportLater(leave)
      // The call ended while it was joining: only now can it leave.
      if (this.left && !this.woken) reportLater(this.leaveLine?.())
    } catch (error) {
      this.leave()
      throw error
    }
    environment.lineOf(this.budget).follow()
  }

  /** Leaves the line without a grant. */
  leave(): void {
    if (!this.close()) return
    try {
      reportLater(this.leaveLine?.())
    } catch (error) {
      report(error)
    }
    this.call.plan.environment.lineOf(this.budget).follow()
  }

  /** The line is left, though the call may not have heard of it yet. */
  get over(): boolean {
    return this.left
  }

  /** The time limit has come. */
  fire(): void {
    if (this.left) return
    this.leave()
    this.call.inScope(() => this.call.granted(this.attempt, PARK_EXPIRED))
  }

  private wake(grant: Decision): void {
    // A promise is no grant, but its rejection must not end the process.
    reportLater(grant)
    if (!this.close()) {
      this.attempt.returnGrant(grant)
      return
    }
    this.woken = true
    // Whoever woke us is in the middle of something: the attempt starts after that, in its own caller's context.
    void Promise.resolve().then(() => this.call.inScope(() => this.call.granted(this.attempt, grant)))
  }

  /** False if the line was left before. */
  private close(): boolean {
    if (this.left) return false
    this.left = true
    const { environment } = this.call.plan
    this.attempt.parkedMs = Math.max(0, environment.exactMs() - this.sinceMs)
    environment.cancel(this)
    environment.lineOf(this.budget).left()
    return true
  }
}
