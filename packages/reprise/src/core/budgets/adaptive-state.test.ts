/** What an adaptive budget accepts as options, and what it takes through a restart. */
import { describe, expect, it } from 'vitest'
import { Play, requestAt, START_MS } from '../../../../../test/adaptive-play.js'
import { BudgetError } from '../errors.js'
import { type AdaptiveBudgetOptions, adaptiveBudget } from './adaptive.js'

const STATE = {
  waste: 3.5,
  used: 2,
  patienceMs: 3000,
  latencies: [20, 10, 30],
  rate: { perSecond: 40, atMs: START_MS },
}

const roundTrip = (state: unknown): unknown => JSON.parse(JSON.stringify(state))

describe('the options of an adaptive budget', () => {
  it('may be absent, in whole or in part', () => {
    expect(adaptiveBudget().maxParkMs).toBe(30_000)
    const open = { bulkhead: undefined, strict: undefined, maxPark: undefined, maxParked: undefined }
    expect(adaptiveBudget(open).maxParkMs).toBe(30_000)
    expect(adaptiveBudget({ maxPark: '2s' }).maxParkMs).toBe(2000)
    expect(adaptiveBudget({ maxPark: 250 }).maxParkMs).toBe(250)
  })

  it.each<[string, unknown, string]>([
    ['maxPark', 'soon', `adaptiveBudget maxPark: "soon" is not a duration such as '30s'`],
    ['maxPark', -1, `adaptiveBudget maxPark: -1 is not a duration such as '30s'`],
    ['maxPark', Infinity, `adaptiveBudget maxPark: Infinity is not a duration such as '30s'`],
    ['maxParked', -1, 'adaptiveBudget maxParked: -1 is not a whole number of 0 or more such as 10000'],
    ['maxParked', 1.5, 'adaptiveBudget maxParked: 1.5 is not a whole number of 0 or more such as 10000'],
    ['maxParked', Infinity, 'adaptiveBudget maxParked: Infinity is not'],
    ['strict', 'yes', 'adaptiveBudget strict: "yes" is not true or false'],
    ['bulkhead', 1, 'adaptiveBudget bulkhead: 1 is not true or false'],
    ['bulkheads', true, 'adaptiveBudget: unknown option bulkheads, did you mean bulkhead?'],
    ['rate', 1, 'adaptiveBudget: unknown option rate'],
  ])('are refused where %s is %o', (name, value, message) => {
    expect(() => adaptiveBudget({ [name]: value })).toThrow(BudgetError)
    expect(() => adaptiveBudget({ [name]: value })).toThrow(message)
  })

  it.each([null, 'strict', 7])('are refused when they are %o', (options) => {
    expect(() => adaptiveBudget(options as AdaptiveBudgetOptions)).toThrow('adaptiveBudget: ')
  })
})

describe('a snapshot of an adaptive budget', () => {
  it('keeps waste, what is in flight, the floor and the rate', () => {
    const budget = adaptiveBudget()
    budget.restore(roundTrip(STATE))
    expect(budget.snapshot()).toEqual(STATE)
    expect(budget.inFlight).toBe(2)
  })

  it('keeps what was learnt by use', () => {
    const play = new Play({}, { rate: 10 })
    for (let second = 0; second < 6; second++) {
      play.firsts(5)
      play.succeed(5, 12)
      play.pass(1000)
    }
    play.firsts(1)
    const heir = adaptiveBudget()
    heir.restore(roundTrip(play.budget.snapshot()))
    expect(heir.snapshot()).toEqual(play.budget.snapshot())
    expect(heir.snapshot()).toMatchObject({ used: 1, latencies: [12] })
  })

  it('keeps no credit', () => {
    const play = new Play({}, { rate: 100 })
    play.succeed(10)
    play.budget.restore(roundTrip(play.budget.snapshot()))
    expect(play.ask(2)).toEqual({ allowed: false, reason: 'no_credit' })
  })

  it('has its floor at work in whoever is restored from it', () => {
    const play = new Play()
    play.budget.restore(STATE)
    play.succeed(1, 41)
    expect(play.retries()).toBe(0)
    play.succeed(1, 40)
    expect(play.retries()).toBe(1)
  })

  it('of a budget that has seen nothing restores to one that has seen nothing', () => {
    const budget = adaptiveBudget({ bulkhead: true })
    budget.restore(roundTrip(adaptiveBudget().snapshot()))
    expect(budget.snapshot()).toEqual(adaptiveBudget().snapshot())
  })

  it('cannot bring more waste than the rate allows', () => {
    const play = new Play({}, { waste: 1e9 })
    play.succeed()
    expect(play.retries()).toBe(1)
    expect(play.waste).toBe(4)
  })

  it('has what is in flight hold its slots after a restart, as it did before', () => {
    const play = new Play({ bulkhead: true })
    play.budget.restore({ ...STATE, used: 20, rate: { perSecond: 1, atMs: play.now } })
    expect(play.ask(1)).toEqual({ allowed: false, reason: 'no_slot' })
  })

  it('has nobody pay for what was in flight before the restart', () => {
    const play = new Play({ bulkhead: true })
    play.budget.restore({ ...STATE, used: 2, rate: { perSecond: 1, atMs: play.now } })
    play.pass(600_000)
    for (let i = 0; i < 2; i++) {
      play.firsts(1)
      play.pass(10)
      play.end(1, 'success', 10)
    }
    expect(play.budget.inFlight).toBe(0)
  })

  const broken: [string, unknown, string][] = [
    ['nothing', undefined, 'adaptiveBudget snapshot waste: undefined is not'],
    ['null', null, 'adaptiveBudget snapshot waste'],
    ['a text', 'x', 'adaptiveBudget snapshot waste'],
    ['an empty object', {}, 'adaptiveBudget snapshot waste'],
    [
      'a waste below 0',
      { ...STATE, waste: -1 },
      'adaptiveBudget snapshot waste: -1 is not a finite number of 0 or more',
    ],
    ['a waste that is no number', { ...STATE, waste: '5' }, 'adaptiveBudget snapshot waste: "5" is not'],
    ['no rate', { ...STATE, rate: undefined }, 'adaptiveBudget snapshot rate: undefined is not'],
    ['a rate below 0', { ...STATE, rate: { perSecond: -1, atMs: 0 } }, 'adaptiveBudget snapshot rate: -1 is not'],
    [
      'a rate of no time',
      { ...STATE, rate: { perSecond: 1, atMs: null } },
      'adaptiveBudget snapshot rate: null is not',
    ],
    ['half an attempt in flight', { ...STATE, used: 0.5 }, 'adaptiveBudget snapshot used: 0.5 is not a whole number'],
    ['no list of latencies', { ...STATE, latencies: {} }, 'adaptiveBudget snapshot latencies: '],
    ['a latency of null', { ...STATE, latencies: [1, null] }, 'adaptiveBudget snapshot latencies: null is not'],
  ]

  it.each(broken)('is refused when it is or has %s', (_, state, message) => {
    const budget = adaptiveBudget()
    expect(() => budget.restore(state)).toThrow(BudgetError)
    expect(() => budget.restore(state)).toThrow(message)
  })

  it('that is refused changes nothing', () => {
    for (const [, state] of broken) {
      const budget = adaptiveBudget()
      budget.allowAttempt(requestAt(START_MS, 1))
      const before = budget.snapshot()
      expect(() => budget.restore(state)).toThrow(BudgetError)
      expect(budget.snapshot()).toEqual(before)
    }
  })
})
