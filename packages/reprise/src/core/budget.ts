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

export interface BudgetRequest {
  readonly key: string
  /** 1..attempts of the policy. A hedge has the attempt of the launch that it copies. */
  readonly attempt: number
  /** 1, 2, 3 … over retries and hedges, in the order in which they are asked for. A denied launch uses its number up. */
  readonly launch: number
  readonly kind: AttemptKind
  readonly ref: BudgetRef
  /** May be a getter that reads a clock refreshed once per turn. */
  readonly now: number
  /** When the whole call must have ended, on the scale of `now`; `Infinity` without a timeout. */
  readonly deadlineMs: number
  readonly attemptTimeoutMs?: number | undefined
}

export interface AttemptOutcome {
  readonly result: Exclude<AttemptResult, 'denied'>
  readonly latencyMs: number
  /** Whether the call's result is this attempt's. */
  readonly won: boolean
  readonly now: number
  readonly error?: unknown
}

export interface Decision {
  readonly allowed: boolean
  readonly reason: string
  readonly release?: ((outcome: AttemptOutcome) => void) | undefined
}

/** What a budget is, for people: its type, and the limits it was made with. */
export interface BudgetDescription {
  readonly type: string
  readonly [limit: string]: unknown
}

export interface Budget {
  allowAttempt(request: BudgetRequest): Decision
  /**
   * The outcome of an allowed attempt is known to its caller. Called exactly once per allowed attempt, before `settle` or
   * `release`: much earlier if a timed-out, aborted or losing operation still runs, because those two wait for the
   * operation. `latencyMs` counts up to now. A grant that was not used is concluded as `aborted` with a latency of 0.
   */
  conclude?(request: BudgetRequest, outcome: AttemptOutcome): void
  /** `release` in a form that another process can call: exactly once per allowed attempt. */
  settle?(request: BudgetRequest, outcome: AttemptOutcome): void
  /** Would it allow? Consumes nothing. */
  peek?(request: BudgetRequest): boolean
  /** The budget's own word for a `peek` that said no; `budget_denied` when absent. */
  denialReason?(request: BudgetRequest): string
  /** Wait in line, also with a first attempt. Returns "leave the line". */
  park?(request: BudgetRequest, wake: (grant: Decision) => void): () => void
  /** How long an attempt may stand in line; 30 s when absent. */
  readonly maxParkMs?: number
  /**
   * When the driver should call `poll` next, on the scale of `now`; `Infinity` for never. The answer changes only inside
   * the other methods and `release`: drivers read it again after those.
   */
  wakeAtMs?(): number
  /** Grants are issued only inside `poll`, `park`, `conclude`, `settle` and `release`. */
  poll?(now: number, random: () => number): void
  /** As plain JSON: kept beside its state in a ledger, for whoever looks from outside. */
  describe?(): BudgetDescription
  snapshot?(): unknown
  restore?(state: unknown): void
}
