/**
 * A count that is never refilled but by hand: at most `total` withdrawals and what was granted, at most `perKey` of them
 * for one key. First attempts are free.
 *
 * Invariants: a child and its parents all allow, or none is charged: a child that can pay asks its parent, and pays
 * only if the parent did. Keys are remembered only once charged, so their number is bounded by the limit. A grant raises
 * the limit; what was used stays used. Imports core only.
 */
import type { Budget, BudgetDescription, BudgetRequest, Decision } from '../budget.js'
import { ALLOWED, isFirstLaunch } from '../gate.js'
import { expectOptions } from '../options.js'
import { costOf, expectList, expectNumber, numberCheck, unexpected } from './numbers.js'

/** Why a count denies: its total is used up, or the key's share of it. A parent's denial keeps the parent's word. */
export const COUNT_REASONS = ['count_exhausted', 'key_count_exhausted'] as const
type CountReason = (typeof COUNT_REASONS)[number]

/** Options of `countBudget`. */
export interface CountBudgetOptions {
  /** Retries and hedges that it allows in all: a whole number of 0 or more. */
  readonly total: number
  /**
   * Retries and hedges that it allows for one key: a whole number of 0 or more.
   * @default no limit but the total
   * @example { perKey: 3 }
   */
  readonly perKey?: number | undefined
  /**
   * A budget that has to allow as well, and is charged as well.
   * @default none
   * @example { parent: countBudget({ total: 100 }) }
   */
  readonly parent?: CountBudget | undefined
}

export interface CountBudgetState {
  readonly used: number
  /** Empty unless shares are counted by key. */
  readonly keys: ReadonlyArray<readonly [key: string, used: number]>
  /** What was granted beyond the total; absent for nothing. */
  readonly granted?: number
}

const denial = (reason: CountReason): Decision => Object.freeze({ allowed: false, reason })
const EXHAUSTED = /* @__PURE__ */ denial('count_exhausted')
const KEY_EXHAUSTED = /* @__PURE__ */ denial('key_count_exhausted')

/** A budget of a fixed number of retries. */
export class CountBudget implements Budget {
  private readonly total: number
  private readonly perKey: number | undefined
  private readonly parent: CountBudget | undefined
  private spent = 0
  private granted = 0
  private keys = new Map<string, number>()

  constructor(options: CountBudgetOptions) {
    const checks = {
      total: numberCheck(20, 'a whole number of 0 or more'),
      perKey: numberCheck(3, 'a whole number of 0 or more'),
      parent: [(value: unknown) => value instanceof CountBudget, 'a budget such as countBudget({ total: 20 })'],
    } as const
    expectOptions('countBudget', options, checks, { required: ['total'] })
    this.total = options.total
    this.perKey = options.perKey
    this.parent = options.parent
  }

  /** What has been withdrawn from this budget, by its children too. */
  get used(): number {
    return this.spent
  }

  /** What this budget alone would still give; a parent may have less. */
  get remaining(): number {
    return Math.max(0, this.total + this.granted - this.spent)
  }

  /**
   * Adds to the total; a key's share and the totals of parents stay. Throws a `BudgetError` unless `amount` is a whole
   * number of 1 or more.
   * @example
   * const retries = countBudget({ total: 20 })
   * retries.grant(10)
   */
  grant(amount: number): void {
    this.granted += expectNumber('countBudget grant', amount, 'a whole number of 1 or more')
  }

  allowAttempt(request: BudgetRequest): Decision {
    if (isFirstLaunch(request)) return ALLOWED
    const cost = costOf(request)
    const answer = this.refusal(request.key, cost) ?? this.parent?.allowAttempt(request)
    if (answer?.allowed === false) return answer
    this.spent += cost
    if (this.perKey !== undefined) this.keys.set(request.key, this.usedBy(request.key) + cost)
    return ALLOWED
  }

  peek(request: BudgetRequest): boolean {
    if (isFirstLaunch(request)) return true
    return this.refusal(request.key, costOf(request)) === undefined && this.parent?.peek(request) !== false
  }

  denialReason(request: BudgetRequest): string {
    const own = this.refusal(request.key, costOf(request))
    return own === undefined && this.parent !== undefined
      ? this.parent.denialReason(request)
      : (own ?? EXHAUSTED).reason
  }

  /** A count is not refilled by time. */
  nextAllowedAtMs(request: BudgetRequest): number {
    return this.peek(request) ? request.now : Infinity
  }

  describe(): BudgetDescription {
    return { type: 'count', total: this.total, perKey: this.perKey }
  }

  /** The parent is not part of it: it is kept once, not with each of its children. */
  snapshot(): CountBudgetState {
    const { spent: used, granted } = this
    return { used, keys: [...this.keys], ...(granted > 0 && { granted }) }
  }

  restore(state: unknown): void {
    const { used, keys, granted = 0 } = (state ?? {}) as Partial<CountBudgetState>
    const spent = expectNumber('countBudget snapshot used', used)
    const beyond = expectNumber('countBudget snapshot granted', granted)
    this.keys = new Map(expectList('countBudget snapshot keys', keys).map(readKey))
    this.spent = spent
    this.granted = beyond
  }

  private refusal(key: string, cost: number): Decision | undefined {
    if (this.spent + cost > this.total + this.granted) return EXHAUSTED
    return this.perKey !== undefined && this.usedBy(key) + cost > this.perKey ? KEY_EXHAUSTED : undefined
  }

  private usedBy(key: string): number {
    return this.keys.get(key) ?? 0
  }
}

function readKey(entry: unknown): [string, number] {
  const place = 'countBudget snapshot key'
  const [key, used] = expectList(place, entry)
  if (typeof key !== 'string') throw unexpected(place, key, 'a string')
  return [key, expectNumber(place, used)]
}

/**
 * Makes a budget of a fixed number of retries, which is never refilled by itself. First attempts are free. Throws an
 * `OptionsError` for wrong options.
 * @example
 * const batch = createExecutor({ budgets: { batch: countBudget({ total: 20 }) }, defaultPolicy: { budget: 'batch' } })
 */
export function countBudget(options: CountBudgetOptions): CountBudget {
  return new CountBudget(options)
}
