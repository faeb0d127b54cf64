import { describe, expect, it } from 'vitest'
import type { AttemptOutcome, BudgetRequest } from '../budget.js'
import { DENIED } from '../gate.js'
import { concurrencyBudget } from './concurrency.js'

const asking = (cost = 1, attempt = 1): BudgetRequest => ({
  key: 'k',
  attempt,
  launch: attempt,
  kind: 'retry',
  ref: { name: 'b', cost },
  now: 0,
  deadlineMs: Infinity,
})
const done: AttemptOutcome = { result: 'success', latencyMs: 1, won: true, now: 1 }

describe('a concurrency budget', () => {
  it('lets at most so many attempts run, first ones included', () => {
    const budget = concurrencyBudget({ max: 2 })
    const first = budget.allowAttempt(asking(1, 1))
    expect(budget.allowAttempt(asking(1, 2)).allowed).toBe(true)
    expect(budget.inUse).toBe(2)
    expect(budget.peek(asking())).toBe(false)
    expect(budget.allowAttempt(asking())).toBe(DENIED)
    first.release?.(done)
    expect(budget.inUse).toBe(1)
    expect(budget.peek(asking())).toBe(true)
    expect(budget.inUse).toBe(1)
    expect(budget.allowAttempt(asking()).allowed).toBe(true)
  })

  it('gets a place back once, however often its grant is released', () => {
    const budget = concurrencyBudget({ max: 3 })
    const grants = [asking(), asking(2)].map((request) => budget.allowAttempt(request))
    for (let round = 0; round < 3; round++) grants[0]?.release?.(done)
    expect(budget.inUse).toBe(2)
    for (let round = 0; round < 3; round++) grants[1]?.release?.(done)
    expect(budget.inUse).toBe(0)
    expect(budget.allowAttempt(asking(3)).allowed).toBe(true)
    grants[0]?.release?.(done)
    expect(budget.inUse).toBe(3)
  })

  it('reserves the cost and gives the same back', () => {
    const budget = concurrencyBudget({ max: 5 })
    const three = budget.allowAttempt(asking(3))
    expect(budget.allowAttempt(asking(3))).toBe(DENIED)
    const two = budget.allowAttempt(asking(2))
    expect(budget.inUse).toBe(5)
    three.release?.(done)
    expect(budget.inUse).toBe(2)
    two.release?.(done)
    expect(budget.inUse).toBe(0)
  })

  it('can be told by another process what the decision was not there to tell', () => {
    const budget = concurrencyBudget({ max: 5 })
    budget.allowAttempt(asking(3))
    const heir = concurrencyBudget({ max: 5 })
    heir.restore(JSON.parse(JSON.stringify(budget.snapshot())))
    expect(heir.inUse).toBe(3)
    heir.settle(asking(3), { ...done, result: 'interrupted' })
    expect(heir.inUse).toBe(0)
  })

  it('never has less than nothing in use', () => {
    const budget = concurrencyBudget({ max: 1 })
    budget.settle(asking(), done)
    expect(budget.inUse).toBe(0)
    budget.allowAttempt(asking()).release?.(done)
    budget.settle(asking(), done)
    expect(budget.inUse).toBe(0)
    expect(budget.allowAttempt(asking()).allowed).toBe(true)
    expect(budget.allowAttempt(asking()).allowed).toBe(false)
  })

  it('waits for places to come free when restored with more in use than it has', () => {
    const budget = concurrencyBudget({ max: 1 })
    budget.restore({ inUse: 2 })
    budget.settle(asking(), done)
    expect(budget.allowAttempt(asking())).toBe(DENIED)
    budget.settle(asking(), done)
    expect(budget.allowAttempt(asking()).allowed).toBe(true)
  })

  it.each([{ inUse: -1 }, { inUse: '1' }])('refuses the snapshot %o', (state) => {
    expect(() => concurrencyBudget({ max: 1 }).restore(state)).toThrow('concurrencyBudget snapshot inUse')
  })
})
