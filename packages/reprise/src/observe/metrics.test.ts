import { describe, expect, test } from 'vitest'
import type { RepriseEvent } from '../core/event.js'
import type { MetricFamily } from './metric-family.js'
import { createMetrics, type Metrics } from './metrics.js'
import { prometheus } from './prometheus.js'

const base = { timeMs: 0, key: 'api', callId: 1, attempt: 1, attempts: 3 }
const end = { attemptsMade: 1, launches: 1, totalDelayMs: 0, elapsedMs: 1 }

function observed(...events: RepriseEvent[]): Metrics {
  const metrics = createMetrics()
  for (const event of events) metrics.onEvent(event)
  return metrics
}

function family(metrics: Metrics, name: string): MetricFamily {
  const found = metrics.read().find((one) => one.name === name)
  if (found === undefined) throw new Error(`no metric ${name}`)
  return found
}

/** Samples of a counter or gauge as `{ 'a|b': value }`. */
function values(metrics: Metrics, name: string): Record<string, number> {
  const { type, samples } = family(metrics, name)
  if (type === 'histogram') throw new Error(`${name} is a histogram`)
  return Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).join('|'), value]))
}

function histogram(metrics: Metrics, name: string) {
  const one = family(metrics, name)
  if (one.type !== 'histogram') throw new Error(`${name} is no histogram`)
  return one.samples
}

const seriesIn = (metrics: Metrics): number =>
  prometheus(metrics)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#')).length

describe('what a stream of events adds up to', () => {
  const failure = {
    type: 'attempt_finished',
    kind: 'retry',
    outcome: 'failure',
    durationMs: 30,
    won: false,
    error: new Error('boom'),
  } as const
  const metrics = observed(
    { ...base, type: 'call_started' },
    { ...base, type: 'attempt_started', launch: 1, kind: 'retry', delayBeforeMs: 0, parkedMs: 0 },
    { ...base, ...failure, launch: 1 },
    { ...base, type: 'waiting', delayMs: 100, nextAttempt: 2, error: failure.error },
    { ...base, attempt: 2, ...failure, launch: 2, outcome: 'timeout' },
    { ...base, attempt: 2, type: 'waiting', delayMs: 250, nextAttempt: 3, error: failure.error },
    { ...base, attempt: 3, ...failure, launch: 4, kind: 'hedge', outcome: 'aborted' },
    { ...base, attempt: 3, ...failure, launch: 3, outcome: 'success', durationMs: 4, won: true },
    { ...base, type: 'call_succeeded', attemptsMade: 3, launches: 4, totalDelayMs: 350, elapsedMs: 500 },
    { ...base, callId: 2, type: 'call_failed', stopReason: 'breaker_open', error: failure.error, ...end },
    { ...base, callId: 3, type: 'call_failed', stopReason: 'breaker_open', error: failure.error, ...end },
  )

  test('calls are counted by result and stop reason', () => {
    expect(values(metrics, 'reprise_calls_total')).toEqual({ 'api|success|': 1, 'api|failure|breaker_open': 2 })
  })

  test('attempts are counted by kind and outcome', () => {
    expect(values(metrics, 'reprise_attempts_total')).toEqual({
      'api|retry|failure': 1,
      'api|retry|timeout': 1,
      'api|retry|success': 1,
      'api|hedge|aborted': 1,
    })
  })

  test('the sum of waits is the time budget used', () => {
    expect(histogram(metrics, 'reprise_wait_seconds')).toMatchObject([{ labels: { key: 'api' }, count: 2, sum: 0.35 }])
  })

  test('a duration counts in every bucket that is at least as long', () => {
    const [sample] = histogram(metrics, 'reprise_attempt_seconds')
    expect(sample).toMatchObject({ count: 4, sum: 0.094 })
    expect(sample?.buckets.slice(0, 3)).toEqual([
      { le: 0.005, count: 1 },
      { le: 0.025, count: 1 },
      { le: 0.1, count: 4 },
    ])
    expect(sample?.buckets.at(-1)?.count).toBe(4)
  })

  test('what was read survives JSON', () => {
    expect(JSON.parse(JSON.stringify(metrics.read()))).toEqual(metrics.read())
  })
})

