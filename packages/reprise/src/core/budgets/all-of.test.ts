import { describe, expect, it } from 'vitest'
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../budget.js'
import { OptionsError } from '../errors.js'
import { ALLOWED, DENIED } from '../gate.js'
import { allOf } from './all-of.js'
import { concurrencyBudget } from './concurrency.js'
import { countBudget } from './count.js'
import { tokenBucket } from './token-bucket.js'
import { unlimited } from './unlimited.js'

const request: BudgetRequest = {
  key: 'k',
  attempt: 2,
  launch: 2,
  kind: 'retry',
  ref: { name: 'both', cost: 1 },
  now: 7,
  deadlineMs: Infinity,
}
const done: AttemptOutcome = { result: 'success', latencyMs: 1, won: true, now: 8 }
const bucket = (capacity: number) => tokenBucket({ capacity, refillPerSecond: 0 })

/** A budget that writes down what happens to it. */
class Recorder implements Budget {
  readonly heard: string[] = []
  declare readonly peek?: () => boolean
  declare readonly settle?: NonNullable<Budget['settle']>
  declare readonly conclude?: NonNullable<Budget['conclude']>
  private readonly answer: () => Partial<Decision>

  constructor(answer: () => Partial<Decision>, parts: { peek?: boolean; settles?: boolean; concludes?: boolean } = {}) {
    this.answer = answer
    const { peek } = parts
    if (peek !== undefined)
      this.peek = () => {
        this.heard.push('peek')
        return peek
      }
    if (parts.settles)
      this.settle = (settled, outcome) => void this.heard.push(`settle ${settled.key} ${outcome.result}`)
    if (parts.concludes)
      this.conclude = ({ key }, outcome) =>
        void this.heard.push(`conclude ${key} ${outcome.result} ${outcome.latencyMs}`)
  }

  allowAttempt(): Decision {
    this.heard.push('ask')
    return { allowed: true, reason: 'allowed', ...this.answer() }
  }
}
const release = (name: string, log: string[]) => ({
  release: (outcome: AttemptOutcome) => void log.push(`${name} ${outcome.result}`),
})
const fail = (message: string) => (): never => {
  throw new Error(message)
}

