/**
 * The gates of a first attempt, with its request. Nothing in them differs from call to call but the time, which is read
 * when it is needed, so one object serves all calls of a plan and asking allocates nothing. Imports core and types.
 */
import type { Breaker } from '../core/breaker.js'
import type { Budget, BudgetRequest, Decision } from '../core/budget.js'
import type { LaunchGates } from '../core/decide.js'
import { NO_BUDGET, PANIC_IN_BUDGET } from '../core/gate.js'
import type { Policy } from '../core/policy.js'
import { ask, findBudget } from './ask.js'
import { AttemptRequest } from './attempt-request.js'
import type { Environment } from './environment.js'

export class FirstGates implements LaunchGates {
  readonly aborted = false
  readonly breaker: Breaker | undefined
  /** Undefined where no budget is named. */
  readonly request: BudgetRequest | undefined
  /** The budget that was asked last: read it right after asking. */
  budget: Budget | undefined = undefined
  private readonly environment: Environment
  /** The registry as of which `budget` was looked up. */
  private foundIn = -1
  private denial: Decision | undefined = undefined

  constructor(environment: Environment, key: string, policy: Policy, breaker: Breaker | undefined) {
    const { budget } = policy
    this.environment = environment
    this.breaker = breaker
    this.request =
      budget === undefined ? undefined : new AttemptRequest(environment, policy, key, 1, 'retry', budget, undefined)
  }

  get now(): number {
    return this.environment.nowMs()
  }

  get parks(): boolean {
    return this.budget?.park !== undefined && this.denial !== PANIC_IN_BUDGET
  }

  ask(): Decision {
    const { environment, request } = this
    if (request === undefined) return NO_BUDGET
    const version = environment.budgets?.version ?? 0
    if (version !== this.foundIn) {
      this.budget = findBudget(environment, request.ref)
      this.foundIn = version
    }
    const decision = ask(environment, request.ref, this.budget, request)
    if (!decision.allowed) this.denial = decision
    return decision
  }
}
