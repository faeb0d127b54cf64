/**
 * What budgets promise, under random histories: bounds in every interval, conservation, and snapshots that change
 * nothing. Times go forward, stand still and sometimes back.
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../../packages/reprise/src/core/budget.js'
import {
  allOf,
  concurrencyBudget,
  countBudget,
  ratioBudget,
  tokenBucket,
} from '../../packages/reprise/src/core/budgets/index.js'

/** Sums of fractions are compared with this much grace. */
const GRACE = 1e-6

interface Ask {
  readonly now: number
  readonly key: string
  readonly attempt: number
  readonly cost: number
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 900 }) },
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 30_000 }) },
)
const backOrForth = fc.oneof(
  { weight: 5, arbitrary: step },
  { weight: 1, arbitrary: fc.integer({ min: -5000, max: 0 }) },
)
const swaying = fc.integer({ min: -2000, max: 2000 })
const cost = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 4 }), fc.double({ min: 1, max: 3, noNaN: true }))

/** Asks in the order they are made, each some time after (or, with `steps`, before) the one before. */
const history = (steps: fc.Arbitrary<number> = step): fc.Arbitrary<Ask[]> =>
  fc
    .array(
      fc.record({ step: steps, key: fc.constantFrom('a', 'b', 'c'), attempt: fc.integer({ min: 1, max: 3 }), cost }),
      {
        maxLength: 80,
        size: 'max',
      },
    )
    .map((rows) => {
      let now = 10_000
      return rows.map((row) => ({ ...row, now: (now += row.step) }))
    })

const requestOf = (ask: Ask): BudgetRequest => ({
  key: ask.key,
  attempt: ask.attempt,
  launch: ask.attempt,
  kind: 'retry',
  ref: { name: 'b', cost: ask.cost },
  now: ask.now,
  deadlineMs: Infinity,
})
const ended = (now: number): AttemptOutcome => ({ result: 'success', latencyMs: 1, won: true, now })

/** Asks, having checked that peeking says the same and that peeking and being denied change nothing. */
function askPeeked(
  budget: ReturnType<typeof tokenBucket | typeof ratioBudget | typeof countBudget>,
  ask: Ask,
): boolean {
  const before = JSON.stringify(budget.snapshot())
  const willing = budget.peek(requestOf(ask))
  expect(JSON.stringify(budget.snapshot())).toBe(before)
  const { allowed } = budget.allowAttempt(requestOf(ask))
  expect(allowed).toBe(willing)
  if (!allowed) expect(JSON.stringify(budget.snapshot())).toBe(before)
  return allowed
}

/** By how much the costs in any interval exceed `capacity` and what flowed in; 0 or less if none does. */
function worstExcess(charged: readonly Ask[], capacity: number, refillPerSecond: number): number {
  let worst = 0
  charged.forEach((first, from) => {
    let [spent, minMs, maxMs] = [0, first.now, first.now]
    for (const ask of charged.slice(from)) {
      spent += ask.cost
      minMs = Math.min(minMs, ask.now)
      maxMs = Math.max(maxMs, ask.now)
      worst = Math.max(worst, spent - capacity - (refillPerSecond * (maxMs - minMs)) / 1000)
    }
  })
  return worst
}
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const bucketOptions = fc.record({
  capacity: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.double({ min: 0.5, max: 10, noNaN: true })),
  refillPerSecond: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 5, noNaN: true })),
  chargeFirstAttempt: fc.boolean(),
})

