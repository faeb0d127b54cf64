import { describe, expect, it } from 'vitest'
import type { BudgetRequest } from '../../core/budget.js'
import { RenewedCount } from './renewed-count.js'

const asking = (attempt: number): BudgetRequest => ({
  key: '',
  attempt,
  launch: attempt,
  kind: 'retry',
  ref: { name: 'job', cost: 1 },
  now: 0,
  deadlineMs: 10_000,
})

function calls(budget: RenewedCount, times: number): void {
  for (let i = 0; i < times; i++) expect(budget.allowAttempt(asking(1)).allowed).toBe(true)
}

function retries(budget: RenewedCount): number {
  let count = 0
  while (budget.allowAttempt(asking(2)).allowed) count++
  expect(budget.peek(asking(2))).toBe(false)
  return count
}

describe('a count that is renewed', () => {
  it('gives 20 retries to every 100 calls', () => {
    const budget = new RenewedCount()
    calls(budget, 1)
    expect(budget.peek(asking(2))).toBe(true)
    expect(retries(budget)).toBe(20)
    calls(budget, 99)
    expect(retries(budget)).toBe(0)
    calls(budget, 1)
    expect(retries(budget)).toBe(20)
  })

  it('keeps nothing of what a job has left', () => {
    const budget = new RenewedCount()
    calls(budget, 250)
    expect(retries(budget)).toBe(20)
  })
})
