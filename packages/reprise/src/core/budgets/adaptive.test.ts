/** What a retry or hedge takes, what a success gives, and how much of either is kept. */
import { describe, expect, it } from 'vitest'
import { type Details, Play, requestAt } from '../../../../../test/adaptive-play.js'
import { ALLOWED } from '../gate.js'
import { ADAPTIVE_REASONS, adaptiveBudget } from './adaptive.js'

const NO_CREDIT = { allowed: false, reason: 'no_credit' }

describe('an adaptive budget', () => {
  it('starts with five of waste, no credit, no rate and no floor', () => {
    const budget = adaptiveBudget()
    expect(budget.snapshot()).toMatchObject({ waste: 5, used: 0, latencies: [], rate: { perSecond: 0, atMs: 0 } })
    expect(budget.allowAttempt(requestAt(0, 2))).toEqual(NO_CREDIT)
    expect([budget.inFlight, budget.parked, budget.maxParkMs, budget.wakeAtMs()]).toEqual([0, 0, 30_000, Infinity])
  })

  it('lists the words it uses', () => {
    expect(ADAPTIVE_REASONS).toEqual(['no_credit', 'no_slot', 'line_full', 'probe'])
  })

  it('lets first attempts go free, however many, with one shared decision', () => {
    const play = new Play()
    expect(play.ask(1)).toBe(ALLOWED)
    expect(play.firsts(999)).toBe(999)
    expect([play.budget.inFlight, play.waste]).toEqual([1000, 5])
  })

  it('lets one retry go for each success, and no more', () => {
    const play = new Play({}, { rate: 100 })
    expect(play.retries()).toBe(0)
    play.succeed()
    expect(play.retries()).toBe(1)
    play.succeed(3)
    expect(play.retries()).toBe(3)
    expect(play.ask(2)).toEqual(NO_CREDIT)
  })

  it('takes one of waste for a retry and gives it back if it succeeds, with the fifth that every success deposits', () => {
    const play = new Play({}, { waste: 2 })
    play.succeed()
    expect(play.waste).toBeCloseTo(2.2)
    expect(play.ask(2)).toBe(ALLOWED)
    expect(play.waste).toBeCloseTo(1.2)
    play.end(2, 'success')
    expect(play.waste).toBeCloseTo(2.4)
  })

  it.each(['failure', 'timeout', 'aborted', 'interrupted'] as const)(
    'keeps the waste of a retry that ends in %s',
    (end) => {
      const play = new Play({}, { waste: 2 })
      play.succeed()
      play.ask(2)
      play.end(2, end)
      expect(play.waste).toBeCloseTo(1.2)
      expect(play.ask(2)).toEqual(NO_CREDIT)
      expect(play.budget.inFlight).toBe(0)
    },
  )

  it('takes and gives nothing for a first attempt that fails', () => {
    const play = new Play({}, { waste: 2 })
    play.firsts(3)
    play.end(1, 'failure')
    play.end(1, 'timeout')
    play.handBack(1)
    expect([play.waste, play.retries(), play.budget.inFlight]).toEqual([2, 0, 0])
  })

  it('gives a hedge its waste back only if it won', () => {
    const hedge: Details = { kind: 'hedge' }
    for (const [won, waste] of [
      [true, 3.4],
      [false, 2.4],
    ] as const) {
      const play = new Play({}, { waste: 3 })
      play.succeed()
      expect(play.ask(2, hedge)).toBe(ALLOWED)
      expect(play.waste).toBeCloseTo(2.2)
      play.budget.settle(requestAt(play.now, 2, hedge), { result: 'success', latencyMs: 1, won, now: play.now })
      expect(play.waste).toBeCloseTo(waste)
    }
  })

  it('refuses a retry without waste, whatever the credit', () => {
    const play = new Play({}, { rate: 100, waste: 0.5 })
    play.succeed(2)
    expect(play.waste).toBeCloseTo(0.9)
    expect(play.ask(2)).toEqual(NO_CREDIT)
    play.succeed()
    expect(play.retries()).toBe(1)
  })

  it('changes nothing when it refuses', () => {
    const play = new Play({}, { waste: 3 })
    const before = play.budget.snapshot()
    for (const kind of ['retry', 'hedge'] as const) expect(play.ask(2, { kind })).toEqual(NO_CREDIT)
    expect(play.budget.snapshot()).toEqual(before)
  })

  it.each([
    [0, 5],
    [2, 5],
    [10, 20],
    [100, 200],
  ])('at %d calls a second keeps at most %d of waste', (rate, most) => {
    const play = new Play({}, { rate, waste: most - 0.3 })
    play.succeed()
    expect(play.waste).toBeCloseTo(most - 0.1)
    play.succeed(5)
    expect(play.waste).toBeCloseTo(most)
  })

  it.each([
    [0, 1],
    [10, 1],
    [25, 2],
    [100, 10],
  ])('at %d calls a second keeps credit for %d', (rate, most) => {
    const play = new Play({}, { rate, waste: 100 })
    play.succeed(50)
    expect(play.retries()).toBe(most)
  })

  it('forgets what it has too much of when calls become fewer', () => {
    const play = new Play({}, { rate: 100, waste: 150 })
    play.succeed(50)
    play.pass(60_000)
    expect(play.retries()).toBe(1)
    expect(play.waste).toBeCloseTo(4)
  })

  it('takes as many of waste as the attempt costs but one credit, and gives as many back', () => {
    const play = new Play({}, { rate: 100, waste: 10 })
    play.succeed(2)
    expect(play.ask(2, { cost: 3 })).toBe(ALLOWED)
    expect(play.waste).toBeCloseTo(7.4)
    play.end(2, 'success', 1, { cost: 3 })
    expect(play.waste).toBeCloseTo(10.6)
    expect(play.retries({ cost: 2.5 })).toBe(2)
    expect(play.waste).toBeCloseTo(5.6)
  })

  it('takes a cost beyond five as five, so that every client can have it, and none below one', () => {
    const play = new Play()
    play.succeed()
    expect(play.ask(2, { cost: 50 })).toBe(ALLOWED)
    expect(play.waste).toBe(0)
    play.end(2, 'success', 1, { cost: 50 })
    expect(play.waste).toBe(5)
    expect(play.ask(2, { cost: Number.NaN })).toBe(ALLOWED)
    expect(play.waste).toBe(4)
  })

  it('refuses a cost that the waste does not cover', () => {
    const play = new Play({}, { waste: 2 })
    play.succeed()
    expect(play.ask(2, { cost: 3 })).toEqual(NO_CREDIT)
    expect(play.ask(2, { cost: 2 })).toBe(ALLOWED)
  })
})

