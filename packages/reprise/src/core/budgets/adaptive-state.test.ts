/** What an adaptive budget accepts as options, and what it keeps through a restart. */
import { describe, expect, it } from 'vitest'
import { AdaptiveFixture, START_MS } from '../../../../../test/adaptive-fixture.js'
import { BudgetError, OptionsError } from '../errors.js'
import { type AdaptiveBudgetOptions, adaptiveBudget } from './adaptive.js'

const STATE = {
  waste: 3.5,
  rate: { perSecond: 40, atMs: START_MS },
  window: { fastShare: 0.75, notFast: 0.3, notPrompt: 0.1, late: 0.05, spells: 3 },
  worth: { help: 0.5, firsts: 0.9, late: 0.01, value: 0.4 },
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
    ['maxPark', 'soon', `adaptiveBudget: maxPark: "soon" is not a duration such as '30s'`],
    ['maxPark', -1, `adaptiveBudget: maxPark: -1 is not a duration such as '30s'`],
    ['maxPark', Infinity, `adaptiveBudget: maxPark: Infinity is not a duration such as '30s'`],
    ['maxParked', -1, 'adaptiveBudget: maxParked: -1 is not a whole number of 0 or more such as 10000'],
    ['maxParked', 1.5, 'adaptiveBudget: maxParked: 1.5 is not a whole number of 0 or more such as 10000'],
    ['maxParked', Infinity, 'adaptiveBudget: maxParked: Infinity is not'],
    ['strict', 'yes', 'adaptiveBudget: strict: "yes" is not true or false'],
    ['bulkhead', 1, 'adaptiveBudget: bulkhead: 1 is not true or false'],
    ['bulkheads', true, 'adaptiveBudget: bulkheads: unknown option (did you mean `bulkhead`?)'],
    ['rate', 1, 'adaptiveBudget: rate: unknown option'],
  ])('are refused where %s is %o', (name, value, message) => {
    expect(() => adaptiveBudget({ [name]: value })).toThrow(OptionsError)
    expect(() => adaptiveBudget({ [name]: value })).toThrow(message)
  })

  it.each([null, 'strict', 7])('are refused when they are %o', (options) => {
    expect(() => adaptiveBudget(options as AdaptiveBudgetOptions)).toThrow('adaptiveBudget: ')
  })
})

it('an adaptive budget describes itself by its options', () => {
  expect(adaptiveBudget().describe()).toEqual({
    type: 'adaptive',
    bulkhead: false,
    strict: false,
    maxParkMs: 30_000,
    maxParked: 100_000,
  })
  expect(adaptiveBudget({ bulkhead: true, strict: true, maxPark: '1s', maxParked: 7 }).describe()).toEqual({
    type: 'adaptive',
    bulkhead: true,
    strict: true,
    maxParkMs: 1000,
    maxParked: 7,
  })
})

