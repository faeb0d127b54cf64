/**
 * From a budget's name to its decision: the rules of resolution, the same in every driver.
 * Decisions that need nothing of their own are shared frozen objects. Imports core only.
 */
import { isPromise, PROMISED } from './answer.js'
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from './budget.js'
import { BudgetError } from './errors.js'
import type { BudgetRef, Policy } from './policy.js'
import type { AttemptKind } from './words.js'

export interface BudgetLookup {
  /** Changes with every change of what `get` would answer. */
  readonly version: number
  get(name: string): Budget | undefined
  names?(): readonly string[]
}

export type MissingBudgetMode = 'allow' | 'deny'

const shared = (allowed: boolean, reason: string): Decision => Object.freeze({ allowed, reason })

export const ALLOWED = shared(true, 'allowed')
export const DENIED = shared(false, 'budget_denied')
export const NO_BUDGET = shared(true, 'no_budget')
export const PARK_EXPIRED = shared(false, 'park_expired')
const NOT_FOUND_ALLOWED = shared(true, 'budget_not_found')
const NOT_FOUND_DENIED = shared(false, 'budget_not_found')

/** The denial by a budget that threw: its error stands in place of an answer. */
export class BudgetPanic implements Decision {
  readonly allowed = false
  readonly reason = 'panic_in_budget'
  /** What the budget threw. */
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

export function notFound(mode: MissingBudgetMode): Decision {
  return mode === 'deny' ? NOT_FOUND_DENIED : NOT_FOUND_ALLOWED
}

export function isBudget(value: unknown): value is Budget {
  return typeof (value as Budget | null | undefined)?.allowAttempt === 'function'
}

/** How long an attempt stands in the line of a budget that does not say. */
export const DEFAULT_MAX_PARK_MS = 30_000

/**
 * Whether asking before the wait can tell anything. A budget that parks attempts, or hears of their ends, may have by the
 * end of the wait what it lacks now.
 */
export function mayPeek(budget: Budget | undefined): budget is Budget & Required<Pick<Budget, 'peek'>> {
  if (budget?.peek === undefined || budget.park !== undefined) return false
  return budget.settle === undefined && budget.conclude === undefined
}

/** Whether anything is to be told when an attempt ends that `budget` allowed with `decision`. */
export function hearsOfEnd(budget: Budget | undefined, decision: Decision): boolean {
  return decision.release !== undefined || budget?.settle !== undefined || budget?.conclude !== undefined
}

/** The outcome of an attempt that was allowed and did not start. */
export function unusedOutcome(now: number): AttemptOutcome {
  return { result: 'aborted', latencyMs: 0, won: false, now }
}

/** Whether it is the first launch of its call: attempt 1, and not a hedge of it. */
export function isFirstLaunch({ attempt, kind }: BudgetRequest): boolean {
  return attempt === 1 && kind === 'retry'
}

/** The budgets that an attempt asks, all of which must allow it: a hedge its own, and the retry's if it shares that. */
export function budgetRefs(policy: Policy, kind: AttemptKind): readonly BudgetRef[] {
  const { budget, hedge } = policy
  if (kind === 'retry') return budget === undefined ? [] : [budget]
  return [hedge?.budget, hedge?.shareBudget ? budget : undefined].filter((ref) => ref !== undefined)
}

/** What was allowed goes back: by the decision's own release, else by the budget's `settle`. */
export function giveBack(
  budget: Budget | undefined,
  decision: Decision,
  request: BudgetRequest,
  outcome: AttemptOutcome,
): unknown {
  return decision.release === undefined ? budget?.settle?.(request, outcome) : decision.release(outcome)
}

/** Asks a budget and checks that what it answers is a decision. */
export function askBudget(budget: Budget, request: BudgetRequest): Decision {
  return checkDecision(budget.allowAttempt(request), request)
}

/** Fills in an empty reason; throws if the answer is no decision at all. */
export function checkDecision(decision: Decision, request: BudgetRequest): Decision {
  if (decision === ALLOWED) return decision
  if (typeof decision?.allowed !== 'boolean') throw notADecision(decision, request)
  if (decision.release !== undefined && typeof decision.release !== 'function') throw notADecision(decision, request)
  if (decision.reason) return decision
  const filled = decision.allowed ? ALLOWED : DENIED
  return decision.release === undefined ? filled : { ...filled, release: decision.release.bind(decision) }
}

function notADecision(answer: unknown, request: BudgetRequest): BudgetError {
  const { name } = request.ref
  if (isPromise(answer) || isPromise((answer as Decision | undefined)?.allowed))
    return new BudgetError(`Budget ${name} ${PROMISED}`)
  return new BudgetError(`Budget ${name} answered with no decision: it is { allowed, reason, release? }`)
}
