/**
 * Policies as plain data, before the library reads them: defaults merged in, durations without a unit found out.
 * Invariant: works on own keys only and makes them by definition, so no key reaches a prototype. Imports `spot`.
 */
import { hasFields } from './spot.js'

/** Fields that hold a duration. In a program a number is milliseconds; in a file nobody can tell what it is. */
const DURATIONS = new Set([
  ...['initialDelay', 'maxDelay', 'retryBudget', 'attemptTimeout', 'timeout', 'maxRetryAfter', 'recoveryTimeout'],
  ...['delay', 'delays', 'increment'],
])

/** `backoff: {custom: {delays: […]}}` is as deep as a duration can stand. */
const MAX_DEPTH = 3

/** The same with bare numbers of duration fields as texts, which the library refuses with the right words. */
export function withUnitsOnly(data: unknown, depth = 0): unknown {
  if (!hasFields(data) || depth > MAX_DEPTH) return data
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => {
      if (!DURATIONS.has(key)) return [key, withUnitsOnly(value, depth + 1)]
      return [key, Array.isArray(value) ? (value as unknown[]).map(numberAsText) : numberAsText(value)]
    }),
  )
}

function numberAsText(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value
}

/** Field by field, `own` first. `retry: 5` and `retry: false` are numbers of attempts. */
export function mergeFields(defaults: unknown, own: unknown): unknown {
  const [below, above] = [fieldsOf(defaults), fieldsOf(own)]
  const taken = new Set(Object.keys(above).map(camelCase))
  const kept = Object.entries(below).filter(([key]) => !taken.has(camelCase(key)))
  return Object.fromEntries([...kept, ...Object.entries(above)])
}

function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  if (hasFields(data)) return data
  return { attempts: data === false ? 1 : data }
}

/** One spelling, to find the same field in both. */
function camelCase(key: string): string {
  return key.replace(/_[a-z]/g, (pair) => pair.charAt(1).toUpperCase())
}
