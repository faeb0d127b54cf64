/**
 * Reading somebody's object against a schema: which fields are known, how they are spelt, what each must hold, and what
 * it is when not given.
 *
 * Invariants: own enumerable keys only, each read once and under guard, since a getter or a proxy may throw; a key is
 * accepted in camelCase and in snake_case, not in both at once; `undefined` counts as not given. A reader answers
 * undefined after it has reported a problem. Imports core only.
 */
import { readDuration } from './duration.js'
import { didYouMean, isNot, type Place } from './problems.js'

type Reader<T> = (value: unknown, place: Place) => T | undefined

/** Without a fallback, a field that was not given is absent from the result. */
type Field<T> = readonly [read: Reader<NonNullable<T>>, fallback?: T]

/** By the name in the result. People write it without the unit: `maxDelay` or `max_delay` for `maxDelayMs`. */
export type Schema<T> = { readonly [K in keyof T]-?: Field<T[K]> }

export type Entries = Map<string, unknown>

type Fields = Readonly<Record<string, Field<unknown>>>

const UNIT = /Ms$/

/** Bounds lists: as long as the longest call, so no entry of use is refused. */
const MAX_ITEMS = 1000
const MAX_SUGGESTIONS = 20
/** Characters of a value in a cure. */
const MAX_SHOWN = 40
/** What other libraries call our fields, where the nearest spelling would be another field, or none. */
const OTHER_NAMES = /* @__PURE__ */ new Map([
  ['delay', 'initialDelay'],
  ['minTimeout', 'initialDelay'],
  ['maxTimeout', 'maxDelay'],
  ['shouldRetry', 'retryOn'],
])
const COUNTS_FIRST = 'did you mean `attempts`? It counts the first call as well'
const IS_OPTION = 'it is an option: `retry(operation, policy, {signal})`'
const IS_EVENT = 'use an observer: `retry(operation, policy, {observers})`'
const IS_BASE = 'did you mean `backoff: {exponential: {base: 2}}`?'
/** Cures for fields of other libraries that are not one field of a policy in TypeScript. */
const CURES = /* @__PURE__ */ new Map([
  ['retries', COUNTS_FIRST],
  ['maxRetries', COUNTS_FIRST],
  ['signal', IS_OPTION],
  ['onRetry', IS_EVENT],
  ['onFailedAttempt', IS_EVENT],
  ['factor', IS_BASE],
  ['multiplier', IS_BASE],
])

function guarded<T>(place: Place, read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return place.fail('cannot be read')
  }
}

export function entriesOf(value: unknown, place: Place): Entries | undefined {
  return guarded(place, () => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return place.fail(isNot(value, 'an object with fields'))
    }
    const object = value as Readonly<Record<string, unknown>>
    return new Map(Object.keys(object).map((key) => [key, guarded(place.at(key), () => object[key])]))
  })
}

export function list<T>(value: unknown, place: Place, least: number, read: Reader<T>): readonly T[] | undefined {
  const items = guarded(place, () => {
    const length = Array.isArray(value) ? value.length : -1
    if (!(length >= least && length <= MAX_ITEMS)) {
      return place.fail(`needs a list of ${least} to ${MAX_ITEMS} items`, asList(value, place))
    }
    return Array.from({ length }, (_, index): unknown => (value as ArrayLike<unknown>)[index])
  })
  return items && Object.freeze(items.map((item, index) => read(item, place.item(index)) as T))
}

/** The cure for an item without its list, in TypeScript. */
function asList(value: unknown, place: Place): string | undefined {
  if (place.report.needsUnits === true) return undefined
  if (typeof value === 'function') return 'write it as a list: `[(error) => …]`'
  return typeof value === 'string' ? `write it as a list: \`['${value.slice(0, MAX_SHOWN)}']\`` : undefined
}

