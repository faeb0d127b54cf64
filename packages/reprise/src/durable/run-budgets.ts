/**
 * The budgets that tasks of this process may name: those the program registered, and those of the runs it conducts.
 * Imports core and its errors.
 *
 * Invariant: one name means one budget in this process, since its state is one row of the ledger. The runs that use a
 * name share the budget; it is dropped with the last of them.
 */
import type { Budget } from '../core/budget.js'
import { BudgetError } from '../core/errors.js'
import type { BudgetLookup } from '../core/gate.js'

interface RunBudget {
  readonly budget: Budget
  users: number
}

export class RunBudgets {
  private readonly registered: BudgetLookup | undefined
  private readonly ofRuns = new Map<string, RunBudget>()
  /** Told when no run uses the budget any more. */
  onDropped: (name: string, budget: Budget) => void = () => undefined

  constructor(registered: BudgetLookup | undefined) {
    this.registered = registered
  }

  get(name: string): Budget | undefined {
    return this.registered?.get(name) ?? this.ofRuns.get(name)?.budget
  }

  /** Whether a budget of this name is asked for at all: a program without a registry limits nothing. */
  isAsked(name: string): boolean {
    return this.registered !== undefined || this.ofRuns.has(name)
  }

  /** Adds the budgets of a run; the answer removes them. Throws if a name is in use for a budget with other settings. */
  add(budgets: ReadonlyMap<string, Budget>): () => void {
    for (const [name, budget] of budgets) this.expectSame(name, budget)
    // The program's own goes on under its name: two budgets would overwrite each other's row.
    const own = [...budgets].filter(([name]) => this.registered?.get(name) === undefined)
    for (const [name, budget] of own) {
      const known = this.ofRuns.get(name)
      if (known === undefined) this.ofRuns.set(name, { budget, users: 1 })
      else known.users++
    }
    return () => {
      for (const [name] of own) this.release(name)
    }
  }

  private release(name: string): void {
    const known = this.ofRuns.get(name)
    if (known === undefined || --known.users > 0) return
    this.ofRuns.delete(name)
    this.onDropped(name, known.budget)
  }

  private expectSame(name: string, budget: Budget): void {
    const known = this.get(name)
    if (known === undefined || settingsOf(known) === settingsOf(budget)) return
    throw new BudgetError(
      `Budget ${name} is in use in this process with other settings: give one of the two another name`,
    )
  }
}

function settingsOf(budget: Budget): string {
  return JSON.stringify(budget.describe?.() ?? null)
}
