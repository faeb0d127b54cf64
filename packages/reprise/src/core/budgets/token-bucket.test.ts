import { describe, expect, it } from 'vitest'
import type { BudgetRequest } from '../budget.js'
import { ALLOWED, DENIED } from '../gate.js'
import { type TokenBucket, tokenBucket } from './token-bucket.js'

const at = (now: number, cost = 1, attempt = 2): BudgetRequest => ({
  key: 'k',
  attempt,
  launch: attempt,
  kind: 'retry',
  ref: { name: 'b', cost },
  now,
  deadlineMs: Infinity,
})
const allows = (bucket: TokenBucket, now: number, cost = 1, attempt = 2): boolean =>
  bucket.allowAttempt(at(now, cost, attempt)).allowed
const drain = (bucket: TokenBucket, now: number): number => {
  let count = 0
  while (allows(bucket, now)) count++
  return count
}

describe('a token bucket', () => {
  it('starts full, whatever the time is', () => {
    for (const now of [-5000, 0, 1e12]) expect(drain(tokenBucket({ capacity: 3, refillPerSecond: 1 }), now)).toBe(3)
  })

  it('answers with shared decisions', () => {
    const bucket = tokenBucket({ capacity: 1, refillPerSecond: 0 })
    expect(bucket.allowAttempt(at(0))).toBe(ALLOWED)
    expect(bucket.allowAttempt(at(0))).toBe(DENIED)
  })

  it('refills continuously, in fractions', () => {
    const bucket = tokenBucket({ capacity: 2, refillPerSecond: 0.5 })
    expect(drain(bucket, 0)).toBe(2)
    expect(allows(bucket, 1999)).toBe(false)
    expect(allows(bucket, 2000)).toBe(true)
    expect(allows(bucket, 3000)).toBe(false)
    expect(allows(bucket, 4000)).toBe(true)
  })

  it('loses nothing to rounding however often it is asked in between', () => {
    const bucket = tokenBucket({ capacity: 1, refillPerSecond: 1 })
    expect(allows(bucket, 0)).toBe(true)
    for (let now = 100; now < 1000; now += 100) expect(allows(bucket, now)).toBe(false)
    expect(allows(bucket, 1000)).toBe(true)
  })

  it('never holds more than its capacity', () => {
    const bucket = tokenBucket({ capacity: 3, refillPerSecond: 100 })
    expect(drain(bucket, 0)).toBe(3)
    expect(drain(bucket, 1e9)).toBe(3)
  })

  it('does not refill at a rate of 0', () => {
    const bucket = tokenBucket({ capacity: 1, refillPerSecond: 0 })
    expect(drain(bucket, 0)).toBe(1)
    expect(drain(bucket, 1e12)).toBe(0)
  })

  it('charges nothing for a denial', () => {
    const bucket = tokenBucket({ capacity: 3, refillPerSecond: 0 })
    expect(allows(bucket, 0, 2)).toBe(true)
    expect(allows(bucket, 0, 2)).toBe(false)
    expect(allows(bucket, 0, 1)).toBe(true)
  })

  it('always denies a cost above its capacity', () => {
    const bucket = tokenBucket({ capacity: 3, refillPerSecond: 1000 })
    for (const now of [0, 1e6]) {
      expect(bucket.peek(at(now, 3.01))).toBe(false)
      expect(allows(bucket, now, 3.01)).toBe(false)
      expect(allows(bucket, now, Infinity)).toBe(false)
    }
    expect(allows(bucket, 1e6, 3)).toBe(true)
  })

  it('gains nothing from a clock that goes back, neither then nor when it comes forward again', () => {
    const bucket = tokenBucket({ capacity: 10, refillPerSecond: 1 })
    expect(drain(bucket, 10_000)).toBe(10)
    expect(drain(bucket, 0)).toBe(0)
    expect(drain(bucket, 10_000)).toBe(0)
    expect(drain(bucket, 12_000)).toBe(2)
  })

  it('can be charged while the clock is back', () => {
    const bucket = tokenBucket({ capacity: 2, refillPerSecond: 1 })
    expect(allows(bucket, 10_000)).toBe(true)
    expect(drain(bucket, 5000)).toBe(1)
    expect(drain(bucket, 10_999)).toBe(0)
    expect(drain(bucket, 11_000)).toBe(1)
  })

  it('denies rather than breaks when the time is no number', () => {
    const bucket = tokenBucket({ capacity: 2, refillPerSecond: 1 })
    expect(allows(bucket, Number.NaN)).toBe(false)
    expect(drain(bucket, 0)).toBe(2)
  })

  it('charges first attempts too, unless told not to', () => {
    const admission = tokenBucket({ capacity: 1, refillPerSecond: 0 })
    expect(allows(admission, 0, 1, 1)).toBe(true)
    expect(admission.peek(at(0, 1, 1))).toBe(false)
    expect(allows(admission, 0, 1, 1)).toBe(false)

    const retriesOnly = tokenBucket({ capacity: 1, refillPerSecond: 0, chargeFirstAttempt: false })
    for (let call = 0; call < 5; call++) expect(retriesOnly.allowAttempt(at(0, 1, 1))).toBe(ALLOWED)
    expect(drain(retriesOnly, 0)).toBe(1)
    expect(retriesOnly.peek(at(0, 1, 1))).toBe(true)
    expect(allows(retriesOnly, 0, 1, 1)).toBe(true)
  })

  it('consumes nothing when peeked, also about a time to come', () => {
    const bucket = tokenBucket({ capacity: 1, refillPerSecond: 1 })
    for (let i = 0; i < 3; i++) expect(bucket.peek(at(0))).toBe(true)
    expect(allows(bucket, 0)).toBe(true)
    expect(bucket.peek(at(0))).toBe(false)
    expect(bucket.peek(at(1000))).toBe(true)
    expect(allows(bucket, 500)).toBe(false)
  })

  it('takes what is granted on top of what has flowed in, up to its capacity', () => {
    const bucket = tokenBucket({ capacity: 5, refillPerSecond: 1 })
    drain(bucket, 0)
    expect(bucket.grant(2, 1000)).toBe(2)
    expect(bucket.snapshot()).toEqual({ tokens: 3, atMs: 1000 })
    expect(bucket.grant(9, 1000)).toBe(2)
    expect(bucket.grant(1, 1000)).toBe(0)
    expect(drain(bucket, 1000)).toBe(5)
  })

  it('counts no stretch of time twice when something is granted by a clock that went back', () => {
    const bucket = tokenBucket({ capacity: 5, refillPerSecond: 1 })
    drain(bucket, 2000)
    expect(bucket.grant(1, 0)).toBe(1)
    expect(drain(bucket, 2000)).toBe(1)
  })

  it.each([
    [0, 0],
    [-1, 0],
    [Number.NaN, 0],
    [1, Number.NaN],
  ])('refuses a grant of %s at %s', (amount, now) => {
    const bucket = tokenBucket({ capacity: 2, refillPerSecond: 0 })
    expect(() => bucket.grant(amount, now)).toThrow('tokenBucket grant')
    expect(drain(bucket, 0)).toBe(2)
  })

  it('goes on from a snapshot where it was', () => {
    const bucket = tokenBucket({ capacity: 5, refillPerSecond: 1 })
    drain(bucket, 1000)
    const other = tokenBucket({ capacity: 5, refillPerSecond: 1 })
    other.restore(JSON.parse(JSON.stringify(bucket.snapshot())))
    expect(other.snapshot()).toEqual({ tokens: 0, atMs: 1000 })
    expect(drain(other, 3000)).toBe(2)
  })

  it('holds no more than its capacity after being restored from a larger bucket', () => {
    const bucket = tokenBucket({ capacity: 2, refillPerSecond: 0 })
    bucket.restore({ tokens: 50, atMs: 0 })
    expect(drain(bucket, 0)).toBe(2)
  })

  it.each([{ tokens: -1, atMs: 0 }, { tokens: 1 }, { tokens: 1, atMs: null }, { tokens: 1, atMs: Infinity }])(
    'refuses the snapshot %o',
    (state) => {
      expect(() => tokenBucket({ capacity: 2, refillPerSecond: 0 }).restore(state)).toThrow('tokenBucket snapshot')
    },
  )
})
