import { describe, expect, it } from 'vitest'
import type { BudgetRequest } from '../budget.js'
import { ALLOWED, DENIED } from '../gate.js'
import { type RatioBudget, ratioBudget } from './ratio.js'

const at = (now: number, attempt = 2, cost = 1, kind: 'retry' | 'hedge' = 'retry'): BudgetRequest => ({
  key: 'k',
  attempt,
  launch: attempt + (kind === 'hedge' ? 1 : 0),
  kind,
  ref: { name: 'b', cost },
  now,
  deadlineMs: Infinity,
})
const call = (budget: RatioBudget, now: number, times = 1): void => {
  for (let i = 0; i < times; i++) expect(budget.allowAttempt(at(now, 1))).toBe(ALLOWED)
}
const retries = (budget: RatioBudget, now: number): number => {
  let count = 0
  while (budget.allowAttempt(at(now)) === ALLOWED) count++
  expect(budget.allowAttempt(at(now))).toBe(DENIED)
  return count
}

describe('a ratio budget', () => {
  it('says when it would allow an attempt: now, once withdrawals have left the window, or never', () => {
    const budget = ratioBudget({ ratio: 0, minPerSecond: 1, window: '10s' })
    expect(budget.nextAllowedAtMs(at(0))).toBe(0)
    expect(retries(budget, 0)).toBe(10)
    const nextMs = budget.nextAllowedAtMs(at(100))
    expect(nextMs).toBeGreaterThan(100)
    expect(budget.peek(at(nextMs))).toBe(true)
    expect(ratioBudget({ ratio: 0, minPerSecond: 0 }).nextAllowedAtMs(at(0))).toBe(Infinity)
  })

  it('by default lets a tenth of the calls be repeated, and one a second beside', () => {
    const budget = ratioBudget()
    expect(retries(budget, 0)).toBe(10)
    call(budget, 0, 200)
    expect(retries(budget, 0)).toBe(20)
  })

  it('without a reserve allows nothing before a deposit', () => {
    const budget = ratioBudget({ ratio: 0.5, minPerSecond: 0 })
    expect(retries(budget, 0)).toBe(0)
    call(budget, 0)
    expect(retries(budget, 0)).toBe(0)
    call(budget, 0)
    expect(retries(budget, 0)).toBe(1)
  })

  it('lets first attempts pass free even when nothing is left', () => {
    const budget = ratioBudget({ ratio: 0, minPerSecond: 0 })
    expect(budget.peek(at(0, 1))).toBe(true)
    call(budget, 0, 100)
    expect(retries(budget, 0)).toBe(0)
  })

  it('withdraws the cost, of hedges as of retries', () => {
    const budget = ratioBudget({ ratio: 1, minPerSecond: 0 })
    call(budget, 0, 5)
    expect(budget.allowAttempt(at(0, 1, 3, 'hedge')).allowed).toBe(true)
    expect(budget.allowAttempt(at(0, 2, 3)).allowed).toBe(false)
    expect(budget.allowAttempt(at(0, 2, 2, 'hedge')).allowed).toBe(true)
  })

  it('forgets deposits after the window', () => {
    const budget = ratioBudget({ ratio: 1, minPerSecond: 0, window: '10s' })
    call(budget, 0, 3)
    expect(budget.peek(at(9999))).toBe(true)
    expect(budget.peek(at(10_000))).toBe(false)
    expect(retries(budget, 10_000)).toBe(0)
  })

  it('has its reserve again after the window', () => {
    const budget = ratioBudget({ ratio: 0, minPerSecond: 2, window: 5000 })
    expect(retries(budget, 0)).toBe(10)
    expect(retries(budget, 4999)).toBe(0)
    expect(retries(budget, 5000)).toBe(10)
    expect(retries(budget, 1e9)).toBe(10)
  })

  it('lets a quiet client retry once a second for ever', () => {
    const budget = ratioBudget({ ratio: 0, minPerSecond: 1 })
    for (let second = 0; second < 100; second++) expect(budget.allowAttempt(at(second * 1000)).allowed).toBe(true)
  })

  it('moves the window tenth by tenth', () => {
    const budget = ratioBudget({ ratio: 1, minPerSecond: 0, window: '10s' })
    for (let second = 0; second < 10; second++) call(budget, second * 1000)
    expect(budget.peek(at(9999, 2, 10))).toBe(true)
    expect(budget.peek(at(9999, 2, 11))).toBe(false)
    expect(budget.peek(at(10_000, 2, 9))).toBe(true)
    expect(budget.peek(at(10_000, 2, 10))).toBe(false)
    expect(budget.peek(at(15_000, 2, 4))).toBe(true)
    expect(budget.peek(at(15_000, 2, 5))).toBe(false)
  })

  it('remembers at most ten slots however long it runs', () => {
    const budget = ratioBudget()
    for (let now = 0; now < 1e6; now += 170) budget.allowAttempt(at(now, (now % 3) + 1))
    expect(budget.snapshot().slots.length).toBeLessThanOrEqual(10)
  })

  it('gains nothing from a clock that goes back, and works before the year zero', () => {
    const budget = ratioBudget({ ratio: 0, minPerSecond: 1 })
    expect(retries(budget, -500)).toBe(10)
    expect(retries(budget, -30_000)).toBe(0)
    expect(retries(budget, -500)).toBe(0)
    expect(retries(budget, 9000)).toBe(10)
  })

  it('consumes nothing when peeked, also about a time to come', () => {
    const budget = ratioBudget({ ratio: 1, minPerSecond: 0 })
    call(budget, 0)
    expect(budget.peek(at(60_000))).toBe(false)
    expect(budget.peek(at(0))).toBe(true)
    expect(retries(budget, 0)).toBe(1)
  })

  it('goes on from a snapshot where it was, also with slots that are no whole milliseconds', () => {
    for (const window of ['10s', 7, '1ms']) {
      const budget = ratioBudget({ window })
      const other = ratioBudget({ window })
      for (let now = 0; now < 20; now += 0.7) {
        budget.allowAttempt(at(now, 1))
        budget.allowAttempt(at(now, 2, 1.5))
        other.restore(JSON.parse(JSON.stringify(budget.snapshot())))
        expect(other.snapshot()).toEqual(budget.snapshot())
      }
    }
  })

  it('keeps deposits and withdrawals when the window was changed in between', () => {
    const budget = ratioBudget({ ratio: 1, minPerSecond: 0, window: '10s' })
    for (let second = 0; second < 10; second++) call(budget, second * 1000)
    expect(budget.allowAttempt(at(9000, 2, 4)).allowed).toBe(true)
    const longer = ratioBudget({ ratio: 1, minPerSecond: 0, window: '60s' })
    longer.restore(budget.snapshot())
    expect(retries(longer, 9000)).toBe(6)
  })

  it.each([[[0, 1]], [[0, -1, 0]], [[0, 1, Number.NaN]], [['0', 1, 1]], [7], [null]])(
    'refuses the snapshot slot %o and stays as it was',
    (slot) => {
      const budget = ratioBudget()
      call(budget, 0, 3)
      const before = budget.snapshot()
      expect(() => budget.restore({ slots: [[0, 1, 1], slot] })).toThrow('ratioBudget snapshot slot')
      expect(budget.snapshot()).toEqual(before)
    },
  )
})
