/**
 * The gates and the request of a first attempt. Nothing in them differs from call to call but the time, which is read
 * when it is needed, so one object serves all calls of a plan and asking allocates nothing. Imports core and types.
 */
import type { Breaker } from '../core/breaker.js'
import type { Budget, BudgetRequest, Decision } from '../core/budget.js'
import type { LaunchGates } from '../core/decide.js'
import { NO_BUDGET, PANIC_IN_BUDGET } from '../core/gate.js'
import type { BudgetRef, Policy } from '../core/policy.js'
import { ask, findBudget } from './ask.js'
import type { Environment } from './environment.js'

export class FirstGates implements LaunchGates, BudgetRequest {
  readonly key: string
  readonly attempt = 1
  readonly kind = 'retry'
  readonly aborted = false
  readonly breaker: Breaker | undefined
  readonly attemptTimeoutMs: number | undefined
  /** The budget that was asked last: read it right after asking. */
  budget: Budget | undefined = undefined
  private readonly environment: Environment
  private readonly budgetRef: BudgetRef | undefined
  private readonly timeoutMs: number
  /** The budget by that name, looked up again when the registry has changed. */
  private found: Budget | undefined = undefined
  private foundIn = -1
  private denial: Decision | undefined = undefined

  constructor(environment: Environment, key: string, policy: Policy, breaker: Breaker | undefined) {
    this.environment = environment
    this.key = key
    this.breaker = breaker
    this.budgetRef = policy.budget
    this.attemptTimeoutMs = policy.attemptTimeoutMs
    this.timeoutMs = policy.timeoutMs ?? Infinity
  }

  get ref(): BudgetRef {
    return this.budgetRef as BudgetRef
  }

  get now(): number {
    return this.environment.nowMs()
  }

  get deadlineMs(): number {
    return this.timeoutMs === Infinity ? Infinity : this.now + this.timeoutMs
  }

  get parks(): boolean {
    return this.budget?.park !== undefined && this.denial !== PANIC_IN_BUDGET
  }

  ask(): Decision {
    const { environment, budgetRef } = this
    if (budgetRef === undefined) return NO_BUDGET
    const version = environment.budgets?.version ?? 0
    if (version !== this.foundIn) {
      this.found = findBudget(environment, budgetRef)
      this.foundIn = version
    }
    const budget = this.found
    const decision = ask(environment, budgetRef, budget, this)
    this.budget = budget
    if (!decision.allowed) this.denial = decision
    return decision
  }
}