describe('a success mints credit', () => {
  const minted = (latencyMs: number, floorMs: number | undefined, attemptTimeoutMs: number | undefined): number => {
    const limits = attemptTimeoutMs === undefined ? {} : { attemptTimeoutMs }
    const play = new Play({}, floorMs === undefined ? {} : { floorMs })
    play.succeed(1, latencyMs, limits)
    return play.retries()
  }

  it.each([
    ['at any latency, with neither floor nor attempt timeout', undefined, undefined, 1e7, undefined],
    ['within a quarter of the attempt timeout, before there is a floor', undefined, 1000, 250, 250.1],
    ['within four floors, without an attempt timeout', 10, undefined, 40, 40.1],
    ['within a quarter of the attempt timeout, if that is longer than four floors', 10, 1000, 250, 250.1],
    ['within four floors, if that is longer than a quarter of the attempt timeout', 100, 1000, 400, 400.1],
  ])('%s', (_, floorMs, attemptTimeoutMs, fastMs, slowMs) => {
    expect(minted(0, floorMs, attemptTimeoutMs)).toBe(1)
    expect(minted(fastMs, floorMs, attemptTimeoutMs)).toBe(1)
    if (slowMs !== undefined) expect(minted(slowMs, floorMs, attemptTimeoutMs)).toBe(0)
  })

  it('also deposits and gives waste back when it was too slow for credit', () => {
    const play = new Play({}, { floorMs: 10, waste: 2 })
    play.succeed()
    play.ask(2)
    play.end(2, 'success', 5000)
    expect(play.waste).toBeCloseTo(2.4)
    expect(play.ask(2)).toEqual(NO_CREDIT)
  })
})

describe('a strict budget', () => {
  it('keeps no credit while nobody waits for it', () => {
    const play = new Play({ strict: true }, { rate: 100 })
    play.succeed(50)
    expect(play.ask(2)).toEqual(NO_CREDIT)
    expect(play.waste).toBeCloseTo(15)
  })

  it('gives the credit of a success to who waits', () => {
    const play = new Play({ strict: true })
    play.park('a')
    play.park('b')
    play.succeed()
    expect(play.woken).toEqual(['a'])
    play.succeed(5)
    expect(play.woken).toEqual(['a', 'b'])
    expect(play.ask(2)).toEqual(NO_CREDIT)
  })

  it('keeps none of the credit that came while somebody waited who could not go', () => {
    const play = new Play({ strict: true }, { waste: 0 })
    const leave = play.park('too dear', 2, { cost: 5 })
    play.succeed(5)
    leave()
    expect(play.ask(2)).toEqual(NO_CREDIT)
  })
})
