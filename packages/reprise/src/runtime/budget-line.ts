/**
 * Drives a budget that parks: while attempts stand in its line, polls it when it asks to be polled.
 * No timer exists while nothing is parked. Imports core and the environment's type.
 */
import type { Budget } from '../core/budget.js'
import type { Timer } from '../core/time.js'
import type { Environment } from './environment.js'
import { report, reportLater } from './hook-errors.js'
import type { WheelLinks } from './timer-wheel.js'

export class BudgetLine implements Timer, WheelLinks {
  wheelNext = undefined
  wheelPrev = undefined
  wheelDue = 0
  readonly budget: Budget
  readonly #environment: Environment
  #parked = 0
  #scheduledAtMs = Infinity
  #polledAtMs = -Infinity

  constructor(environment: Environment, budget: Budget) {
    this.#environment = environment
    this.budget = budget
  }

  joined(): void {
    this.#parked++
    this.follow()
  }

  left(): void {
    this.#parked--
    this.follow()
  }

  /** To be called after everything that may have changed when the budget wants to be polled. */
  follow(): void {
    const at = this.#parked === 0 ? Infinity : this.#wakeAtMs()
    if (at === this.#scheduledAtMs) return
    this.#environment.cancel(this)
    this.#scheduledAtMs = at
    if (at < Infinity) this.#environment.schedule(this, at)
  }

  fire(): void {
    this.#scheduledAtMs = Infinity
    try {
      this.#polledAtMs = this.#environment.exactMs()
      reportLater(this.budget.poll?.(this.#polledAtMs, this.#environment.random))
    } catch (error) {
      report(error)
    }
    this.follow()
  }

  #wakeAtMs(): number {
    try {
      const at = this.budget.wakeAtMs?.()
      // A budget that always says "now" is polled once a millisecond, not without end.
      if (typeof at === 'number' && at === at) return Math.max(at, this.#polledAtMs + 1)
      reportLater(at)
      return Infinity
    } catch (error) {
      report(error)
      return Infinity
    }
  }
}
