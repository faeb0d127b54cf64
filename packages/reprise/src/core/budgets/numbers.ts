/**
 * The numbers that budgets are given: parameters, costs, and fields of a snapshot.
 * Invariant: what passes is finite, so no comparison of a budget ever meets NaN. Imports core only.
 */
import type { BudgetRequest } from '../budget.js'
import { BudgetError } from '../errors.js'
import { isNot } from '../problems.js'
import { nearest } from '../suggest.js'

const KINDS = {
  'a finite number': () => true,
  'a finite number of 0 or more': (value: number) => value >= 0,
  'a finite number above 0': (value: number) => value > 0,
  'a whole number of 0 or more': (value: number) => value >= 0 && Number.isInteger(value),
  'a whole number of 1 or more': (value: number) => value > 0 && Number.isInteger(value),
}

/** The value itself, or an error that names the place, the value, what is wanted and, for a parameter, an example. */
export function expectNumber(
  place: string,
  value: unknown,
  example?: number,
  kind: keyof typeof KINDS = 'a finite number of 0 or more',
): number {
  if (Number.isFinite(value) && KINDS[kind](value as number)) return value as number
  throw unexpected(place, value, example === undefined ? kind : `${kind} such as ${example}`)
}

/** The options themselves. A misspelt one that is ignored would be a limit that does not hold. */
export function expectOptions<T extends object>(budget: string, options: T, names: readonly (keyof T & string)[]): T {
  if (typeof options !== 'object' || options === null) throw unexpected(budget, options, `an object with ${names[0]}`)
  for (const name of Object.keys(options)) {
    if ((names as readonly string[]).includes(name)) continue
    const near = nearest(name, names)
    throw new BudgetError(`${budget}: unknown option ${name}${near === undefined ? '' : `, did you mean ${near}?`}`)
  }
  return options
}

export function expectFlag(place: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw unexpected(place, value, 'true or false')
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
