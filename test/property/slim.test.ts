/**
 * `retry` of `reprise/slim` beside `retry` of `reprise`: under the same policy, with the same outcomes and draws, the
 * operation is called at the same times, is told to stop at the same times, and the call ends alike.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRetryable, isRetryableBy } from '../../packages/reprise/src/core/classify.js'
import { IN_CODE, normalizePolicy } from '../../packages/reprise/src/core/normalize.js'
import { type DurationInput, MATCHER_WORDS, type Policy } from '../../packages/reprise/src/core/policy.js'
import { retry as fullRetry } from '../../packages/reprise/src/index.js'
import { retry as slimRetry, type SlimContext, type SlimPolicyInput } from '../../packages/reprise/src/slim/index.js'
import { judgeByFields } from '../../packages/reprise/src/slim/judge.js'
import { readPolicy } from '../../packages/reprise/src/slim/slim-policy.js'
import { seededRandom, virtualClock } from '../../packages/reprise/src/testing/index.js'

// ── policies ─────────────────────────────────────────────────────────────────────────────────────

const durationMs: fc.Arbitrary<DurationInput> = fc.oneof(
  fc.constantFrom(0, 1, 10, 50, '100ms', '1s'),
  fc.integer({ min: 0, max: 500 }),
)
const backoff: fc.Arbitrary<NonNullable<SlimPolicyInput['backoff']>> = fc.oneof(
  fc.constantFrom('fixed', 'linear', 'exponential', 'fibonacci'),
  fc.constantFrom({ type: 'fixed' }, { type: 'linear' }, { type: 'exponential', base: 3 }),
  fc.record({ type: fc.constant('linear'), increment: durationMs }),
  fc.record({ type: fc.constant('custom'), delays: fc.array(durationMs, { minLength: 1, maxLength: 4 }) }),
)
const matcher = fc.oneof(
  fc.constantFrom(...MATCHER_WORDS, '5xx' as const),
  fc.constant((error: unknown) => error instanceof RangeError),
)
const policies: fc.Arbitrary<SlimPolicyInput> = fc.record(
  {
    attempts: fc.integer({ min: 1, max: 8 }),
    backoff,
    initialDelay: durationMs,
    maxDelay: durationMs,
    jitter: fc.constantFrom<NonNullable<SlimPolicyInput['jitter']>>(
      true,
      false,
      'none',
      'proportional',
      'full',
      'equal',
      'decorrelated',
    ),
    jitterFactor: fc.double({ min: 0, max: 1, noNaN: true }),
    retryOn: fc.array(matcher, { maxLength: 3 }),
    maxTotalDelay: fc.integer({ min: 0, max: 1500 }),
    attemptTimeout: fc.integer({ min: 1, max: 100 }),
    timeout: fc.integer({ min: 1, max: 1000 }),
    maxRetryAfter: fc.constantFrom(0, '2s', '1m'),
  },
  { requiredKeys: [] },
)

// ── outcomes ─────────────────────────────────────────────────────────────────────────────────────

const failureWith = (fields: object, message = 'failed'): Error => Object.assign(new Error(message), fields)
/** A date a few seconds after the start of the clock. */
const inSeconds = (seconds: number): string => new Date(seconds * 1000).toUTCString()

/** What states in fields all that there is to know of it: messages are read by the other one alone. */
const failures: readonly unknown[] = [
  new Error('failed'),
  new RangeError('failed'),
  undefined,
  null,
  'a text',
  failureWith({ code: 'ECONNRESET' }),
  failureWith({ code: 'ERR_SOCKET_CONNECTION_TIMEOUT' }),
  new TypeError('fetch failed', { cause: failureWith({ code: 'UND_ERR_CONNECT_TIMEOUT' }) }),
  new TypeError('Failed to fetch'),
  new AggregateError([failureWith({ code: 'EHOSTUNREACH' })], 'several'),
  new DOMException('The operation was aborted', 'TimeoutError'),
  failureWith({ status: 408 }),
  failureWith({ status: 429, retryAfter: 1 }),
  failureWith({ response: { status: 503, headers: new Headers({ 'retry-after': inSeconds(2) }) } }),
  failureWith({ statusCode: '500', headers: { 'Retry-After': '3600' } }),
  failureWith({ $metadata: { httpStatusCode: 502 }, cause: { retryAfterMs: 40 } }),
  failureWith({ status: 404 }),
  failureWith({ retryable: false, code: 'EPIPE' }),
  failureWith({ retryable: 'if_listed' }),
  failureWith({ retryable: 'not_yet' }),
]

