import { describe, expect, it } from 'vitest'
import type { BudgetRequest } from '../../core/budget.js'
import { SreThrottle } from './sre-throttle.js'

const asking = (attempt: number, now = 0): BudgetRequest => ({
  key: '',
  attempt,
  launch: attempt,
  kind: 'retry',
  ref: { name: 'sre', cost: 1 },
  now,
  deadlineMs: now + 10_000,
})
/** Chance that lets every request pass that has a chance at all. */
const lucky = (): number => 0.999_999

function request(throttle: SreThrottle, times: number, now = 0): void {
  for (let i = 0; i < times; i++) throttle.allowAttempt(asking(1, now))
}

function accept(throttle: SreThrottle, times: number, now = 0): void {
  for (let i = 0; i < times; i++) {
    throttle.settle(asking(1, now), { result: 'success', latencyMs: 1, won: true, now })
  }
}

describe('the adaptive throttling of the SRE book', () => {
  it('refuses with the probability (requests - 2 accepts) / (requests + 1)', () => {
    const throttle = new SreThrottle(lucky)
    expect(throttle.rejectionProbability(0)).toBe(0)
    request(throttle, 100)
    accept(throttle, 60)
    expect(throttle.rejectionProbability(0)).toBe(0)
    request(throttle, 59)
    accept(throttle, 10)
    expect(throttle.rejectionProbability(0)).toBeCloseTo((159 - 2 * 70) / 160, 12)
  })

  it('counts what it refuses as a request, and what fails as not accepted', () => {
    const throttle = new SreThrottle(() => 0)
    expect(throttle.allowAttempt(asking(1)).allowed).toBe(true)
    throttle.settle(asking(1), { result: 'failure', latencyMs: 1, won: false, now: 0 })
    expect(throttle.rejectionProbability(0)).toBe(1 / 2)
    expect(throttle.allowAttempt(asking(1))).toEqual({ allowed: false, reason: 'throttled' })
    expect(throttle.rejectionProbability(0)).toBe(2 / 3)
  })

  it('lets chance decide', () => {
    let draw = 0.49
    const throttle = new SreThrottle(() => draw)
    request(throttle, 1)
    draw = 0.51
    expect(throttle.rejectionProbability(0)).toBe(1 / 2)
    expect(throttle.allowAttempt(asking(1)).allowed).toBe(true)
    expect(throttle.rejectionProbability(0)).toBe(2 / 3)
    draw = 0.66
    expect(throttle.allowAttempt(asking(1)).allowed).toBe(false)
  })

  it('looks back two minutes', () => {
    const throttle = new SreThrottle(lucky)
    request(throttle, 10, 500)
    expect(throttle.rejectionProbability(119_999)).toBeCloseTo(10 / 11, 12)
    expect(throttle.rejectionProbability(120_000)).toBe(0)
  })

  it('keeps what is recent when old seconds leave the window, and all when time goes back', () => {
    const throttle = new SreThrottle(lucky)
    request(throttle, 10, 0)
    request(throttle, 5, 60_000)
    request(throttle, 2, 59_000)
    expect(throttle.rejectionProbability(60_000)).toBeCloseTo(17 / 18, 12)
    expect(throttle.rejectionProbability(121_000)).toBeCloseTo(7 / 8, 12)
    expect(throttle.rejectionProbability(10_000_000)).toBe(0)
  })

  it('retries only while retries are less than a tenth of its requests', () => {
    const throttle = new SreThrottle(lucky)
    request(throttle, 100)
    accept(throttle, 100)
    let retries = 0
    while (throttle.allowAttempt(asking(2)).allowed) retries++
    // When the twelfth is asked for, 11 of 111 requests have been retries; 12 of 112 are too many.
    expect(retries).toBe(12)
    expect(throttle.allowAttempt(asking(2))).toMatchObject({ allowed: false, reason: 'budget_denied' })
    request(throttle, 8)
    expect(throttle.allowAttempt(asking(2)).allowed).toBe(false)
    request(throttle, 1)
    expect(throttle.allowAttempt(asking(2)).allowed).toBe(true)
  })
})
