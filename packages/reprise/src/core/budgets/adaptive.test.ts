/** What a retry or hedge takes, what a success gives, and how much of either is kept. */
import { describe, expect, it } from 'vitest'
import { AdaptiveFixture, FAST_MS, PATIENCE_MS, requestAt } from '../../../../../test/adaptive-fixture.js'
import { ALLOWED } from '../gate.js'
import { ADAPTIVE_REASONS, adaptiveBudget } from './adaptive.js'

const NO_CREDIT = { allowed: false, reason: 'no_credit' }

describe('an adaptive budget', () => {
  it('starts with two waste tokens and credit for one retry', () => {
    const budget = adaptiveBudget()
    expect(budget.snapshot()).toMatchObject({ waste: 2, rate: { perSecond: 0, atMs: 0 }, worth: { value: 1 } })
    expect([budget.inFlight, budget.parked, budget.maxParkMs, budget.wakeAtMs()]).toEqual([0, 0, 30_000, Infinity])
    expect(budget.allowAttempt(requestAt(1e9, 2))).toBe(ALLOWED)
    expect(budget.allowAttempt(requestAt(1e9, 2))).toEqual(NO_CREDIT)
  })

  it('has a retry left for the second call of a program whose first call needed two', () => {
    const budget = adaptiveBudget()
    const attempt = (number: number, result: 'failure' | 'success'): void => {
      expect(budget.allowAttempt(requestAt(1e9, number))).toBe(ALLOWED)
      budget.conclude(requestAt(1e9, number), { result, latencyMs: 10, won: result === 'success', now: 1e9 })
    }
    attempt(1, 'failure')
    attempt(2, 'failure')
    attempt(1, 'success')
    attempt(2, 'success')
  })

  it('names the reasons it gives', () => {
    expect(ADAPTIVE_REASONS).toEqual(['no_credit', 'no_slot', 'line_full', 'probe'])
  })

  it('allows any number of first attempts at no cost, with one shared decision', () => {
    const fixture = new AdaptiveFixture()
    expect(fixture.ask(1)).toBe(ALLOWED)
    expect(fixture.firsts(999)).toBe(999)
    expect([fixture.budget.inFlight, fixture.waste]).toEqual([1000, 5])
  })

  it('allows one retry for each fast success, and no more', () => {
    const fixture = new AdaptiveFixture({}, { rate: 100 })
    expect(fixture.retries()).toBe(0)
    fixture.succeed()
    expect(fixture.retries()).toBe(1)
    fixture.succeed(3)
    expect(fixture.retries()).toBe(3)
    expect(fixture.ask(2)).toEqual(NO_CREDIT)
  })

  it('takes a token for a retry and returns it if it succeeds, with the fifth that every success deposits', () => {
    const fixture = new AdaptiveFixture({}, { waste: 2 })
    fixture.succeed()
    expect(fixture.waste).toBeCloseTo(2.2)
    expect(fixture.ask(2)).toBe(ALLOWED)
    expect(fixture.waste).toBeCloseTo(1.2)
    fixture.end(2, 'success')
    expect(fixture.waste).toBeCloseTo(2.4)
  })

  it.each(['failure', 'timeout', 'aborted', 'interrupted'] as const)(
    'keeps the token of a retry that ends in %s',
    (result) => {
      const fixture = new AdaptiveFixture({}, { waste: 2 })
      fixture.retry(result)
      expect(fixture.waste).toBeCloseTo(1.2)
      expect(fixture.ask(2)).toEqual(NO_CREDIT)
      expect(fixture.budget.inFlight).toBe(0)
    },
  )

  it('neither takes nor gives anything for a first attempt that does not succeed', () => {
    const fixture = new AdaptiveFixture({}, { waste: 2 })
    fixture.firsts(4)
    fixture.end(1, 'failure')
    fixture.end(1, 'timeout')
    fixture.end(1, 'interrupted')
    fixture.returnUnused(1)
    expect([fixture.waste, fixture.retries(), fixture.budget.inFlight]).toEqual([2, 0, 0])
  })

  it.each([
    [true, 3.4],
    [false, 2.4],
  ])('returns the token of a hedge that succeeds only if it won: %o', (won, waste) => {
    const fixture = new AdaptiveFixture({}, { waste: 3 })
    fixture.retry('success', 1, { kind: 'hedge', won })
    expect(fixture.waste).toBeCloseTo(waste)
  })

  it('learns nothing about retries from hedges', () => {
    const fixture = new AdaptiveFixture({}, { waste: 5, rate: 100 })
    for (let i = 0; i < 4; i++) fixture.retry('failure', 1, { kind: 'hedge' })
    expect(fixture.budget.snapshot().worth).toMatchObject({ help: 1, value: 1 })
  })

  it('denies a retry without a token, whatever the credit', () => {
    const fixture = new AdaptiveFixture({}, { rate: 100, waste: 0.5 })
    fixture.succeed(2)
    expect(fixture.waste).toBeCloseTo(0.9)
    expect(fixture.ask(2)).toEqual(NO_CREDIT)
    fixture.succeed()
    expect(fixture.retries()).toBe(1)
  })

  it('changes nothing when it denies', () => {
    const fixture = new AdaptiveFixture({}, { waste: 3 })
    const before = fixture.budget.snapshot()
    for (const kind of ['retry', 'hedge'] as const) expect(fixture.ask(2, { kind })).toEqual(NO_CREDIT)
    expect(fixture.budget.snapshot()).toEqual(before)
    expect(fixture.budget.inFlight).toBe(0)
  })

  it.each([
    [1, 4],
    [10, 20],
    [100, 200],
  ])('at %d calls a second keeps at most %d tokens', (rate, most) => {
    const fixture = new AdaptiveFixture({}, { rate, waste: 10 * most })
    expect(fixture.ask(2)).toEqual(NO_CREDIT)
    expect(fixture.waste).toBeCloseTo(most)
  })

  it.each([
    [0.5, 2],
    [0.05, 1],
  ])('keeps at most its share of the tokens when retries are worth %d, but one: %d', (worth, most) => {
    const fixture = new AdaptiveFixture({}, { worth })
    expect(fixture.ask(2)).toEqual(NO_CREDIT)
    expect(fixture.waste).toBeCloseTo(most)
  })

  it('deposits less for a success when retries are worth less', () => {
    const fixture = new AdaptiveFixture({}, { worth: 0.25, waste: 0 })
    fixture.succeed()
    expect(fixture.waste).toBeCloseTo(0.05)
  })

  it.each([
    [1, 1],
    [9, 1],
    [25, 2],
    [105, 10],
  ])('at %d calls a second keeps credit for %d', (rate, most) => {
    const fixture = new AdaptiveFixture({}, { rate, waste: 100 })
    fixture.firsts(1)
    for (let i = 0; i < 50; i++) fixture.end(1, 'success')
    expect(fixture.retries()).toBe(most)
  })

  it('forgets what it has too much of when calls become fewer', () => {
    const fixture = new AdaptiveFixture({}, { rate: 100, waste: 150 })
    fixture.succeed(50)
    fixture.pass(PATIENCE_MS)
    expect(fixture.retries()).toBe(1)
    expect(fixture.waste).toBeCloseTo(3)
  })

  it('takes as many tokens as the attempt costs but one credit, and returns as many', () => {
    const fixture = new AdaptiveFixture({}, { rate: 100, waste: 10 })
    fixture.succeed(2)
    expect(fixture.ask(2, { cost: 3 })).toBe(ALLOWED)
    expect(fixture.waste).toBeCloseTo(7.4)
    fixture.end(2, 'success', 1, { cost: 3 })
    expect(fixture.waste).toBeCloseTo(10.6)
    expect(fixture.retries({ cost: 2.5 })).toBe(2)
    expect(fixture.waste).toBeCloseTo(5.6)
  })

  it('takes no more tokens for an attempt than may be kept, so that every client can have it, and none below one', () => {
    const fixture = new AdaptiveFixture()
    fixture.succeed()
    expect(fixture.ask(2, { cost: 50 })).toBe(ALLOWED)
    expect(fixture.waste).toBe(0)
    fixture.end(2, 'success', 1, { cost: 50 })
    expect(fixture.ask(2, { cost: Number.NaN })).toBe(ALLOWED)
    expect(fixture.waste).toBeCloseTo(3)
  })

  it('denies a cost that the tokens do not cover', () => {
    const fixture = new AdaptiveFixture({}, { waste: 2 })
    fixture.succeed()
    expect(fixture.ask(2, { cost: 3 })).toEqual(NO_CREDIT)
    expect(fixture.ask(2, { cost: 2 })).toBe(ALLOWED)
  })

  it('gives the credit and the tokens of a grant that was not used to the next retry', () => {
    const fixture = new AdaptiveFixture({}, { waste: 3 })
    fixture.succeed()
    expect(fixture.ask(2, { cost: 3 })).toBe(ALLOWED)
    fixture.returnUnused(2, { cost: 3 })
    expect(fixture.waste).toBeCloseTo(3.2)
    expect(fixture.budget.inFlight).toBe(0)
    expect(fixture.retries()).toBe(1)
  })
})