describe('a token bucket', () => {
  it('never grants more in an interval than its capacity and what flowed in', () => {
    fc.assert(
      fc.property(bucketOptions, fc.oneof(history(backOrForth), history(swaying)), (options, asks) => {
        const bucket = tokenBucket(options)
        const granted = asks.filter((ask) => askPeeked(bucket, ask))
        const charged = granted.filter((ask) => options.chargeFirstAttempt || ask.attempt > 1)
        expect(worstExcess(charged, options.capacity, options.refillPerSecond)).toBeLessThanOrEqual(GRACE)
      }),
    )
  })

  it('grants whatever the level allows, as a model that refills from charge to charge does', () => {
    fc.assert(
      fc.property(bucketOptions, fc.oneof(history(), history(swaying)), (options, asks) => {
        const bucket = tokenBucket(options)
        let level = options.capacity
        let latestChargeMs = Number.MIN_SAFE_INTEGER
        for (const ask of asks) {
          const inflow = ask.now > latestChargeMs ? ((ask.now - latestChargeMs) * options.refillPerSecond) / 1000 : 0
          const held = Math.min(options.capacity, level + inflow)
          if (!options.chargeFirstAttempt && ask.attempt === 1) expect(askPeeked(bucket, ask)).toBe(true)
          else if (Math.abs(held - ask.cost) > GRACE) {
            expect(askPeeked(bucket, ask)).toBe(held > ask.cost)
            if (held < ask.cost) continue
            level = held - ask.cost
            latestChargeMs = Math.max(latestChargeMs, ask.now)
          }
        }
      }),
    )
  })
})

const ratioOptions = fc.record({
  ratio: fc.constantFrom(0, 0.1, 0.5, 1),
  minPerSecond: fc.constantFrom(0, 0.3, 1),
  window: fc.constantFrom<string | number>('10s', '1s', 777),
})
const windowMsOf = ({ window }: { window: string | number }): number =>
  typeof window === 'number' ? window : Number.parseInt(window, 10) * 1000

describe('a ratio budget', () => {
  it('never has withdrawals in its window beyond the reserve and the deposits of that window', () => {
    fc.assert(
      fc.property(ratioOptions, history(), (options, asks) => {
        const budget = ratioBudget(options)
        const windowMs = windowMsOf(options)
        const slotOf = (now: number) => Math.floor(now / (windowMs / 10))
        const seen: Ask[] = []
        for (const ask of asks) {
          const live = seen.filter((old) => slotOf(old.now) > slotOf(ask.now) - 10)
          const deposits = live.filter((old) => old.attempt === 1).length * options.ratio
          const withdrawn = sum(live.filter((old) => old.attempt > 1).map((old) => old.cost))
          const rest = (options.minPerSecond * windowMs) / 1000 + deposits - withdrawn - ask.cost
          const allowed = askPeekedUnlessFirst(budget, ask)
          if (ask.attempt === 1) expect(allowed).toBe(true)
          else if (Math.abs(rest) > GRACE) expect(allowed).toBe(rest > 0)
          if (allowed) seen.push(ask)
        }
      }),
    )
  })

  it('over a whole history withdraws at most its ratio of the calls and one reserve for every window begun', () => {
    fc.assert(
      fc.property(ratioOptions, history(backOrForth), (options, asks) => {
        const budget = ratioBudget(options)
        const granted = asks.filter((ask) => budget.allowAttempt(requestOf(ask)).allowed)
        const times = asks.map((ask) => ask.now)
        const windowMs = windowMsOf(options)
        // A withdrawal is remembered for nine tenths of a window at least, and a deposit may be looked at from two windows.
        const windows = 1 + Math.floor((Math.max(0, ...times) - Math.min(Infinity, ...times)) / (windowMs * 0.9))
        const firsts = granted.filter((ask) => ask.attempt === 1).length
        const withdrawn = sum(granted.filter((ask) => ask.attempt > 1).map((ask) => ask.cost))
        const reserve = (options.minPerSecond * windowMs) / 1000
        if (granted.length > 0)
          expect(withdrawn).toBeLessThanOrEqual(windows * reserve + firsts * options.ratio * 2 + GRACE)
      }),
    )
  })
})

/** A first attempt is a deposit: granted and yet a change. */
function askPeekedUnlessFirst(budget: ReturnType<typeof ratioBudget>, ask: Ask): boolean {
  return ask.attempt === 1 ? budget.allowAttempt(requestOf(ask)).allowed : askPeeked(budget, ask)
}

