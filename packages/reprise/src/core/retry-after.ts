/**
 * How long a server asks to be left alone: `Retry-After`, on an error, its response, its result or its cause.
 *
 * The date is computed here, since core has no clock: the days from the civil calendar, all three forms of RFC 9110
 * §5.6.7. Invariant: whatever the input, the answer is undefined or a finite number ≥ 0, and nothing is thrown.
 * Imports core only.
 */
import { readField } from './failure-fields.js'

const DAY_MS = 86_400_000
const YEAR_MS = 365.2425 * DAY_MS
const MAX_HEADERS = 200
const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec'

/** `Sun Nov  6 08:49:37 1994`, to be put into the order of the other two. */
const ASCTIME = /^([a-z]{3}) ([a-z]{3}) ([ \d]\d) ([\d:]{8}) (\d{4})$/i
/** `Sun, 06 Nov 1994 08:49:37 GMT` and `Sunday, 06-Nov-94 08:49:37 GMT`. */
const DATE = /^[a-z]+, ([ \d]\d)[ -]([a-z]{3})[ -](\d\d|\d{4}) (\d\d):(\d\d):(\d\d) GMT$/i

/**
 * Milliseconds that a failure asks callers to wait, from `Retry-After` on the error, its response or its cause. 0 for a
 * date that has passed, undefined where nothing is said. `wallNowMs`: milliseconds since the epoch.
 * @example retryAfterMs({ headers: { 'retry-after': '120' } }, Date.now()) // 120000
 */
export function retryAfterMs(error: unknown, wallNowMs: number): number | undefined {
  return retryAfterBy(parseDate, error, wallNowMs)
}

/** The time since the epoch that a date of HTTP means; undefined or NaN for anything else. */
type DateReader = (text: string, wallNowMs: number) => number | undefined

/** `retryAfterMs` with the reading of dates as an argument: a driver that has a `Date` needs no calendar of its own. */
export function retryAfterBy(readDate: DateReader, error: unknown, wallNowMs: number): number | undefined {
  return stated(readDate, error, wallNowMs) ?? stated(readDate, readField(error, 'cause'), wallNowMs)
}

/** Whether it is worth reading the clock for: most errors speak of nothing of the kind. */
export function mayStateRetryAfter(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  try {
    const { retryAfterMs: ms, retryAfter, headers, response, value, cause } = error as Readonly<Record<string, unknown>>
    return (ms ?? retryAfter ?? headers ?? response ?? value ?? cause) !== undefined
  } catch {
    // Something in it throws when looked at: whoever reads on takes care.
    return true
  }
}

/** What one error states, in its own fields or in headers. Most state nothing, so this allocates nothing. */
function stated(readDate: DateReader, failure: unknown, wallNowMs: number): number | undefined {
  if (typeof failure !== 'object' || failure === null) return undefined
  const ms = readField(failure, 'retryAfterMs')
  if (typeof ms === 'number' && ms >= 0) return finite(ms)
  return (
    parse(readDate, readField(failure, 'retryAfter'), wallNowMs) ??
    parse(readDate, readHeader(failure), wallNowMs) ??
    parse(readDate, readHeader(readField(failure, 'response')), wallNowMs) ??
    parse(readDate, readHeader(readField(failure, 'value')), wallNowMs)
  )
}

function readHeader(holder: unknown): unknown {
  const headers = readField(holder, 'headers')
  // Most errors have none: that must cost nothing, least of all a thrown TypeError.
  if (typeof headers !== 'object' || headers === null) return undefined
  try {
    const { get } = headers as { get?: unknown }
    if (typeof get === 'function') return get.call(headers, 'retry-after')
    const names = Object.keys(headers).slice(0, MAX_HEADERS)
    const name = names.find((key) => key.toLowerCase() === 'retry-after')
    return name && readField(headers, name)
  } catch {
    return undefined
  }
}

function parse(readDate: DateReader, value: unknown, wallNowMs: number): number | undefined {
  if (typeof value === 'number') return value >= 0 ? finite(value * 1000) : undefined
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (/^\d+(?:\.\d+)?$/.test(text)) return finite(Number(text) * 1000)
  const dateMs = readDate(text, wallNowMs) ?? Number.NaN
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - wallNowMs)
}

/** Absurdly long is still a length of time: the limit of the policy will refuse it. */
function finite(ms: number): number {
  return Math.min(ms, Number.MAX_SAFE_INTEGER)
}

function parseDate(text: string, wallNowMs: number): number | undefined {
  const fields = DATE.exec(text.replace(ASCTIME, '$1, $3 $2 $5 $4 GMT'))
  if (!fields) return undefined
  const [day, , year, hour, minute, second] = fields.slice(1).map(Number) as [number, 0, number, number, number, number]
  const month = MONTHS.indexOf(fields[2]!.toLowerCase()) / 3
  const dateMs = (inYear: number): number =>
    (firstDay(inYear, month) + day - 1) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000

  let fullYear = year
  if (fields[3]!.length === 2) {
    // The latest such year that is no more than 50 years ahead.
    const latestMs = wallNowMs + 50 * YEAR_MS
    fullYear += Math.floor((1971 + latestMs / YEAR_MS - year) / 100) * 100
    if (dateMs(fullYear) > latestMs) fullYear -= 100
  }
  const isDay = day > 0 && day <= firstDay(fullYear, month + 1) - firstDay(fullYear, month)
  // A 60th second is a leap second.
  return Number.isInteger(month) && isDay && hour < 24 && minute < 60 && second <= 60 ? dateMs(fullYear) : undefined
}

/** Days from 1970-01-01 to the first of a month, 0 being January. Years begin in March, so that a leap day is last. */
function firstDay(year: number, month: number): number {
  const y = month < 2 ? year - 1 : year
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)
  return y * 365 + leapDays + Math.floor((153 * ((month + 10) % 12) + 2) / 5) - 719_468
}
