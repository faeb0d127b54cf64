/**
 * Budgets that look as good as ours and are not: each leaves out one part, and fails where ours does not. They show what
 * the parts are for, and that the simulator can tell. Imports the library, and the budget's class from its source.
 */
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from 'reprise'
import type { Subject } from 'reprise/simulate'
import { AdaptiveBudget } from '../../packages/reprise/src/core/budgets/adaptive.js'
import { ADAPTIVE, RECOMMENDED } from './subjects.js'

/** Every success, early or late, lets half a retry go; there is nothing else. */
export class HalfARetryPerSuccess implements Budget {
  private readonly line = new Set<(grant: Decision) => void>()
  private credit = 0

  allowAttempt(request: BudgetRequest): Decision {
    if (request.launch === 1) return { allowed: true, reason: 'allowed' }
    if (this.credit < 1) return { allowed: false, reason: 'no_credit' }
    this.credit--
    return { allowed: true, reason: 'allowed' }
  }

  settle(_request: BudgetRequest, outcome: AttemptOutcome): void {
    if (outcome.result === 'success') this.credit += 0.5
    for (const wake of this.line) {
      if (this.credit < 1) return
      this.credit--
      this.line.delete(wake)
      wake({ allowed: true, reason: 'allowed' })
    }
  }

  park(_request: BudgetRequest, wake: (grant: Decision) => void): () => void {
    this.line.add(wake)
    return () => void this.line.delete(wake)
  }
}

/** Does not learn that retries do not help: those that fail are not reported. */
export class NoWorth extends AdaptiveBudget {
  constructor() {
    super({ bulkhead: true })
  }

  override conclude(request: BudgetRequest, outcome: AttemptOutcome): void {
    const isConcealed = request.launch > 1 && outcome.result !== 'success'
    super.conclude(request, isConcealed ? { ...outcome, result: 'aborted', latencyMs: 1 } : outcome)
  }
}

export function withBudget(name: string, make: () => Budget): Subject {
  return { ...ADAPTIVE, name, budgets: { adaptive: make } }
}

/** The recommended policy with another budget. */
export function recommendedWith(name: string, make: () => Budget): Subject {
  return { ...RECOMMENDED, name, budgets: { recommended: make } }
}
