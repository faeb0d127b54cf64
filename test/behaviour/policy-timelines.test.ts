/**
 * How long calls take and how often they run, by the clock: backoff, the time budget, `Retry-After`, jitter.
 */
import { describe, expect, test } from 'vitest'
import {
  createExecutor,
  delayAfter,
  normalizePolicy,
  type PolicyInput,
  retry,
  RetryBudgetExhaustedError,
} from 'reprise'
import { seededRandom, virtualClock } from 'reprise/testing'
import { failing, wayFixture, watch, WAYS } from './call-fixture.js'

const down = new Error('down')

describe.each(WAYS)('a call %s', (way) => {
  /** Runs of 30 s, of which the last allowed one succeeds if `succeedsAt` says so. */
  async function runsOf30s(policy: PolicyInput, succeedsAt = Infinity) {
    const { clock, play } = wayFixture(way, policy)
    let runs = 0
    const call = await play(async () => {
      runs++
      await clock.sleep(30_000)
      if (runs < succeedsAt) throw down
      return 'done'
    })
    return { call, runs }
  }

  test('of four runs of 30 s with waits of 1, 2 and 4 s takes 127 s', async () => {
    const { call, runs } = await runsOf30s({ attempts: 4 })
    expect(runs).toBe(4)
    expect(call.atMs).toBe(127_000)
    expect(call.error).toBe(down)
    expect(call.timeline?.totalDelayMs).toBe(7000)
    expect(call.timeline?.elapsedMs).toBe(127_000)
    expect(call.timeline?.attempts.map((attempt) => attempt.delayBeforeMs)).toEqual([0, 1000, 2000, 4000])
    expect(call.timeline?.attempts.map((attempt) => attempt.startMs)).toEqual([0, 31_000, 63_000, 97_000])
    expect(call.timeline?.attempts.map((attempt) => attempt.endMs)).toEqual([30_000, 61_000, 93_000, 127_000])
  })

  test('succeeds with its fourth run after 127 s', async () => {
    const { call } = await runsOf30s({ attempts: 4 }, 4)
    expect(call).toMatchObject({ state: 'fulfilled', value: 'done', atMs: 127_000 })
  })

  test('with a time budget of 5 s ends after three runs, before the third wait, at 93 s', async () => {
    const { call, runs } = await runsOf30s({ attempts: 4, retryBudget: '5s' })
    expect(runs).toBe(3)
    expect(call.atMs).toBe(93_000)
    expect(call.error).toBeInstanceOf(RetryBudgetExhaustedError)
    expect((call.error as Error).message).toMatch(/^Retry budget exhausted/)
    expect((call.error as Error).cause).toBe(down)
    expect(call.timeline?.stopReason).toBe('retry_budget_exhausted')
    expect(call.timeline?.totalDelayMs).toBe(3000)
  })

  test('with a time budget of 7 s, which the waits use up exactly, has its fourth run', async () => {
    const { call, runs } = await runsOf30s({ attempts: 4, retryBudget: '7s' }, 4)
    expect(runs).toBe(4)
    expect(call).toMatchObject({ state: 'fulfilled', atMs: 127_000 })
  })

  test('with a hundred attempts and a time budget of 2 minutes runs 8 times and waits 91 s', async () => {
    const { play } = wayFixture(way, { attempts: 100, retryBudget: '2m', backoff: { exponential: { base: 2 } } })
    const operation = failing(down)
    const call = await play(operation)
    expect(operation.calls).toBe(8)
    expect(call.atMs).toBe(91_000)
    expect(call.timeline?.totalDelayMs).toBe(91_000)
    expect(call.timeline?.attempts.map((attempt) => attempt.delayBeforeMs / 1000)).toEqual([0, 1, 2, 4, 8, 16, 30, 30])
  })

  test('with three attempts at fixed 5 s stops at its attempts, having waited 10 s of a budget of 10 minutes', async () => {
    const { play } = wayFixture(way, { attempts: 3, retryBudget: '10m', backoff: 'fixed', initialDelay: '5s' })
    const operation = failing(down)
    const call = await play(operation)
    expect(operation.calls).toBe(3)
    expect(call.atMs).toBe(10_000)
    expect(call.error).toBe(down)
    expect(call.timeline?.stopReason).toBe('attempts_exhausted')
  })

  test('with a time budget below the first delay runs once and does not wait', async () => {
    const { play } = wayFixture(way, { attempts: 5, retryBudget: '999ms' })
    const operation = failing(down)
    const call = await play(operation)
    expect(operation.calls).toBe(1)
    expect(call.atMs).toBe(0)
    expect(call.timeline?.stopReason).toBe('retry_budget_exhausted')
  })

  test('waits what the jitter drew, and exactly that counts toward the time budget', async () => {
    const policy: PolicyInput = { attempts: 6, jitter: 'full', initialDelay: '4s' }
    const { play } = wayFixture(way, policy, { random: seededRandom(7) })
    const call = await play(failing(down))
    const random = seededRandom(7)
    const drawn = [1, 2, 3, 4, 5].map((n) => delayAfter(policy, n, random))
    expect(call.timeline?.attempts.slice(1).map((attempt) => attempt.delayBeforeMs)).toEqual(drawn)
    const sum = drawn.reduce((total, delay) => total + delay, 0)
    expect(call.timeline?.totalDelayMs).toBe(sum)
    expect(call.atMs).toBeCloseTo(sum, 6)
    const exact = await wayFixture(
      way,
      { ...policy, retryBudget: Math.ceil(sum) + 'ms' },
      { random: seededRandom(7) },
    ).play(failing(down))
    expect(exact.timeline?.stopReason).toBe('attempts_exhausted')
    const short = await wayFixture(
      way,
      { ...policy, retryBudget: Math.floor(sum) + 'ms' },
      { random: seededRandom(7) },
    ).play(failing(down))
    expect(short.timeline?.stopReason).toBe('retry_budget_exhausted')
  })

  test('draws once per retry, and not at all when it stops before a delay is needed', async () => {
    let draws = 0
    const random = (): number => (draws++, 0.5)
    await wayFixture(way, { attempts: 4, jitter: 'equal' }, { random }).play(failing(down))
    expect(draws).toBe(3)
    await wayFixture(way, { attempts: 1, jitter: 'equal' }, { random }).play(failing(down))
    await wayFixture(way, { attempts: 4, jitter: 'equal', retryOn: ['network'] }, { random }).play(failing(down))
    expect(draws).toBe(3)
  })

  test('waits longer than a host timer can hold, if the policy says so', async () => {
    const { play } = wayFixture(way, { attempts: 2, initialDelay: '60d', maxDelay: '60d' })
    const call = await play(failing(down))
    expect(call.atMs).toBe(60 * 86_400_000)
  })

  test('without any delay makes its attempts at once', async () => {
    const { play } = wayFixture(way, { attempts: 50, initialDelay: 0 })
    const operation = failing(down)
    const call = await play(operation)
    expect(operation.calls).toBe(50)
    expect(call.atMs).toBe(0)
  })
})

describe('the default policy', () => {
  test('of retry is three attempts with exponential delays under full jitter', async () => {
    const clock = virtualClock()
    const operation = failing(down)
    const call = watch(retry(operation, undefined, { clock, random: () => 0.5 }), clock)
    await clock.runAll()
    expect(operation.calls).toBe(3)
    expect(call.atMs).toBe(500 + 1000)
  })

  test('of an executor is the same', async () => {
    const clock = virtualClock()
    const executor = createExecutor({ clock, random: () => 0.5 })
    const inspection = executor.inspect('job', failing(down))
    await clock.runAll()
    const { timeline } = await inspection
    expect(timeline.policy).toMatchObject({ attempts: 3, jitter: 'full', initialDelayMs: 1000, maxDelayMs: 30_000 })
    expect(timeline.totalDelayMs).toBe(1500)
  })

  test('has no jitter where a policy is given as data', () => {
    expect(normalizePolicy({ attempts: 3 }).policy.jitter).toBe('none')
  })
})
