/**
 * Asking budgets, telling them the outcome and giving back what they gave: resolution of names, hook errors, pairs of
 * budgets. Imports core and the environment's type.
 */
import { expectAnswer, isPromise } from '../core/answer.js'
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../core/budget.js'
import {
  askBudget,
  BudgetPanic,
  DENIED,
  giveBack as handBack,
  mayPeek,
  notFound,
  NO_BUDGET,
  unusedOutcome,
} from '../core/gate.js'
import type { BudgetRef } from '../core/policy.js'
import type { Environment } from './environment.js'
import { report, reportLater } from './hook-errors.js'

/** A budget that was asked, with what it was asked and what it answered. */
export interface Asked {
  readonly budget: Budget | undefined
  readonly request: BudgetRequest
  readonly decision: Decision
}

export function findBudget(environment: Environment, ref: BudgetRef | undefined): Budget | undefined {
  return ref === undefined ? undefined : environment.budgets?.get(ref.name)
}

/** A budget that throws denies. */
export function ask(
  environment: Environment,
  ref: BudgetRef | undefined,
  budget: Budget | undefined,
  request: BudgetRequest,
): Decision {
  if (budget === undefined) {
    return ref === undefined || environment.budgets === undefined ? NO_BUDGET : notFound(environment.missingBudgetMode)
  }
  try {
    return askBudget(budget, request)
  } catch (error) {
    return panic(environment, request, error)
  }
}

/** The denial by a budget that threw. Where the call does not reject with the budget's error, the host reports it. */
export function panic({ recoverHookErrors }: Environment, { kind }: BudgetRequest, error: unknown): Decision {
  if (recoverHookErrors || kind === 'hedge') report(error)
  return new BudgetPanic(error)
}

/** Tells that the outcome of an allowed attempt is known, whatever the budget does about it. */
export function conclude(
  environment: Environment,
  budget: Budget | undefined,
  decision: Decision,
  request: BudgetRequest,
  outcome: AttemptOutcome,
): void {
  if (decision instanceof PairedGrant) {
    decision.conclude(outcome)
    return
  }
  if (budget?.conclude === undefined) return
  try {
    reportLater(budget.conclude(request, outcome))
  } catch (error) {
    report(error)
  }
  if (budget.park !== undefined) environment.lineOf(budget).follow()
}

/** Gives an allowed attempt back, whatever the budget does about it. */
export function giveBack(
  environment: Environment,
  budget: Budget | undefined,
  decision: Decision,
  request: BudgetRequest,
  outcome: AttemptOutcome,
): void {
  try {
    reportLater(handBack(budget, decision, request, outcome))
  } catch (error) {
    report(error)
  }
  if (budget?.park !== undefined) environment.lineOf(budget).follow()
}

/** Returns a grant that no attempt has used. */
export function returnUnused(environment: Environment, { budget, request, decision }: Asked, now: number): void {
  const outcome = unusedOutcome(now)
  conclude(environment, budget, decision, request, outcome)
  giveBack(environment, budget, decision, request, outcome)
}

/** The denial to expect at `dueAtMs`, or undefined where that cannot be told. */
export function peekAt(environment: Environment, request: BudgetRequest, dueAtMs: number): Decision | undefined {
  const { key, attempt, launch, kind, ref, deadlineMs, attemptTimeoutMs } = request
  const budget = findBudget(environment, ref)
  if (!mayPeek(budget)) return undefined
  const question = { key, attempt, launch, kind, ref, now: dueAtMs, deadlineMs, attemptTimeoutMs }
  try {
    if (expectAnswer(budget.peek(question), 'peek')) return undefined
    const reason = budget.denialReason?.(question)
    return reason && !isPromise(reason) ? { allowed: false, reason } : DENIED
  } catch (error) {
    return panic(environment, request, error)
  }
}

/** Two budgets must both allow: what the first gave goes back if the second refuses, and both hear of the end. */
export function both(environment: Environment, first: Asked, second: Asked): Decision {
  if (second.decision.allowed) return new PairedGrant(environment, first, second)
  returnUnused(environment, first, first.request.now)
  return second.decision
}

/** The grants of two budgets as one. */
export class PairedGrant implements Decision {
  readonly allowed = true
  readonly reason: string
  private readonly environment: Environment
  private readonly grants: readonly [Asked, Asked]

  constructor(environment: Environment, first: Asked, second: Asked) {
    this.reason = second.decision.reason
    this.environment = environment
    this.grants = [first, second]
  }

  conclude(outcome: AttemptOutcome): void {
    for (const { budget, decision, request } of this.grants) {
      conclude(this.environment, budget, decision, request, outcome)
    }
  }

  release(outcome: AttemptOutcome): void {
    for (const { budget, decision, request } of this.grants) {
      giveBack(this.environment, budget, decision, request, outcome)
    }
  }
}
