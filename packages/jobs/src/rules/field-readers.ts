/**
 * Readers of single values of a job: each returns the value in its one form, or records a problem at its place and
 * returns undefined. Reading continues after a problem, so that all problems are reported at once. Imports the library.
 */
import { didYouMean, isNot, type Place, readDuration } from 'reprise/internal'

/** A larger number of anything is a mistake, not a wish that could be lowered to a limit. */
export const MAX_COUNT = 1_000_000

/** Ids of jobs, names of workflows: part of file names and of ids in the ledger. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
const NAME_WORDS = '1 to 100 letters, digits, `.`, `_` and `-`, a letter or digit first'

/** Names of datacenters are labels of metrics and names of queues as well, so they are shorter. */
const DATACENTER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
export const DATACENTER_WORDS =
  'the name of a datacenter: 1 to 63 letters, digits, `.`, `_` and `-`, a letter or digit first, such as `eu-west-1`'

export function isDatacenterName(value: unknown): value is string {
  return typeof value === 'string' && DATACENTER.test(value)
}

export type Fields = Readonly<Record<string, unknown>>

/** A value that is absent or null is not given. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** A whole number from `least` up to a million. */
export function readCount(place: Place, value: unknown, least = 0): number | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > MAX_COUNT) {
    return place.fail(isNot(value, `a whole number from ${least} to ${MAX_COUNT}`))
  }
  return value
}

/** Seconds as a number, as the wire has them; fractions are allowed. */
export function readSeconds(place: Place, value: unknown): number | undefined {
  const most = 365 * 86_400
  if (typeof value !== 'number' || !(value >= 0 && value <= most)) {
    return place.fail(isNot(value, `a number of seconds from 0 to ${most}`))
  }
  return Math.round(value * 1000)
}

/** A duration with its unit, such as `5m`. */
export function readLength(place: Place, value: unknown): number | undefined {
  const ms = readDuration(value, false)
  return typeof ms === 'number' ? ms : place.fail(ms)
}

export function readFlag(place: Place, value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : place.fail(isNot(value, 'true or false'))
}

/** One of a few words; `undefined` where none of them is there. */
export function readWord<W extends string>(place: Place, value: unknown, words: readonly W[]): W | undefined {
  if (words.includes(value as W)) return value as W
  return place.fail(isNot(value, words.map((word) => `\`${word}\``).join(' or ')), didYouMean(value, words))
}

export function readName(place: Place, value: unknown): string | undefined {
  return typeof value === 'string' && NAME.test(value) ? value : place.fail(isNot(value, `a name: ${NAME_WORDS}`))
}

export function readDatacenterName(place: Place, value: unknown): string | undefined {
  return isDatacenterName(value) ? value : place.fail(isNot(value, DATACENTER_WORDS))
}

/** An object with keys, and not a list or an instance of a class. */
export function readFields(place: Place, value: unknown, expected: string): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return place.fail(isNot(value, expected))
  return value as Fields
}

/** Fields by their snake_case names; camelCase is accepted, as in policies. Unknown ones are reported. */
export function knownFields(place: Place, fields: Fields, known: readonly string[]): Fields {
  const found = new Map<string, unknown>()
  for (const [key, value] of Object.entries(fields)) {
    const name = snakeCase(key)
    if (!known.includes(name)) place.at(key).fail('unknown field', didYouMean(key, known))
    else if (found.has(name)) place.at(key).fail(`is given twice: as \`${name}\` too`)
    else found.set(name, value)
  }
  return Object.fromEntries(found)
}

function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
