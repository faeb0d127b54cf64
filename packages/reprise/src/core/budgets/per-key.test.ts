import { describe, expect, it } from 'vitest'
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../budget.js'
import { BudgetError, OptionsError } from '../errors.js'
import { ALLOWED, DENIED } from '../gate.js'
import { type AdaptiveBudget, adaptiveBudget } from './adaptive.js'
import { concurrencyBudget } from './concurrency.js'
import { countBudget } from './count.js'
import { perKey, type PerKeyBudget } from './per-key.js'
import { unlimited } from './unlimited.js'

const even = (): number => 0.5
const asking = (key: string, attempt = 2, now = 0): BudgetRequest => ({
  key,
  attempt,
  launch: attempt,
  kind: 'retry',
  ref: { name: 'b', cost: 1 },
  now,
  deadlineMs: Infinity,
})
const done = (now = 0): AttemptOutcome => ({ result: 'success', latencyMs: 1, won: true, now })
/** Strict, so that retries wait for a success from the start. */
const adaptives = (options = {}): PerKeyBudget => perKey(() => adaptiveBudget({ strict: true }), options)
const of = (budget: PerKeyBudget, key: string): AdaptiveBudget => budget.of(key) as AdaptiveBudget
const succeed = (budget: PerKeyBudget, key: string, now = 0): void => {
  budget.allowAttempt(asking(key, 1, now))
  budget.conclude?.(asking(key, 1, now), done(now))
}
/** Stands in line and says who it was. */
const park = (budget: PerKeyBudget, key: string, woken: string[], now = 0): (() => void) =>
  budget.park?.(asking(key, 2, now), () => void woken.push(key)) ?? expect.unreachable('it parks')

