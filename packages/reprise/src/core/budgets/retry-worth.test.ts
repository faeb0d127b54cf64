/** How much retries are worth, by whether they help. */
import { describe, expect, it } from 'vitest'
import { BudgetError } from '../errors.js'
import { RetryWorth } from './retry-worth.js'

const PATIENCE_MS = 1000
const FRESH = { help: 1, firsts: 1, late: 0, value: 1 }

const firsts = (worth: RetryWorth, outcomes: readonly boolean[], now = 0): void => {
  for (const ok of outcomes) worth.firstEnded(ok, false, now, PATIENCE_MS)
}
const retries = (worth: RetryWorth, outcomes: readonly boolean[], now = 0): void => {
  for (const ok of outcomes) worth.retryEnded(ok, now, PATIENCE_MS)
}
const times = (count: number, ok: boolean): boolean[] => Array.from({ length: count }, () => ok)

describe('the worth of a retry', () => {
  it('is 1 before anything is known', () => {
    expect(new RetryWorth().value).toBe(1)
    expect(new RetryWorth().snapshot()).toEqual(FRESH)
  })

  it.each([2, 3, 5, 10])('stays 1 when every attempt of %d fails, retries like first attempts', (every) => {
    const worth = new RetryWorth()
    for (let i = 0; i < 500; i++) {
      firsts(worth, [i % every !== 0], i)
      retries(worth, [i % every !== 0], i)
      expect(worth.value).toBe(1)
    }
  })

  it('stays 1 when retries help six tenths as often as first attempts succeed', () => {
    const worth = new RetryWorth()
    worth.restore({ ...FRESH, help: 0.6 })
    firsts(worth, times(100, true))
    expect(worth.value).toBe(1)
  })

  it('falls with the square of how often retries help', () => {
    const worth = new RetryWorth()
    worth.restore({ ...FRESH, help: 0.3 })
    firsts(worth, [true])
    expect(worth.value).toBeCloseTo(0.25)
  })

  it('falls to 0.01 and no further when no retry helps while first attempts succeed', () => {
    const worth = new RetryWorth()
    for (let i = 0; i < 30; i++) {
      firsts(worth, times(5, true))
      retries(worth, [false])
    }
    expect(worth.value).toBe(0.01)
  })

  it('falls at once', () => {
    const worth = new RetryWorth()
    retries(worth, times(8, false))
    expect(worth.value).toBeLessThan(0.35)
  })

  it.each([
    [0, 0.01],
    [1000, 0.015],
    [2000, 0.02],
    [6000, 0.04],
  ])('grows no further in %d ms, two patiences to double, than to %d', (ms, value) => {
    const worth = new RetryWorth()
    retries(worth, times(50, false))
    expect(worth.value).toBe(0.01)
    retries(worth, times(50, true))
    expect(worth.value).toBe(0.01)
    firsts(worth, [true], ms)
    expect(worth.value).toBeCloseTo(value, 4)
  })

  it('grows slowly, however many retries help', () => {
    const worth = new RetryWorth()
    retries(worth, times(50, false))
    let before = worth.value
    for (let now = 2000; now <= 20_000; now += 2000) {
      for (let ms = 1998; ms >= 0; ms -= 2) retries(worth, [true], now - ms)
      // It may double in two patiences, and growth in many small steps is compound.
      expect(worth.value).toBeLessThanOrEqual(before * Math.E)
      before = worth.value
    }
    expect(worth.value).toBe(1)
  })

  it('does not grow when the clock goes back, nor twice for the same time', () => {
    const worth = new RetryWorth()
    retries(worth, times(50, false), 10_000)
    retries(worth, times(50, true), 2000)
    expect(worth.value).toBe(0.01)
    retries(worth, [true], 10_000)
    expect(worth.value).toBe(0.01)
    retries(worth, [true], 12_000)
    expect(worth.value).toBeCloseTo(0.02, 4)
  })

  it.each([
    [0, 1],
    [0.03, 0.64],
    [0.075, 0.25],
    [0.15, 0.01],
    [1, 0.01],
  ])('with a share of %d of first attempts late is %d', (late, value) => {
    const worth = new RetryWorth()
    worth.restore({ ...FRESH, late })
    retries(worth, [true])
    expect(worth.value).toBeCloseTo(value)
  })

  it('falls with late first attempts and recovers with those in time', () => {
    const worth = new RetryWorth()
    for (let i = 0; i < 10; i++) worth.firstEnded(false, true, 0, PATIENCE_MS)
    expect(worth.value).toBe(0.01)
    for (let i = 0; i < 200; i++) firsts(worth, [true], i * PATIENCE_MS)
    expect(worth.value).toBeGreaterThan(0.9)
  })

  it('is 1 when first attempts seldom succeed and retries help all the same', () => {
    const worth = new RetryWorth()
    firsts(worth, times(500, false))
    expect(worth.value).toBe(1)
    expect(worth.snapshot().firsts).toBeLessThan(0.001)
  })
})

describe('retries', () => {
  it('that helped in a row are counted, until one did not', () => {
    const worth = new RetryWorth()
    retries(worth, [true, true])
    firsts(worth, [false, true])
    expect(worth.helpedInARow).toBe(2)
    retries(worth, [false])
    expect(worth.helpedInARow).toBe(0)
  })
})

describe('a snapshot of what retries are worth', () => {
  const STATE = { help: 0.5, firsts: 0.9, late: 0.01, value: 0.4 }

  it('is restored, without retries in a row that helped', () => {
    const worth = new RetryWorth()
    retries(worth, [true, true])
    worth.restore(JSON.parse(JSON.stringify(STATE)))
    expect(worth.snapshot()).toEqual(STATE)
    expect(worth.value).toBe(0.4)
    expect(worth.helpedInARow).toBe(0)
  })

  it('has no share above 1', () => {
    const worth = new RetryWorth()
    worth.restore({ help: 5, firsts: 5, late: 5, value: 5 })
    expect(worth.snapshot()).toEqual({ help: 1, firsts: 1, late: 1, value: 1 })
  })

  it.each([undefined, null, {}, 'x', { ...STATE, value: undefined }, { ...STATE, help: -1 }, { ...STATE, late: '0' }])(
    'is refused when it is %o, and changes nothing',
    (state) => {
      const worth = new RetryWorth()
      expect(() => worth.restore(state)).toThrow(BudgetError)
      expect(() => worth.restore(state)).toThrow('adaptiveBudget snapshot worth: ')
      expect(worth.snapshot()).toEqual(FRESH)
    },
  )
})
