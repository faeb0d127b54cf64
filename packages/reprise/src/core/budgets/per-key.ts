/**
 * A budget of its own for every key: calls with one key share one, and an outage of one dependency says nothing about
 * another. What a call's budget would answer is answered; this only finds it.
 *
 * Invariants: at most `maxKeys` budgets are kept, and one with attempts in flight or in line goes last. It parks, peeks,
 * is concluded and is settled exactly if what `make` makes does.
 *
 * Every event takes O(log n) of n keys with waiting attempts. The wake times of their budgets are kept in a heap, and a
 * budget is asked for its wake time again only after something was forwarded to it. So the budget of one key must not
 * change when that of another key is told something. Imports core only.
 */
import { BoundedMap } from '../bounded-map.js'
import type { AttemptOutcome, Budget, BudgetDescription, BudgetRequest, Decision } from '../budget.js'
import { BudgetError } from '../errors.js'
import { isBudget } from '../gate.js'
import { expectNone, optionProblems } from '../options.js'
import { isNot } from '../problems.js'
import type { Random } from '../time.js'
import { numberCheck, unexpected } from './numbers.js'
import { type HeapItem, NOT_KEPT, WakeHeap } from './wake-heap.js'

/** Options of `perKey`. */
export interface PerKeyOptions {
  /**
   * Keys that have a budget at a time; beyond it an unused one is dropped. A whole number of 1 or more.
   * @default 1000
   * @example { maxKeys: 10_000 }
   */
  readonly maxKeys?: number | undefined
}

export interface PerKeyState {
  readonly keys: Readonly<Record<string, unknown>>
}

interface Child extends HeapItem {
  readonly budget: Budget
  /** Messages that come for every attempt that it allows without a release of its own. */
  readonly messages: number
  /** Messages still to come for attempts that were allowed: their conclusions, and their ends. */
  pending: number
  parked: number
}

/** A budget with one budget for each key. */
export class PerKeyBudget implements Budget {
  /** How long an attempt may stand in line: that of the budgets it makes. */
  readonly maxParkMs?: number
  park?: NonNullable<Budget['park']>
  peek?: NonNullable<Budget['peek']>
  denialReason?: NonNullable<Budget['denialReason']>
  nextAllowedAtMs?(request: BudgetRequest): number | undefined
  conclude?: NonNullable<Budget['conclude']>
  settle?: NonNullable<Budget['settle']>
  private readonly make: () => Budget
  /** What the budgets are that are made. */
  private readonly each: BudgetDescription | undefined
  private readonly children: BoundedMap<Child>
  /** Children with parked attempts that want to be polled at some time. */
  private readonly wakes = new WakeHeap<Child>()
  /** Children with parked attempts that may have changed their wake times since they were asked. */
  private readonly stale = new Set<Child>()

  constructor(make: () => Budget, options: PerKeyOptions = {}) {
    const problems = optionProblems(options, { maxKeys: numberCheck(1000, 'a whole number of 1 or more') })
    const noFunction = { path: 'make', message: isNot(make, 'a function that makes a budget') }
    expectNone('perKey', typeof make === 'function' ? problems : [noFunction, ...problems])
    this.make = make
    this.children = new BoundedMap(options.maxKeys ?? 1000, (child) => child.pending === 0 && child.parked === 0)
    const sample = make()
    const noBudget = { path: 'make', message: `${isNot(sample, 'a budget')}: what it makes has no allowAttempt method` }
    expectNone('perKey', isBudget(sample) ? [] : [noBudget])
    if (sample.maxParkMs !== undefined) this.maxParkMs = sample.maxParkMs
    this.each = sample.describe?.()
    this.offerWhat(sample)
  }

  /**
   * The budget of a key, if it has one by now.
   * @example
   * const buckets = perKey(() => tokenBucket({ capacity: 10, refillPerSecond: 1 }))
   * buckets.of('api.example.com')?.describe?.()
   */
  of(key: string): Budget | undefined {
    return this.children.get(key)?.budget
  }

  allowAttempt(request: BudgetRequest): Decision {
    const child = this.childOf(request.key)
    try {
      return this.counted(child, child.budget.allowAttempt(request))
    } finally {
      this.changed(child)
    }
  }

  wakeAtMs(): number {
    this.readWakeTimes()
    return this.wakes.firstAtMs
  }

  /** Polls every child that is due once, also if it is due again at once. */
  poll(now: number, random: Random): void {
    this.readWakeTimes()
    for (const child of this.wakes.dueAt(now)) {
      // The poll of another child may have changed this one.
      this.readWakeTimes()
      if (child.wakeAtMs > now) continue
      try {
        child.budget.poll?.(now, random)
      } finally {
        this.changed(child)
      }
    }
  }

  describe(): BudgetDescription {
    return { type: 'per_key', each: this.each }
  }

  snapshot(): PerKeyState {
    const states = this.children.entries().map(([key, { budget }]) => [key, budget.snapshot?.()])
    return { keys: Object.fromEntries(states.filter(([, state]) => state !== undefined)) }
  }

