import { describe, expect, it } from 'vitest'
import type { AttemptOutcome, BudgetRequest } from '../../core/budget.js'
import { EnvoyBudget } from './envoy-budget.js'

/** An attempt of the call that began at `call`. */
const asking = (call: number, attempt: number): BudgetRequest => ({
  key: '',
  attempt,
  launch: attempt,
  kind: 'retry',
  ref: { name: 'envoy', cost: 1 },
  now: call,
  deadlineMs: call + 10_000,
})
const ended = (result: AttemptOutcome['result'], now = 0): AttemptOutcome => ({ result, latencyMs: 1, won: false, now })

/** First attempts of calls `from`, `from + 1` and so on, which stay active. */
function begin(budget: EnvoyBudget, from: number, times: number): void {
  for (let i = 0; i < times; i++) expect(budget.allowAttempt(asking(from + i, 1)).allowed).toBe(true)
}

/** How many of these calls may retry after their first attempts have failed. */
function retries(budget: EnvoyBudget, from: number, times: number): number {
  for (let i = 0; i < times; i++) budget.settle(asking(from + i, 1), ended('failure'))
  let allowed = 0
  for (let i = 0; i < times; i++) if (budget.allowAttempt(asking(from + i, 2)).allowed) allowed++
  return allowed
}

describe('the Envoy retry budget', () => {
  it('is a fifth of the active requests, rounded down, and never less than 3', () => {
    const budget = new EnvoyBudget(5)
    expect(budget.limit).toBe(3)
    begin(budget, 0, 19)
    expect(budget.limit).toBe(3)
    begin(budget, 19, 1)
    expect(budget.limit).toBe(4)
    begin(budget, 20, 79)
    expect(budget.limit).toBe(19)
  })

  it('lets 3 retries be active however few requests are', () => {
    const budget = new EnvoyBudget(5)
    begin(budget, 0, 5)
    expect(retries(budget, 0, 5)).toBe(3)
  })

  it('lets a fifth of many requests be retries', () => {
    const budget = new EnvoyBudget(5)
    begin(budget, 0, 120)
    // The twentieth to fail leaves 100 active.
    expect(retries(budget, 0, 30)).toBe(20)
  })

  it('counts a retry while it waits, and until it ends', () => {
    const budget = new EnvoyBudget(5)
    begin(budget, 0, 5)
    for (const call of [0, 1, 2, 3]) budget.settle(asking(call, 1), ended('timeout'))
    expect(budget.allowAttempt(asking(3, 2)).allowed).toBe(false)
    expect(budget.allowAttempt(asking(0, 2)).allowed).toBe(true)
    budget.settle(asking(0, 2), ended('success'))
    expect(retries(budget, 4, 1)).toBe(1)
  })

  it('keeps no place for a call that succeeded, was called off or has made its last attempt', () => {
    const budget = new EnvoyBudget(1)
    begin(budget, 0, 1)
    expect(retries(budget, 0, 1)).toBe(0)
    const patient = new EnvoyBudget(5)
    begin(patient, 0, 2)
    patient.settle(asking(0, 1), ended('success'))
    patient.settle(asking(1, 1), ended('aborted'))
    expect(patient.allowAttempt(asking(0, 2)).allowed).toBe(false)
    expect(patient.allowAttempt(asking(1, 2)).allowed).toBe(false)
  })

  it('gives the places of calls that ran out of time to others', () => {
    const budget = new EnvoyBudget(5)
    begin(budget, 0, 4)
    for (const call of [0, 1, 2]) budget.settle(asking(call, 1), ended('failure', 1000))
    budget.settle(asking(3, 1), ended('failure', 10_001.5))
    expect(budget.allowAttempt(asking(3, 2)).allowed).toBe(true)
  })
})
