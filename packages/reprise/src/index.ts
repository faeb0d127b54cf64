/**
 * `reprise`: calls with retries, for every program. Re-exports only: functions, and the types of what they are given and
 * return. Types of single fields are not exported; `AttemptRecord['kind']` names one. Imports core and runtime.
 */
export type { AttemptOutcome, Budget, BudgetDescription, BudgetRequest, Decision } from './core/budget.js'
export { BudgetRegistry } from './core/budget-registry.js'
export { delayAfter } from './core/backoff.js'
export * from './core/budgets/index.js'
export { formatDuration, parseDuration } from './core/duration.js'
// With a star, so that other packages can add their codes by declaration merging.
export type * from './core/error-codes.js'
export {
  AttemptTimeoutError,
  BreakerOpenError,
  BreakerStateError,
  BudgetDeniedError,
  BudgetError,
  CallTimeoutError,
  isRepriseError,
  NoPolicyError,
  type OptionProblem,
  OptionsError,
  PolicyError,
  type PolicyProblem,
  RepriseError,
  ResultError,
  RetryBudgetExhaustedError,
} from './core/errors.js'
export type { Observer, RepriseEvent } from './core/event.js'
export { type NormalizedPolicy, type NormalizeOptions, normalizePolicy } from './core/normalize.js'
export type {
  BackoffInput,
  BreakerInput,
  DurationInput,
  FailureContext,
  HedgeInput,
  Jitter,
  MatcherInput,
  Policy,
  PolicyArgument,
  PolicyInput,
  RetryPredicate,
} from './core/policy.js'
export { type Recommended, recommended } from './core/recommended.js'
export type { Clock, Random, Timer } from './core/time.js'
export type { AttemptRecord, Timeline } from './core/timeline.js'
export type { StopReason } from './core/words.js'
export type { AttemptContext, Operation } from './runtime/context.js'
export { type CallOptions, createExecutor, type Executor } from './runtime/executor.js'
export type { ExecutorOptions } from './runtime/executor-options.js'
export type { Inspection } from './runtime/inspection.js'
export { timelineOf } from './runtime/rejection.js'
export { retry, type RetryOptions } from './runtime/retry.js'
export { systemClock } from './runtime/system-clock.js'
