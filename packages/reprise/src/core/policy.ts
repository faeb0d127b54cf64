/**
 * What a policy is, before (`PolicyInput`) and after (`Policy`) it has been normalised.
 * A `Policy` is frozen data: every default filled in, every duration in milliseconds. Imports types of core only.
 */
import type { AttemptKind } from './words.js'

/** Milliseconds as a number, or unit parts such as `500ms`, `1h30m`. */
export type DurationInput = string | number

export type Backoff =
  | { readonly type: 'fixed' }
  | { readonly type: 'linear'; readonly incrementMs: number }
  | { readonly type: 'exponential'; readonly base: number }
  | { readonly type: 'fibonacci' }
  | { readonly type: 'custom'; readonly delaysMs: readonly number[] }
  | { readonly type: 'custom'; readonly formula: string }

export type Jitter = 'none' | 'proportional' | 'full' | 'equal' | 'decorrelated'

/** What a predicate is told beside the error. */
export interface FailureContext {
  readonly key: string
  readonly attempt: number
  readonly kind: AttemptKind
}

export type RetryPredicate = (error: unknown, context: FailureContext) => boolean

export const MATCHER_WORDS = ['network', 'timeout', 'server_error', 'rate_limit'] as const
export type MatcherWord = (typeof MATCHER_WORDS)[number]

export type Matcher =
  | MatcherWord
  | { readonly pattern: string }
  | { readonly exitCode: readonly number[] }
  | RetryPredicate

export interface BudgetRef {
  readonly name: string
  readonly cost: number
}

export interface BreakerPolicy {
  /** Calls with the same key share one breaker; absent: the key of the call. */
  readonly key: string | undefined
  readonly failureThreshold: number
  readonly recoveryTimeoutMs: number
  readonly halfOpenMaxCalls: number
}

export interface HedgePolicy {
  /** Exactly one of the two is set. */
  readonly delayMs: number | undefined
  readonly percentile: number | undefined
  readonly maxHedges: number
  readonly cancelOnFirstTerminal: boolean
  /** The hedge's own budget. */
  readonly budget: BudgetRef | undefined
  /** A hedge asks the retry's budget as well as its own, and both must allow. */
  readonly shareBudget: boolean
}

export interface Policy {
  readonly attempts: number
  readonly backoff: Backoff
  readonly initialDelayMs: number
  readonly maxDelayMs: number
  readonly jitter: Jitter
  readonly jitterFactor: number
  readonly retryOn: readonly Matcher[]
  readonly retryBudgetMs: number | undefined
  readonly attemptTimeoutMs: number | undefined
  readonly timeoutMs: number | undefined
  readonly maxRetryAfterMs: number
  readonly budget: BudgetRef | undefined
  readonly breaker: BreakerPolicy | undefined
  readonly hedge: HedgePolicy | undefined
  readonly failIf: ((value: unknown) => boolean) | undefined
}

// ── what people write ────────────────────────────────────────────────────────────────────────────

export type BackoffInput =
  | 'fixed'
  | 'linear'
  | 'exponential'
  | 'fibonacci'
  | { readonly fixed: object | null }
  | { readonly linear: { readonly increment?: DurationInput } | null }
  | { readonly exponential: { readonly base?: number } | null }
  | { readonly fibonacci: object | null }
  | { readonly custom: { readonly delays: readonly DurationInput[] } | { readonly formula: string } }
  | { readonly type: 'fixed' | 'fibonacci' }
  | { readonly type: 'linear'; readonly increment?: DurationInput }
  | { readonly type: 'exponential'; readonly base?: number }
  | { readonly type: 'custom'; readonly delays: readonly DurationInput[] }
  | { readonly type: 'custom'; readonly formula: string }

export type MatcherInput =
  | MatcherWord
  | '5xx'
  /** One exit code of a command: `exit:75`. */
  | `exit:${number}`
  | { readonly pattern: string }
  | { readonly exitCode: number | readonly number[] }
  | { readonly exit_code: number | readonly number[] }
  | RetryPredicate

export type BudgetRefInput = string | { readonly name: string; readonly cost?: number }

export interface BreakerInput {
  readonly key?: string
  readonly failureThreshold?: number
  readonly recoveryTimeout?: DurationInput
  readonly halfOpenMaxCalls?: number
}

export interface HedgeInput {
  readonly delay?: DurationInput
  readonly percentile?: number
  readonly maxHedges?: number
  readonly cancelOnFirstTerminal?: boolean
  /** The hedge's own budget; `share` asks the retry's instead, `{ name, share: true }` asks both. */
  readonly budget?:
    | BudgetRefInput
    | 'share'
    | { readonly name: string; readonly cost?: number; readonly share?: boolean }
}

/** A policy as TypeScript writes it. `normalizePolicy` takes the snake_case form of files as well. */
export interface PolicyInput {
  readonly attempts?: number
  readonly backoff?: BackoffInput
  readonly initialDelay?: DurationInput
  readonly maxDelay?: DurationInput
  readonly jitter?: boolean | Exclude<Jitter, 'none'>
  readonly jitterFactor?: number
  readonly retryOn?: readonly MatcherInput[]
  readonly retryBudget?: DurationInput
  readonly attemptTimeout?: DurationInput
  readonly timeout?: DurationInput
  readonly maxRetryAfter?: DurationInput
  readonly budget?: BudgetRefInput
  readonly breaker?: BreakerInput
  readonly hedge?: HedgeInput
  /** Makes a result a failure. A method, so that it may name the type of the results it is for. */
  failIf?(value: unknown): boolean
}
