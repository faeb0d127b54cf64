/**
 * From what people write to a policy, in little space: the fields that the loop knows, and every problem at once. What
 * it accepts means what `normalizePolicy` makes of it. Imports core only.
 */
import { readDuration } from '../core/duration.js'
import { PolicyError, type PolicyProblem } from '../core/errors.js'
import {
  type BackoffInput,
  type Jitter,
  MATCHER_WORDS,
  type MatcherWord,
  type Policy,
  type PolicyInput,
  type RetryPredicate,
} from '../core/policy.js'
import { isNot } from '../core/problems.js'

/** Without formulas, and without the third way to write the same. */
type SlimBackoff = Exclude<Extract<BackoffInput, string | Record<'type', string>>, Record<'formula', string>>

type SharedFields =
  | 'attempts'
  | 'initialDelay'
  | 'maxDelay'
  | 'jitter'
  | 'jitterFactor'
  | 'maxTotalDelay'
  | 'attemptTimeout'
  | 'timeout'
  | 'maxRetryAfter'

/** A policy of `reprise/slim`: fields of a policy of `reprise`, with the same meaning and the same defaults. */
export interface SlimPolicyInput extends Pick<PolicyInput, SharedFields> {
  /**
   * How the wait grows from attempt to attempt: a word, or an object with its `type` and parameters.
   * @default 'exponential'
   * @example { backoff: { type: 'exponential', base: 3 } }
   */
  readonly backoff?: SlimBackoff
  /**
   * Which failures to retry: those that fit at least one of the matchers. An empty list is every failure.
   * @default []
   * @example { retryOn: ['network', 'timeout', '5xx'] }
   */
  readonly retryOn?: readonly (MatcherWord | '5xx' | RetryPredicate)[]
}

/** Takes note of a problem, at a place within what is read. */
type Fail = (message: string, place?: string) => undefined
type Read = (value: unknown, fail: Fail) => unknown
/** By the name in the result: how a field is read, and what it is when not given. People write names without the unit. */
type Fields = Readonly<Record<string, readonly [read: Read, fallback?: unknown]>>

const duration: Read = (value, fail) => {
  const ms = readDuration(value)
  return typeof ms === 'number' ? ms : fail(ms)
}

function number(expected: string, isValid: (n: number) => boolean): Read {
  return (value, fail) => (typeof value === 'number' && isValid(value) ? value : fail(isNot(value, expected)))
}

function oneOf(...words: readonly unknown[]): Read {
  return (value, fail) => (words.includes(value) ? value : fail(isNot(value, `one of ${words.join(', ')}`)))
}

function list(expected: string, least: number, read: Read): Read {
  return (value, fail) =>
    Array.isArray(value) && value.length >= least
      ? value.map((item, index) => read(item, (message) => fail(message, `[${index}]`)))
      : fail(isNot(value, expected))
}

const matcherOf: Read = (value, fail) =>
  typeof value === 'function' ? value : oneOf(...MATCHER_WORDS)(value === '5xx' ? 'server_error' : value, fail)

const PARAMETERS: Readonly<Record<string, Fields>> = {
  fixed: {},
  linear: { incrementMs: [duration] },
  exponential: { base: [number('a number above 0', (base) => base > 0 && base < 2 ** 53), 2] },
  fibonacci: {},
  custom: { delaysMs: [list('a list with durations', 1, duration), null] },
}

const backoffOf: Read = (value, fail) => {
  const { type, ...parameters } = typeof value === 'string' ? { type: value } : Object(value)
  const fields = PARAMETERS[oneOf(...Object.keys(PARAMETERS))(type, fail) as string]
  return fields && { type, ...readFields(parameters, fields, (message, place) => fail(message, `.${place}`)) }
}

const POLICY: Fields = {
  attempts: [number('a whole number from 1 to 1000', (n) => Number.isInteger(n) && n > 0 && n <= 1000), 3],
  backoff: [backoffOf, 'exponential'],
  initialDelayMs: [duration, 1000],
  maxDelayMs: [duration, 30_000],
  jitter: [oneOf('none', 'proportional', 'full', 'equal', 'decorrelated', true, false)],
  jitterFactor: [number('a number from 0 to 1', (n) => n >= 0 && n <= 1), 0.3],
  retryOn: [list('a list', 0, matcherOf), []],
  maxTotalDelayMs: [duration],
  attemptTimeoutMs: [duration],
  timeoutMs: [duration],
  maxRetryAfterMs: [duration, 60_000],
}

type Given = Readonly<Record<string, unknown>>

function readFields(input: Given, fields: Fields, fail: Fail): Record<string, unknown> {
  const names: string[] = []
  const result: Record<string, unknown> = {}
  for (const [target, [read, fallback]] of Object.entries(fields)) {
    const name = target.replace('Ms', '')
    const { [name]: value = fallback } = input
    names.push(name)
    if (value !== undefined) result[target] = read(value, (message, place = '') => fail(message, name + place))
  }
  for (const name of Object.keys(input)) {
    if (!names.includes(name)) fail(`unknown field: there are ${names.join(', ')}`, name)
  }
  return result
}

/** What is filled in when all fields are read. */
interface Draft extends Omit<Policy, 'jitter'> {
  readonly jitter?: boolean | Jitter
  readonly maxTotalDelayMs?: number
}

/** Throws a `PolicyError` that names every problem. */
export function readPolicy(input: SlimPolicyInput | number | false): Policy {
  const given = typeof input === 'object' ? (input as Given) : { attempts: input === false ? 1 : input }
  const problems: PolicyProblem[] = []
  const fields = readFields(given, POLICY, (message, path = '') => void problems.push({ path, message }))
  if (problems.length > 0) throw new PolicyError(problems)
  const { jitter, maxTotalDelayMs: retryBudgetMs, ...rest } = fields as unknown as Draft
  const { backoff, initialDelayMs: incrementMs } = rest
  const isSpeltOut = backoff.type === 'fixed' || backoff.type === 'custom'
  return {
    ...rest,
    backoff: backoff.type === 'linear' ? { incrementMs, ...(backoff as { type: 'linear' }) } : backoff,
    jitter: jitter === true ? 'proportional' : jitter || (jitter === false || isSpeltOut ? 'none' : 'full'),
    retryBudgetMs,
  }
}
