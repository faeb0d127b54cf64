/**
 * What a call can reject with beside the operation's own error, which is always rethrown untouched.
 * One base class; a code belongs to one class alone (`error-codes.ts`), so that the code tells which fields there are; a
 * brand lets `isRepriseError` recognise errors of another copy of the package.
 * Names are getters on the prototype, so that a class has no static side effect and unused ones can be shaken off.
 * Imports types of core only.
 */
import type { AnyRepriseError, ErrorByCode, ErrorCode } from './error-codes.js'

const BRAND = Symbol.for('reprise.error')

/** The way from an error to the timeline of its call, for the drivers alone. */
export const TIMELINE: unique symbol = Symbol('reprise.timeline')

/** The base class, for `instanceof`. Abstract: an error of the class itself would have a code without its fields. */
export abstract class RepriseError extends Error {
  /** Says which class the error is of, and so which fields it has. */
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

/**
 * Whether `error` comes from Reprise, from any copy of it, and carries this code.
 * @example
 * try {
 *   await executor.run('price', () => fetchPrice('tea'))
 * } catch (error) {
 *   if (isRepriseError(error, 'budget_denied')) console.log(error.budget, error.reason)
 *   else throw error
 * }
 */
export function isRepriseError<C extends ErrorCode>(error: unknown, code: C): error is ErrorByCode[C]
/**
 * Whether `error` comes from Reprise, from any copy of it. Comparing `error.code` then narrows to the class.
 * @example if (isRepriseError(error) && error.code === 'timeout') console.log(error.timeoutMs)
 */
export function isRepriseError(error: unknown): error is AnyRepriseError
export function isRepriseError(error: unknown, code?: ErrorCode): boolean {
  if (typeof error !== 'object' || error === null) return false
  try {
    const { [BRAND]: brand, code: own } = error as { [BRAND]?: unknown; code?: unknown }
    return brand === true && (code === undefined || own === code)
  } catch {
    // A proxy that refuses to be looked at.
    return false
  }
}

/** A budget did not let an attempt start, and the call had no failure of its own to reject with. */
export class BudgetDeniedError extends RepriseError {
  declare readonly code: 'budget_denied'
  /** The key of the call. */
  readonly key: string
  /** The name of the budget. */
  readonly budget: string
  /** The budget's word for its denial. */
  readonly reason: string
  /** The attempt that was not started. */
  readonly attempt: number

  /** `cause` is what the budget threw, where that is recovered as a denial. */
  constructor(key: string, budget: string, reason: string, attempt: number, options?: { readonly cause?: unknown }) {
    super('budget_denied', `Budget ${budget} denied attempt ${attempt} of ${key}: ${reason}`, options)
    this.key = key
    this.budget = budget
    this.reason = reason
    this.attempt = attempt
  }

  override get name(): string {
    return 'BudgetDeniedError'
  }
}

/** The next wait would exceed the policy's `maxTotalDelay`. `cause` is the last failure. */
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

/** The breaker is open. `cause` is the last failure of the call; absent when no attempt was made. */
export class BreakerOpenError extends RepriseError {
  declare readonly code: 'breaker_open'
  /** The key of the breaker. */
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

/** An attempt took longer than the policy's `attemptTimeout`. */
export class AttemptTimeoutError extends RepriseError {
  declare readonly code: 'attempt_timeout'
  /** The limit that it exceeded. */
  readonly timeoutMs: number
  /** 1..attempts of the policy. */
  readonly attempt: number
  /** 1, 2, 3 … over retries and hedges. */
  readonly launch: number