describe('a success mints credit', () => {
  const minted = (latencyMs: number, details: object): number => {
    const fixture = new AdaptiveFixture()
    fixture.succeed(1, latencyMs, details)
    return fixture.retries()
  }

  it.each([
    ['within a quarter of the attempt timeout', 250, { attemptTimeoutMs: 1000, deadlineMs: Infinity }],
    ['within a quarter of the attempt timeout, whatever the deadline', 250, { attemptTimeoutMs: 1000, deadlineMs: 0 }],
    ['within a quarter of half a minute, without limits', FAST_MS, {}],
  ])('%s', (_, fastMs, details) => {
    expect(minted(0, details)).toBe(1)
    expect(minted(fastMs, details)).toBe(1)
    expect(minted(fastMs + 0.1, details)).toBe(0)
  })

  it.each([
    [250, 1],
    [251, 0],
  ])('within a quarter of the time that its call had at its start, without an attempt timeout: %d ms', (ms, credit) => {
    const fixture = new AdaptiveFixture()
    const deadlineMs = fixture.now + 1000
    fixture.firsts(1, { deadlineMs })
    fixture.pass(ms)
    fixture.end(1, 'success', ms, { deadlineMs })
    expect(fixture.retries()).toBe(credit)
  })

  it('deposits a fifth of a token when it was too slow for credit, and returns nothing', () => {
    const fixture = new AdaptiveFixture({}, { waste: 2 })
    fixture.retry('success', FAST_MS + 1)
    expect(fixture.waste).toBeCloseTo(1.4)
    expect(fixture.ask(2)).toEqual(NO_CREDIT)
  })
})