/** Complete only if no problem was reported. Of the two fields in `either` exactly one must be given. */
export function readFields<T extends object>(
  entries: Entries | undefined,
  place: Place,
  schema: Schema<T>,
  either?: readonly [keyof T & string, keyof T & string],
): T {
  const fields = schema as Fields
  const result: Record<string, unknown> = {}
  for (const [target, field] of Object.entries(fields)) {
    // A fallback is shared by all policies that take it.
    if (field.length > 1) result[target] = Object.freeze(field[1])
  }
  if (entries === undefined) return result as T
  const given = new Set<string>()
  const { problems } = place.report
  const before = problems.length
  for (const [key, value] of entries) {
    const target = targetOf(key, fields)
    const inner = place.at(key)
    if (target === undefined) inner.fail('unknown field', suggest(key, fields, entries, place))
    else if (given.has(target)) inner.fail('given in both spellings')
    else if (value !== undefined) {
      given.add(target)
      result[target] = fields[target]?.[0](value, inner)
    }
  }
  if (either && problems.length === before && given.has(either[0]) === given.has(either[1])) {
    place.fail(`needs exactly one of ${spell(either, entries).join(', ')}`)
  }
  return result as T
}

function isSnake(key: string): boolean {
  return key.includes('_')
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Names of fields as the author of these entries would write them. */
function spell(targets: readonly string[], entries: Entries): string[] {
  const names = targets.map((target) => target.replace(UNIT, ''))
  return [...entries.keys()].some(isSnake) ? names.map(snakeCase) : names
}

/** Somebody who misspelt more than a few has another problem; and a file of nothing else must not take long. */
function suggest(key: string, fields: Fields, entries: Entries, { path, report }: Place): string | undefined {
  if (report.problems.length >= MAX_SUGGESTIONS) return undefined
  const isPolicy = path === ''
  const cure = isPolicy && report.needsUnits !== true ? CURES.get(key) : undefined
  const meant = (isPolicy ? OTHER_NAMES.get(key) : undefined) ?? key
  return cure ?? didYouMean(meant, spell(Object.keys(fields), entries))
}

/** The field that a key means. A mixture of both spellings is none. */
function targetOf(key: string, fields: Fields): string | undefined {
  const name = isSnake(key) ? key.replace(/_[a-z]/g, (pair) => pair.charAt(1).toUpperCase()) : key
  if (UNIT.test(name) || (name !== key && snakeCase(name) !== key)) return undefined
  const timed = `${name}Ms`
  if (Object.hasOwn(fields, timed)) return timed
  return Object.hasOwn(fields, name) ? name : undefined
}

// ── what a field may hold ────────────────────────────────────────────────────────────────────────

/** A duration. In a file, and under a snake_case key, which is a file's, a number without unit is refused. */
export function duration(value: unknown, place: Place, hint?: string): number | undefined {
  const isFile = place.report.needsUnits === true || isSnake(place.path.slice(place.path.lastIndexOf('.') + 1))
  const ms = readDuration(value, !isFile)
  return typeof ms === 'number' ? ms : place.fail(ms, hint)
}

export function numeric(
  value: unknown,
  place: Place,
  isValid: (n: number) => boolean,
  expected: string,
): number | undefined {
  return typeof value === 'number' && isValid(value) ? value : place.fail(isNot(value, expected))
}

export function whole(value: unknown, place: Place, least: number, most: number): number | undefined {
  const isValid = (n: number): boolean => Number.isInteger(n) && n >= least && n <= most
  return numeric(value, place, isValid, `a whole number from ${least} to ${most}`)
}

/** A value of this `typeof`. */
export function typed<T>(value: unknown, place: Place, type: string): T | undefined {
  return typeof value === type ? (value as T) : place.fail(isNot(value, `a ${type}`))
}

/** One of `words`; `others` continues their list in the message. */
export function word<T extends string>(value: unknown, place: Place, words: readonly T[], others = ''): T | undefined {
  const found = words.find((candidate) => candidate === value)
  return found ?? place.fail(isNot(value, `one of ${words.join(', ')}${others}`), didYouMean(value, words))
}
