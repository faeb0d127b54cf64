/**
 * A budget's own code, called so that what it throws harms no other task than the one that asks. Imports core, the ledger's
 * types and the report of hooks.
 */
import { expectAnswer } from '../core/answer.js'
import type { Budget, BudgetRequest, Decision } from '../core/budget.js'
import { askBudget, BudgetPanic, DENIED } from '../core/gate.js'
import type { Json } from '../ledger/records.js'
import { report, reportLater } from '../runtime/hook-errors.js'

/** What a budget says of itself; one that cannot say it is used all the same. */
export function settingsOf(budget: Budget): Json | undefined {
  try {
    const said = budget.describe?.()
    reportLater(said)
    return said && (JSON.parse(JSON.stringify(said)) as Json)
  } catch (error) {
    report(error)
    return undefined
  }
}

/** Of a budget that throws nothing is known: it allows nothing, and harms nobody else's task. */
export function askSafely(budget: Budget, request: BudgetRequest): Decision {
  try {
    return askBudget(budget, request)
  } catch (error) {
    report(error)
    return new BudgetPanic(error)
  }
}

/** What was done is recorded, whatever the budget makes of it. */
export function doSafely(tell: () => unknown): void {
  try {
    reportLater(tell())
  } catch (error) {
    report(error)
  }
}

/** A time that is no number is no time. */
export function nextAllowedSafely(budget: Budget | undefined, request: BudgetRequest): number | undefined {
  try {
    const atMs = budget?.nextAllowedAtMs?.(request)
    reportLater(atMs)
    return typeof atMs === 'number' && !Number.isNaN(atMs) ? atMs : undefined
  } catch (error) {
    report(error)
    return undefined
  }
}

/** The budget's answer to a peek that said no, in its own word. */
export function peekedDenial(budget: Budget, request: BudgetRequest): Decision {
  try {
    const reason = budget.denialReason?.(request)
    reportLater(reason)
    return typeof reason === 'string' && reason !== '' ? { allowed: false, reason } : DENIED
  } catch (error) {
    report(error)
    return DENIED
  }
}

export function peekSafely(budget: Required<Pick<Budget, 'peek'>>, request: BudgetRequest): boolean {
  try {
    return expectAnswer(budget.peek(request), 'peek')
  } catch (error) {
    report(error)
    return false
  }
}