  restore(state: unknown): void {
    const keys: unknown = (state as Partial<PerKeyState> | null | undefined)?.keys
    if (typeof keys !== 'object' || keys === null) throw unexpected('perKey snapshot keys', keys, 'an object')
    for (const [key, own] of Object.entries(keys)) {
      const child = this.childOf(key)
      child.budget.restore?.(own)
      this.changed(child)
    }
  }

  /** A driver goes by what a budget has: a member too many would be a promise. */
  private offerWhat(sample: Budget): void {
    const of = (request: BudgetRequest): Child => this.childOf(request.key)
    if (sample.park !== undefined) this.park = (request, wake) => this.parkWith(of(request), request, wake)
    if (sample.conclude !== undefined) this.conclude = (request, outcome) => this.tellConclusion(request, outcome)
    if (sample.settle !== undefined) this.settle = (request, outcome) => this.tellEnd(request, outcome)
    if (sample.peek !== undefined) this.peek = (request) => of(request).budget.peek?.(request) ?? true
    if (sample.nextAllowedAtMs !== undefined)
      this.nextAllowedAtMs = (request) => of(request).budget.nextAllowedAtMs?.(request)
    if (sample.denialReason === undefined) return
    this.denialReason = (request) => of(request).budget.denialReason?.(request) ?? ''
  }

  private tellConclusion(request: BudgetRequest, outcome: AttemptOutcome): void {
    const child = this.toldOf(request)
    try {
      child?.budget.conclude?.(request, outcome)
    } finally {
      this.changed(child)
    }
  }

  private tellEnd(request: BudgetRequest, outcome: AttemptOutcome): void {
    const child = this.toldOf(request)
    try {
      child?.budget.settle?.(request, outcome)
    } finally {
      this.changed(child)
    }
  }

  /** None if the budget of the key has been forgotten since, and what it gave with it. */
  private toldOf(request: BudgetRequest): Child | undefined {
    const child = this.children.get(request.key)
    if (child !== undefined) child.pending = Math.max(0, child.pending - 1)
    return child
  }

  private parkWith(child: Child, request: BudgetRequest, wake: (grant: Decision) => void): () => void {
    child.parked++
    let here = true
    const left = (): void => {
      if (!here) return
      here = false
      child.parked--
      if (child.parked > 0) return
      this.wakes.set(child, Infinity)
      this.stale.delete(child)
    }
    let leave: (() => void) | undefined
    try {
      leave = child.budget.park?.(request, (grant) => {
        left()
        this.changed(child)
        wake(this.counted(child, grant))
      })
    } catch (error) {
      left()
      throw error
    } finally {
      this.changed(child)
    }
    return () => {
      left()
      leave?.()
      this.changed(child)
    }
  }

  /** Counts the messages to come. A decision with a release of its own is not settled: its end has to be seen here too. */
  private counted(child: Child, decision: Decision): Decision {
    if (!decision.allowed) return decision
    const { release } = decision
    child.pending += child.messages
    if (release === undefined) return decision
    // It takes the place of `settle`.
    if (child.budget.settle === undefined) child.pending++
    let isOver = false
    return {
      ...decision,
      release: (outcome) => {
        if (isOver) return
        isOver = true
        child.pending = Math.max(0, child.pending - 1)
        try {
          release.call(decision, outcome)
        } finally {
          this.changed(child)
        }
      },
    }
  }

  /** To be called after everything that may have changed the wake time of the child. */
  private changed(child: Child | undefined): void {
    if (child !== undefined && child.parked > 0) this.stale.add(child)
  }

  private readWakeTimes(): void {
    for (const child of this.stale) {
      this.wakes.set(child, wakeTimeOf(child.budget))
      this.stale.delete(child)
    }
  }

  private childOf(key: string): Child {
    let child = this.children.get(key)
    if (child === undefined) {
      child = this.makeChild()
      this.children.set(key, child)
    }
    return child
  }

  private makeChild(): Child {
    const budget = this.make()
    if (!isBudget(budget)) {
      throw new BudgetError('perKey: what the function makes has no allowAttempt method, so it is no budget')
    }
    const messages = (budget.conclude === undefined ? 0 : 1) + (budget.settle === undefined ? 0 : 1)
    return { budget, messages, pending: 0, parked: 0, wakeAtMs: Infinity, heapIndex: NOT_KEPT }
  }
}

/** `Infinity` for a budget that names no time. */
function wakeTimeOf(budget: Budget): number {
  const at = budget.wakeAtMs?.()
  return typeof at === 'number' && at === at ? at : Infinity
}

/**
 * Makes a budget that has one budget for each key, made by `make` when the key is first used. Throws an `OptionsError`
 * if `make` makes no budget.
 * @example
 * const budgets = { hosts: perKey(() => tokenBucket({ capacity: 10, refillPerSecond: 1 })) }
 * const api = createExecutor({ budgets, defaultPolicy: { budget: 'hosts' } })
 */
export function perKey(make: () => Budget, options?: PerKeyOptions): PerKeyBudget {
  return new PerKeyBudget(make, options)
}
