import { describe, expect, it } from 'vitest'
import type { BudgetRequest } from '../budget.js'
import { ALLOWED } from '../gate.js'
import { type CountBudget, countBudget } from './count.js'

const retry = (key = 'k', cost = 1, attempt = 2): BudgetRequest => ({
  key,
  attempt,
  launch: attempt,
  kind: 'retry',
  ref: { name: 'b', cost },
  now: 0,
  deadlineMs: Infinity,
})
const reason = (budget: CountBudget, key = 'k', cost = 1): string => budget.allowAttempt(retry(key, cost)).reason

describe('a count budget', () => {
  it('allows its total and then no more', () => {
    const budget = countBudget({ total: 3 })
    for (const left of [2, 1, 0]) {
      expect(budget.peek(retry())).toBe(true)
      expect(budget.allowAttempt(retry())).toBe(ALLOWED)
      expect(budget.remaining).toBe(left)
    }
    expect(budget.used).toBe(3)
    expect(budget.peek(retry())).toBe(false)
    expect(budget.allowAttempt(retry())).toEqual({ allowed: false, reason: 'count_exhausted' })
    expect(budget.used).toBe(3)
  })

  it('lets first attempts pass free', () => {
    const budget = countBudget({ total: 0, perKey: 0 })
    expect(budget.allowAttempt(retry('k', 1, 1))).toBe(ALLOWED)
    expect(budget.peek(retry('k', 1, 1))).toBe(true)
    expect(budget.used).toBe(0)
    expect(reason(budget)).toBe('count_exhausted')
  })

  it('allows each key its share and no more', () => {
    const budget = countBudget({ total: 5, perKey: 2 })
    expect([reason(budget, 'a'), reason(budget, 'a')]).toEqual(['allowed', 'allowed'])
    expect(budget.peek(retry('a'))).toBe(false)
    expect(reason(budget, 'a')).toBe('key_count_exhausted')
    expect([reason(budget, 'b'), reason(budget, 'b'), reason(budget, 'c')]).toEqual(['allowed', 'allowed', 'allowed'])
    expect(reason(budget, 'c')).toBe('count_exhausted')
  })

  it('withdraws the cost, and nothing of it when it does not fit', () => {
    const budget = countBudget({ total: 5, perKey: 3 })
    expect(reason(budget, 'a', 4)).toBe('key_count_exhausted')
    expect(reason(budget, 'a', 3)).toBe('allowed')
    expect(reason(budget, 'b', 3)).toBe('count_exhausted')
    expect(reason(budget, 'b', 2)).toBe('allowed')
    expect(budget.remaining).toBe(0)
  })

  it('remembers only keys that were charged', () => {
    const budget = countBudget({ total: 2, perKey: 1 })
    for (let i = 0; i < 100; i++) budget.allowAttempt(retry(`key ${i}`))
    expect(budget.snapshot()).toEqual({
      used: 2,
      keys: [
        ['key 0', 1],
        ['key 1', 1],
      ],
    })
  })

  it('charges a child and its parent together, or neither', () => {
    const parent = countBudget({ total: 3 })
    const one = countBudget({ total: 2, parent })
    const two = countBudget({ total: 9, perKey: 2, parent })
    expect([reason(one), reason(one)]).toEqual(['allowed', 'allowed'])
    expect(reason(one)).toBe('count_exhausted')
    expect([one.used, parent.used]).toEqual([2, 2])
    expect(two.peek(retry())).toBe(true)
    expect(reason(two)).toBe('allowed')
    expect(two.peek(retry())).toBe(false)
    expect(reason(two)).toBe('count_exhausted')
    expect([two.used, parent.used]).toEqual([1, 3])
    expect(two.remaining).toBe(8)
  })

  it("keeps the word of a parent that denies a key's share", () => {
    const parent = countBudget({ total: 9, perKey: 1 })
    const child = countBudget({ total: 9, parent: countBudget({ total: 9, parent }) })
    expect(reason(child)).toBe('allowed')
    expect(reason(child)).toBe('key_count_exhausted')
    expect([child.used, parent.used]).toEqual([1, 1])
  })

  it('goes on from a snapshot where it was, whatever the keys are called', () => {
    const budget = countBudget({ total: 5, perKey: 1 })
    for (const key of ['__proto__', 'constructor', '']) expect(reason(budget, key)).toBe('allowed')
    const other = countBudget({ total: 5, perKey: 1 })
    other.restore(JSON.parse(JSON.stringify(budget.snapshot())))
    expect(other.used).toBe(3)
    for (const key of ['__proto__', 'constructor', '']) expect(reason(other, key)).toBe('key_count_exhausted')
    expect(reason(other, 'toString')).toBe('allowed')
  })

  it('has nothing left when restored with more used than it has', () => {
    const budget = countBudget({ total: 2 })
    budget.restore({ used: 9, keys: [] })
    expect(budget.remaining).toBe(0)
    expect(reason(budget)).toBe('count_exhausted')
  })

  it('allows so many more as were granted, and says so in its snapshot', () => {
    const budget = countBudget({ total: 1 })
    expect([reason(budget), reason(budget)]).toEqual(['allowed', 'count_exhausted'])
    budget.grant(2)
    expect(budget.remaining).toBe(2)
    expect([reason(budget), reason(budget), reason(budget)]).toEqual(['allowed', 'allowed', 'count_exhausted'])
    expect(budget.snapshot()).toEqual({ used: 3, keys: [], granted: 2 })
    const other = countBudget({ total: 2 })
    other.restore(budget.snapshot())
    expect(other.remaining).toBe(1)
    other.restore({ used: 3, keys: [] })
    expect(other.remaining).toBe(0)
  })

  it("raises neither a key's share nor a parent's total when something is granted", () => {
    const parent = countBudget({ total: 1 })
    const child = countBudget({ total: 0, perKey: 2, parent })
    child.grant(5)
    expect([reason(child), reason(child)]).toEqual(['allowed', 'count_exhausted'])
    parent.grant(5)
    expect([reason(child), reason(child)]).toEqual(['allowed', 'key_count_exhausted'])
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity])('refuses a grant of %s', (amount) => {
    const budget = countBudget({ total: 1 })
    expect(() => budget.grant(amount)).toThrow('countBudget grant')
    expect(budget.remaining).toBe(1)
  })

  it.each([
    { used: 1, keys: [], granted: -1 },
    { used: 1, keys: [], granted: 'many' },
    { used: -1, keys: [] },
    { used: 1, keys: {} },
    { used: 1, keys: ['a'] },
    { used: 1, keys: [[1, 1]] },
    { used: 1, keys: [['a', -1]] },
  ])('refuses the snapshot %o and stays as it was', (state) => {
    const budget = countBudget({ total: 2, perKey: 2 })
    budget.allowAttempt(retry('b'))
    expect(() => budget.restore(state)).toThrow('countBudget snapshot')
    expect(budget.snapshot()).toEqual({ used: 1, keys: [['b', 1]] })
  })
})

describe('the word of a count budget for a peek that said no', () => {
  it('is its own, or that of the parent who refuses', () => {
    const parent = countBudget({ total: 1 })
    const child = countBudget({ total: 9, perKey: 1, parent })
    child.allowAttempt(retry('a'))
    expect(child.denialReason(retry('a'))).toBe('key_count_exhausted')
    expect(child.denialReason(retry('b'))).toBe('count_exhausted')
    expect(countBudget({ total: 0 }).denialReason(retry())).toBe('count_exhausted')
  })

  it('is there even if nobody would refuse', () => {
    expect(countBudget({ total: 5 }).denialReason(retry())).toBe('count_exhausted')
  })
})
