/**
 * That a value is JSON, all of it: what a ledger would change silently is refused with its place. Imports types only.
 */
import type { Json } from '../ledger/records.js'

/** A value that nests deeper than this would not be written by hand. */
const MAX_DEPTH = 64

/** The value itself; throws a `TypeError` that names where it is none, such as `input.items[3].at`. */
export function expectJson(value: unknown, place: string): Json {
  const problem = problemIn(value, place, MAX_DEPTH)
  if (problem !== undefined) throw new TypeError(`${problem}: what is kept must be JSON`)
  return value as Json
}

function problemIn(value: unknown, place: string, depth: number): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${place} is ${value}`
  if (typeof value !== 'object') return `${place} is ${value === undefined ? 'undefined' : `a ${typeof value}`}`
  if (depth === 0) return `${place} is nested deeper than ${MAX_DEPTH} levels`
  if (Array.isArray(value)) {
    // Not `map`, which leaves out holes.
    return firstProblem(Array.from(value, (item, index) => () => problemIn(item, `${place}[${index}]`, depth - 1)))
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    return `${place} is an object of class ${(value.constructor as { name?: string } | undefined)?.name ?? 'unknown'}`
  }
  return firstProblem(
    entriesOf(value).map(
      ([key, item]) =>
        () =>
          problemIn(item, `${place}.${key}`, depth - 1),
    ),
  )
}

function firstProblem(looks: readonly (() => string | undefined)[]): string | undefined {
  for (const look of looks) {
    const problem = look()
    if (problem !== undefined) return problem
  }
  return undefined
}

/** One that is undefined is not there: types allow it, and JSON leaves it out. */
function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, item]) => item !== undefined)
}

/** The same text for the same data, whatever the order of its keys. */
export function canonical(value: Json): string {
  return canonicalText(value, new Map())
}

/** Most are in order as they are, and sorting makes a copy. */
function sortedKeys(fields: object): string[] {
  const keys = Object.keys(fields)
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return keys.sort()
  return keys
}

/** `keys`: as they are written. A document of very many parts has few of them. */
function canonicalText(value: Json, keys: Map<string, string>): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map((item) => canonicalText(item, keys)).join(',')}]`
  const fields = value as Readonly<Record<string, Json | undefined>>
  let text = ''
  for (const key of sortedKeys(fields)) {
    const item = fields[key]
    if (item === undefined) continue
    let name = keys.get(key)
    if (name === undefined) {
      name = `${JSON.stringify(key)}:`
      keys.set(key, name)
    }
    text += (text === '' ? name : `,${name}`) + canonicalText(item, keys)
  }
  return `{${text}}`
}
