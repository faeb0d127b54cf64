import { createExecutor, delayAfter, normalizePolicy, type PolicyInput } from 'reprise'
import { virtualClock } from 'reprise/testing'
import { expect, test } from 'vitest'
import { type Explanation, explain } from './explanation.js'

const explained = (input: PolicyInput): Explanation =>
  explain({ step: null, role: 'alone', starts: null, ...normalizePolicy(input) })
const codes = (input: PolicyInput): string[] => explained(input).hints.map((hint) => hint.code)

/** A policy that no hint speaks of. */
const CALM: PolicyInput = { jitter: 'full', retryOn: ['network', 'timeout'], attemptTimeout: '5s' }

// ── rows ─────────────────────────────────────────────────────────────────────────────────────────

test('the waits are those of the library, and are summed up', () => {
  const { attempts } = explained({ attempts: 5 })
  expect(attempts.map((row) => row.waitMs)).toEqual([0, 1000, 2000, 4000, 8000])
  expect(attempts.map((row) => row.waitedMs)).toEqual([0, 1000, 3000, 7000, 15_000])
})

test.each(['proportional', 'full', 'equal', 'decorrelated'] as const)(
  '%s jitter gives each wait its range',
  (jitter) => {
    const policy = { attempts: 6, jitter }
    const { attempts } = explained(policy)
    expect(attempts.at(-1)).toMatchObject({
      waitMs: delayAfter(policy, 5),
      minWaitMs: delayAfter(policy, 5, () => 0),
      maxWaitMs: delayAfter(policy, 5, () => 1),
    })
  },
)

test('the share of the time budget grows up to the stop', () => {
  const { attempts } = explained({ attempts: 4, retryBudget: '14s' })
  expect(attempts.map((row) => row.budgetShare)).toEqual([0, 1 / 14, 3 / 14, 0.5])
  expect(explained({ retryBudget: 0, initialDelay: 0 }).attempts.map((row) => row.budgetShare)).toEqual([0, 0, 0])
})

// ── stops ────────────────────────────────────────────────────────────────────────────────────────

test.each<[string, PolicyInput, number, string]>([
  ['attempts', { attempts: 4 }, 4, 'attempts_exhausted'],
  ['the time budget', { attempts: 100, retryBudget: '2m' }, 8, 'retry_budget_exhausted'],
  ['a time budget that is just enough', { attempts: 4, retryBudget: '7s' }, 4, 'attempts_exhausted'],
  ['a time budget below the first wait', { attempts: 4, retryBudget: '999ms' }, 1, 'retry_budget_exhausted'],
  ['the timeout of the call', { attempts: 9, timeout: '5s' }, 3, 'timeout'],
  ['the breaker', { attempts: 9, breaker: { failureThreshold: 3 } }, 3, 'breaker_open'],
  [
    'a breaker that recovers within the wait',
    { attempts: 4, breaker: { failureThreshold: 2, recoveryTimeout: '1s' } },
    4,
    'attempts_exhausted',
  ],
])('%s: where and why it stops', (_, policy, attempt, reason) => {
  const { stop, attempts } = explained(policy)
  expect(stop).toMatchObject({ attempt, reason })
  expect(attempts).toHaveLength(attempt)
  expect(stop.sentence).toContain(`attempt ${attempt} (${reason})`)
})

test('luck moves the stop: the jitter decides between the earliest and the latest', () => {
  const { stop, mostWaitedMs } = explained({ attempts: 8, jitter: 'full', retryBudget: '20s' })
  expect(stop).toMatchObject({ attempt: 5, earliestAttempt: 5, latestAttempt: 8 })
  expect(stop.sentence).toContain('any from 5 to 8')
  expect(mostWaitedMs).toBe(20_000)
})

test('the longest call is limited by its attempts and its timeout, or by nothing', () => {
  expect(explained({ attempts: 3, attemptTimeout: '10s' }).longestMs).toBe(33_000)
  expect(explained({ attempts: 3, attemptTimeout: '10s', timeout: '20s' }).longestMs).toBe(20_000)
  expect(explained({ timeout: '20s' }).longestMs).toBe(20_000)
  expect(explained({ attempts: 3 }).longestMs).toBeNull()
})