describe('a budget for every key', () => {
  it('gives each key a budget of its own', () => {
    const budget = perKey(() => countBudget({ total: 1 }))
    expect(budget.of('a')).toBeUndefined()
    expect(budget.allowAttempt(asking('a')).allowed).toBe(true)
    expect(budget.allowAttempt(asking('a')).allowed).toBe(false)
    expect(budget.allowAttempt(asking('b')).allowed).toBe(true)
    expect(budget.of('a')).not.toBe(budget.of('b'))
  })

  it('passes the answer on as it is', () => {
    const budget = perKey(() => countBudget({ total: 1 }))
    const own = countBudget({ total: 1 })
    for (const _ of 'ab') expect(budget.allowAttempt(asking('a'))).toBe(own.allowAttempt(asking('a')))
  })

  it('lets the success of one key do nothing for another', () => {
    const budget = perKey(() => adaptiveBudget())
    // The one retry that every budget allows before it knows anything.
    for (const key of ['a', 'b']) expect(budget.allowAttempt(asking(key))).toBe(ALLOWED)
    for (let i = 0; i < 5; i++) succeed(budget, 'a')
    expect(budget.allowAttempt(asking('b')).allowed).toBe(false)
    expect(budget.allowAttempt(asking('a'))).toBe(ALLOWED)
    expect([of(budget, 'a').inFlight, of(budget, 'b').inFlight]).toEqual([2, 1])
  })

  it('concludes with the budget that allowed', () => {
    const budget = adaptives()
    budget.allowAttempt(asking('a', 1))
    budget.allowAttempt(asking('b', 1))
    budget.conclude?.(asking('a', 1), done())
    expect([of(budget, 'a').inFlight, of(budget, 'b').inFlight]).toEqual([0, 1])
  })

  it('releases by the decision of the budget, with its own this', () => {
    const released: unknown[] = []
    const decision = {
      allowed: true,
      reason: 'mine',
      release(outcome: AttemptOutcome): void {
        released.push(this, outcome)
      },
    }
    const answer = perKey(() => ({ allowAttempt: () => decision })).allowAttempt(asking('a'))
    expect(answer).toMatchObject({ allowed: true, reason: 'mine' })
    const outcome = done()
    answer.release?.(outcome)
    expect(released).toEqual([decision, outcome])
  })

  it('works with budgets that have nothing to give back', () => {
    const budget = perKey(unlimited)
    expect(budget.allowAttempt(asking('a'))).toBe(ALLOWED)
    budget.settle?.(asking('a'), done())
    budget.conclude?.(asking('a'), done())
    expect([budget.park, budget.maxParkMs, budget.wakeAtMs()]).toEqual([undefined, undefined, Infinity])
  })

  it('parks exactly if its budgets do, and as long', () => {
    expect(perKey(() => countBudget({ total: 1 })).park).toBeUndefined()
    const budget = perKey(() => adaptiveBudget({ maxPark: '7s' }))
    expect(budget.park).toBeTypeOf('function')
    expect(budget.maxParkMs).toBe(7000)
  })

  it('has a line for each key, served by the successes of that key', () => {
    const budget = adaptives()
    const woken: string[] = []
    for (const key of ['a', 'b', 'a']) park(budget, key, woken)
    expect([of(budget, 'a').parked, of(budget, 'b').parked]).toEqual([2, 1])
    succeed(budget, 'b')
    expect(woken).toEqual(['b'])
    succeed(budget, 'a')
    expect(woken).toEqual(['b', 'a'])
  })

  it('lets lines be left, twice without harm', () => {
    const budget = adaptives()
    const woken: string[] = []
    const leave = park(budget, 'a', woken)
    park(budget, 'a', woken)
    leave()
    leave()
    expect(of(budget, 'a').parked).toBe(1)
    succeed(budget, 'a')
    expect(woken).toEqual(['a'])
    expect(budget.wakeAtMs()).toBe(Infinity)
  })

  it('wants to be polled when the first of its lines does, and polls those that are due', () => {
    const budget = adaptives()
    const woken: string[] = []
    for (const [key, now] of [
      ['later', 300],
      ['sooner', 0],
      ['nobody', 0],
    ] as const) {
      budget.allowAttempt(asking(key, 1, now))
      budget.conclude?.(asking(key, 1, now), { ...done(now), result: 'failure' })
    }
    expect(budget.wakeAtMs()).toBe(Infinity)
    park(budget, 'later', woken, 300)
    expect(budget.wakeAtMs()).toBe(30_300)
    park(budget, 'sooner', woken, 300)
    expect(budget.wakeAtMs()).toBe(30_000)
    budget.poll(29_999, () => expect.unreachable('no line is due'))
    for (let now = 30_000; now <= 30_300 && woken.length < 2; now += 10) budget.poll(now, even)
    expect(woken).toEqual(['sooner', 'later'])
    expect(budget.wakeAtMs()).toBe(Infinity)
  })

  it('polls no budget that does not say when', () => {
    const silent: Budget = {
      allowAttempt: () => DENIED,
      park: () => () => undefined,
      poll: () => expect.unreachable('it never asked for that'),
    }
    const budget = perKey(() => silent)
    park(budget, 'a', [])
    expect(budget.wakeAtMs()).toBe(Infinity)
    budget.poll(1e9, even)
    const due = perKey(() => ({ allowAttempt: () => DENIED, park: () => () => undefined, wakeAtMs: () => 5 }))
    const leave = park(due, 'a', [])
    expect(due.wakeAtMs()).toBe(5)
    expect(() => due.poll(5, even)).not.toThrow()
    leave()
    expect(due.wakeAtMs()).toBe(Infinity)
  })

  it('counts a grant with a release out of the line until its release', () => {
    let wake: ((grant: Decision) => void) | undefined
    const released: string[] = []
    const lot: Budget = { allowAttempt: () => DENIED, park: (_, heard) => ((wake = heard), () => undefined) }
    const budget = perKey(() => lot, { maxKeys: 1 })
    let grant: Decision | undefined
    budget.park?.(asking('a'), (heard) => void (grant = heard))
    wake?.({ allowed: true, reason: 'yours', release: ({ result }) => void released.push(result) })
    expect(grant?.reason).toBe('yours')
    grant?.release?.(done())
    expect(released).toEqual(['success'])
    budget.park?.(asking('a'), (heard) => void (grant = heard))
    wake?.(DENIED)
    expect(grant).toBe(DENIED)
  })

  it('forgets the key that came first and has nothing going on, when there are too many', () => {
    const budget = perKey(() => concurrencyBudget({ max: 2 }), { maxKeys: 3 })
    const a = budget.allowAttempt(asking('a'))
    budget.allowAttempt(asking('b')).release?.(done())
    budget.allowAttempt(asking('c')).release?.(done())
    budget.allowAttempt(asking('d'))
    expect(['a', 'b', 'c', 'd'].map((key) => budget.of(key) !== undefined)).toEqual([true, false, true, true])
    a.release?.(done())
    budget.allowAttempt(asking('e'))
    expect(['a', 'c', 'd', 'e'].map((key) => budget.of(key) !== undefined)).toEqual([false, true, true, true])
  })

  it('forgets a key with an attempt in line last, and wakes the attempt even so', () => {
    const budget = adaptives({ maxKeys: 2 })
    const woken: string[] = []
    budget.allowAttempt(asking('a', 1))
    budget.conclude?.(asking('a', 1), { ...done(), result: 'failure' })
    park(budget, 'a', woken)
    succeed(budget, 'b')
    succeed(budget, 'c')
    expect([budget.of('a') !== undefined, budget.of('b')]).toEqual([true, undefined])
    park(budget, 'c', woken)
    park(budget, 'd', woken)
    expect(budget.of('a')).toBeUndefined()
    budget.poll(1_000_000, even)
    expect(woken).toContain('a')
  })

  it('bears the end of an attempt whose budget it has forgotten', () => {
    const budget = adaptives({ maxKeys: 1 })
    budget.allowAttempt(asking('a', 1))
    budget.allowAttempt(asking('b', 1))
    budget.conclude?.(asking('a', 1), done())
    expect(of(budget, 'b').inFlight).toBe(1)
  })

  it('counts nobody in a line that could not be joined', () => {
    const broken: Budget = {
      allowAttempt: () => ALLOWED,
      park() {
        throw new Error('broken')
      },
      wakeAtMs: () => 7,
    }
    const budget = perKey(() => broken)
    expect(() => budget.park?.(asking('a'), () => undefined)).toThrow('broken')
    expect(budget.wakeAtMs()).toBe(Infinity)
  })
})