  constructor(key: string, attempt: number, timeoutMs: number, launch: number = attempt) {
    const which = launch === attempt ? `Attempt ${attempt}` : `Attempt ${attempt} (launch ${launch})`
    super('attempt_timeout', `${which} of ${key} timed out after ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
    this.attempt = attempt
    this.launch = launch
  }

  override get name(): string {
    return 'AttemptTimeoutError'
  }
}

/** The call did not end within the policy's `timeout`. `cause` is the last failure, if there was one. */
export class CallTimeoutError extends RepriseError {
  declare readonly code: 'timeout'
  /** The limit that it exceeded. */
  readonly timeoutMs: number

  constructor(key: string, timeoutMs: number, options?: { readonly cause?: unknown }) {
    super('timeout', `${key} could not end within its timeout of ${timeoutMs} ms`, options)
    this.timeoutMs = timeoutMs
  }

  override get name(): string {
    return 'CallTimeoutError'
  }
}

/** The key has no policy, and `missingPolicyMode` is `deny`. */
export class NoPolicyError extends RepriseError {
  declare readonly code: 'no_policy'
  /** The key of the call. */
  readonly key: string

  constructor(key: string, notes: readonly string[] = []) {
    super('no_policy', [`No policy for ${key}: add it to \`policies\` of createExecutor`, ...notes].join('. '))
    this.key = key
  }

  override get name(): string {
    return 'NoPolicyError'
  }
}

/** A result that `failIf` declared a failure. */
export class ResultError extends RepriseError {
  declare readonly code: 'result_failed'
  /** The result. */
  readonly value: unknown

  constructor(key: string, value: unknown) {
    super('result_failed', `${key} returned a result that counts as a failure`)
    this.value = value
  }

  override get name(): string {
    return 'ResultError'
  }
}

/** What is wrong with one value of options or of a policy. */
export interface OptionProblem {
  /** Where, in the spelling of the input: `backoff.base`, `retry_on[2].pattern`. Empty for the input as a whole. */
  readonly path: string
  /** What is wrong, in a sentence. */
  readonly message: string
  /** What was probably meant; absent where nothing is similar. */
  readonly suggestion?: string
}

/** What is wrong with one field of a policy. */
export type PolicyProblem = OptionProblem

/** A policy is not valid; nothing was done. Names every problem. */
export class PolicyError extends RepriseError {
  declare readonly code: 'invalid_policy'
  /** Every problem, in the order of the fields. */
  readonly problems: readonly PolicyProblem[]

  constructor(problems: readonly PolicyProblem[]) {
    super('invalid_policy', `Invalid policy: ${problems.map(describeProblem).join('; ')}`)
    this.problems = problems
  }

  override get name(): string {
    return 'PolicyError'
  }
}

/** Options of a function are not what they should be; nothing was done. */
export class OptionsError extends RepriseError {
  declare readonly code: 'invalid_options'
  /** Of what the options are, such as `createExecutor`. */
  readonly subject: string
  /** Every problem, each with its path. */
  readonly problems: readonly OptionProblem[]

  constructor(subject: string, problems: readonly OptionProblem[]) {
    super('invalid_options', `Invalid options of ${subject}: ${problems.map(describeProblem).join('; ')}`)
    this.subject = subject
    this.problems = problems
  }

  override get name(): string {
    return 'OptionsError'
  }
}

function describeProblem(problem: OptionProblem): string {
  const place = problem.path === '' ? '' : `${problem.path}: `
  const cure = problem.suggestion === undefined ? '' : ` (${problem.suggestion})`
  return place + problem.message + cure
}

/**
 * A budget threw, which is then the `cause`, or answered something that is not a decision; or it was given a grant, a
 * snapshot or a name that cannot be.
 */
export class BudgetError extends RepriseError {
  declare readonly code: 'invalid_budget'
  /** What the operation failed with before the budget was asked; absent if there was no attempt before. */
  declare readonly lastError?: unknown

  constructor(message: string, options: { readonly cause?: unknown; readonly lastError?: unknown } = {}) {
    super('invalid_budget', message, options)
    if ('lastError' in options) this.lastError = options.lastError
  }

  override get name(): string {
    return 'BudgetError'
  }
}

/** What should be the snapshot of a breaker is none. */
export class BreakerStateError extends RepriseError {
  declare readonly code: 'invalid_breaker_state'
  /** The key of the breaker. */
  readonly breaker: string

  constructor(breaker: string, state: unknown) {
    super('invalid_breaker_state', `Breaker ${breaker} cannot be restored from ${JSON.stringify(state)}`)
    this.breaker = breaker
  }

  override get name(): string {
    return 'BreakerStateError'
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
