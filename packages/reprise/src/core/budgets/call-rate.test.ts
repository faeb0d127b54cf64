import { describe, expect, it } from 'vitest'
import { CallRate } from './call-rate.js'

const START_MS = 1_000_000

/** Calls at a steady rate, the last of them at the end. */
const steady = (perSecond: number, seconds: number, rate = new CallRate()): CallRate => {
  for (let i = 1; i <= perSecond * seconds; i++) rate.count(START_MS + (i * 1000) / perSecond)
  return rate
}

describe('the rate of calls', () => {
  it('is none before the first call', () => {
    expect(new CallRate().perSecond(START_MS)).toBe(0)
    expect(new CallRate().latest).toBe(0)
  })

  it.each([5, 20, 100])('is about %d when so many come a second, from the first seconds on', (perSecond) => {
    for (const seconds of [2, 10, 60, 200]) {
      const rate = steady(perSecond, seconds).perSecond(START_MS + seconds * 1000)
      // The first call begins the window, and so counts for more than its share.
      expect(Math.abs(rate - perSecond)).toBeLessThan(perSecond * 0.12 + 0.7)
    }
  })

  it('takes one call for one a second, not for a thousand', () => {
    const rate = new CallRate()
    rate.count(START_MS)
    expect(rate.perSecond(START_MS)).toBeCloseTo(1.1, 1)
  })

  it('fades by the exponential window of five seconds', () => {
    const rate = steady(100, 200)
    const endMs = START_MS + 200_000
    const before = rate.perSecond(endMs)
    expect(rate.perSecond(endMs + 5000) / before).toBeCloseTo(Math.exp(-1))
    expect(rate.perSecond(endMs + 50_000) / before).toBeCloseTo(Math.exp(-10))
    expect(rate.latest).toBe(before)
  })

  it('does not fade when the clock goes back, and counts on', () => {
    const rate = steady(100, 200)
    const endMs = START_MS + 200_000
    const before = rate.perSecond(endMs)
    expect(rate.perSecond(endMs - 5000)).toBe(before)
    rate.count(endMs - 5000)
    expect(rate.perSecond(endMs)).toBeCloseTo(before + 0.2)
  })

  it('does not grow when the clock goes back to where it began', () => {
    const rate = steady(100, 10)
    expect(rate.perSecond(START_MS)).toBeCloseTo(rate.perSecond(START_MS + 10_000), 0)
  })

  it('goes on from a snapshot with a window that is full', () => {
    const rate = steady(100, 10)
    const heir = new CallRate()
    heir.restore(JSON.parse(JSON.stringify(rate.snapshot())))
    expect(heir.snapshot()).toEqual(rate.snapshot())
    expect(heir.latest).toBeCloseTo(rate.latest)
    heir.count(START_MS + 10_000)
    expect(heir.latest).toBeCloseTo(rate.latest + 0.2)
  })

  it('starts anew from a snapshot of nothing', () => {
    const rate = steady(100, 10)
    rate.restore({ perSecond: 0, atMs: START_MS })
    expect(rate.latest).toBe(0)
    steady(10, 5, rate)
    expect(rate.latest).toBeCloseTo(10, 0)
  })

  it.each([undefined, null, {}, { perSecond: 1 }, { perSecond: Infinity, atMs: 0 }, { perSecond: 1, atMs: '0' }])(
    'refuses the snapshot %o',
    (state) => {
      expect(() => new CallRate().restore(state)).toThrow('adaptiveBudget snapshot rate: ')
    },
  )
})