describe('all of several budgets', () => {
  it('allow only together, and charge nothing unless all do', () => {
    const tokens = bucket(3)
    const count = countBudget({ total: 2 })
    const both = allOf(tokens, count)
    for (let i = 0; i < 2; i++) {
      expect(both.peek(request)).toBe(true)
      expect(both.allowAttempt(request)).toBe(ALLOWED)
    }
    expect(both.peek(request)).toBe(false)
    expect(both.allowAttempt(request)).toEqual({ allowed: false, reason: 'count_exhausted' })
    expect(tokens.snapshot().tokens).toBe(1)
    expect(count.used).toBe(2)
  })

  it('charge nothing whichever of them refuses', () => {
    const count = countBudget({ total: 2 })
    expect(allOf(count, bucket(0.5)).allowAttempt(request)).toBe(DENIED)
    expect(allOf(bucket(0.5), count).allowAttempt(request)).toBe(DENIED)
    expect(count.used).toBe(0)
  })

  it('peek all that can be peeked, then ask the one that cannot, then the others', () => {
    const order: string[] = []
    const a = new Recorder(() => (order.push('a'), {}), { peek: true })
    const b = new Recorder(() => (order.push('b'), {}))
    const c = new Recorder(() => (order.push('c'), {}), { peek: true })
    const all = allOf(a, b, c)
    expect(all.peek(request)).toBe(true)
    expect(order).toEqual([])
    expect(all.allowAttempt(request)).toBe(ALLOWED)
    expect(order).toEqual(['b', 'a', 'c'])
    expect([a.heard, b.heard, c.heard]).toEqual([['peek', 'peek', 'ask'], ['ask'], ['peek', 'peek', 'ask']])
  })

  it('do not charge the others when the one that cannot be peeked refuses', () => {
    const count = countBudget({ total: 1 })
    const decision = allOf(count, new Recorder(() => ({ allowed: false, reason: 'not today' }))).allowAttempt(request)
    expect(decision).toEqual({ allowed: false, reason: 'not today' })
    expect(count.used).toBe(0)
  })

  it('tell the reason of the one that refuses, or a general one', () => {
    const fussy = new Recorder(() => ({ allowed: false, reason: 'fussy' }), { peek: false })
    expect(allOf(fussy, unlimited()).allowAttempt(request).reason).toBe('fussy')
    const mute = new Recorder(() => ({ allowed: false, reason: '' }), { peek: false })
    expect(allOf(unlimited(), mute).allowAttempt(request)).toBe(DENIED)
  })

  it('take back a grant that the peek had refused', () => {
    const given: AttemptOutcome[] = []
    const fickle = new Recorder(() => ({ release: (outcome) => void given.push(outcome) }), { peek: false })
    const settling = new Recorder(() => ({}), { peek: false, settles: true })
    expect(allOf(fickle).allowAttempt(request)).toBe(DENIED)
    expect(given).toEqual([{ result: 'aborted', latencyMs: 0, won: false, now: 7 }])
    expect(allOf(settling).allowAttempt(request)).toBe(DENIED)
    expect(settling.heard).toEqual(['peek', 'ask', 'settle k aborted'])
  })

  it('give back what was granted when one that had promised refuses', () => {
    const slots = concurrencyBudget({ max: 1 })
    const settling = new Recorder(() => ({}), { peek: true, settles: true })
    const liar = new Recorder(() => ({ allowed: false, reason: 'changed my mind' }), { peek: true })
    const never = new Recorder(() => ({}), { peek: true, settles: true })
    const decision = allOf(slots, settling, liar, never).allowAttempt(request)
    expect(decision).toEqual({ allowed: false, reason: 'changed my mind' })
    expect(slots.inUse).toBe(0)
    expect(settling.heard).toEqual(['peek', 'ask', 'settle k aborted'])
    expect(never.heard).toEqual(['peek'])
  })

  it('give back what was granted when one throws, and throw the same', () => {
    const slots = concurrencyBudget({ max: 1 })
    const broken = new Recorder(fail('broken'), { peek: true })
    expect(() => allOf(slots, broken).allowAttempt(request)).toThrow('broken')
    expect(slots.inUse).toBe(0)
    const promising = { allowAttempt: () => Promise.resolve(ALLOWED), peek: () => true } as unknown as Budget
    expect(() => allOf(slots, promising).allowAttempt(request)).toThrow('answered with a promise')
    expect(slots.inUse).toBe(0)
  })

  it('give back only once when giving back fails too', () => {
    let given = 0
    const bad = new Recorder(() => ({ release: () => (given++, fail('cannot give back')()) }), { peek: true })
    const liar = new Recorder(() => ({ allowed: false }), { peek: true })
    expect(() => allOf(bad, liar).allowAttempt(request)).toThrow('cannot give back')
    expect(given).toBe(1)
  })

  it('tell each member of the outcome exactly once, by its release or else by settle', () => {
    const log: string[] = []
    const a = new Recorder(() => release('a', log), { peek: true, settles: true })
    const b = new Recorder(() => ({}), { peek: true, settles: true })
    const c = new Recorder(() => ({}), { peek: true })
    const d = new Recorder(() => release('d', log), { peek: true })
    const decision = allOf(a, b, c, d).allowAttempt(request)
    expect(decision).toMatchObject({ allowed: true, reason: 'allowed' })
    decision.release?.(done)
    expect(log).toEqual(['a success', 'd success'])
    expect(b.heard).toEqual(['peek', 'ask', 'settle k success'])
    expect([a.heard, c.heard]).toEqual([
      ['peek', 'ask'],
      ['peek', 'ask'],
    ])
  })

  it('tell the others even when one throws on being told', () => {
    const slots = concurrencyBudget({ max: 1 })
    const bad = new Recorder(() => ({ release: fail('bad release') }), { peek: true })
    const log: string[] = []
    const last = new Recorder(() => release('last', log), { peek: true })
    const decision = allOf(bad, slots, last).allowAttempt(request)
    expect(() => decision.release?.(done)).toThrow('bad release')
    expect(slots.inUse).toBe(0)
    expect(log).toEqual(['last success'])
  })

  it('allocate nothing where one decision says it all, and always say allowed', () => {
    const shared = { allowed: true, reason: 'allowed', release: () => undefined }
    const lender: Budget = { allowAttempt: () => shared, peek: () => true }
    expect(allOf(bucket(3), lender).allowAttempt(request)).toBe(shared)
    const log: string[] = []
    const wordy = new Recorder(() => ({ reason: 'with pleasure', ...release('wordy', log) }))
    const decision = allOf(wordy, unlimited()).allowAttempt(request)
    expect(decision.reason).toBe('allowed')
    decision.release?.(done)
    expect(log).toEqual(['wordy success'])
  })

  it('can be settled by another process, each member once, also when one throws', () => {
    const first = new Recorder(() => ({}), { settles: true })
    const bad: Budget = { ...unlimited(), settle: fail('bad settle') }
    const slots = concurrencyBudget({ max: 1 })
    slots.restore({ inUse: 1 })
    const all = allOf(first, bad, unlimited(), slots)
    expect(() => all.settle?.(request, { ...done, result: 'interrupted' })).toThrow('bad settle')
    expect(first.heard).toEqual(['settle k interrupted'])
    expect(slots.inUse).toBe(0)
  })

  it('want to hear of nothing when no member does', () => {
    expect('settle' in allOf(bucket(1), countBudget({ total: 1 }))).toBe(false)
  })

  it('do not park', () => {
    const parking: Budget = { allowAttempt: () => DENIED, park: () => () => {} }
    expect('park' in allOf(parking)).toBe(false)
  })

  it('count nested ones by their members', () => {
    const opaque = new Recorder(() => ({}))
    const inner = allOf(opaque, countBudget({ total: 1 }))
    expect(allOf(inner, bucket(1)).members).toHaveLength(3)
    expect(() => allOf(inner, new Recorder(() => ({})))).toThrow('[2]: has no peek method, as [0]')
    expect(() => allOf(inner, opaque)).toThrow('[2]: is listed twice (to charge it more, raise the cost)')
  })

  it.each([
    [[], 'Invalid options of allOf: needs at least one argument, a budget such as'],
    [[undefined], '[0]: undefined is not a budget'],
    [[unlimited(), {}], '[1]: an object is not a budget'],
    [[null, unlimited(), 7], /\[0\]: null is not a budget .*; \[2\]: 7 is not a budget /],
    [[new Recorder(() => ({})), new Recorder(() => ({}))], 'no peek method'],
  ])('refuse to be made of %o', (members, message) => {
    expect(() => allOf(...(members as Budget[]))).toThrow(OptionsError)
    expect(() => allOf(...(members as Budget[]))).toThrow(message)
  })

  it('keep the snapshots of their members, in order', () => {
    const all = allOf(countBudget({ total: 3 }), unlimited(), bucket(3))
    all.allowAttempt(request)
    const state = JSON.parse(JSON.stringify(all.snapshot()))
    expect(state).toEqual([{ used: 1, keys: [] }, null, { tokens: 2, atMs: 7 }])
    const count = countBudget({ total: 3 })
    const copy = allOf(count, unlimited(), bucket(3))
    copy.restore(state)
    expect(copy.snapshot()).toEqual(state)
    expect(count.used).toBe(1)
    expect(() => copy.restore(state.slice(1))).toThrow(/^allOf snapshot: .* is not a list of 3$/)
  })
})

