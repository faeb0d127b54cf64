/** When a budget that denies would allow: at the time it names it does, and before it does not. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Budget, BudgetRequest } from '../budget.js'
import { allOf } from './all-of.js'
import { concurrencyBudget } from './concurrency.js'
import { countBudget } from './count.js'
import { perKey } from './per-key.js'
import { ratioBudget } from './ratio.js'
import { tokenBucket } from './token-bucket.js'

const request = (now: number, cost = 1, attempt = 2): BudgetRequest => ({
  key: 'k',
  attempt,
  launch: attempt,
  kind: 'retry',
  ref: { name: 'b', cost },
  now,
  deadlineMs: Infinity,
})

/** Asks until it denies. */
function exhaust(budget: Budget, now: number, cost = 1): void {
  for (let asks = 0; budget.allowAttempt(request(now, cost)).allowed; asks++)
    if (asks > 10_000) throw new Error('never')
}

describe('the time at which a budget allows again', () => {
  it('is when enough has flowed into a bucket, whatever its rate', () => {
    const rates = fc.double({ min: 0.01, max: 1000, noNaN: true })
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 9 }), fc.nat(1e9), (refillPerSecond, cost, now) => {
        const bucket = tokenBucket({ capacity: 10, refillPerSecond })
        exhaust(bucket, now, cost)
        const atMs = bucket.nextAllowedAtMs(request(now, cost))
        expect(atMs).toBeGreaterThan(now)
        expect(bucket.peek(request(atMs + 1, cost))).toBe(true)
        if (atMs - now > 2) expect(bucket.peek(request(atMs - 1, cost))).toBe(false)
      }),
    )
  })

  it('is never for a bucket that is not refilled, or is too small', () => {
    const dry = tokenBucket({ capacity: 1, refillPerSecond: 0 })
    exhaust(dry, 0)
    expect(dry.nextAllowedAtMs(request(5))).toBe(Infinity)
    expect(tokenBucket({ capacity: 1, refillPerSecond: 9 }).nextAllowedAtMs(request(5, 2))).toBe(Infinity)
    expect(tokenBucket({ capacity: 1, refillPerSecond: 9 }).nextAllowedAtMs(request(5))).toBe(5)
  })

  it('is never for a count that is used up, and now for a first attempt', () => {
    const count = countBudget({ total: 2 })
    expect(count.nextAllowedAtMs(request(7))).toBe(7)
    exhaust(count, 0)
    expect(count.nextAllowedAtMs(request(7))).toBe(Infinity)
    expect(count.nextAllowedAtMs(request(7, 1, 1))).toBe(7)
  })

  it('is when withdrawals have left the window of a ratio', () => {
    const ratio = ratioBudget({ ratio: 0, minPerSecond: 1, window: '10s' })
    exhaust(ratio, 500)
    const atMs = ratio.nextAllowedAtMs(request(2500))
    expect(atMs).toBe(10_000)
    expect([ratio.peek(request(atMs - 1)), ratio.peek(request(atMs))]).toEqual([false, true])
    expect(ratioBudget({ ratio: 0.1, minPerSecond: 0 }).nextAllowedAtMs(request(9))).toBe(Infinity)
  })

  it('is the latest of all members, and unknown if one of them does not know', () => {
    const slow = tokenBucket({ capacity: 1, refillPerSecond: 1 })
    const fast = tokenBucket({ capacity: 1, refillPerSecond: 10 })
    const both = allOf(slow, fast)
    exhaust(both, 0)
    expect(both.nextAllowedAtMs(request(0))).toBe(1000)
    const places = allOf(concurrencyBudget({ max: 1 }), tokenBucket({ capacity: 1, refillPerSecond: 1 }))
    exhaust(places, 0)
    expect(places.nextAllowedAtMs(request(0))).toBe(undefined)
  })

  it('is that of the key, where every key has a budget', () => {
    const budgets = perKey(() => tokenBucket({ capacity: 1, refillPerSecond: 1 }))
    exhaust(budgets, 0)
    expect(budgets.nextAllowedAtMs?.(request(0))).toBe(1000)
    expect(budgets.nextAllowedAtMs?.({ ...request(0), key: 'other' })).toBe(0)
    expect('nextAllowedAtMs' in perKey(() => concurrencyBudget({ max: 1 }))).toBe(false)
  })
})