describe('a count budget', () => {
  const limits = fc.record({
    parent: fc.record({
      total: fc.integer({ min: 0, max: 20 }),
      perKey: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
    }),
    children: fc.array(
      fc.record({
        total: fc.integer({ min: 0, max: 12 }),
        perKey: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  })

  it('stays within its total and its shares with parents and children, and grants whenever all of them can', () => {
    fc.assert(
      fc.property(limits, history(), fc.array(fc.nat(), { minLength: 80, maxLength: 80 }), (limit, asks, picks) => {
        const parent = countBudget(limit.parent)
        const children = limit.children.map((options) => countBudget({ ...options, parent }))
        const paid = new Map<string, number>()
        const paidBy = (who: string) => paid.get(who) ?? 0
        asks.forEach((ask, index) => {
          const pick = (picks[index] ?? 0) % children.length
          const [child, options] = [children[pick], limit.children[pick]]
          if (child === undefined || options === undefined) throw new Error('no child')
          const fits = (who: string, most: { total: number; perKey: number | undefined }) =>
            paidBy(who) + ask.cost <= most.total &&
            (most.perKey === undefined || paidBy(`${who} ${ask.key}`) + ask.cost <= most.perKey)
          const free = ask.attempt === 1
          const expected = free || (fits('parent', limit.parent) && fits(`child ${pick}`, options))
          expect(askPeeked(child, ask)).toBe(expected)
          if (expected && !free)
            for (const who of ['parent', `parent ${ask.key}`, `child ${pick}`, `child ${pick} ${ask.key}`])
              paid.set(who, paidBy(who) + ask.cost)
        })
        expect(parent.used).toBe(paidBy('parent'))
        expect(parent.used).toBeLessThanOrEqual(limit.parent.total)
        children.forEach((child, pick) => expect(child.used).toBe(paidBy(`child ${pick}`)))
        expect(parent.used).toBeCloseTo(sum(children.map((child) => child.used)))
      }),
    )
  })
})

describe('a concurrency budget', () => {
  it('never has more in use than it has, and all free afterwards', () => {
    const moves = fc.array(
      fc.record({ cost: fc.integer({ min: 1, max: 4 }), end: fc.option(fc.nat(20), { nil: undefined }) }),
      { maxLength: 60, size: 'max' },
    )
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), moves, (max, rows) => {
        const budget = concurrencyBudget({ max })
        const running: [BudgetRequest, Decision][] = []
        const finish = (which: number) => {
          const [gone] = running.splice(which % running.length, 1)
          if (gone === undefined) return
          // Half of them as another process would say it.
          if (which % 2 === 0) gone[1].release?.(ended(0))
          else budget.settle(gone[0], ended(0))
        }
        for (const row of rows) {
          const inUse = sum(running.map(([request]) => request.ref.cost))
          expect(budget.inUse).toBe(inUse)
          const request = requestOf({ now: 0, key: 'k', attempt: 1, cost: row.cost })
          expect(budget.peek(request)).toBe(inUse + row.cost <= max)
          const decision = budget.allowAttempt(request)
          expect(decision.allowed).toBe(inUse + row.cost <= max)
          if (decision.allowed) running.push([request, decision])
          if (row.end !== undefined) finish(row.end)
          expect(budget.inUse).toBeLessThanOrEqual(max)
        }
        while (running.length > 0) finish(running.length)
        expect(budget.inUse).toBe(0)
      }),
    )
  })
})

