/**
 * A budget of its own for every key: calls with one key share one, and an outage of one dependency says nothing about
 * another. What a call's budget would answer is answered; this only finds it.
 *
 * Invariants: at most `maxKeys` budgets are kept, and one with attempts in flight or in line goes last. It parks, peeks
 * and is settled exactly if what `make` makes does. Imports core only.
 */
import { BoundedMap } from '../bounded-map.js'
import type { AttemptOutcome, Budget, BudgetDescription, BudgetRequest, Decision } from '../budget.js'
import { BudgetError } from '../errors.js'
import type { Random } from '../time.js'
import { expectNumber, expectOptions, unexpected } from './numbers.js'

export interface PerKeyOptions {
  /** Keys that have a budget at a time. */
  readonly maxKeys?: number | undefined
}

export interface PerKeyState {
  readonly keys: Readonly<Record<string, unknown>>
}

interface Child {
  readonly budget: Budget
  /** Attempts that were allowed and have not come back. */
  running: number
  parked: number
}

export class PerKeyBudget implements Budget {
  readonly maxParkMs?: number
  park?: NonNullable<Budget['park']>
  peek?: NonNullable<Budget['peek']>
  denialReason?: NonNullable<Budget['denialReason']>
  settle?: NonNullable<Budget['settle']>
  private readonly make: () => Budget
  /** What the budgets are that are made. */
  private readonly each: BudgetDescription | undefined
  private readonly children: BoundedMap<Child>
  /** Those in whose lines somebody stands. */
  private readonly waiting = new Set<Child>()

  constructor(make: () => Budget, options: PerKeyOptions = {}) {
    if (typeof make !== 'function') throw unexpected('perKey', make, 'a function that makes a budget')
    const { maxKeys = 1000 } = expectOptions('perKey', options, ['maxKeys'])
    this.make = make
    this.children = new BoundedMap(
      expectNumber('perKey maxKeys', maxKeys, 1000, 'a whole number of 1 or more'),
      (child) => child.running === 0 && child.parked === 0,
    )
    const sample = this.makeBudget()
    if (sample.maxParkMs !== undefined) this.maxParkMs = sample.maxParkMs
    this.each = sample.describe?.()
    this.offerWhat(sample)
  }

  /** The budget of a key, if it has one by now. */
  of(key: string): Budget | undefined {
    return this.children.get(key)?.budget
  }

  allowAttempt(request: BudgetRequest): Decision {
    const child = this.childOf(request.key)
    return this.counted(child, child.budget.allowAttempt(request))
  }

  wakeAtMs(): number {
    let earliest = Infinity
    for (const { budget } of this.waiting) earliest = Math.min(earliest, budget.wakeAtMs?.() ?? Infinity)
    return earliest
  }

  poll(now: number, random: Random): void {
    for (const { budget } of [...this.waiting]) {
      if ((budget.wakeAtMs?.() ?? Infinity) <= now) budget.poll?.(now, random)
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
    for (const [key, own] of Object.entries(keys)) this.childOf(key).budget.restore?.(own)
  }

  /** A driver goes by what a budget has: a member too many would be a promise. */
  private offerWhat(sample: Budget): void {
    const of = (request: BudgetRequest): Child => this.childOf(request.key)
    if (sample.park !== undefined) this.park = (request, wake) => this.parkWith(of(request), request, wake)
    if (sample.settle !== undefined) this.settle = (request, outcome) => this.settleWith(request, outcome)
    if (sample.peek !== undefined) this.peek = (request) => of(request).budget.peek?.(request) ?? true
    if (sample.denialReason === undefined) return
    this.denialReason = (request) => of(request).budget.denialReason?.(request) ?? ''
  }

  private settleWith(request: BudgetRequest, outcome: AttemptOutcome): void {
    const child = this.children.get(request.key)
    // Its budget has been forgotten since, and what it gave with it.
    if (child === undefined) return
    child.running = Math.max(0, child.running - 1)
    child.budget.settle?.(request, outcome)
  }

  private parkWith(child: Child, request: BudgetRequest, wake: (grant: Decision) => void): () => void {
    child.parked++
    this.waiting.add(child)
    let here = true
    const left = (): void => {
      if (!here) return
      here = false
      child.parked--
      if (child.parked === 0) this.waiting.delete(child)
    }
    let leave: (() => void) | undefined
    try {
      leave = child.budget.park?.(request, (grant) => {
        left()
        wake(this.counted(child, grant))
      })
    } catch (error) {
      left()
      throw error
    }
    return () => {
      left()
      leave?.()
    }
  }

  /** A decision with a release of its own is not settled: its end has to be seen here as well. */
  private counted(child: Child, decision: Decision): Decision {
    const { release } = decision
    if (!decision.allowed || (release === undefined && child.budget.settle === undefined)) return decision
    child.running++
    if (release === undefined) return decision
    return {
      ...decision,
      release: (outcome) => {
        child.running = Math.max(0, child.running - 1)
        release.call(decision, outcome)
      },
    }
  }

  private childOf(key: string): Child {
    let child = this.children.get(key)
    if (child === undefined) {
      child = { budget: this.makeBudget(), running: 0, parked: 0 }
      this.children.set(key, child)
    }
    return child
  }

  private makeBudget(): Budget {
    const budget: unknown = this.make()
    if (typeof (budget as Budget | undefined)?.allowAttempt === 'function') return budget as Budget
    throw new BudgetError('perKey: what the function makes has no allowAttempt method, so it is no budget')
  }
}

export function perKey(make: () => Budget, options?: PerKeyOptions): PerKeyBudget {
  return new PerKeyBudget(make, options)
}
