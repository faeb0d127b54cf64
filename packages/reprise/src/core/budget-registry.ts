/**
 * Budgets by name. Names are trimmed; registering again replaces. Imports core only.
 */
import type { Budget } from './budget.js'
import { BudgetError } from './errors.js'
import { isBudget } from './gate.js'

/** Budgets by name, for executors that share them. Names are trimmed; registering a name again replaces its budget. */
export class BudgetRegistry {
  private readonly budgets = new Map<string, Budget>()
  /** Grows with every registration, so that whoever looked a name up can tell that it may have been replaced. */
  version = 0

  /**
   * Adds or replaces a budget. Throws a `BudgetError` for an empty name or something that is no budget.
   * @example
   * const budgets = new BudgetRegistry().register('api', tokenBucket({ capacity: 100, refillPerSecond: 10 }))
   * const api = createExecutor({ budgets, defaultPolicy: { budget: 'api' } })
   */
  register(name: string, budget: Budget): this {
    const trimmed = name.trim()
    if (trimmed === '') throw new BudgetError('A budget needs a name: register("api", tokenBucket({ … }))')
    if (!isBudget(budget)) throw new BudgetError(`Budget ${trimmed} has no allowAttempt method`)
    this.budgets.set(trimmed, budget)
    this.version++
    return this
  }

  /** The budget with this name; undefined if there is none. @example new BudgetRegistry().get('api') // undefined */
  get(name: string): Budget | undefined {
    return this.budgets.get(name) ?? this.budgets.get(name.trim())
  }

  /**
   * All names, in the order in which they were first registered.
   * @example new BudgetRegistry().register('api', unlimited()).names() // ['api']
   */
  names(): readonly string[] {
    return [...this.budgets.keys()]
  }
}
