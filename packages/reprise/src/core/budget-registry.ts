/**
 * Budgets by name. Names are trimmed; registering again replaces. Imports core only.
 */
import type { Budget } from './budget.js'
import { BudgetError } from './errors.js'
import { isBudget } from './gate.js'

export class BudgetRegistry {
  private readonly budgets = new Map<string, Budget>()
  /** Grows with every registration, so that whoever looked a name up can tell that it may have been replaced. */
  version = 0

  register(name: string, budget: Budget): this {
    const trimmed = name.trim()
    if (trimmed === '') throw new BudgetError('A budget needs a name: register("api", tokenBucket({ … }))')
    if (!isBudget(budget)) throw new BudgetError(`Budget ${trimmed} has no allowAttempt method`)
    this.budgets.set(trimmed, budget)
    this.version++
    return this
  }

  get(name: string): Budget | undefined {
    return this.budgets.get(name) ?? this.budgets.get(name.trim())
  }

  names(): readonly string[] {
    return [...this.budgets.keys()]
  }
}