test('the timeout of the call bounds its waits too', () => {
  const { attempts, mostWaitedMs, longestMs } = explained({
    attempts: 5,
    jitter: 'full',
    attemptTimeout: '1s',
    timeout: '3s',
  })
  expect({ mostWaitedMs, longestMs }).toEqual({ mostWaitedMs: 3000, longestMs: 3000 })
  expect(Math.max(...attempts.map((row) => row.maxWaitedMs))).toBeLessThanOrEqual(3000)
})

test('no sum of waits is above what limits it', () => {
  const { attempts } = explained({ attempts: 3, jitter: true, retryBudget: '3s' })
  expect(attempts.map((row) => row.maxWaitedMs)).toEqual([0, 1150, 3000])
})

test.each<[string, PolicyInput['hedge'] & object, number | null]>([
  ['one hedge', { delay: '500ms' }, 4000],
  ['three hedges', { delay: '500ms', maxHedges: 3 }, 6000],
  ['a hedge that comes too late', { delay: '1s' }, 3000],
  ['a hedge whose time nobody knows beforehand', { percentile: 90 }, null],
])('%s: the longest call has it in every attempt', (_, hedge, longestMs) => {
  expect(explained({ attempts: 2, attemptTimeout: '1s', hedge }).longestMs).toBe(longestMs)
})

test('a timeout limits a call with hedges, whenever they start', () => {
  const hedge = { percentile: 90 }
  expect(explained({ attemptTimeout: '1s', timeout: '9s', hedge }).longestMs).toBe(9000)
})

test('the library takes as long as it is said to with hedges', async () => {
  const policy = { attempts: 2, jitter: false, attemptTimeout: '1s', hedge: { delay: '500ms' } }
  const clock = virtualClock()
  const call = createExecutor({ clock }).run('k', () => new Promise(() => undefined), { policy })
  const ended = expect(call).rejects.toThrow()
  await clock.runAll()
  await ended
  expect(clock.monotonicMs()).toBe(explained(policy).longestMs)
})

test('a thousand attempts are explained, whatever the strategy', () => {
  const backoffs = ['fixed', 'fibonacci', { custom: { formula: 'previous * 2 + attempt' } }] as const
  for (const backoff of backoffs) {
    const { attempts } = explained({ attempts: 1000, backoff, jitter: 'decorrelated' })
    expect(attempts.every((row) => row.minWaitMs <= row.maxWaitMs && Number.isFinite(row.maxWaitedMs))).toBe(true)
  }
})

// ── hints ────────────────────────────────────────────────────────────────────────────────────────

test('a careful policy gets no hint', () => {
  expect(codes(CALM)).toEqual([])
})

test.each<[string, PolicyInput]>([
  ['runs_once', { attempts: 1 }],
  ['no_jitter', { ...CALM, jitter: false }],
  ['retries_everything', { ...CALM, retryOn: [] }],
  ['timeout_not_retried', { ...CALM, retryOn: ['rate_limit'] }],
  ['no_attempt_timeout', { jitter: 'full', retryOn: ['network'] }],
  ['no_attempt_timeout', { jitter: 'full', retryOn: ['network'], timeout: '1m' }],
  ['retry_budget_below_first_wait', { ...CALM, jitter: 'equal', retryBudget: '400ms' }],
  ['attempts_out_of_reach', { ...CALM, jitter: 'equal', attempts: 100, retryBudget: '10s' }],
  ['retry_budget_out_of_reach', { ...CALM, retryBudget: '1h' }],
  ['no_wait', { ...CALM, initialDelay: 0 }],
  ['long_wait', { ...CALM, attempts: 100 }],
  ['above_max_delay', { ...CALM, jitter: true, initialDelay: '30s' }],
  ['does_not_grow', { ...CALM, backoff: { exponential: { base: 1 } } }],
  ['does_not_grow', { ...CALM, backoff: { exponential: { base: 0.5 } } }],
  ['backoff_unused', { ...CALM, jitter: 'decorrelated', backoff: 'fixed' }],
  ['jitter_factor_unused', { ...CALM, jitterFactor: 0.5 }],
  ['custom_delays', { ...CALM, backoff: { custom: { delays: ['1s'] } } }],
  ['custom_delays', { ...CALM, backoff: { custom: { delays: ['1s', '1s', '1s'] } } }],
  ['custom_delays', { ...CALM, backoff: { custom: { delays: ['1s', '1m'] } } }],
  ['timeout_before_attempts', { ...CALM, timeout: '6s' }],
  ['timeout_before_attempts', { ...CALM, timeout: '12s' }],
  ['breaker_needs_many_calls', { ...CALM, breaker: {} }],
  ['breaker_opened_by_one_call', { ...CALM, breaker: { failureThreshold: 2 } }],
  ['hedge_without_budget', { ...CALM, hedge: { delay: '1s' } }],
  ['hedge_too_late', { ...CALM, hedge: { delay: '5s', budget: 'h' } }],
  ['product_of_limits', { ...CALM, hedge: { delay: '1s', budget: 'h', maxHedges: 2 } }],
  ['budget_decides', { ...CALM, budget: 'api' }],
])('%s is hinted at', (code, policy) => {
  expect(codes(policy)).toContain(code)
})

