/**
 * Asking budgets and giving back what they gave: resolution of names, hook errors, pairs of budgets.
 * Imports core and the environment's type.
 */
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../core/budget.js'
import { askBudget, DENIED, giveBack as handBack, mayPeek, notFound, NO_BUDGET, PANIC_IN_BUDGET } from '../core/gate.js'
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

/** Throws what the budget throws, unless hook errors are recovered. */
export function ask(
  environment: Environment,
  ref: BudgetRef | undefined,
  budget: Budget | undefined,
  request: BudgetRequest,
): Decision {
  if (budget === undefined) {
    return ref === undefined || environment.budgets === undefined ? NO_BUDGET : notFound(environment.missingBudgetMode)
  }
  return environment.recoverHookErrors ? askSafely(budget, request) : askBudget(budget, request)
}

function askSafely(budget: Budget, request: BudgetRequest): Decision {
  try {
    return askBudget(budget, request)
  } catch {
    return PANIC_IN_BUDGET
  }
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

/** The denial to expect at `dueAtMs`, or undefined where that cannot be told. */
export function peekAt(environment: Environment, request: BudgetRequest, dueAtMs: number): Decision | undefined {
  const { key, attempt, kind, ref, deadlineMs, attemptTimeoutMs } = request
  const budget = findBudget(environment, ref)
  if (!mayPeek(budget)) return undefined
  const question = { key, attempt, kind, ref, now: dueAtMs, deadlineMs, attemptTimeoutMs }
  try {
    if (budget.peek(question)) return undefined
    const reason = budget.denialReason?.(question)
    return reason ? { allowed: false, reason } : DENIED
  } catch (error) {
    if (environment.recoverHookErrors) return PANIC_IN_BUDGET
    throw error
  }
}

/** Two budgets must both allow: what the first gave goes back if the second refuses, and both hear of the end. */
export function both(environment: Environment, first: Asked, second: Asked): Decision {
  if (!second.decision.allowed) {
    const unused = { result: 'aborted', latencyMs: 0, won: false, now: first.request.now } as const
    giveBack(environment, first.budget, first.decision, first.request, unused)
    return second.decision
  }
  return {
    allowed: true,
    reason: second.decision.reason,
    release: (outcome) => {
      giveBack(environment, first.budget, first.decision, first.request, outcome)
      giveBack(environment, second.budget, second.decision, second.request, outcome)
    },
  }
}
