/**
 * That the options of a function are what they should be. A misspelt option that is silently ignored is a safety that
 * silently does not apply. Every problem is told at once. Imports core.
 */
import { readDuration } from './duration.js'
import { type OptionProblem, OptionsError } from './errors.js'
import { didYouMean, isNot } from './problems.js'

/** What an option must be, and the words for it: `true or false`. */
export type OptionCheck = readonly [isValid: (value: unknown) => boolean, expected: string]

export interface OptionNames {
  /** Options that are checked elsewhere. */
  readonly others?: readonly string[]
  /** Options that cannot be left out. */
  readonly required?: readonly string[]
}

/** A duration from `leastMs` to `mostMs`; `expected` says so in words: `a duration of 100ms or more such as '30s'`. */
export function durationCheck(expected: string, leastMs = 0, mostMs = Infinity): OptionCheck {
  const isValid = (value: unknown): boolean => {
    const ms = readDuration(value)
    return typeof ms === 'number' && ms >= leastMs && ms <= mostMs
  }
  return [isValid, expected]
}

export function hasMethods(value: unknown, ...methods: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return methods.every((method) => typeof (value as Readonly<Record<string, unknown>>)[method] === 'function')
}

export const CLOCK: OptionCheck = [
  (value) => hasMethods(value, 'wallMs', 'monotonicMs', 'schedule', 'cancel'),
  'a clock such as virtualClock()',
]

export const FLAG: OptionCheck = [(value) => typeof value === 'boolean', 'true or false']

export const UNKNOWN_OPTION = 'unknown option'

/** An option that is undefined is not given. */
export function expectOptions(
  subject: string,
  options: unknown,
  checks: Readonly<Record<string, OptionCheck>>,
  names?: OptionNames,
): void {
  expectNone(subject, optionProblems(options, checks, names))
}

/** For options that need more than one look at them: throws all of their problems together. */
export function expectNone(subject: string, problems: readonly OptionProblem[]): void {
  if (problems.length > 0) throw new OptionsError(subject, problems)
}

export function optionProblems(
  options: unknown,
  checks: Readonly<Record<string, OptionCheck>>,
  { others = [], required = [] }: OptionNames = {},
): OptionProblem[] {
  const known = [...Object.keys(checks), ...others]
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    return [{ path: '', message: isNot(options, `an object with ${known.join(', ')}`) }]
  }
  const isMissing = (name: string): boolean => (options as Readonly<Record<string, unknown>>)[name] === undefined
  const missing = required.filter(isMissing).map((path) => ({ path, message: `is missing: say ${checks[path]?.[1]}` }))
  const wrong = Object.entries(options).flatMap(([path, value]): OptionProblem[] => {
    if (others.includes(path)) return []
    const check = Object.hasOwn(checks, path) ? checks[path] : undefined
    if (check === undefined) {
      const suggestion = didYouMean(path, known)
      return [{ path, message: UNKNOWN_OPTION, ...(suggestion !== undefined && { suggestion }) }]
    }
    return value === undefined || check[0](value) ? [] : [{ path, message: isNot(value, check[1]) }]
  })
  return [...missing, ...wrong]
}