describe('a snapshot of an adaptive budget', () => {
  it('keeps the tokens, the rate, what answers usually take and what retries are worth', () => {
    const budget = adaptiveBudget()
    budget.restore(roundTrip(STATE))
    expect(budget.snapshot()).toEqual({ ...STATE, used: 0 })
  })

  it('keeps what was learned by use', () => {
    const fixture = new AdaptiveFixture({}, { rate: 10 })
    for (let second = 0; second < 6; second++) {
      fixture.retry(second < 5 ? 'success' : 'failure')
      fixture.firsts(1)
      fixture.end(1, second < 5 ? 'failure' : 'timeout')
      fixture.pass(1000)
    }
    const before = fixture.budget.snapshot()
    const successor = adaptiveBudget()
    successor.restore(roundTrip(before))
    expect(successor.snapshot()).toEqual({
      ...before,
      rate: { ...before.rate, perSecond: expect.closeTo(before.rate.perSecond) },
    })
    expect(before.worth).not.toEqual(adaptiveBudget().snapshot().worth)
    expect(before.window.spells).toBeGreaterThan(0)
  })

  it('keeps what is in flight, and no credit', () => {
    const fixture = new AdaptiveFixture({}, { rate: 100 })
    fixture.succeed(10)
    fixture.firsts(3)
    fixture.budget.restore(roundTrip(fixture.budget.snapshot()))
    expect(fixture.ask(2)).toEqual({ allowed: false, reason: 'no_credit' })
    expect(fixture.budget.inFlight).toBe(3)
    fixture.end(1, 'success')
    expect(fixture.budget.inFlight).toBe(2)
  })

  it('brings back that fast answers are usual', () => {
    const fixture = new AdaptiveFixture({ bulkhead: true })
    fixture.budget.restore(STATE)
    const limits = { attemptTimeoutMs: 1000 }
    fixture.firsts(4, limits)
    fixture.pass(250)
    expect(fixture.ask(1, limits).allowed).toBe(true)
    expect(fixture.ask(1, limits)).toEqual({ allowed: false, reason: 'no_slot' })
  })

  it('of a budget that has seen nothing restores to one that has seen nothing', () => {
    const budget = adaptiveBudget({ bulkhead: true })
    budget.restore(roundTrip(adaptiveBudget().snapshot()))
    expect(budget.snapshot()).toEqual(adaptiveBudget().snapshot())
  })

  it('cannot bring more tokens than the rate allows', () => {
    const fixture = new AdaptiveFixture({}, { waste: 1e9 })
    fixture.succeed()
    expect(fixture.retries()).toBe(1)
    expect(fixture.waste).toBe(3)
  })

  it('leaves attempts in line when it is restored', () => {
    const fixture = new AdaptiveFixture()
    fixture.park('a')
    fixture.budget.restore(STATE)
    expect(fixture.budget.parked).toBe(1)
    fixture.succeed()
    expect(fixture.woken).toEqual(['a'])
  })

  const broken: [string, unknown, string][] = [
    ['nothing', undefined, 'adaptiveBudget snapshot waste: undefined is not'],
    ['null', null, 'adaptiveBudget snapshot waste'],
    ['a text', 'x', 'adaptiveBudget snapshot waste'],
    ['an empty object', {}, 'adaptiveBudget snapshot waste'],
    [
      'tokens below 0',
      { ...STATE, waste: -1 },
      'adaptiveBudget snapshot waste: -1 is not a finite number of 0 or more',
    ],
    ['tokens that are no number', { ...STATE, waste: '5' }, 'adaptiveBudget snapshot waste: "5" is not'],
    ['no rate', { ...STATE, rate: undefined }, 'adaptiveBudget snapshot rate: undefined is not'],
    ['a rate below 0', { ...STATE, rate: { perSecond: -1, atMs: 0 } }, 'adaptiveBudget snapshot rate: -1 is not'],
    [
      'a rate of no time',
      { ...STATE, rate: { perSecond: 1, atMs: null } },
      'adaptiveBudget snapshot rate: null is not',
    ],
    ['no window', { ...STATE, window: undefined }, 'adaptiveBudget snapshot window: undefined is not'],
    [
      'half a patience counted',
      { ...STATE, window: { fastShare: 1, spells: 0.5 } },
      'adaptiveBudget snapshot window: 0.5 is not a whole number of 0 or more',
    ],
    ['no worth', { ...STATE, worth: null }, 'adaptiveBudget snapshot worth: undefined is not'],
    ['a worth below 0', { ...STATE, worth: { ...STATE.worth, late: -1 } }, 'adaptiveBudget snapshot worth: -1 is not'],
  ]

  it.each(broken)('is refused when it is or has %s', (_, state, message) => {
    const budget = adaptiveBudget()
    expect(() => budget.restore(state)).toThrow(BudgetError)
    expect(() => budget.restore(state)).toThrow(message)
  })

  it.each(broken)('changes nothing when it is refused for %s', (_, state) => {
    const fixture = new AdaptiveFixture()
    fixture.succeed()
    fixture.firsts(2)
    const before = fixture.budget.snapshot()
    expect(() => fixture.budget.restore(state)).toThrow(BudgetError)
    expect(fixture.budget.snapshot()).toEqual(before)
    expect(fixture.budget.inFlight).toBe(2)
    expect(fixture.retries()).toBe(1)
  })
})