test('remarks of the library are kept beside the hints', () => {
  expect(explained({ initialDelay: '1m' }).notes).toHaveLength(1)
})

// ── words ────────────────────────────────────────────────────────────────────────────────────────

test.each<[PolicyInput, string]>([
  [{ attempts: 1, retryBudget: '1s' }, 'one attempt, no retry'],
  [{ backoff: 'fixed' }, 'up to 3 attempts · 1s apart · no jitter'],
  [{ backoff: 'linear', jitter: true }, 'up to 3 attempts · linear from 1s by 1s, at most 30s · jitter ±15 %'],
  [{ backoff: 'fibonacci', jitter: 'equal' }, 'up to 3 attempts · fibonacci from 1s, at most 30s · equal jitter'],
  [{ backoff: { custom: { delays: [1, 2] } } }, 'up to 3 attempts · 2 given delays, at most 30s · no jitter'],
  [{ backoff: { custom: { formula: 'initial' } } }, 'up to 3 attempts · formula initial, at most 30s · no jitter'],
  [
    { jitter: 'decorrelated' },
    'up to 3 attempts · from 1s to three times the wait before, at most 30s · decorrelated jitter',
  ],
  [
    { timeout: '1m', attemptTimeout: '2s', retryBudget: '9s', budget: 'api', breaker: {}, hedge: { delay: '1s' } },
    'up to 3 attempts · exponential ×2 from 1s, at most 30s · no jitter · 2s per attempt · 1m in all · retry budget 9s · asks budget api · breaker opens at 5 · hedges 1',
  ],
])('%o in words', (policy, summary) => {
  expect(explained(policy).summary).toBe(summary)
})

const hint = (input: PolicyInput, code: string): string | undefined =>
  explained(input).hints.find((one) => one.code === code)?.message

test('a budget below the first wait is not also out of reach', () => {
  expect(codes({ ...CALM, jitter: false, retryBudget: '500ms' })).toEqual([
    'no_jitter',
    'retry_budget_below_first_wait',
  ])
})

test('where chance may make the first wait fit, it is not said that nothing is retried', () => {
  expect(codes({ ...CALM, retryBudget: '500ms' })).toEqual([])
})

test.each<[PolicyInput, string]>([
  [{ attempts: 1 }, 'One attempt means no retry.'],
  [{ attempts: 1, jitter: true }, 'One attempt means no retry: `jitter` has no effect.'],
  [
    { attempts: 1, initialDelay: 5, maxDelay: '1m', backoff: 'fixed', retryBudget: '1s' },
    'One attempt means no retry: `initial_delay`, `max_delay`, `backoff`, `retry_budget` have no effect.',
  ],
])('%o: only what was given has no effect', (policy, message) => {
  expect(hint(policy, 'runs_once')).toBe(message)
})

test.each<[number, number, string]>([
  [1, 1, '1 attempt with 1 hedge: up to 2 executions for one call.'],
  [2, 1, '2 attempts with 1 hedge each: up to 4 executions for one call.'],
  [2, 3, '2 attempts with 3 hedges each: up to 8 executions for one call.'],
])('%d attempts and %d hedges are counted in good English', (attempts, maxHedges, message) => {
  expect(hint({ attempts, hedge: { delay: '1s', maxHedges } }, 'product_of_limits')).toBe(message)
})

test.each([
  ['5s', 'If attempts take their whole 5s, there is no time for a retry: the timeout of 5s ends the call.'],
  [
    '12s',
    'If attempts take their whole 5s, attempt 2 is the last: the call ends after 11s, for the next wait would not end before the timeout of 12s.',
  ],
])('a timeout of %s: where slow attempts end', (timeout, message) => {
  expect(hint({ attemptTimeout: '5s', timeout }, 'timeout_before_attempts')).toBe(message)
})