describe('the conclusion of an attempt that several budgets allowed', () => {
  it('is told to each member that has conclude, once, and changes nothing about the end', () => {
    const a = new Recorder(() => ({}), { peek: true, concludes: true })
    const b = new Recorder(() => ({}), { peek: true, concludes: true, settles: true })
    const c = new Recorder(() => ({}), { peek: true, settles: true })
    const all = allOf(a, b, allOf(c))
    const decision = all.allowAttempt(request)
    all.conclude?.(request, { ...done, result: 'timeout' })
    expect(a.heard).toEqual(['peek', 'ask', 'conclude k timeout 1'])
    expect(b.heard).toEqual(['peek', 'ask', 'conclude k timeout 1'])
    expect(c.heard).toEqual(['peek', 'ask'])
    decision.release?.(done)
    expect(a.heard).toHaveLength(3)
    expect(b.heard.at(-1)).toBe('settle k success')
    expect(c.heard.at(-1)).toBe('settle k success')
  })

  it('is told to the others when a member throws on hearing it', () => {
    const bad: Budget = { ...unlimited(), conclude: fail('bad conclude') }
    const last = new Recorder(() => ({}), { concludes: true })
    const all = allOf(bad, last)
    expect(() => all.conclude?.(request, done)).toThrow('bad conclude')
    expect(last.heard).toEqual(['conclude k success 1'])
  })

  it('is aborted for a member that granted before another refused, and comes before the end', () => {
    const slots = concurrencyBudget({ max: 1 })
    const granted = new Recorder(() => ({}), { peek: true, concludes: true, settles: true })
    const liar = new Recorder(() => ({ allowed: false, reason: '' }), { peek: true, concludes: true })
    const never = new Recorder(() => ({}), { peek: true, concludes: true })
    expect(allOf(slots, granted, liar, never).allowAttempt(request)).toBe(DENIED)
    expect(granted.heard).toEqual(['peek', 'ask', 'conclude k aborted 0', 'settle k aborted'])
    expect(liar.heard).toEqual(['peek', 'ask'])
    expect(never.heard).toEqual(['peek'])
    expect(slots.inUse).toBe(0)
  })

  it('is aborted for a member that granted what its peek had refused, also when hearing it throws', () => {
    const fickle = new Recorder(() => ({}), { peek: false, concludes: true })
    expect(allOf(fickle).allowAttempt(request)).toBe(DENIED)
    expect(fickle.heard).toEqual(['peek', 'ask', 'conclude k aborted 0'])
    const log: string[] = []
    const bad: Budget = {
      allowAttempt: () => ({ ...ALLOWED, ...release('bad', log) }),
      peek: () => false,
      conclude: fail('bad conclude'),
    }
    expect(() => allOf(bad).allowAttempt(request)).toThrow('bad conclude')
    expect(log).toEqual(['bad aborted'])
  })

  it('is not asked for when no member has conclude', () => {
    expect('conclude' in allOf(concurrencyBudget({ max: 1 }), bucket(1))).toBe(false)
  })
})

describe('the word of several budgets for a peek that said no', () => {
  it('is that of the one who refuses', () => {
    expect(allOf(bucket(5), countBudget({ total: 0 })).denialReason(request)).toBe('count_exhausted')
  })

  it('is the usual one where the refuser has none, or nobody refuses', () => {
    const empty = bucket(1)
    empty.allowAttempt(request)
    expect(allOf(empty, countBudget({ total: 5 })).denialReason(request)).toBe(DENIED.reason)
    expect(allOf(bucket(1)).denialReason(request)).toBe(DENIED.reason)
  })
})
