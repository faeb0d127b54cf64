/** How many attempts an adaptive budget with a bulkhead lets be in flight, and what becomes of the others. */
import { describe, expect, it } from 'vitest'
import { type Learnt, Play, START_MS } from '../../../../../test/adaptive-play.js'
import { ALLOWED } from '../gate.js'

const NO_SLOT = { allowed: false, reason: 'no_slot' }
/** 4 · 100 · 0.0104 = 4.16: five slots, also when the calls of a test raise the rate by a few. */
const FIVE: Learnt = { rate: 100, floorMs: 10.4 }

const crowded = (learnt = FIVE): Play => new Play({ bulkhead: true }, learnt)

describe('a bulkhead', () => {
  it('lets as many be in flight as four times rate and floor explain', () => {
    const play = crowded()
    expect(play.firsts(9)).toBe(5)
    expect(play.ask(1)).toEqual(NO_SLOT)
    expect(play.budget.inFlight).toBe(5)
    play.end(1, 'failure')
    expect(play.ask(1)).toBe(ALLOWED)
  })

  it.each([
    [1, 1, 2],
    [20, 40, 4],
    [1000, 9.9, 40],
  ])('at %d calls a second of %d ms has %d slots', (rate, floorMs, slots) => {
    const play = crowded({ rate, floorMs })
    expect(play.firsts(slots)).toBe(slots)
    expect(play.ask(1)).toEqual(NO_SLOT)
  })

  it('is not there before the floor is known, nor where it was not asked for', () => {
    expect(crowded({ rate: 1 }).firsts(1000)).toBe(1000)
    expect(new Play({}, FIVE).firsts(1000)).toBe(1000)
  })

  it('makes a first attempt wait for an answer to follow, at no cost of waste', () => {
    const play = crowded({ ...FIVE, waste: 0 })
    play.firsts(5)
    play.park('a', 1)
    play.park('b', 1)
    play.end(1, 'failure')
    expect(play.woken).toEqual([])
    play.end(1, 'success')
    expect(play.woken).toEqual(['a'])
    expect(play.waste).toBeCloseTo(0.2)
    play.end(1, 'success', 11)
    expect(play.woken).toEqual(['a', 'b'])
    expect(play.waste).toBeCloseTo(0.4)
  })

  it('has the same line for first attempts and retries', () => {
    const play = crowded()
    play.firsts(5)
    play.park('retry', 2)
    play.park('first', 1)
    play.park('another', 2)
    for (let i = 0; i < 5; i++) play.end(1, 'success')
    expect(play.woken).toEqual(['retry', 'first', 'another'])
    expect(play.waste).toBeCloseTo(4)
  })

  it('refuses retries and hedges without a slot though there is credit', () => {
    const play = crowded()
    play.firsts(5)
    play.end(1, 'success')
    play.firsts(1)
    for (const kind of ['retry', 'hedge'] as const) expect(play.ask(2, { kind })).toEqual(NO_SLOT)
    play.end(1, 'failure')
    expect(play.ask(2, { kind: 'hedge' })).toBe(ALLOWED)
  })

  it('widens by a quarter when calls found no slot and a round of answers came in less than half the patience', () => {
    const play = crowded()
    play.firsts(6, { attemptTimeoutMs: 1000 })
    for (let i = 0; i < 5; i++) play.end(1, 'success', 450, { attemptTimeoutMs: 1000 })
    // 5 + 1.25 slots
    expect(play.firsts(9)).toBe(6)
  })

  it('does not widen when nobody was refused', () => {
    const play = crowded()
    play.firsts(5, { attemptTimeoutMs: 1000 })
    for (let i = 0; i < 5; i++) play.end(1, 'success', 10, { attemptTimeoutMs: 1000 })
    expect(play.firsts(9)).toBe(5)
  })

  it('measures patience by the deadline where an attempt has no limit, else as half a minute', () => {
    for (const [limits, latencyMs] of [
      [{ deadlineMs: START_MS + 500 }, 409],
      [{}, 13_500],
    ] as const) {
      for (const [excess, slots] of [
        // By a quarter for answers in less than half the patience, tried twice as wide for slower ones.
        [0, 6],
        [1, 10],
      ] as const) {
        const play = new Play({ bulkhead: true, maxPark: '1s' }, FIVE)
        play.firsts(6, limits)
        for (let i = 0; i < 5; i++) play.end(1, 'success', latencyMs + 2 * excess, limits)
        expect(play.firsts(12)).toBe(slots)
      }
    }
  })

  it('is halved by a round of time limits without an answer, down to one slot, and whole with the first answer', () => {
    const play = crowded()
    const missRound = (): number => {
      while (play.budget.inFlight > 0) play.end(1, 'timeout', 1000)
      return play.firsts(9)
    }
    play.firsts(5)
    expect(missRound()).toBe(2)
    play.firsts(3)
    for (let i = 0; i < 3; i++) missRound()
    expect(missRound()).toBe(1)
    play.end(1, 'success')
    expect(play.firsts(9)).toBe(5)
  })

  it('is not narrowed by failures', () => {
    const play = crowded()
    for (let i = 0; i < 30; i++) {
      play.firsts(1)
      play.end(1, 'failure', 1000)
    }
    expect(play.firsts(9)).toBe(5)
  })

  it('gives attempts up for lost that nobody can be waiting for any more, and does not count their end', () => {
    const play = crowded({ rate: 1, floorMs: 10 })
    play.firsts(2, { attemptTimeoutMs: 1000 })
    play.pass(1000)
    expect(play.ask(1)).toEqual(NO_SLOT)
    // In slices of an eighth.
    play.pass(125)
    expect(play.firsts(1)).toBe(1)
    expect(play.budget.inFlight).toBe(1)
    play.end(1, 'aborted', 2000)
    expect(play.budget.inFlight).toBe(1)
  })

  it('has the slots of lost attempts free when others end', () => {
    const play = crowded({ rate: 1, floorMs: 10 })
    play.firsts(2, { attemptTimeoutMs: 1000 })
    play.pass(2000)
    for (let i = 0; i < 2; i++) {
      play.firsts(1)
      play.pass(10)
      play.end(1, 'success', 10)
    }
    expect(play.budget.inFlight).toBe(0)
  })

  it('hands the credit of a first attempt that was not used on to the next', () => {
    const play = crowded()
    play.firsts(5)
    play.park('a', 1)
    play.park('b', 1)
    play.end(1, 'success')
    play.handBackGrant(0)
    expect(play.woken).toEqual(['a', 'b'])
  })
})
