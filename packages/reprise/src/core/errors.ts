/**
 * What a call can reject with beside the operation's own error, which is always rethrown untouched.
 * One base class; `code` is a literal; a brand lets `isRepriseError` recognise errors of another copy of the package.
 * Names are getters on the prototype, so that a class has no static side effect and unused ones can be shaken off.
 * Imports types of core only.
 */
import type { StopReason } from './words.js'

export type ErrorCode =
  | StopReason
  | 'attempt_timeout'
  | 'invalid_policy'
  | 'invalid_budget'
  | 'invalid_scenario'
  | 'ledger'
  | 'refused'
  | 'invalid_state'
  | 'result_failed'

const BRAND = Symbol.for('reprise.error')

/** The way from an error to the timeline of its call, for the drivers alone. */
export const TIMELINE: unique symbol = Symbol('reprise.timeline')

export class RepriseError extends Error {
  readonly code: ErrorCode
  #timeline: unknown = undefined

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
  }

  /** Where the timeline of the call comes from; invisible to whoever prints the error. */
  get [TIMELINE](): unknown {
    return this.#timeline
  }

  set [TIMELINE](source: unknown) {
    this.#timeline = source
  }

  override get name(): string {
    return 'RepriseError'
  }

  get [BRAND](): true {
    return true
  }
}

/** The classes that one code alone stands for. */
interface ErrorByCode {
  budget_denied: BudgetDeniedError
  retry_budget_exhausted: RetryBudgetExhaustedError
  breaker_open: BreakerOpenError
  attempt_timeout: AttemptTimeoutError
  timeout: CallTimeoutError
  result_failed: ResultError
  invalid_policy: PolicyError
  invalid_budget: BudgetError
}

/** Whether `error` comes from Reprise, from any copy of it, and, if asked, carries this code. */
export function isRepriseError<C extends keyof ErrorByCode>(error: unknown, code: C): error is ErrorByCode[C]
export function isRepriseError(error: unknown, code?: ErrorCode): error is RepriseError
export function isRepriseError(error: unknown, code?: ErrorCode): error is RepriseError {
  if (typeof error !== 'object' || error === null) return false
  try {
    const { [BRAND]: brand, code: own } = error as { [BRAND]?: unknown; code?: unknown }
    return brand === true && (code === undefined || own === code)
  } catch {
    // A proxy that refuses to be looked at.
    return false
  }
}

export class BudgetDeniedError extends RepriseError {
  declare readonly code: 'budget_denied'
  readonly key: string
  readonly budget: string
  readonly reason: string
  readonly attempt: number

  constructor(key: string, budget: string, reason: string, attempt: number) {
    super('budget_denied', `Budget ${budget} denied attempt ${attempt} of ${key}: ${reason}`)
    this.key = key
    this.budget = budget
    this.reason = reason
    this.attempt = attempt
  }

  override get name(): string {
    return 'BudgetDeniedError'
  }
}

export class RetryBudgetExhaustedError extends RepriseError {
  declare readonly code: 'retry_budget_exhausted'

  constructor(key: string, usedMs: number, budgetMs: number, cause: unknown) {
    const used = `${usedMs} ms of ${budgetMs} ms waited, and the next wait does not fit`
    super('retry_budget_exhausted', `Retry budget exhausted for ${key}: ${used}`, { cause })
  }

  override get name(): string {
    return 'RetryBudgetExhaustedError'
  }
}

export class BreakerOpenError extends RepriseError {
  declare readonly code: 'breaker_open'
  readonly breaker: string

  /** `cause` is the last real error, absent when no attempt was made. */
  constructor(key: string, breaker: string, options?: { readonly cause?: unknown }) {
    super('breaker_open', `Breaker ${breaker} is open: ${key} was not attempted${options ? ' again' : ''}`, options)
    this.breaker = breaker
  }

  override get name(): string {
    return 'BreakerOpenError'
  }
}

export class AttemptTimeoutError extends RepriseError {
  declare readonly code: 'attempt_timeout'
  readonly timeoutMs: number

  constructor(key: string, attempt: number, timeoutMs: number) {
    super('attempt_timeout', `Attempt ${attempt} of ${key} timed out after ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }

  override get name(): string {
    return 'AttemptTimeoutError'
  }
}

export class CallTimeoutError extends RepriseError {
  declare readonly code: 'timeout'
  readonly timeoutMs: number

  constructor(key: string, timeoutMs: number, options?: { readonly cause?: unknown }) {
    super('timeout', `${key} could not end within its timeout of ${timeoutMs} ms`, options)
    this.timeoutMs = timeoutMs
  }

  override get name(): string {
    return 'CallTimeoutError'
  }
}

/** A result that `failIf` declared a failure. */
export class ResultError extends RepriseError {
  declare readonly code: 'result_failed'
  readonly value: unknown

  constructor(key: string, value: unknown) {
    super('result_failed', `${key} returned a result that counts as a failure`)
    this.value = value
  }

  override get name(): string {
    return 'ResultError'
  }
}

export interface PolicyProblem {
  /** Where, in the spelling of the input: `backoff.base`, `retry_on[2].pattern`. Empty for the policy as a whole. */
  readonly path: string
  readonly message: string
  readonly suggestion?: string
}

export class PolicyError extends RepriseError {
  declare readonly code: 'invalid_policy'
  readonly problems: readonly PolicyProblem[]

  constructor(problems: readonly PolicyProblem[]) {
    super('invalid_policy', `Invalid policy: ${problems.map(describeProblem).join('; ')}`)
    this.problems = problems
  }

  override get name(): string {
    return 'PolicyError'
  }
}

function describeProblem(problem: PolicyProblem): string {
  const place = problem.path === '' ? '' : `${problem.path}: `
  const cure = problem.suggestion === undefined ? '' : ` (${problem.suggestion})`
  return place + problem.message + cure
}

/** A budget that was built with impossible parameters, or that answered something that is not a decision. */
export class BudgetError extends RepriseError {
  declare readonly code: 'invalid_budget'

  constructor(message: string) {
    super('invalid_budget', message)
  }

  override get name(): string {
    return 'BudgetError'
  }
}

/**
 * Makes an error without walking the stack: a refusal under load is the common case, and says all in its fields.
 * V8 reads `Error.stackTraceLimit` at construction; where the property is frozen or absent the error has its stack.
 */
export function withoutStack<E>(make: () => E): E {
  const global = Error as { stackTraceLimit?: number }
  const limit = global.stackTraceLimit
  if (limit === undefined || limit === 0) return make()
  try {
    global.stackTraceLimit = 0
  } catch {
    return make()
  }
  try {
    return make()
  } finally {
    global.stackTraceLimit = limit
  }
}
