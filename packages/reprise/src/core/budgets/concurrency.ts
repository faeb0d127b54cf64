/**
 * A reservation: attempts whose costs add up to at most `max` run at a time, first attempts included.
 *
 * Invariants: what a grant took comes back exactly once, by the decision's `release`, however often that is called, or by
 * `settle` where the decision is gone; never below nothing in use. So every grant is a decision of its own: a shared one
 * could not tell a second release from that of another attempt. Imports core only.
 */
import type { AttemptOutcome, Budget, BudgetDescription, BudgetRequest, Decision } from '../budget.js'
import { ALLOWED, DENIED } from '../gate.js'
import { expectOptions } from '../options.js'
import { costOf, expectNumber, numberCheck } from './numbers.js'

/** Options of `concurrencyBudget`. */
export interface ConcurrencyBudgetOptions {
  /** Costs of attempts that may run at a time: a whole number of 1 or more. */
  readonly max: number
}

export interface ConcurrencyBudgetState {
  readonly inUse: number
}

/** A budget of attempts that run at a time. */
export class ConcurrencyBudget implements Budget {
  private readonly max: number
  private reserved = 0

  constructor(options: ConcurrencyBudgetOptions) {
    const checks = { max: numberCheck(10, 'a whole number of 1 or more') }
    expectOptions('concurrencyBudget', options, checks, { required: ['max'] })
    this.max = options.max
  }

  /** Costs of the attempts that run now. */
  get inUse(): number {
    return this.reserved
  }

  allowAttempt(request: BudgetRequest): Decision {
    const cost = costOf(request)
    if (this.reserved + cost > this.max) return DENIED
    this.reserved += cost
    return this.grant(cost)
  }

  settle(request: BudgetRequest, _outcome: AttemptOutcome): void {
    this.free(costOf(request))
  }

  peek(request: BudgetRequest): boolean {
    return this.reserved + costOf(request) <= this.max
  }

  describe(): BudgetDescription {
    return { type: 'concurrency', max: this.max }
  }

  snapshot(): ConcurrencyBudgetState {
    return { inUse: this.reserved }
  }

  /** Places of a process that is gone stay taken until its attempts are settled. */
  restore(state: unknown): void {
    const { inUse } = (state ?? {}) as Partial<ConcurrencyBudgetState>
    this.reserved = expectNumber('concurrencyBudget snapshot inUse', inUse)
  }

  private grant(cost: number): Decision {
    let held = cost
    const release = (): void => {
      this.free(held)
      held = 0
    }
    return { allowed: true, reason: ALLOWED.reason, release }
  }

  private free(cost: number): void {
    this.reserved = Math.max(0, this.reserved - cost)
  }
}

/**
 * Makes a budget that limits how many attempts run at a time, first attempts included. Throws an `OptionsError` for
 * wrong options.
 * @example
 * const api = createExecutor({ budgets: { api: concurrencyBudget({ max: 10 }) }, defaultPolicy: { budget: 'api' } })
 */
export function concurrencyBudget(options: ConcurrencyBudgetOptions): ConcurrencyBudget {
  return new ConcurrencyBudget(options)
}
