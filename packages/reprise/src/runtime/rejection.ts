/**
 * What a call that stopped rejects with, and how its timeline is found again from that error. Imports core only.
 */
import {
  BreakerOpenError,
  BudgetDeniedError,
  CallTimeoutError,
  NoPolicyError,
  RepriseError,
  RetryBudgetExhaustedError,
  TIMELINE,
  withoutStack,
} from '../core/errors.js'
import type { Policy } from '../core/policy.js'
import type { Timeline } from '../core/timeline.js'
import type { StopReason } from '../core/words.js'

/** What is known of a call when it stops. */
export interface Stopped {
  readonly key: string
  readonly policy: Policy
  /** Of the plan. */
  readonly notes: readonly string[]
  readonly totalDelayMs: number
  /** The last real error, if an attempt was made. */
  readonly failure: { readonly error: unknown } | null
  readonly attempt: number
  readonly budgetReason: string | undefined
  readonly breakerKey: string | undefined
}

export function rejectionFor(reason: StopReason, stopped: Stopped): unknown {
  const { key, policy, failure } = stopped
  const cause = failure === null ? undefined : { cause: failure.error }
  switch (reason) {
    case 'retry_budget_exhausted':
      return withoutStack(
        () => new RetryBudgetExhaustedError(key, stopped.totalDelayMs, policy.retryBudgetMs ?? 0, failure?.error),
      )
    case 'breaker_open':
      return withoutStack(() => new BreakerOpenError(key, stopped.breakerKey ?? key, cause))
    case 'timeout':
      return withoutStack(() => new CallTimeoutError(key, policy.timeoutMs ?? 0, cause))
    case 'no_policy':
      return new NoPolicyError(key, stopped.notes)
    default:
      if (failure !== null) return failure.error
      return withoutStack(
        () =>
          new BudgetDeniedError(
            key,
            policy.budget?.name ?? '',
            stopped.budgetReason ?? 'budget_denied',
            stopped.attempt,
          ),
      )
  }
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
