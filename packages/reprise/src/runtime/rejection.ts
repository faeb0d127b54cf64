/**
 * What a call that stopped rejects with, and how its timeline is found again from that error. Imports core and types.
 */
import type { Decision } from '../core/budget.js'
import {
  BreakerOpenError,
  BudgetDeniedError,
  BudgetError,
  CallTimeoutError,
  NoPolicyError,
  RepriseError,
  RetryBudgetExhaustedError,
  TIMELINE,
  withoutStack,
} from '../core/errors.js'
import { BudgetPanic } from '../core/gate.js'
import type { Timeline } from '../core/timeline.js'
import type { StopReason } from '../core/words.js'
import type { Plan } from './plan.js'

/** What is known of a call when it stops. */
export interface Stopped {
  readonly plan: Plan
  readonly totalDelayMs: number
  /** The last real error, if an attempt was made. */
  readonly failure: { readonly error: unknown } | null
  readonly attempt: number
  /** What the budget said, if one ended the call. */
  readonly denial: Decision | undefined
}

export function rejectionFor(reason: StopReason, stopped: Stopped): unknown {
  const { plan, failure } = stopped
  const { key, policy } = plan
  const cause = failure === null ? undefined : { cause: failure.error }
  switch (reason) {
    case 'retry_budget_exhausted':
      return withoutStack(
        () => new RetryBudgetExhaustedError(key, stopped.totalDelayMs, policy.retryBudgetMs ?? 0, failure?.error),
      )
    case 'breaker_open':
      return withoutStack(() => new BreakerOpenError(key, plan.breaker?.key ?? key, cause))
    case 'timeout':
      return withoutStack(() => new CallTimeoutError(key, policy.timeoutMs ?? 0, cause))
    case 'no_policy':
      return new NoPolicyError(key, plan.notes)
    case 'budget_denied':
      return withoutStack(() => denialError(stopped))
    default:
      return failure?.error
  }
}

function denialError({ plan, failure, attempt, denial }: Stopped): unknown {
  const budget = plan.policy.budget?.name ?? ''
  const panic = denial instanceof BudgetPanic ? { cause: denial.error } : undefined
  if (panic !== undefined && !plan.environment.recoverHookErrors) {
    const { cause } = panic
    const said = cause instanceof Error ? `: ${cause.message}` : ''
    const message = cause instanceof BudgetError ? cause.message : `Budget ${budget} threw${said}`
    return new BudgetError(message, failure === null ? panic : { cause, lastError: failure.error })
  }
  if (failure !== null) return failure.error
  return new BudgetDeniedError(plan.key, budget, denial?.reason ?? 'budget_denied', attempt, panic)
}

// ── timelines by error ───────────────────────────────────────────────────────────────────────────

/** Whatever can give the timeline of a call that has ended. */
export interface TimelineSource {
  timeline(): Timeline
}

/** For errors of the operation; an error of this library carries its call itself, which is much cheaper. */
const sources = new WeakMap<object, TimelineSource>()

export function rememberTimeline(error: unknown, source: TimelineSource): void {
  if (isOurs(error)) error[TIMELINE] = source
  else if (isReference(error)) sources.set(error, source)
}

/**
 * The timeline of the call that rejected with `error`; of an error that several calls shared, the latest's. Undefined
 * for other errors.
 * @example await retry(() => fetchPrice('tea')).catch((error) => console.log(timelineOf(error)?.attempts.length))
 */
export function timelineOf(error: unknown): Timeline | undefined {
  if (isOurs(error)) return (error[TIMELINE] as TimelineSource | undefined)?.timeline()
  return isReference(error) ? sources.get(error)?.timeline() : undefined
}

function isReference(error: unknown): error is object {
  return (typeof error === 'object' && error !== null) || typeof error === 'function'
}

/** Of this copy of the library, and really constructed: then it has the slot. A proxy may refuse even to be asked. */
function isOurs(error: unknown): error is RepriseError {
  try {
    return error instanceof RepriseError && (error[TIMELINE], true)
  } catch {
    return false
  }
}
