import { describe, expect, it } from 'vitest'
import { endsGroup, type MemberResult, nextHedgeAtMs, outweighs } from './hedge.js'
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
const RESULTS: readonly MemberResult[] = ['success', 'not_retryable', 'aborted', 'retryable']

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

describe('which member decides a group', () => {
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

describe('when a group ends', () => {
  it('is at the first success, though others run', () => {
    expect(endsGroup(hedge(), 'success', 2)).toBe(true)
  })

  it('is when nobody runs any more', () => {
    for (const result of RESULTS) expect(endsGroup(hedge(), result, 0)).toBe(true)
  })

  it('is at the first terminal failure only if the policy says so', () => {
    expect(endsGroup(hedge({ cancelOnFirstTerminal: true }), 'not_retryable', 1)).toBe(true)
    expect(endsGroup(hedge(), 'not_retryable', 1)).toBe(false)
  })

  it('is not at another failure while others run', () => {
    for (const result of ['retryable', 'aborted'] as const)
      expect(endsGroup(hedge({ cancelOnFirstTerminal: true }), result, 1)).toBe(false)
  })
})
