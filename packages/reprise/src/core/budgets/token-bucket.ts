/**
 * A token bucket: `capacity` tokens, refilled continuously. With first attempts charged, as by default, it limits how
 * many attempts are admitted at all, not only how many are repeated.
 *
 * Invariants: the state is the level at the last charge or grant, and what has flowed in since is computed from the time asked
 * about; so a denial or a peek changes nothing and rounding does not build up while nobody is served. That time never
 * moves back, so no stretch of a clock that went back is counted twice. Imports core only.
 */
import type { Budget, BudgetDescription, BudgetRequest, Decision } from '../budget.js'
import { ALLOWED, DENIED, isFirstLaunch } from '../gate.js'
import { expectOptions, FLAG } from '../options.js'
import { costOf, expectNumber, numberCheck } from './numbers.js'

/** Options of `tokenBucket`. */
export interface TokenBucketOptions {
  /** The most tokens there can be, and those there are at first: a number above 0. */
  readonly capacity: number
  /** Tokens that flow in per second, continuously: 0 or more. */
  readonly refillPerSecond: number
  /**
   * Whether first attempts pay. If `false`, only retries and hedges do.
   * @default true
   * @example { chargeFirstAttempt: false }
   */
  readonly chargeFirstAttempt?: boolean | undefined
}

export interface TokenBucketState {
  /** The level at `atMs`. */
  readonly tokens: number
  /** When tokens were last taken or granted, on the scale of the requests' `now`. */
  readonly atMs: number
}

/** A budget of tokens that are refilled over time. */
export class TokenBucket implements Budget {
  private readonly capacity: number
  private readonly refillPerSecond: number
  private readonly chargeFirst: boolean
  private tokens: number
  /** Before every date until a first charge says what the time is; the bucket is full then, whatever it says. */
  private atMs = Number.MIN_SAFE_INTEGER

  constructor(options: TokenBucketOptions) {
    const checks = {
      capacity: numberCheck(100, 'a finite number above 0'),
      refillPerSecond: numberCheck(10),
      chargeFirstAttempt: FLAG,
    }
    expectOptions('tokenBucket', options, checks, { required: ['capacity', 'refillPerSecond'] })
    this.capacity = options.capacity
    this.refillPerSecond = options.refillPerSecond
    this.chargeFirst = options.chargeFirstAttempt ?? true
    this.tokens = this.capacity
  }

  /**
   * Adds tokens, up to the capacity; `now` is on the scale of the requests. Returns how many were added. Throws a
   * `BudgetError` unless `amount` is above 0.
   * @example
   * const bucket = tokenBucket({ capacity: 100, refillPerSecond: 10 })
   * bucket.grant(50, clock.monotonicMs())
   */
  grant(amount: number, now: number): number {
    expectNumber('tokenBucket grant', amount, 'a finite number above 0')
    const level = this.levelAt(expectNumber('tokenBucket grant now', now, 'a finite number'))
    this.tokens = Math.min(this.capacity, level + amount)
    this.atMs = Math.max(this.atMs, now)
    return this.tokens - level
  }

  allowAttempt(request: BudgetRequest): Decision {
    if (this.isFree(request)) return ALLOWED
    const { now } = request
    const rest = this.levelAt(now) - costOf(request)
    // Asked this way round, a `now` that is no number is a denial rather than a bucket of NaN.
    if (!(rest >= 0)) return DENIED
    this.tokens = rest
    if (now > this.atMs) this.atMs = now
    return ALLOWED
  }

  peek(request: BudgetRequest): boolean {
    return this.isFree(request) || this.levelAt(request.now) >= costOf(request)
  }

  /** When enough has flowed in; never for a cost above the capacity. */
  nextAllowedAtMs(request: BudgetRequest): number {
    const { now } = request
    const missing = costOf(request) - this.levelAt(now)
    if (this.isFree(request) || missing <= 0) return now
    if (costOf(request) > this.capacity || this.refillPerSecond === 0) return Infinity
    return Math.max(now, this.atMs) + (missing * 1000) / this.refillPerSecond
  }

  describe(): BudgetDescription {
    const { capacity, refillPerSecond, chargeFirst: chargeFirstAttempt } = this
    return { type: 'token_bucket', capacity, refillPerSecond, chargeFirstAttempt }
  }

  snapshot(): TokenBucketState {
    return { tokens: this.tokens, atMs: this.atMs }
  }

  restore(state: unknown): void {
    const { tokens, atMs } = (state ?? {}) as Partial<TokenBucketState>
    const level = expectNumber('tokenBucket snapshot tokens', tokens)
    this.atMs = expectNumber('tokenBucket snapshot atMs', atMs, 'a finite number')
    this.tokens = level
  }

  private isFree(request: BudgetRequest): boolean {
    return !this.chargeFirst && isFirstLaunch(request)
  }

  private levelAt(now: number): number {
    const refill = (Math.max(0, now - this.atMs) * this.refillPerSecond) / 1000
    return Math.min(this.capacity, this.tokens + refill)
  }
}

/**
 * Makes a budget of `capacity` tokens, refilled over time: it limits the rate of attempts. Throws an `OptionsError` for
 * wrong options.
 * @example
 * const api = createExecutor({
 *   budgets: { api: tokenBucket({ capacity: 100, refillPerSecond: 10 }) },
 *   defaultPolicy: { budget: 'api' },
 * })
 */
export function tokenBucket(options: TokenBucketOptions): TokenBucket {
  return new TokenBucket(options)
}
