import { describe, expect, it, vi } from 'vitest'
import { backoffDelay, delayAfter } from './backoff.js'
import { normalizePolicy } from './normalize.js'
import type { Jitter, Policy, PolicyInput } from './policy.js'

const seconds = (policy: PolicyInput, count: number): number[] =>
  Array.from({ length: count }, (_, index) => delayAfter(policy, index + 1) / 1000)

const withJitter = (jitter: Jitter, more: PolicyInput = {}): Policy =>
  normalizePolicy({ backoff: 'fixed', ...more }, { defaultJitter: jitter }).policy

describe('the delay after the n-th failure', () => {
  it('of fixed is the initial one', () => {
    expect(seconds({ backoff: 'fixed' }, 3)).toEqual([1, 1, 1])
  })

  it('of linear grows by the increment, which is the initial delay unless given', () => {
    expect(seconds({ backoff: { linear: { increment: '2s' } } }, 3)).toEqual([1, 3, 5])
    expect(seconds({ backoff: 'linear', initialDelay: '2s' }, 3)).toEqual([2, 4, 6])
  })

  it('of exponential grows by the base up to the cap', () => {
    expect(seconds({}, 7)).toEqual([1, 2, 4, 8, 16, 30, 30])
    expect(seconds({ backoff: { exponential: { base: 3 } } }, 4)).toEqual([1, 3, 9, 27])
    expect(seconds({ backoff: { exponential: { base: 0.5 } } }, 3)).toEqual([1, 0.5, 0.25])
  })

  it('of fibonacci follows 1 1 2 3 5 8', () => {
    expect(seconds({ backoff: 'fibonacci' }, 9)).toEqual([1, 1, 2, 3, 5, 8, 13, 21, 30])
  })

  it('of custom delays is the listed one, then the cap', () => {
    expect(seconds({ backoff: { custom: { delays: ['3s', '1s', '2m'] } } }, 5)).toEqual([3, 1, 30, 30, 30])
  })

  it('of a formula is what it computes, within 0 and the cap', () => {
    const custom = (formula: string): PolicyInput => ({ backoff: { custom: { formula } } })
    expect(seconds(custom('initial * attempt ^ 2'), 6)).toEqual([1, 4, 9, 16, 25, 30])
    expect(seconds(custom('previous * 2'), 4)).toEqual([2, 4, 8, 16])
    expect(seconds(custom('max / 2'), 1)).toEqual([15])
    expect(seconds(custom('-attempt'), 2)).toEqual([0, 0])
    expect(seconds(custom('0 / 0'), 1)).toEqual([30])
    expect(seconds(custom('1 / 0'), 1)).toEqual([30])
  })

  it.each([0, -1, Number.NaN, 0.5])('is nothing before the first failure (%d)', (failures) => {
    expect(delayAfter({}, failures)).toBe(0)
    expect(delayAfter({ jitter: 'decorrelated' }, failures)).toBe(0)
  })

  it.each(['fixed', 'linear', 'exponential', 'fibonacci'] as const)(
    'of %s stays 0 when it begins with 0',
    (backoff) => {
      expect(delayAfter({ backoff, initialDelay: 0 }, 10_000)).toBe(0)
    },
  )

  it('ends for an endless number of failures', () => {
    expect(delayAfter({}, Infinity)).toBe(30_000)
    expect(delayAfter({ backoff: { custom: { formula: 'previous + 1' } } }, Infinity)).toBe(11_000)
  })

  it('takes a normalised policy as well', () => {
    expect(delayAfter(normalizePolicy({}).policy, 3)).toBe(4000)
  })
})

describe('jitter', () => {
  it('is drawn once per retry, for the failure it belongs to, and not at all without jitter', () => {
    for (const jitter of ['proportional', 'full', 'equal', 'decorrelated'] as const) {
      const draw = vi.fn(() => 0.5)
      backoffDelay(withJitter(jitter), 4, 1000, draw)
      expect(draw.mock.calls).toEqual([[4]])
    }
    const draw = vi.fn(() => 0.5)
    expect(backoffDelay(withJitter('none'), 4, 1000, draw)).toBe(1000)
    expect(draw).not.toHaveBeenCalled()
  })

  it.each([
    ['proportional', 850, 1000, 1150],
    ['full', 0, 500, 1000],
    ['equal', 500, 750, 1000],
    ['decorrelated', 1000, 2000, 3000],
  ] as const)('%s spreads 1000 over %d, %d and %d', (jitter, low, middle, high) => {
    const at = (chance: number): number => backoffDelay(withJitter(jitter), 1, 0, () => chance)
    expect([at(0), at(0.5), at(1)]).toEqual([low, middle, high])
  })

  it('comes after the cap, so proportional may exceed it by half its factor', () => {
    const policy = withJitter('proportional', { maxDelay: 500, jitterFactor: 1 })
    expect(backoffDelay(policy, 9, 0, () => 1)).toBe(750)
    expect(backoffDelay(withJitter('full', { maxDelay: 500 }), 9, 0, () => 1)).toBe(500)
  })

  it('decorrelated follows the previous delay up to the cap, and never falls below the initial one', () => {
    const policy = withJitter('decorrelated')
    expect(backoffDelay(policy, 2, 5000, () => 0)).toBe(1000)
    expect(backoffDelay(policy, 2, 5000, () => 0.5)).toBe(8000)
    expect(backoffDelay(policy, 2, 20_000, () => 1)).toBe(30_000)
    expect(backoffDelay(policy, 2, 10, () => 1)).toBe(1000)
  })
})

describe('delayAfter', () => {
  it('leaves jitter out unless chance is passed', () => {
    expect(delayAfter({ jitter: 'full' }, 3)).toBe(4000)
    expect(delayAfter({ jitter: true }, 3)).toBe(4000)
    expect(delayAfter({ jitter: 'full' }, 3, () => 0.25)).toBe(1000)
    expect(delayAfter({}, 3, () => 0.25)).toBe(4000)
  })

  it('draws once, but once per failure where a delay follows from the one before', () => {
    const random = vi.fn(() => 0.5)
    delayAfter({ jitter: 'equal' }, 5, random)
    expect(random).toHaveBeenCalledTimes(1)
    expect(delayAfter({ jitter: 'decorrelated' }, 3, random)).toBe(5750)
    expect(random).toHaveBeenCalledTimes(4)
    delayAfter({ jitter: 'full', backoff: { custom: { formula: 'previous * 2' } } }, 3, random)
    expect(random).toHaveBeenCalledTimes(7)
  })

  it('gives the upper bound of decorrelated without chance', () => {
    expect(seconds({ jitter: 'decorrelated' }, 5)).toEqual([3, 9, 27, 30, 30])
  })
})

describe('a formula', () => {
  it('is compiled once per backoff and means the longest delay if it was never validated and does not parse', () => {
    const { policy } = normalizePolicy({ backoff: { custom: { formula: 'attempt' } } })
    expect([1, 2].map((n) => backoffDelay(policy, n, 0, () => 0))).toEqual([1, 2])
    const broken: Policy = { ...policy, backoff: { type: 'custom', formula: 'attempt attempt' } }
    expect(backoffDelay(broken, 1, 0, () => 0)).toBe(30_000)
  })
})