describe('credit', () => {
  it.each([
    [PATIENCE_MS, 1],
    [PATIENCE_MS + 1, 0],
  ])('%d ms after the last fast success is good for %d retries: one patience', (ms, count) => {
    const fixture = new AdaptiveFixture()
    fixture.succeed()
    fixture.pass(ms)
    expect(fixture.retries()).toBe(count)
  })

  it('of a client with less than a call a second is good for longer after a retry that helped', () => {
    const fixture = new AdaptiveFixture()
    fixture.retry('success')
    fixture.pass(100 * PATIENCE_MS)
    expect(fixture.retries()).toBe(1)
  })

  it('of a client with more calls is good for no longer, however many retries helped', () => {
    const fixture = new AdaptiveFixture({}, { rate: 1e30, waste: 100 })
    for (let i = 0; i < 4; i++) fixture.retry('success')
    fixture.pass(PATIENCE_MS + 1)
    expect(fixture.retries()).toBe(0)
  })

  it.each([
    [2, 2],
    [4, 4],
    [9, 4],
  ])('of a client with less than a call a second is kept for %d retries that helped in a row: %d', (helped, kept) => {
    const fixture = new AdaptiveFixture({}, { waste: 100 })
    for (let i = 0; i < helped; i++) fixture.retry('success')
    fixture.pass(10_000)
    for (let i = 0; i < 9; i++) fixture.end(1, 'success')
    expect(fixture.retries()).toBe(kept)
  })

  it('of a client with less than a call a second is kept for one retry after one that did not help', () => {
    const fixture = new AdaptiveFixture({}, { waste: 100 })
    for (let i = 0; i < 4; i++) fixture.retry('success')
    fixture.retry('failure')
    fixture.pass(10_000)
    for (let i = 0; i < 9; i++) fixture.end(1, 'success')
    expect(fixture.retries()).toBe(1)
  })
})

describe('a strict budget', () => {
  it('keeps no credit while no retry waits for it', () => {
    const fixture = new AdaptiveFixture({ strict: true }, { rate: 100 })
    fixture.succeed(50)
    expect(fixture.ask(2)).toEqual(NO_CREDIT)
    expect(adaptiveBudget({ strict: true }).allowAttempt(requestAt(0, 2))).toEqual(NO_CREDIT)
  })

  it('gives the credit of a success to a retry that waits', () => {
    const fixture = new AdaptiveFixture({ strict: true }, { rate: 100 })
    fixture.succeed(5)
    fixture.park('a')
    fixture.park('b')
    expect(fixture.woken).toEqual([])
    fixture.succeed()
    expect(fixture.woken).toEqual(['a'])
    fixture.succeed(5)
    expect(fixture.woken).toEqual(['a', 'b'])
    expect(fixture.ask(2)).toEqual(NO_CREDIT)
  })

  it('keeps none of the credit that came while a retry waited that could not go', () => {
    const fixture = new AdaptiveFixture({ strict: true }, { waste: 0 })
    const leave = fixture.park('expensive', 2, { cost: 5 })
    fixture.succeed(5)
    leave()
    expect(fixture.ask(2)).toEqual(NO_CREDIT)
  })
})
