/**
 * What a policy is, before (`PolicyInput`) and after (`Policy`) it has been normalised.
 * A `Policy` is frozen data: every default filled in, every duration in milliseconds. Imports types of core only.
 */
import type { AttemptKind } from './words.js'

/** Milliseconds as a number, or unit parts such as `500ms`, `1h30m`. */
export type DurationInput = string | number

/** How the wait grows, in a normalised policy. */
export type Backoff =
  | { readonly type: 'fixed' }
  | {
      readonly type: 'linear'
      /** What is added to the wait after each failure. */
      readonly incrementMs: number
    }
  | {
      readonly type: 'exponential'
      /** What the wait is multiplied by after each failure. */
      readonly base: number
    }
  | { readonly type: 'fibonacci' }
  | {
      readonly type: 'custom'
      /** The waits one by one; after the last of them `maxDelayMs`. */
      readonly delaysMs: readonly number[]
    }
  | {
      readonly type: 'custom'
      /** The wait in milliseconds: arithmetic over `attempt`, `initial`, `max` and `previous`. */
      readonly formula: string
    }

/**
 * The kind of randomness in waits. `full` draws from 0 to the wait, `equal` from half of it to all of it,
 * `proportional` around it, `decorrelated` from the initial delay to three times the wait before.
 */
export type Jitter = 'none' | 'proportional' | 'full' | 'equal' | 'decorrelated'

/** What a predicate is told beside the error. */
export interface FailureContext {
  /** The key of the call. */
  readonly key: string
  /** 1..attempts of the policy. A hedge has the attempt of the launch that it copies. */
  readonly attempt: number
  /** 1, 2, 3 … over retries and hedges. */
  readonly launch: number
  /** `retry` for attempts in sequence, the first included; `hedge` for one that runs beside another. */
  readonly kind: AttemptKind
}

/** Whether a failure is to be retried. Synchronous: a promise is refused. */
export type RetryPredicate = (error: unknown, context: FailureContext) => boolean

export const MATCHER_WORDS = ['network', 'timeout', 'server_error', 'rate_limit'] as const
export type MatcherWord = (typeof MATCHER_WORDS)[number]

/** One condition of `retryOn`, in a normalised policy. */
export type Matcher =
  | MatcherWord
  | {
      /** A regular expression over the message or the output. */
      readonly pattern: string
    }
  | {
      /** Exit codes of a command. */
      readonly exitCode: readonly number[]
    }
  | RetryPredicate

/** The budget that a policy names, and what an attempt costs in it. */
export interface BudgetRef {
  /** The name under which it is registered. */
  readonly name: string
  /** What an attempt costs, 1 or more. */
  readonly cost: number
}

/** The settings of a breaker, every default filled in. */
export interface BreakerPolicy {
  /** Calls with the same key share one breaker; absent: the key of the call. */
  readonly key: string | undefined
  /** Failures in a row that open it. */
  readonly failureThreshold: number
  /** How long it stays open before it lets a probe through. */
  readonly recoveryTimeoutMs: number
  /** Probes at a time, and successes that close it. */
  readonly halfOpenMaxCalls: number
}

/** The settings of hedging, every default filled in. */
export interface HedgePolicy {
  /** After how long the next copy starts; undefined with a percentile. */
  readonly delayMs: number | undefined
  /** The same as a percentile of past latencies; undefined with a delay. */
  readonly percentile: number | undefined
  /** Copies beside one attempt. */
  readonly maxHedges: number
  /** Whether the first failure that is not retryable ends the other copies. */
  readonly cancelOnFirstTerminal: boolean
  /** The hedge's own budget. */
  readonly budget: BudgetRef | undefined
  /** A hedge asks the retry's budget as well as its own, and both must allow. */
  readonly shareBudget: boolean
}

/** As a method, so that a policy may name the type of the results it is for and still be kept with others. */
interface ResultCheck<T> {
  /**
   * Whether a result counts as a failure.
   * @example const policy: PolicyInput<Response> = { failIf: (response) => response.status === 503 }
   */
  failIf(value: T): boolean
}

/**
 * A normalised policy: frozen, every default filled in, durations in milliseconds. `T`: the results that `failIf` is
 * for.
 */
