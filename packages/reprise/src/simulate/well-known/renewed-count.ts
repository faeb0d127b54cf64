/**
 * A count of retries per job, as if calls came in jobs of a hundred: `countBudget`, made new for every job.
 * Invariant: first attempts are free, and decide when the next job begins; a retry is charged to the job that runs when
 * it is asked for. Imports core only.
 */
import type { Budget, BudgetRequest, Decision } from '../../core/budget.js'
import { isFirstLaunch } from '../../core/gate.js'
import { type CountBudget, countBudget } from '../../core/budgets/count.js'

const RETRIES_PER_JOB = 20
const CALLS_PER_JOB = 100

export class RenewedCount implements Budget {
  private budget = newJob()
  private calls = 0

  allowAttempt(request: BudgetRequest): Decision {
    if (isFirstLaunch(request)) this.count()
    return this.budget.allowAttempt(request)
  }

  peek(request: BudgetRequest): boolean {
    return this.budget.peek(request)
  }

  private count(): void {
    if (this.calls === CALLS_PER_JOB) {
      this.budget = newJob()
      this.calls = 0
    }
    this.calls++
  }
}

function newJob(): CountBudget {
  return countBudget({ total: RETRIES_PER_JOB })
}
