import { describe, expect, it } from 'vitest'
import type { BudgetRequest } from '../budget.js'
import { BudgetError, OptionsError } from '../errors.js'
import { COUNT_REASONS } from './count.js'
import { allOf, concurrencyBudget, countBudget, ratioBudget, tokenBucket, unlimited } from './index.js'
import { costOf } from './numbers.js'

function thrownBy(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  return undefined
}

const asking = (cost: unknown) => ({ ref: { name: 'b', cost } }) as unknown as BudgetRequest

describe('the numbers a budget is given', () => {
  it.each([undefined, null, 0, 0.5, -3, Number.NaN])('takes a cost of %s as 1', (cost) => {
    expect(costOf(asking(cost))).toBe(1)
  })

  it.each([1, 1.5, 7])('takes a cost of %s as it is', (cost) => {
    expect(costOf(asking(cost))).toBe(cost)
  })

  const wrong = [-1, Number.NaN, Infinity, -Infinity, '5', null, {}, 5n]
  const parameters: [string, number, (value: never) => unknown][] = [
    ['tokenBucket: capacity', 100, (capacity) => tokenBucket({ capacity, refillPerSecond: 1 })],
    ['tokenBucket: refillPerSecond', 10, (refillPerSecond) => tokenBucket({ capacity: 1, refillPerSecond })],
    ['ratioBudget: ratio', 0.1, (ratio) => ratioBudget({ ratio })],
    ['ratioBudget: minPerSecond', 1, (minPerSecond) => ratioBudget({ minPerSecond })],
    ['countBudget: total', 20, (total) => countBudget({ total })],
    ['countBudget: perKey', 3, (perKey) => countBudget({ total: 1, perKey })],
    ['concurrencyBudget: max', 10, (max) => concurrencyBudget({ max })],
  ]
  it.each(parameters)('refuses a %s that is no such number, and names an example', (place, example, make) => {
    for (const value of wrong) {
      expect(() => make(value as never)).toThrow(OptionsError)
      expect(() => make(value as never)).toThrow(`Invalid options of ${place}: `)
      expect(() => make(value as never)).toThrow(`such as ${example}`)
    }
    expect(() => make(-1 as never)).toThrow('-1 is not')
  })

  it('refuses parameters of which none is given', () => {
    expect(() => tokenBucket({} as never)).toThrow(
      'tokenBucket: capacity: is missing: say a finite number above 0 such as 100; refillPerSecond: is missing',
    )
    expect(() => countBudget({} as never)).toThrow('countBudget: total: is missing: say a whole number of 0 or more')
    expect(() => concurrencyBudget({} as never)).toThrow('concurrencyBudget: max: is missing')
  })

  it('knows where 0 and fractions mean something', () => {
    expect(() => tokenBucket({ capacity: 0, refillPerSecond: 1 })).toThrow('0 is not a finite number above 0')
    expect(() => tokenBucket({ capacity: 0.5, refillPerSecond: 0 })).not.toThrow()
    expect(() => ratioBudget({ ratio: 0, minPerSecond: 0 })).not.toThrow()
    expect(() => countBudget({ total: 0, perKey: 0 })).not.toThrow()
    expect(() => countBudget({ total: 1.5 })).toThrow('1.5 is not a whole number of 0 or more such as 20')
    expect(() => concurrencyBudget({ max: 0 })).toThrow('0 is not a whole number of 1 or more such as 10')
    expect(() => concurrencyBudget({ max: 1.5 })).toThrow(OptionsError)
  })

  it.each(['', 'soon', '-1s', 0, '0ms', -5, Number.NaN, Infinity, null, {}])('refuses a window of %o', (window) => {
    expect(() => ratioBudget({ window: window as string })).toThrow(OptionsError)
    expect(() => ratioBudget({ window: window as string })).toThrow(/ratioBudget: window: .* such as '10s'/)
  })

  it('refuses switches and parents that are none', () => {
    expect(() => tokenBucket({ capacity: 1, refillPerSecond: 1, chargeFirstAttempt: 'no' as never })).toThrow(
      'tokenBucket: chargeFirstAttempt: "no" is not true or false',
    )
    expect(() => countBudget({ total: 1, parent: unlimited() as never })).toThrow(
      /countBudget: parent: .* is not a budget such as countBudget\(\{ total: 20 \}\)$/,
    )
  })

  it('lists the words a count denies with', () => {
    expect(COUNT_REASONS).toEqual(['count_exhausted', 'key_count_exhausted'])
  })

  it('gives every budget a peek, and every one with a state a snapshot that plain JSON can hold', () => {
    const stateful = [
      tokenBucket({ capacity: 3, refillPerSecond: 1 }),
      ratioBudget(),
      countBudget({ total: 3, perKey: 2 }),
      concurrencyBudget({ max: 2 }),
      allOf(countBudget({ total: 3 }), unlimited()),
    ]
    const request: BudgetRequest = {
      key: 'k',
      attempt: 2,
      launch: 2,
      kind: 'retry',
      ref: { name: 'b', cost: 1 },
      now: 5,
      deadlineMs: Infinity,
    }
    for (const budget of stateful) {
      for (const _ of 'ab') {
        const state = budget.snapshot()
        expect(JSON.parse(JSON.stringify(state))).toEqual(state)
        budget.restore(JSON.parse(JSON.stringify(state)))
        expect(budget.snapshot()).toEqual(state)
        expect(budget.peek(request)).toBe(true)
        expect(budget.allowAttempt(request).allowed).toBe(true)
      }
    }
    expect(unlimited().peek(request)).toBe(true)
  })

  it.each([undefined, null, 7, 'x', {}, [], [1], { tokens: 1 }, { used: 1 }, { slots: {} }])(
    'refuses to be restored from %o, and stays as it was',
    (junk) => {
      const budgets = [
        tokenBucket({ capacity: 3, refillPerSecond: 1 }),
        ratioBudget(),
        countBudget({ total: 3 }),
        concurrencyBudget({ max: 2 }),
        allOf(unlimited(), countBudget({ total: 3 })),
      ]
      for (const budget of budgets) {
        const before = budget.snapshot()
        expect(() => budget.restore(junk)).toThrow(BudgetError)
        expect(budget.snapshot()).toEqual(before)
      }
    },
  )
})

describe('options', () => {
  it('that do not exist are refused, with the name they may have meant', () => {
    const misspelt = { capacity: 1, refillPerSecond: 1, chargeFirst: false }
    expect(() => tokenBucket(misspelt)).toThrow('chargeFirst: unknown option')
    expect(() => ratioBudget({ ratoi: 1 } as object)).toThrow('ratoi: unknown option (did you mean `ratio`?)')
  })

  it('must be there', () => {
    expect(() => tokenBucket(undefined as never)).toThrow(OptionsError)
    expect(() => countBudget(null as never)).toThrow(
      'Invalid options of countBudget: null is not an object with total, perKey, parent',
    )
  })

  it('that are wrong are all named in one error', () => {
    const wrong = { capacity: -1, refill: 5, chargeFirstAttempt: 1 }
    const error = thrownBy(() => tokenBucket(wrong as never))
    expect(error).toBeInstanceOf(OptionsError)
    expect((error as OptionsError).problems).toEqual([
      { path: 'refillPerSecond', message: 'is missing: say a finite number of 0 or more such as 10' },
      { path: 'capacity', message: '-1 is not a finite number above 0 such as 100' },
      { path: 'refill', message: 'unknown option' },
      { path: 'chargeFirstAttempt', message: '1 is not true or false' },
    ])
  })
})