describe('all of several budgets', () => {
  /** Denies or throws when told to, whatever it said before, and counts what it holds. */
  class Moody implements Budget {
    held = 0
    mood: 'fine' | 'denies' | 'throws' = 'fine'
    allowAttempt(): Decision {
      if (this.mood === 'throws') throw new Error('moody')
      if (this.mood === 'denies') return { allowed: false, reason: 'moody' }
      this.held++
      return { allowed: true, reason: '', release: () => void this.held-- }
    }
  }

  it('charge a member only when all of them grant, and give everything back in the end', () => {
    const moods = fc.constantFrom<Moody['mood']>('fine', 'fine', 'fine', 'denies', 'throws')
    const rows = fc.array(fc.record({ mood: moods, ends: fc.boolean(), cost: fc.integer({ min: 1, max: 2 }) }), {
      maxLength: 60,
      size: 'max',
    })
    fc.assert(
      fc.property(rows, fc.boolean(), (asks, peekable) => {
        const slots = concurrencyBudget({ max: 4 })
        const count = countBudget({ total: 12 })
        const moody: Moody & Pick<Budget, 'peek'> = new Moody()
        // A peek that always promises makes its owner the last to be asked, and its refusals a broken promise.
        if (peekable) moody.peek = () => true
        const all = peekable ? allOf(slots, moody) : allOf(slots, count, moody)
        const running: Decision[] = []
        let granted = 0
        for (const { mood, ends, cost: price } of asks) {
          moody.mood = mood
          const before = [slots.inUse, count.used, moody.held]
          const request = requestOf({ now: 0, key: 'k', attempt: 2, cost: price })
          let decision: Decision | undefined
          try {
            decision = all.allowAttempt(request)
          } catch (error) {
            expect(error).toEqual(new Error('moody'))
          }
          if (decision?.allowed) {
            granted += price
            running.push(decision)
          } else expect([slots.inUse, count.used, moody.held]).toEqual(before)
          if (ends) running.shift()?.release?.(ended(0))
          expect(moody.held).toBe(running.length)
        }
        if (!peekable) expect(count.used).toBe(granted)
        for (const decision of running) decision.release?.(ended(0))
        expect([slots.inUse, moody.held]).toEqual([0, 0])
      }),
    )
  })
})

describe('a snapshot', () => {
  type Kept = Budget & { snapshot(): unknown; restore(state: unknown): void; peek(request: BudgetRequest): boolean }
  const makers = fc.oneof(
    bucketOptions.map((options) => (): Kept => tokenBucket(options)),
    ratioOptions.map((options) => (): Kept => ratioBudget(options)),
    fc.constant((): Kept => countBudget({ total: 20, perKey: 8 })),
    fc.constant((): Kept => concurrencyBudget({ max: 20 })),
    bucketOptions.map(
      (options) => (): Kept => allOf(tokenBucket(options), countBudget({ total: 20, perKey: 8 }), ratioBudget()),
    ),
  )

  it('taken and restored midway gives the same decisions as never having stopped', () => {
    fc.assert(
      fc.property(makers, history(backOrForth), fc.nat(80), (make, asks, cut) => {
        const lasting = make()
        let resumed = make()
        asks.forEach((ask, index) => {
          if (index === cut) {
            const state = JSON.parse(JSON.stringify(resumed.snapshot()))
            resumed = make()
            resumed.restore(state)
            expect(resumed.snapshot()).toEqual(state)
          }
          expect(resumed.peek(requestOf(ask))).toBe(lasting.peek(requestOf(ask)))
          const [a, b] = [lasting.allowAttempt(requestOf(ask)), resumed.allowAttempt(requestOf(ask))]
          expect([b.allowed, b.reason]).toEqual([a.allowed, a.reason])
        })
        expect(resumed.snapshot()).toEqual(lasting.snapshot())
      }),
    )
  })

  it('restored over any other state leaves nothing of it', () => {
    fc.assert(
      fc.property(makers, history(), history(), (make, asks, others) => {
        const [one, two] = [make(), make()]
        for (const ask of asks) one.allowAttempt(requestOf(ask))
        for (const ask of others) two.allowAttempt(requestOf(ask))
        two.restore(one.snapshot())
        expect(two.snapshot()).toEqual(one.snapshot())
      }),
    )
  })
})