describe('budgets', () => {
  const decision = { type: 'budget_decision', launch: 1, kind: 'retry', budget: 'shared', cost: 1 } as const
  const parked = { ...base, type: 'parked', launch: 1, budget: 'shared' } as const

  test('reasons of custom budgets count together as other, those of built-in ones by name', () => {
    const metrics = observed(
      { ...base, ...decision, mode: 'gate', allowed: false, reason: 'count_exhausted' },
      { ...base, ...decision, mode: 'gate', allowed: true, reason: 'allowed' },
      { ...base, ...decision, mode: 'gate', allowed: false, reason: 'tenant 7 is out of luck' },
      { ...base, ...decision, mode: 'peek', allowed: false, reason: 'tenant 8 is out of luck' },
    )
    expect(values(metrics, 'reprise_budget_decisions_total')).toEqual({
      'shared|false|count_exhausted': 1,
      'shared|true|allowed': 1,
      'shared|false|other': 2,
    })
  })

  test.each<[string, RepriseEvent]>([
    ['its grant', { ...base, ...decision, mode: 'grant', allowed: true, reason: 'allowed' }],
    ['its patience ran out', { ...base, ...decision, mode: 'gate', allowed: false, reason: 'park_expired' }],
    ['it started', { ...base, type: 'attempt_started', launch: 1, kind: 'retry', delayBeforeMs: 0, parkedMs: 5 }],
    ['it was cancelled as a hedge', { ...base, type: 'hedge_cancelled', launch: 1 }],
    ['its call failed', { ...base, type: 'call_failed', stopReason: 'aborted', error: 0, ...end }],
    ['its call succeeded', { ...base, type: 'call_succeeded', ...end }],
  ])('an attempt leaves the line once: %s', (_, leaving) => {
    const metrics = observed(parked)
    expect(values(metrics, 'reprise_parked')).toEqual({ shared: 1 })
    metrics.onEvent(leaving)
    metrics.onEvent(leaving)
    expect(values(metrics, 'reprise_parked')).toEqual({ shared: 0 })
  })

  test('the line is told apart by call and launch, and a repeated event changes nothing', () => {
    const metrics = observed(parked, parked, { ...parked, launch: 2 }, { ...parked, callId: 2 })
    expect(values(metrics, 'reprise_parked')).toEqual({ shared: 3 })
    metrics.onEvent({ ...base, ...decision, launch: 9, mode: 'grant', allowed: true, reason: 'allowed' })
    metrics.onEvent({ ...base, ...decision, mode: 'gate', allowed: false, reason: 'budget_denied' })
    expect(values(metrics, 'reprise_parked')).toEqual({ shared: 3 })
    metrics.onEvent({ ...base, type: 'call_succeeded', ...end })
    expect(values(metrics, 'reprise_parked')).toEqual({ shared: 1 })
  })
})

test('a breaker shows its present state', () => {
  const changed = { ...base, type: 'breaker_changed', breaker: 'db' } as const
  const metrics = observed({ ...changed, from: 'closed', to: 'open' })
  expect(values(metrics, 'reprise_breaker_state')).toEqual({ db: 2 })
  metrics.onEvent({ ...changed, from: 'open', to: 'half_open' })
  expect(values(metrics, 'reprise_breaker_state')).toEqual({ db: 1 })
  metrics.onEvent({ ...changed, from: 'half_open', to: 'closed' })
  expect(values(metrics, 'reprise_breaker_state')).toEqual({ db: 0 })
})

