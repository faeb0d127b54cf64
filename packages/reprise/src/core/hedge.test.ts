import { describe, expect, it } from 'vitest'
import { endsAttempt, type LaunchResult, nextHedgeAtMs, outweighs } from './hedge.js'
import type { HedgePolicy } from './policy.js'

const hedge = (fields: Partial<HedgePolicy> = {}): HedgePolicy => ({
  delayMs: 50,
  percentile: undefined,
  maxHedges: 2,
  cancelOnFirstTerminal: false,
  budget: undefined,
  shareBudget: false,
  ...fields,
})
const RESULTS: readonly LaunchResult[] = ['success', 'not_retryable', 'aborted', 'retryable']

describe('when the next hedge is due', () => {
  it('is one delay after the primary, and one more for each hedge asked for', () => {
    expect(nextHedgeAtMs(hedge(), 1000, 0, 50)).toBe(1050)
    expect(nextHedgeAtMs(hedge(), 1000, 1, 50)).toBe(1100)
  })

  it('is at once with a delay of 0', () => {
    expect(nextHedgeAtMs(hedge(), 1000, 0, 0)).toBe(1000)
  })

  it('is never after the last, counting denied ones', () => {
    expect(nextHedgeAtMs(hedge(), 1000, 2, 50)).toBeUndefined()
    expect(nextHedgeAtMs(hedge({ maxHedges: 1 }), 1000, 1, 50)).toBeUndefined()
  })

  it('is never while no percentile is known', () => {
    expect(nextHedgeAtMs(hedge({ delayMs: undefined, percentile: 95 }), 1000, 0, undefined)).toBeUndefined()
  })
})

describe('which launch decides an attempt', () => {
  it('is the first to end', () => {
    for (const result of RESULTS) expect(outweighs(result, undefined)).toBe(true)
  })

  it('is success, then not retryable, then an abort, then a retryable failure, whatever the order', () => {
    RESULTS.forEach((stronger, rank) => {
      for (const weaker of RESULTS.slice(rank + 1)) {
        expect(outweighs(stronger, weaker)).toBe(true)
        expect(outweighs(weaker, stronger)).toBe(false)
      }
    })
  })

  it('is the earlier of two that ended alike', () => {
    for (const result of RESULTS) expect(outweighs(result, result)).toBe(false)
  })
})

describe('when an attempt ends', () => {
  it('is at the first success, though others run', () => {
    expect(endsAttempt(hedge(), 'success', 2)).toBe(true)
  })

  it('is when nobody runs any more', () => {
    for (const result of RESULTS) expect(endsAttempt(hedge(), result, 0)).toBe(true)
  })

  it('is at the first terminal failure only if the policy says so', () => {
    expect(endsAttempt(hedge({ cancelOnFirstTerminal: true }), 'not_retryable', 1)).toBe(true)
    expect(endsAttempt(hedge(), 'not_retryable', 1)).toBe(false)
  })

  it('is not at another failure while others run', () => {
    for (const result of ['retryable', 'aborted'] as const)
      expect(endsAttempt(hedge({ cancelOnFirstTerminal: true }), result, 1)).toBe(false)
  })
})
