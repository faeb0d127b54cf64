/**
 * The numbers that budgets are given: options, grants, costs, and fields of a snapshot. A wrong option is a problem of an
 * `OptionsError` with all the others; anything else throws a `BudgetError`.
 * Invariant: what passes is finite, so no comparison of a budget ever meets NaN. Imports core only.
 */
import type { BudgetRequest } from '../budget.js'
import { BudgetError } from '../errors.js'
import type { OptionCheck } from '../options.js'
import { isNot } from '../problems.js'

const KINDS = {
  'a finite number': () => true,
  'a finite number of 0 or more': (value: number) => value >= 0,
  'a finite number above 0': (value: number) => value > 0,
  'a whole number of 0 or more': (value: number) => value >= 0 && Number.isInteger(value),
  'a whole number of 1 or more': (value: number) => value > 0 && Number.isInteger(value),
}

type NumberKind = keyof typeof KINDS

function isKind(value: unknown, kind: NumberKind): boolean {
  return Number.isFinite(value) && KINDS[kind](value as number)
}

/** An option that is a number, and an example of it. */
export function numberCheck(example: number, kind: NumberKind = 'a finite number of 0 or more'): OptionCheck {
  return [(value) => isKind(value, kind), `${kind} such as ${example}`]
}

/** The value itself, or an error that names the place, the value and what is wanted. */
export function expectNumber(place: string, value: unknown, kind: NumberKind = 'a finite number of 0 or more'): number {
  if (isKind(value, kind)) return value as number
  throw unexpected(place, value, kind)
}

/** A list whose items have yet to be looked at. */
export function expectList(place: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw unexpected(place, value, 'a list')
}

export function unexpected(place: string, value: unknown, expected: string): BudgetError {
  return new BudgetError(`${place}: ${isNot(value, expected)}`)
}

/** Drivers pass 1 or more. Whatever else is taken as 1, since a cost below 0 or NaN would mint tokens. */
export function costOf(request: BudgetRequest): number {
  const { cost } = request.ref
  return cost >= 1 ? cost : 1
}