describe('the bound on series', () => {
  const flood = (metrics: Metrics, keys: number): void => {
    for (let i = 0; i < keys; i++) {
      const of = { ...base, key: `key-${i}`, callId: i }
      metrics.onEvent({
        ...of,
        type: 'attempt_finished',
        launch: 1,
        kind: 'retry',
        outcome: 'failure',
        durationMs: 2,
        won: false,
      })
      metrics.onEvent({ ...of, type: 'waiting', delayMs: 7, nextAttempt: 2, error: undefined })
      metrics.onEvent({
        ...of,
        type: 'budget_decision',
        launch: 2,
        kind: 'retry',
        budget: `budget-${i}`,
        cost: 1,
        mode: 'gate',
        allowed: false,
        reason: `reason ${i}`,
      })
      metrics.onEvent({ ...of, type: 'parked', launch: 2, budget: `budget-${i}` })
      metrics.onEvent({ ...of, type: 'breaker_changed', breaker: `breaker-${i}`, from: 'closed', to: 'open' })
      metrics.onEvent({ ...of, type: 'call_failed', stopReason: 'budget_denied', error: undefined, ...end })
    }
  }
  const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0)

  test('10 000 keys, budgets and breakers make at most 2 000 series, and every total stays exact', () => {
    const metrics = createMetrics()
    flood(metrics, 10_000)
    expect(seriesIn(metrics)).toBeLessThanOrEqual(2000)
    expect(seriesIn(metrics)).toBeGreaterThan(1900)
    expect(sum(Object.values(values(metrics, 'reprise_calls_total')))).toBe(10_000)
    expect(sum(Object.values(values(metrics, 'reprise_attempts_total')))).toBe(10_000)
    expect(sum(Object.values(values(metrics, 'reprise_budget_decisions_total')))).toBe(10_000)
    expect(sum(Object.values(values(metrics, 'reprise_parked')))).toBe(0)
    expect(sum(histogram(metrics, 'reprise_wait_seconds').map((one) => one.count))).toBe(10_000)
    expect(sum(histogram(metrics, 'reprise_wait_seconds').map((one) => one.sum))).toBeCloseTo(70, 6)
    expect(values(metrics, 'reprise_calls_total')['other|failure|budget_denied']).toBeGreaterThan(9000)
  })

  test('breakers without a series of their own add up, down to 0 when all are closed', () => {
    const metrics = createMetrics({ maxSeries: 120 })
    flood(metrics, 1000)
    expect(values(metrics, 'reprise_breaker_state')['other']).toBeGreaterThan(1800)
    for (let i = 0; i < 1000; i++) {
      metrics.onEvent({ ...base, type: 'breaker_changed', breaker: `breaker-${i}`, from: 'open', to: 'closed' })
    }
    expect(Object.values(values(metrics, 'reprise_breaker_state')).every((level) => level === 0)).toBe(true)
  })

  test('even the smallest bound holds when every word there is has been said', () => {
    const metrics = createMetrics({ maxSeries: 120 })
    flood(metrics, 200)
    const words = [
      'attempts_exhausted',
      'retry_budget_exhausted',
      'not_retryable',
      'breaker_open',
      'budget_denied',
      'timeout',
      'aborted',
      'retry_after_too_long',
      'interrupted',
      'no_policy',
      'x',
    ]
    for (const word of words) {
      for (const kind of ['retry', 'hedge', word]) {
        for (const outcome of ['success', 'failure', 'timeout', 'aborted', 'interrupted', word]) {
          const odd = { kind, outcome, stopReason: word, reason: word } as {
            kind: 'retry'
            outcome: 'failure'
            stopReason: 'timeout'
            reason: string
          }
          metrics.onEvent({
            ...base,
            ...odd,
            key: 'new',
            type: 'attempt_finished',
            launch: 1,
            durationMs: 1,
            won: false,
          })
          metrics.onEvent({ ...base, ...odd, key: 'new', type: 'call_failed', error: 0, ...end })
          metrics.onEvent({ ...base, key: 'new', type: 'call_succeeded', ...end })
        }
      }
    }
    for (const reason of [
      'allowed',
      'no_budget',
      'budget_not_found',
      'budget_denied',
      'panic_in_budget',
      'park_expired',
      'x',
    ]) {
      for (const allowed of [true, false]) {
        metrics.onEvent({
          ...base,
          type: 'budget_decision',
          launch: 1,
          kind: 'retry',
          budget: 'new',
          cost: 1,
          mode: 'gate',
          allowed,
          reason,
        })
      }
    }
    expect(seriesIn(metrics)).toBeLessThanOrEqual(100)
  })

  test.each([0, 20, -1, 1.5, Number.NaN, Infinity])('a bound of %s is refused', (maxSeries) => {
    expect(() => createMetrics({ maxSeries })).toThrow(/options of createMetrics: maxSeries: .* is not a whole number/)
  })
})

test('odd events are ignored or counted as other, never thrown at the call', () => {
  const metrics = createMetrics()
  const odd = (fields: object): void => metrics.onEvent({ ...base, ...fields } as unknown as RepriseEvent)
  odd({ type: 'resumed' })
  odd({ type: 'waiting', delayMs: Number.NaN })
  odd({ type: 'waiting', delayMs: -5 })
  odd({ type: 'call_succeeded', key: undefined })
  odd({ type: 'call_failed', key: 'x'.repeat(5000), stopReason: Symbol('odd') })
  expect(histogram(metrics, 'reprise_wait_seconds')).toMatchObject([{ count: 2, sum: 0 }])
  expect(values(metrics, 'reprise_calls_total')).toEqual({
    'other|success|': 1,
    [`${'x'.repeat(128)}|failure|other`]: 1,
  })
})
