/**
 * The budgets and breakers of a run. A name means the same for every run on the ledger, but for budgets that count:
 * those are each run's own, since a run that used one up would leave nothing to the next. Imports the library, the plan
 * and the makers of budgets.
 */
import type { Budget, PolicyInput } from 'reprise'
import { type BudgetType, kindOf } from '../document/budget-types.js'
import type { Plan } from '../plan/plan.js'

export function budgetsOf({ budgets }: Plan, runId: string): Map<string, Budget> {
  return new Map(
    Object.entries(budgets).map(([name, { type, settings }]) => {
      return [ownName(name, type, runId), kindOf(type as BudgetType).make(settings)]
    }),
  )
}

/** The policy with the names of this run's budgets. */
export function policyFor(policy: PolicyInput, { budgets }: Plan, runId: string): PolicyInput {
  const { budget } = policy
  if (budget === undefined) return policy
  const name = typeof budget === 'string' ? budget : budget.name
  const type = Object.hasOwn(budgets, name) ? budgets[name]?.type : undefined
  const own = ownName(name, type, runId)
  return { ...policy, budget: typeof budget === 'string' ? own : { ...budget, name: own } }
}

/** Keys of the gates that are this run's own: they go with it. */
export function ownGates({ budgets }: Plan, runId: string): string[] {
  const own = Object.entries(budgets).filter(([, { type }]) => isOwn(type))
  return own.map(([name, { type }]) => `budget:${ownName(name, type, runId)}`)
}

function isOwn(type: string | undefined): boolean {
  return type === 'count'
}

function ownName(name: string, type: string | undefined, runId: string): string {
  return isOwn(type) ? `${name}@${runId}` : name
}