export interface Policy<T = unknown> {
  /** How many attempts at most, the first included. */
  readonly attempts: number
  /** How the wait grows from attempt to attempt. */
  readonly backoff: Backoff
  /** The first wait. */
  readonly initialDelayMs: number
  /** The longest wait, before jitter. */
  readonly maxDelayMs: number
  /** Randomness in the waits. */
  readonly jitter: Jitter
  /** Width of `proportional` jitter as a share of the wait. */
  readonly jitterFactor: number
  /** Which failures to retry; empty for every failure. */
  readonly retryOn: readonly Matcher[]
  /** Limit of all waits together; undefined for no limit. */
  readonly retryBudgetMs: number | undefined
  /** Limit of one attempt; undefined for no limit. */
  readonly attemptTimeoutMs: number | undefined
  /** Limit of all attempts and waits together; undefined for no limit. */
  readonly timeoutMs: number | undefined
  /** The longest `Retry-After` that is obeyed. */
  readonly maxRetryAfterMs: number
  /** The budget that is asked before each attempt; undefined for none. */
  readonly budget: BudgetRef | undefined
  /** The circuit breaker; undefined for none. */
  readonly breaker: BreakerPolicy | undefined
  /** Hedging; undefined for none. */
  readonly hedge: HedgePolicy | undefined
  /** Whether a result counts as a failure; undefined if none does. */
  readonly failIf: ResultCheck<T>['failIf'] | undefined
}

// ── what people write ────────────────────────────────────────────────────────────────────────────

/** Not `object`: every string has a method `fixed`, and would be a backoff. */
type NoParameters = Readonly<Record<string, never>>

interface LinearParameters {
  /** What `linear` adds to the wait after each failure. @default the initial delay @example { increment: '2s' } */
  readonly increment?: DurationInput
}

interface ExponentialParameters {
  /** What `exponential` multiplies the wait by after each failure. @default 2 @example { base: 3 } */
  readonly base?: number
}

interface DelayList {
  /**
   * The waits of `custom`, one by one; after the last of them the longest wait.
   * @example { delays: ['1s', '5s', '30s'] }
   */
  readonly delays: readonly DurationInput[]
}

interface DelayFormula {
  /**
   * The wait of `custom` in milliseconds: arithmetic over `attempt`, `initial`, `max` and `previous`.
   * @example { formula: 'initial * attempt ^ 2' }
   */
  readonly formula: string
}

/**
 * How the wait grows: `fixed` not at all, `linear` by the same amount, `exponential` by a factor, `fibonacci` as those
 * numbers; `custom` is a list or a formula. A word, or an object with parameters in one of two spellings.
 */
export type BackoffInput =
  | 'fixed'
  | 'linear'
  | 'exponential'
  | 'fibonacci'
  | { readonly fixed: NoParameters | null }
  | { readonly linear: LinearParameters | null }
  | { readonly exponential: ExponentialParameters | null }
  | { readonly fibonacci: NoParameters | null }
  | { readonly custom: DelayList | DelayFormula }
  | { readonly type: 'fixed' | 'fibonacci' }
  | ({ readonly type: 'linear' } & LinearParameters)
  | ({ readonly type: 'exponential' } & ExponentialParameters)
  | ({ readonly type: 'custom' } & (DelayList | DelayFormula))

/**
 * One condition of `retryOn`: a word, an exit code, a pattern or a function. A failure is retried if one of them fits.
 */
export type MatcherInput =
  | MatcherWord
  | '5xx'
  /** One exit code of a command: `exit:75`. */
  | `exit:${number}`
  | {
      /**
       * A regular expression over the message or the output; `(?i)` in front ignores case. Neither back-references nor
       * look-around: it runs in linear time.
       * @example { pattern: '(?i)deadlock' }
       */
      readonly pattern: string
    }
  | {
      /** Exit codes of a command: one, or a list. @example { exitCode: [75, 111] } */
      readonly exitCode: number | readonly number[]
    }
  | {
      /** Exit codes of a command: one, or a list. @example { exitCode: [75, 111] } */
      readonly exit_code: number | readonly number[]
    }
  | RetryPredicate

interface BudgetRefFields {
  /** The name of the budget; blank is none. @example { name: 'api' } */
  readonly name: string
  /** What an attempt costs, 1 or more. @default 1 @example { cost: 2 } */
  readonly cost?: number
}

export type BudgetRefInput = string | BudgetRefFields

interface HedgeBudgetFields extends BudgetRefFields {
  /** Whether the retry's budget is asked as well. @default false @example { share: true } */
  readonly share?: boolean
}

/** Settings of a circuit breaker. */
export interface BreakerInput {
  /**
   * Calls whose breakers have the same key share one breaker.
   * @default the key of the call; with `retry()` each policy object has its own breaker
   * @example { key: 'mail' }
   */
  readonly key?: string
  /** Failures in a row that open it. @default 5 @example { failureThreshold: 3 } */
  readonly failureThreshold?: number
  /** How long it stays open before it lets a probe through. @default '30s' @example { recoveryTimeout: '20s' } */
  readonly recoveryTimeout?: DurationInput
  /** Probes at a time, and successes that close it. @default 1 @example { halfOpenMaxCalls: 2 } */
  readonly halfOpenMaxCalls?: number
}

/**
 * Settings of hedging: when copies of a slow attempt start, and how many. Exactly one of `delay` and `percentile` is
 * needed.
 */
