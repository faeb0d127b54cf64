import { describe, expect, it } from 'vitest'
import type { AttemptOutcome, Budget, BudgetRequest } from '../budget.js'
import { DENIED } from '../gate.js'
import { perKey, type PerKeyBudget } from './per-key.js'

const even = (): number => 0.5
const asking = (key: string): BudgetRequest => ({
  key,
  attempt: 2,
  launch: 2,
  kind: 'retry',
  ref: { name: 'b', cost: 1 },
  now: 0,
  deadlineMs: Infinity,
})
const done: AttemptOutcome = { result: 'success', latencyMs: 1, won: true, now: 0 }
const park = (budget: PerKeyBudget, key: string): (() => void) =>
  budget.park?.(asking(key), () => undefined) ?? expect.unreachable('it parks')

describe('the wake times of many keys', () => {
  const KEYS = 1000
  /** Budgets with lines that are polled at their own times; `asked` counts how often a wake time is asked for. */
  class Lines {
    asked = 0
    polled: string[] = []
    readonly at = new Map<string, number>()
    readonly budget = perKey(() => this.make(), { maxKeys: KEYS })

    private make(): Budget {
      let name = ''
      return {
        allowAttempt: ({ key }) => ((name = key), DENIED),
        settle: () => undefined,
        park: ({ key }) => ((name = key), () => undefined),
        wakeAtMs: () => (this.asked++, this.at.get(name) ?? Infinity),
        poll: (now) => {
          this.polled.push(name)
          this.at.set(name, now + 10_000)
        },
      }
    }
  }

  const withWaiting = (): Lines => {
    const lines = new Lines()
    for (let i = 0; i < KEYS; i++) {
      lines.at.set(`key-${i}`, 100 + ((i * 617) % KEYS))
      park(lines.budget, `key-${i}`)
    }
    expect(lines.budget.wakeAtMs()).toBe(100)
    lines.asked = 0
    return lines
  }

  it('are asked for once per event, and only of the key concerned', () => {
    const lines = withWaiting()
    const { budget } = lines
    const events: (() => unknown)[] = [
      () => budget.allowAttempt(asking('key-7')),
      () => budget.settle?.(asking('key-7'), done),
      () => park(budget, 'key-7')(),
      () => park(budget, 'new')(),
      () => budget.wakeAtMs(),
    ]
    for (const event of events) {
      lines.asked = 0
      event()
      expect(budget.wakeAtMs()).toBe(100)
      expect(lines.asked).toBeLessThanOrEqual(1)
    }
  })

  it('are asked for of the keys that were polled, not of the others', () => {
    const lines = withWaiting()
    lines.budget.poll(104, even)
    expect(lines.polled).toHaveLength(5)
    expect(lines.budget.wakeAtMs()).toBe(105)
    expect(lines.asked).toBe(5)
    lines.budget.poll(104, even)
    expect([lines.polled.length, lines.asked]).toEqual([5, 5])
  })

  it('follow a restore', () => {
    let at = 50
    const budget = perKey(() => ({
      allowAttempt: () => DENIED,
      park: () => () => undefined,
      wakeAtMs: () => at,
      restore: (state: unknown) => void (at = state as number),
    }))
    park(budget, 'a')
    expect(budget.wakeAtMs()).toBe(50)
    budget.restore({ keys: { a: 20 } })
    expect(budget.wakeAtMs()).toBe(20)
  })

  it.each([NaN, undefined, '5'])('count as never when a budget answers %o', (at) => {
    const budget = perKey(() => ({
      allowAttempt: () => DENIED,
      park: () => () => undefined,
      wakeAtMs: () => at as number,
    }))
    park(budget, 'a')
    expect(budget.wakeAtMs()).toBe(Infinity)
  })

  it('leave the other keys due when a poll throws', () => {
    let isBroken = true
    const polled: string[] = []
    const budget = perKey(() => {
      let at = 5
      return {
        allowAttempt: () => DENIED,
        park: () => () => undefined,
        wakeAtMs: () => at,
        poll: () => {
          if (isBroken) throw new Error('broken')
          at = Infinity
          polled.push('polled')
        },
      }
    })
    park(budget, 'a')
    park(budget, 'b')
    expect(() => budget.poll(5, even)).toThrow('broken')
    expect(budget.wakeAtMs()).toBe(5)
    isBroken = false
    budget.poll(5, even)
    expect(polled).toHaveLength(2)
    expect(budget.wakeAtMs()).toBe(Infinity)
  })

  it('are read again when the poll of one key changes another', () => {
    const leaves: (() => void)[] = []
    const polled: string[] = []
    const budget = perKey(() => ({
      allowAttempt: () => DENIED,
      park: () => () => undefined,
      wakeAtMs: () => 5,
      poll: () => {
        polled.push('polled')
        for (const leave of leaves) leave()
      },
    }))
    for (const key of 'abc') leaves.push(park(budget, key))
    budget.poll(5, even)
    expect(polled).toHaveLength(1)
    expect(budget.wakeAtMs()).toBe(Infinity)
  })
})