describe('a snapshot of budgets by key', () => {
  it('has the state of each, and brings it back', () => {
    const budget = perKey(() => countBudget({ total: 3 }))
    for (const key of ['a', 'b', 'b', '__proto__']) budget.allowAttempt(asking(key))
    const state: unknown = JSON.parse(JSON.stringify(budget.snapshot()))
    const heir = perKey(() => countBudget({ total: 3 }))
    heir.restore(state)
    expect(heir.snapshot()).toEqual(budget.snapshot())
    const left = (key: string): number => [1, 2, 3, 4].filter(() => heir.allowAttempt(asking(key)).allowed).length
    expect(['a', 'b', '__proto__', 'new'].map(left)).toEqual([2, 1, 2, 3])
  })

  it('has none for budgets without one, and does not mind one that they cannot use', () => {
    const budget = perKey(() => ({ allowAttempt: () => ALLOWED }))
    budget.allowAttempt(asking('a'))
    expect(budget.snapshot()).toEqual({ keys: {} })
    budget.restore({ keys: { a: 1 } })
    expect(budget.of('a')).toBeDefined()
  })

  it.each([undefined, null, 7, {}, { keys: null }, { keys: 'x' }])('is refused when it is %o', (state) => {
    expect(() => adaptives().restore(state)).toThrow(BudgetError)
    expect(() => adaptives().restore(state)).toThrow('perKey snapshot keys: ')
  })

  it('is refused when the state of a key is no such state', () => {
    expect(() => adaptives().restore({ keys: { a: {} } })).toThrow('adaptiveBudget snapshot')
  })
})

describe('making a budget for every key', () => {
  it.each([undefined, null, {}, adaptiveBudget()])('needs a function, not %o', (make) => {
    expect(() => perKey(make as never)).toThrow(
      /^Invalid options of perKey: make: .* is not a function that makes a budget$/,
    )
  })

  it.each([undefined, null, 7, {}, { allowAttempt: true }])('needs one that makes budgets, not %o', (made) => {
    expect(() => perKey(() => made as never)).toThrow(OptionsError)
    expect(() => perKey(() => made as never)).toThrow(/make: .* is not a budget: what it makes has no allowAttempt/)
  })

  it('fails the attempt of a key that the function makes no budget for', () => {
    const made = [unlimited(), undefined]
    const budget = perKey(() => made.shift() as Budget)
    expect(() => budget.allowAttempt(asking('a'))).toThrow(
      new BudgetError('perKey: what the function makes has no allowAttempt method, so it is no budget'),
    )
  })

  it('refuses options that are none', () => {
    for (const maxKeys of [0, -1, 1.5, Infinity, '5'])
      expect(() => adaptives({ maxKeys })).toThrow('is not a whole number of 1 or more such as 1000')
    expect(() => adaptives({ maxKey: 5 })).toThrow('perKey: maxKey: unknown option (did you mean `maxKeys`?)')
    expect(() => adaptives({ maxKeys: undefined })).not.toThrow()
    expect(() => perKey(5 as never, { maxKeys: 0 })).toThrow(/make: 5 is not .*; maxKeys: 0 is not/)
  })
})

