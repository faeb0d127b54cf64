/**
 * Times in JSON: whole milliseconds, and the date beside each, so that people can read it and every language parse it:
 * `startedAtMs` and `startedAt`. The name tells which a number is; what users have written themselves is left alone.
 * Imports nothing.
 */

/** Names of points in time. Other names that end in `Ms` are durations. */
const MOMENT = /(?:^at|^time|At|Until)Ms$/

/** Values of the user, such as parameters: their keys are not ours, so nothing is added to them. */
const GIVEN: ReadonlySet<string> = new Set(['params', 'policy', 'action', 'env', 'capture', 'onFailure', 'onInterrupt'])

/** The longest time that a date can be from 1970. */
const MAX_DATE_MS = 8.64e15

export function withDates(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withDates)
  return Object.fromEntries(Object.entries(value).flatMap(([key, held]) => fieldsFor(key, held)))
}

function fieldsFor(key: string, held: unknown): [string, unknown][] {
  if (GIVEN.has(key)) return [[key, held]]
  if (!key.endsWith('Ms')) return [[key, withDates(held)]]
  const whole = rounded(held)
  return MOMENT.test(key)
    ? [
        [key, whole],
        [key.slice(0, -2), dateOf(whole)],
      ]
    : [[key, whole]]
}

function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Math.round(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(rounded)
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, rounded(held)]))
}

function dateOf(value: unknown): unknown {
  if (value === undefined) return undefined
  if (Array.isArray(value)) return value.map(dateOf)
  return typeof value === 'number' && Math.abs(value) <= MAX_DATE_MS ? new Date(value).toISOString() : null
}