export interface HedgeInput {
  /**
   * After how long the next copy starts; this or a percentile.
   * @default the percentile says it
   * @example { delay: '500ms' }
   */
  readonly delay?: DurationInput
  /**
   * The same as a percentile of past latencies, between 0 and 100.
   * @default the delay says it
   * @example { percentile: 95 }
   */
  readonly percentile?: number
  /** Copies beside one attempt, at most 3. @default 1 @example { maxHedges: 2 } */
  readonly maxHedges?: number
  /**
   * Whether the first failure that is not retryable ends the other copies.
   * @default false
   * @example { cancelOnFirstTerminal: true }
   */
  readonly cancelOnFirstTerminal?: boolean
  /**
   * A budget of the hedges' own; `share` for the retry's, `{name, share: true}` for both.
   * @default none
   * @example { budget: 'hedges' }
   */
  readonly budget?: string | HedgeBudgetFields
}

/**
 * A policy as TypeScript writes it. `normalizePolicy` takes the snake_case form of files as well. `T`: the results that
 * `failIf` is for.
 */
export interface PolicyInput<T = unknown> {
  /**
   * How many attempts at most, the first included; 1 is no retry. From 1 to 1000; hedges come on top.
   * @default 3
   * @example { attempts: 5 }
   */
  readonly attempts?: number
  /**
   * How the wait grows from attempt to attempt. `fixed`, `linear`, `exponential` or `fibonacci`; with fields, also
   * `custom`.
   * @default 'exponential'
   * @example { backoff: 'exponential' }
   */
  readonly backoff?: BackoffInput
  /** The first wait. @default '1s' @example { initialDelay: '500ms' } */
  readonly initialDelay?: DurationInput
  /** The longest wait, before jitter. @default '30s' @example { maxDelay: '1m' } */
  readonly maxDelay?: DurationInput
  /**
   * Randomness in the waits. Clients that failed together do not retry together with it: `proportional` (also `true`),
   * `full`, `equal`, `decorrelated` or `none` (also `false`).
   * @default `full`; `none` where `backoff` is `fixed` or `custom`
   * @example { jitter: 'full' }
   */
  readonly jitter?: boolean | Jitter
  /**
   * Width of `proportional` jitter as a share of the wait, half of it on each side.
   * @default 0.3
   * @example { jitterFactor: 0.5 }
   */
  readonly jitterFactor?: number
  /**
   * Which failures to retry: those that fit at least one of the matchers. An empty list is every failure.
   * @default []
   * @example { retryOn: ['network', 'timeout', '5xx', 'exit:75'] }
   */
  readonly retryOn?: readonly MatcherInput[]
  /**
   * Limit of all waits together. A wait that would exceed it is not begun.
   * @default no limit
   * @example { maxTotalDelay: '2m' }
   */
  readonly maxTotalDelay?: DurationInput
  /**
   * Another name of `maxTotalDelay`, as files have it. Both may be given if they say the same.
   * @default no limit
   * @example { retryBudget: '2m' }
   */
  readonly retryBudget?: DurationInput
  /**
   * Limit of one attempt. Exceeding it is a failure of kind `timeout`, which may be retried.
   * @default no limit
   * @example { attemptTimeout: '30s' }
   */
  readonly attemptTimeout?: DurationInput
  /**
   * Limit of all attempts and waits together. Exceeding it ends the call.
   * @default no limit
   * @example { timeout: '10m' }
   */
  readonly timeout?: DurationInput
  /**
   * The longest `Retry-After` of a server that is obeyed; a longer one stops the call.
   * @default '60s'
   * @example { maxRetryAfter: '5m' }
   */
  readonly maxRetryAfter?: DurationInput
  /**
   * A shared budget that is asked before each attempt: its name, or its name and the cost.
   * @default none
   * @example { budget: 'api' }
   */
  readonly budget?: BudgetRefInput
  /**
   * A circuit breaker, which refuses attempts for a while after a number of failures in a row.
   * @default none
   * @example { breaker: { failureThreshold: 5 } }
   */
  readonly breaker?: BreakerInput
  /**
   * Copies of a slow attempt beside it: the first result counts. Within a process only: refused in workflows and in
   * durable tasks.
   * @default none
   * @example { hedge: { delay: '500ms' } }
   */
  readonly hedge?: HedgeInput
  /**
   * Makes a result a failure, a `ResultError` with the value, where it answers true.
   * @default a result is a success
   * @example { failIf: (response) => response.status === 503 }
   */
  failIf?(value: T): boolean
}

/** A policy as functions take it: fields, a normalised policy, a number of attempts, or `false` for one attempt. */
export type PolicyArgument<T = unknown> = PolicyInput<T> | Policy<T> | number | false
