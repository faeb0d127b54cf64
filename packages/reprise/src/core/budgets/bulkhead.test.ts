import { describe, expect, it } from 'vitest'
import { Bulkhead } from './bulkhead.js'

/** 4 · 100 · 0.025: ten slots. */
const RATE = 100
const FLOOR_MS = 25

const slots = (bulkhead: Bulkhead): number => bulkhead.slots(RATE, FLOOR_MS)
const answer = (bulkhead: Bulkhead, count: number, share = 0.1): void => {
  for (let i = 0; i < count; i++) bulkhead.answered(share, RATE, FLOOR_MS)
}
const miss = (bulkhead: Bulkhead, count: number): void => {
  for (let i = 0; i < count; i++) bulkhead.missed(RATE, FLOOR_MS)
}
/** A whole round of answers, for which somebody found no slot. */
const crowdedRound = (bulkhead: Bulkhead, share = 0.1): number => {
  bulkhead.refused()
  answer(bulkhead, slots(bulkhead) + 1, share)
  return slots(bulkhead)
}

describe('the slots of a bulkhead', () => {
  it.each([
    [0, 10, 2],
    [10, 10, 2],
    [50, 10, 2],
    [51, 10, 3],
    [100, 25, 10],
    [100, 0, 2],
  ])('at %d calls a second and a floor of %d ms are %d', (rate, floorMs, expected) => {
    expect(new Bulkhead().slots(rate, floorMs)).toBe(expected)
  })

  it('are without end while the floor is unknown, whatever happens', () => {
    const bulkhead = new Bulkhead()
    for (let i = 0; i < 50; i++) bulkhead.missed(RATE, undefined)
    expect(bulkhead.slots(RATE, undefined)).toBe(Infinity)
    bulkhead.refused()
    for (let i = 0; i < 50; i++) bulkhead.answered(0.1, RATE, undefined)
    expect(slots(bulkhead)).toBe(10)
  })

  it('are more by a quarter after a round of answers in good time for which some call found none', () => {
    const bulkhead = new Bulkhead()
    bulkhead.refused()
    answer(bulkhead, 9)
    expect(slots(bulkhead)).toBe(10)
    answer(bulkhead, 1)
    expect(slots(bulkhead)).toBe(12)
  })

  it('are judged a round after they changed: until then answers are of attempts from before', () => {
    const bulkhead = new Bulkhead()
    expect(crowdedRound(bulkhead)).toBe(12)
    expect(crowdedRound(bulkhead)).toBe(12)
    expect(crowdedRound(bulkhead)).toBe(15)
  })

  it('tell how many have come', () => {
    const bulkhead = new Bulkhead()
    bulkhead.refused()
    const added = Array.from({ length: 10 }, () => bulkhead.answered(0.1, RATE, FLOOR_MS))
    expect(added).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 2])
  })

  it('stay when nobody found none', () => {
    const bulkhead = new Bulkhead()
    answer(bulkhead, 1000)
    expect(slots(bulkhead)).toBe(10)
  })

  it('are tried twice as many when answers are slow but nobody gives up, and kept if that makes them no slower', () => {
    const bulkhead = new Bulkhead()
    expect(crowdedRound(bulkhead, 0.7)).toBe(20)
    crowdedRound(bulkhead, 0.7)
    expect(crowdedRound(bulkhead, 0.7)).toBe(40)
  })

  it('are given back if answers have become slower by it, and not tried again for a while', () => {
    const bulkhead = new Bulkhead()
    expect(crowdedRound(bulkhead, 0.6)).toBe(20)
    crowdedRound(bulkhead, 0.6)
    expect(crowdedRound(bulkhead, 0.95)).toBe(10)
    crowdedRound(bulkhead, 0.95)
    for (let round = 0; round < 2; round++) expect(crowdedRound(bulkhead, 0.6)).toBe(10)
    // More carefully the second time.
    expect(crowdedRound(bulkhead, 0.6)).toBe(12)
  })

  it('become fewer when answers are slow and some too late, at once when those are many, but not below what is explained', () => {
    const bulkhead = new Bulkhead()
    for (let i = 0; i < 11; i++) crowdedRound(bulkhead)
    expect(slots(bulkhead)).toBe(38)
    answer(bulkhead, 20, 0.8)
    miss(bulkhead, 6)
    expect(slots(bulkhead)).toBe(26)
    // What follows is of before.
    answer(bulkhead, 1, 0.8)
    miss(bulkhead, 6)
    expect(slots(bulkhead)).toBe(26)
    for (let i = 0; i < 12; i++) {
      answer(bulkhead, 20, 0.8)
      miss(bulkhead, 6)
    }
    answer(bulkhead, 1, 0.8)
    expect(slots(bulkhead)).toBe(10)
  })

  it('stay when answers are slow, nobody gives up and everybody found a slot', () => {
    const bulkhead = new Bulkhead()
    for (let i = 0; i < 5; i++) answer(bulkhead, 11, 0.9)
    expect(slots(bulkhead)).toBe(10)
  })

  it('fade when nobody needs them', () => {
    const bulkhead = new Bulkhead()
    crowdedRound(bulkhead)
    const seen = Array.from({ length: 60 }, () => (answer(bulkhead, 15), slots(bulkhead)))
    expect(seen.toSorted((a, b) => b - a)).toEqual(seen)
    expect(seen.at(-1)).toBe(10)
  })

  it('are halved by every round of time limits without an answer, down to one', () => {
    const bulkhead = new Bulkhead()
    miss(bulkhead, 9)
    expect(slots(bulkhead)).toBe(10)
    miss(bulkhead, 1)
    expect(slots(bulkhead)).toBe(5)
    miss(bulkhead, 5)
    expect(slots(bulkhead)).toBe(2)
    miss(bulkhead, 4)
    expect(slots(bulkhead)).toBe(2)
    miss(bulkhead, 1)
    expect(slots(bulkhead)).toBe(1)
    miss(bulkhead, 10_000)
    expect(slots(bulkhead)).toBe(1)
  })

  it('are all there again with the first answer, and a round begins anew', () => {
    const bulkhead = new Bulkhead()
    miss(bulkhead, 1000)
    answer(bulkhead, 1, 0.9)
    expect(slots(bulkhead)).toBe(10)
    for (let i = 0; i < 20; i++) {
      miss(bulkhead, 9)
      answer(bulkhead, 1, 0.9)
    }
    expect(slots(bulkhead)).toBe(10)
  })
})