const step = fc.record({
  takesMs: fc.constantFrom(0, 0, 1, 10, 99, 100, 500),
  fails: fc.boolean(),
  failure: fc.constantFrom(...failures),
  /** Whether it stops when its signal aborts, with an error of its own. */
  listens: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const IDLE: Step = { takesMs: 0, fails: false, failure: undefined, listens: false }

interface Script {
  readonly policy: SlimPolicyInput
  readonly steps: readonly Step[]
  readonly abortAtMs: number | undefined
  readonly seed: number
}

const script: fc.Arbitrary<Script> = fc.record({
  policy: policies,
  steps: fc.array(step, { minLength: 1, maxLength: 8 }),
  abortAtMs: fc.option(fc.constantFrom(0, 1, 10, 100, 250, 700), { nil: undefined, freq: 2 }),
  seed: fc.integer(),
})

type Retry = typeof slimRetry

/** What an observer outside sees of one call, in order, with times. */
async function traceOf(retry: Retry, { policy, steps, abortAtMs, seed }: Script): Promise<unknown[]> {
  const clock = virtualClock()
  const trace: unknown[] = []
  const note = (...what: unknown[]): void => void trace.push([clock.monotonicMs(), ...what])
  const controller = new AbortController()
  if (abortAtMs !== undefined) clock.schedule({ fire: () => controller.abort('the caller') }, abortAtMs)

  let calls = 0
  const operation = async ({ attempt, signal }: SlimContext): Promise<string> => {
    const { takesMs, fails, failure, listens } = steps[Math.min(calls++, steps.length - 1)] ?? IDLE
    note('attempt', attempt)
    signal.addEventListener('abort', () => note('told to stop', attempt, described(signal.reason)))
    if (takesMs > 0) await clock.sleep(takesMs, listens ? signal : undefined)
    if (fails) throw failure
    return `result of ${attempt}`
  }
  const call = retry(operation, policy, { signal: controller.signal, clock, random: seededRandom(seed) }).then(
    (value) => note('value', value),
    (error: unknown) => note('error', failures.indexOf(error), described(error)),
  )
  await clock.runAll()
  await call
  expect(clock.pending).toBe(0)
  return trace
}

/** Errors that the library makes are made anew in each run. */
function described(error: unknown): unknown {
  return error instanceof Error ? [error.name, error.message, described(error.cause)] : error
}

describe('the small retry', () => {
  it('decides as the full one under the same policy, outcomes and draws', async () => {
    const kinds = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(script, async (given) => {
        const trace = await traceOf(slimRetry, given)
        expect(trace).toEqual(await traceOf(fullRetry, given))
        const last = trace.at(-1) as [number, string, unknown, [string]?]
        const kind = last[1] === 'value' || last[2] !== -1 ? last[1] : (last[3]?.[0] ?? 'aborted')
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      }),
      { numRuns: 1500 },
    )
    // Otherwise the test would no longer test what it says.
    for (const kind of ['value', 'error', 'CallTimeoutError', 'RetryBudgetExhaustedError', 'AttemptTimeoutError']) {
      expect(kinds.get(kind), kind).toBeGreaterThan(10)
    }
  })

  it('reads a policy as the full one does', () => {
    fc.assert(
      fc.property(fc.oneof(policies, fc.constantFrom(1, 7, false as const)), (input) => {
        expect(readPolicy(input)).toEqual(normalizePolicy(input, IN_CODE).policy)
      }),
    )
  })

  it('finds a word to fit only where the full one does', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('fetch failed', 'Load failed', 'ETIMEDOUT', 'TimeoutError', 'UND_ERR_BODY_TIMEOUT', 'TypeError'),
    )
    const fields = fc.record(
      {
        name: text,
        message: text,
        code: fc.oneof(text, fc.integer()),
        status: fc.integer({ min: 400, max: 599 }),
        stderr: text,
      },
      { requiredKeys: [] },
    )
    const error = fc.oneof(
      fields,
      fc.tuple(fields, fields).map(([outer, cause]) => ({ ...outer, cause })),
      text,
    )
    const context = { key: 'retry', attempt: 1, launch: 1, kind: 'retry' } as const
    fc.assert(
      fc.property(error, fc.constantFrom(...MATCHER_WORDS), (thrown, word) => {
        const only = { retryOn: [word] } as unknown as Policy
        if (isRetryableBy(judgeByFields, only, thrown, context)) expect(isRetryable(only, thrown, context)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })
})
