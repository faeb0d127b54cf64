/**
 * The gates of a first attempt, with its request. Nothing in them differs from call to call but the time, which is read
 * when it is needed, so one object serves all calls of a plan and asking allocates nothing. Imports core and types.
 */
import type { Breaker } from '../core/breaker.js'
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../core/budget.js'
import type { LaunchGates, Start } from '../core/decide.js'
import { BudgetPanic, hearsOfEnd, NO_BUDGET } from '../core/gate.js'
import type { BudgetRef, Policy } from '../core/policy.js'
import { ask, conclude, findBudget, giveBack } from './ask.js'
import { AttemptRequest } from './attempt-request.js'
import { FIRST } from './context.js'
import type { Environment } from './environment.js'

/** What a promise is given for its success. */
type Succeeded = (value: unknown) => unknown

export class FirstGates implements LaunchGates {
  readonly aborted = false
  readonly breaker: Breaker | undefined
  /** Undefined where no budget is named. */
  readonly request: BudgetRequest | undefined
  /** What a budget is told at the end of a success, where a deadline has to be told: one for all calls, since it is only lent. */
  readonly #ended: AttemptRequest | undefined
  /** The budget that was asked last: read it right after asking. */
  budget: Budget | undefined = undefined
  private readonly environment: Environment
  private readonly policy: Policy
  private readonly key: string
  /** The registry as of which `budget` was looked up. */
  #foundIn = -1
  #denial: Decision | undefined = undefined
  /** What follows a success of attempts with this epoch and budget, if the budget does not hear of it. */
  #quiet: Succeeded | undefined = undefined
  #quietEpoch = -1
  #quietBudget: Budget | undefined = undefined

  constructor(environment: Environment, key: string, policy: Policy, breaker: Breaker | undefined) {
    const { budget } = policy
    this.environment = environment
    this.policy = policy
    this.key = key
    this.breaker = breaker
    this.request =
      budget === undefined ? undefined : new AttemptRequest(environment, policy, key, FIRST, budget, undefined)
    this.#ended = budget === undefined || policy.timeoutMs === undefined ? undefined : this.requestUntil(Infinity)
  }

  get now(): number {
    return this.environment.nowMs()
  }

  get parks(): boolean {
    return this.budget?.park !== undefined && !(this.#denial instanceof BudgetPanic)
  }

  ask(): Decision {
    const { environment, request } = this
    if (request === undefined) return NO_BUDGET
    const version = environment.budgets?.version ?? 0
    if (version !== this.#foundIn) {
      this.budget = findBudget(environment, request.ref)
      this.#foundIn = version
    }
    const decision = ask(environment, request.ref, this.budget, request)
    if (!decision.allowed) this.#denial = decision
    return decision
  }

  /**
   * What follows the success of an attempt of which no budget hears: one function for all calls that start alike, so that
   * none is made for each. Undefined where a budget hears: it is told when the attempt started, see `succeeded`.
   */
  quietSuccess({ epoch, decision }: Start, budget: Budget | undefined): Succeeded | undefined {
    if (decision.release !== undefined) return undefined
    if (epoch !== this.#quietEpoch || budget !== this.#quietBudget) {
      const succeeded: Succeeded = (value) => {
        this.breaker?.success(epoch)
        return value
      }
      this.#quiet = hearsOfEnd(budget, decision) ? undefined : succeeded
      this.#quietEpoch = epoch
      this.#quietBudget = budget
    }
    return this.#quiet
  }

  /**
   * A first attempt that `budget` allowed has succeeded, and no record of it is wanted. The breaker and the budget are told
   * what `Attempt.end` would tell them, without an `Attempt`: it would be the largest object of the call.
   */
  succeeded({ epoch, decision }: Start, budget: Budget | undefined, startMs: number): void {
    const { environment, request } = this
    this.breaker?.success(epoch)
    if (request === undefined || !hearsOfEnd(budget, decision)) return
    const { timeoutMs } = this.policy
    const asked = timeoutMs === undefined ? request : (this.#ended as AttemptRequest).until(startMs + timeoutMs)
    if (budget?.conclude !== undefined) conclude(environment, budget, decision, asked, this.#successSince(startMs))
    if (decision.release === undefined && budget?.settle === undefined) return
    giveBack(environment, budget, decision, asked, this.#successSince(startMs))
  }

  /** The shared request counts its deadline from whenever it is read, which is too late at the end of an attempt. */
  requestUntil(deadlineMs: number): AttemptRequest {
    const { environment, policy, key } = this
    return new AttemptRequest(environment, policy, key, FIRST, policy.budget as BudgetRef, deadlineMs)
  }

  #successSince(startMs: number): AttemptOutcome {
    const { now } = this
    return { result: 'success', latencyMs: Math.max(0, now - startMs), won: true, now, error: undefined }
  }
}
