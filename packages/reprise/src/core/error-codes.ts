/**
 * Which class a code stands for, as types. A code has one class, so comparing the code says which fields an error has.
 *
 * Invariant: every class that extends `RepriseError` has a literal `code` of its own and is listed here under it. Other
 * layers and packages list theirs where the class is declared, by declaration merging: with `declare module`
 * '../core/error-codes.js' in the library, 'reprise' in other packages. Imports types of core only.
 */
import type {
  AttemptTimeoutError,
  BreakerOpenError,
  BreakerStateError,
  BudgetDeniedError,
  BudgetError,
  CallTimeoutError,
  NoPolicyError,
  OptionsError,
  PolicyError,
  ResultError,
  RetryBudgetExhaustedError,
} from './errors.js'

/** Which class each code stands for. */
export interface ErrorByCode {
  budget_denied: BudgetDeniedError
  retry_budget_exhausted: RetryBudgetExhaustedError
  breaker_open: BreakerOpenError
  attempt_timeout: AttemptTimeoutError
  timeout: CallTimeoutError
  no_policy: NoPolicyError
  result_failed: ResultError
  invalid_policy: PolicyError
  invalid_options: OptionsError
  invalid_budget: BudgetError
  invalid_breaker_state: BreakerStateError
}

/** The codes of all errors of the library. */
export type ErrorCode = keyof ErrorByCode

/** An error of any class, told apart by `code`. */
export type AnyRepriseError = ErrorByCode[ErrorCode]
