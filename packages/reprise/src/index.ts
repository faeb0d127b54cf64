/** The root entry: re-exports only. Imports core and runtime. */
export type { AttemptOutcome, Budget, BudgetDescription, BudgetRequest, Decision } from './core/budget.js'
export { BudgetRegistry } from './core/budget-registry.js'
export { Breaker, type BreakerState } from './core/breaker.js'
export { delayAfter } from './core/backoff.js'
export * from './core/budgets/index.js'
export {
  type Admission,
  admit,
  advance,
  decide,
  type LaunchGates,
  type Outcome,
  type RetryGates,
  type Verdict,
} from './core/decide.js'
export { formatDuration, parseDuration } from './core/duration.js'
export {
  AttemptTimeoutError,
  BreakerOpenError,
  BudgetDeniedError,
  BudgetError,
  CallTimeoutError,
  type ErrorCode,
  isRepriseError,
  PolicyError,
  type PolicyProblem,
  RepriseError,
  ResultError,
  RetryBudgetExhaustedError,
} from './core/errors.js'
export type { EventBase, Observer, RepriseEvent } from './core/event.js'
export { type NormalizedPolicy, type NormalizeOptions, normalizePolicy } from './core/normalize.js'
export type {
  Backoff,
  BackoffInput,
  BreakerInput,
  BreakerPolicy,
  BudgetRef,
  BudgetRefInput,
  DurationInput,
  FailureContext,
  HedgeInput,
  HedgePolicy,
  Jitter,
  Matcher,
  MatcherInput,
  Policy,
  PolicyInput,
  RetryPredicate,
} from './core/policy.js'
export { type Recommended, recommended } from './core/recommended.js'
export { drawsOf, initialState, type RetryState, snapshot, type StoredState } from './core/state.js'
export { nearest } from './core/suggest.js'
export type { Clock, Draw, Random, Timer } from './core/time.js'
export type { AttemptRecord, Timeline } from './core/timeline.js'
export {
  type AttemptKind,
  type AttemptResult,
  type BreakerPhase,
  BUDGET_REASONS,
  STOP_REASONS,
  type StopReason,
} from './core/words.js'
export type { AttemptContext, Operation } from './runtime/context.js'
export { type CallOptions, createExecutor, type Executor } from './runtime/executor.js'
export type { ExecutorOptions } from './runtime/executor-options.js'
export type { Inspection } from './runtime/inspection.js'
export { timelineOf } from './runtime/rejection.js'
export { retry, type RetryOptions } from './runtime/retry.js'
export { systemClock } from './runtime/system-clock.js'
