/**
 * The contract of a budget: anything that can be asked "may this attempt start?".
 * Budgets are synchronous, so that check and consumption are atomic within a turn. Imports types of core only.
 *
 * An allowed attempt is given back exactly once: by the decision's own `release`, or else by `settle`,
 * which says the same without a closure, so that another process can say it for a dead one. Its outcome is told earlier,
 * by `conclude`, when the operation outlives it: a timed-out operation that ignores its signal may settle late or never.
 */
import type { BudgetRef } from './policy.js'
import type { AttemptKind, AttemptResult } from './words.js'

/**
 * What a budget is asked before an attempt. Of first attempts one object serves many calls, so that a success makes none:
 * read from it what is needed, and do not keep it.
 */
export interface BudgetRequest {
  /** The key of the call. */
  readonly key: string
  /** 1..attempts of the policy. A hedge has the attempt of the launch that it copies. */
  readonly attempt: number
  /** 1, 2, 3 … over retries and hedges, in the order in which they are asked for. A denied launch uses its number up. */
  readonly launch: number
  /** `retry` for attempts in sequence, the first included; `hedge` for one that runs beside another. */
  readonly kind: AttemptKind
  /** The budget's name and the attempt's cost, as the policy gives them. */
  readonly ref: BudgetRef
  /** May be a getter that reads a clock refreshed once per turn. */
  readonly now: number
  /** When the whole call must have ended, on the scale of `now`; `Infinity` without a timeout. */
  readonly deadlineMs: number
  /**
   * The time limit of the attempt, as the policy gives it.
   * @default none: the attempt has no limit of its own
   * @example { attemptTimeoutMs: 2000 }
   */
  readonly attemptTimeoutMs?: number | undefined
}

/** How an allowed attempt ended, as a budget is told. */
export interface AttemptOutcome {
  /** The kind of end. */
  readonly result: Exclude<AttemptResult, 'denied'>
  /** From the start of the attempt to its end. */
  readonly latencyMs: number
  /** Whether the call's result is this attempt's. */
  readonly won: boolean
  /** When it ended, on the scale of the request's `now`. */
  readonly now: number
  /** What the attempt failed with; absent if it did not fail. */
  readonly error?: unknown
}

/** The answer of a budget. */
export interface Decision {
  /** Whether the attempt may start. */
  readonly allowed: boolean
  /** A word for the timeline, such as `allowed` or `budget_denied`. */
  readonly reason: string
  /** Called exactly once when an allowed attempt has ended; in place of the budget's `settle`. */
  readonly release?: ((outcome: AttemptOutcome) => void) | undefined
}

/** What a budget is, for people: its type, and the limits it was made with. */
export interface BudgetDescription {
  /** The kind of budget, such as `token_bucket`. */
  readonly type: string
  readonly [limit: string]: unknown
}

/**
 * Anything that can be asked whether an attempt may start. Every method is synchronous: a promise is refused as an answer,
 * since between the check and the charge others would slip through.
 */
export interface Budget {
  /**
   * Whether the attempt may start; a yes consumes what the attempt costs. Not asynchronous: a promise is refused with a
   * `BudgetError`.
   * @example
   * const weekdays = {
   *   allowAttempt: () =>
   *     new Date().getDay() % 6 === 0 ? { allowed: false, reason: 'weekend' } : { allowed: true, reason: 'allowed' },
   * }
   * const api = createExecutor({ budgets: { weekdays }, defaultPolicy: { budget: 'weekdays' } })
   */
  allowAttempt(request: BudgetRequest): Decision
  /**
   * The outcome of an allowed attempt is known to its caller. Called exactly once per allowed attempt, before `settle`
   * or `release`: much earlier if a timed-out, aborted or losing operation still runs, because those two wait for the
   * operation. `latencyMs` counts up to now. A grant that was not used is concluded as `aborted` with a latency of 0.
   * @default none: the budget is not told of outcomes before they are released
   * @example budget.conclude(request, outcome)
   */
  conclude?(request: BudgetRequest, outcome: AttemptOutcome): void
  /**
   * `release` in a form that another process can call: exactly once per allowed attempt.
   * @default none: a decision without `release` consumes for good
   * @example budget.settle(request, outcome)
   */
  settle?(request: BudgetRequest, outcome: AttemptOutcome): void
  /**
   * Would it allow? Consumes nothing.
   * @default none: counts as a yes
   * @example if (!budget.peek(request)) console.log(budget.denialReason(request))
   */
  peek?(request: BudgetRequest): boolean
  /** The budget's own word for a `peek` that said no. @default `budget_denied` @example budget.denialReason(request) */
  denialReason?(request: BudgetRequest): string
  /**
   * When the budget would allow a request that it denies now, by itself, on the scale of `now`: `Infinity` for never,
   * `undefined` if that depends on the ends of other attempts. Consumes nothing. Asked after a denial by drivers that can
   * wait.
   * @default none: such drivers ask again when another attempt ends, and now and then
   * @example const waitMs = (budget.nextAllowedAtMs(request) ?? Infinity) - request.now
   */
  nextAllowedAtMs?(request: BudgetRequest): number | undefined
  /**
   * Wait in line, also with a first attempt. Returns "leave the line".
   * @default none: an attempt that is denied does not wait
   * @example
   * const leave = budget.park(request, (grant) => console.log(grant.reason))
   * leave()
   */
  park?(request: BudgetRequest, wake: (grant: Decision) => void): () => void
  /** How long an attempt may stand in line. @default 30_000 @example { maxParkMs: 5000 } */
  readonly maxParkMs?: number
  /**
   * When the driver should call `poll` next, on the scale of `now`; `Infinity` for never. The answer changes only
   * inside the other methods and `release`: drivers read it again after those.
   * @default none: the budget is not polled
   * @example if (budget.wakeAtMs() <= clock.monotonicMs()) budget.poll(clock.monotonicMs(), Math.random)
   */
  wakeAtMs?(): number
  /**
   * Grants are issued only inside `poll`, `park`, `conclude`, `settle` and `release`. `random` gives numbers in [0, 1).
   * @default none: attempts in line are granted inside the other methods
   * @example budget.poll(clock.monotonicMs(), Math.random)
   */
  poll?(now: number, random: () => number): void
  /**
   * As plain JSON: kept beside its state in a ledger, for programs that show it.
   * @default none: programs show its name alone
   * @example budget.describe() // { type: 'token_bucket', capacity: 100, … }
   */
  describe?(): BudgetDescription
  /**
   * Its state as plain JSON.
   * @default none: the state is not kept
   * @example const kept = JSON.stringify(budget.snapshot())
   */
  snapshot?(): unknown
  /**
   * Takes over a snapshot; throws a `BudgetError` if it is none of this budget.
   * @default none: a snapshot is not taken over
   * @example budget.restore(JSON.parse('{ "tokens": 3, "atMs": 0 }'))
   */
  restore?(state: unknown): void
}