describe('peeking at the budget of a key', () => {
  it('is offered exactly if the budgets have it, and answers for the key', () => {
    const counts = perKey(() => countBudget({ total: 1 }))
    counts.allowAttempt(asking('spent'))
    expect(counts.peek?.(asking('spent'))).toBe(false)
    expect(counts.denialReason?.(asking('spent'))).toBe('count_exhausted')
    expect(counts.peek?.(asking('fresh'))).toBe(true)
    expect(counts.settle).toBeUndefined()
    const free = perKey(() => unlimited())
    expect(free.park).toBeUndefined()
    expect(free.denialReason).toBeUndefined()
    expect(adaptives().peek).toBeUndefined()
  })

  it('says yes where the function has made another kind of budget meanwhile', () => {
    let made = 0
    const mixed = perKey((): Budget => (made++ === 0 ? countBudget({ total: 0 }) : { allowAttempt: () => ALLOWED }))
    expect(mixed.peek?.(asking('a'))).toBe(true)
    expect(mixed.denialReason?.(asking('a'))).toBe('')
  })
})

describe('the conclusion of an attempt', () => {
  /** Writes down what it hears. */
  const hearing = (heard: string[], parts: Partial<Budget> = {}): Budget => ({
    allowAttempt: () => ALLOWED,
    conclude: ({ key }, { result }) => void heard.push(`conclude ${key} ${result}`),
    ...parts,
  })
  const lasting = (budget: PerKeyBudget, keys: readonly string[]): boolean[] =>
    keys.map((key) => budget.of(key) !== undefined)

  it('is told to the budget of its key, exactly if the budgets have conclude', () => {
    const heard: string[] = []
    const budget = perKey(() => hearing(heard))
    budget.allowAttempt(asking('a'))
    budget.conclude?.(asking('a'), { ...done(), result: 'timeout' })
    expect(heard).toEqual(['conclude a timeout'])
    expect(budget.settle).toBeUndefined()
    expect(perKey(unlimited).conclude).toBeUndefined()
  })

  it('is ignored for a key whose budget has been forgotten', () => {
    const heard: string[] = []
    const budget = perKey(() => hearing(heard), { maxKeys: 1 })
    budget.allowAttempt(asking('a'))
    budget.allowAttempt(asking('b'))
    budget.conclude?.(asking('a'), done())
    expect(heard).toEqual([])
  })

  it('is waited for before the budget of a key may be forgotten', () => {
    const budget = perKey(() => hearing([]), { maxKeys: 2 })
    budget.allowAttempt(asking('a'))
    budget.allowAttempt(asking('b'))
    budget.conclude?.(asking('b'), done())
    budget.allowAttempt(asking('c'))
    expect(lasting(budget, ['a', 'b', 'c'])).toEqual([true, false, true])
    budget.conclude?.(asking('a'), done())
    budget.allowAttempt(asking('d'))
    expect(lasting(budget, ['a', 'c', 'd'])).toEqual([false, true, true])
  })

  it.each(['settle', 'release'] as const)('does not end the wait for a %s', (end) => {
    const decision: Decision = end === 'release' ? { ...ALLOWED, release: () => undefined } : ALLOWED
    const settle = end === 'settle' ? { settle: () => undefined } : {}
    const kept = perKey(() => hearing([], { allowAttempt: () => decision, ...settle }), { maxKeys: 2 })
    kept.allowAttempt(asking('a'))
    const second = kept.allowAttempt(asking('b'))
    for (const key of ['a', 'b']) kept.conclude?.(asking(key), done())
    if (end === 'settle') kept.settle?.(asking('b'), done())
    else second.release?.(done())
    kept.allowAttempt(asking('c'))
    expect(lasting(kept, ['a', 'b', 'c'])).toEqual([true, false, true])
  })

  it('may hand out a grant, after which the wake time is read again', () => {
    let wake: ((grant: Decision) => void) | undefined
    let at = 5
    const lot: Budget = {
      allowAttempt: () => DENIED,
      park: (_, heard) => ((wake ??= heard), () => undefined),
      wakeAtMs: () => at,
      conclude: () => {
        wake?.(ALLOWED)
        at = 9
      },
    }
    const budget = perKey(() => lot)
    const woken: string[] = []
    const times: number[] = []
    budget.park?.(asking('a'), () => times.push(budget.wakeAtMs()))
    park(budget, 'a', woken)
    expect(budget.wakeAtMs()).toBe(5)
    budget.conclude?.(asking('a'), done())
    expect([times, budget.wakeAtMs()]).toEqual([[5], 9])
  })
})
