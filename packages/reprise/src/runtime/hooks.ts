/**
 * The policy's own functions, which may throw: what they say of a failure and of a result. Imports core and types.
 */
import { isRetryable } from '../core/classify.js'
import type { AttemptKind } from '../core/words.js'
import { reportLater } from './hook-errors.js'
import type { Plan } from './plan.js'

export interface Thrown {
  readonly type: 'threw'
  readonly error: unknown
}

/** Whether a failure is worth another attempt. */
export function classify(plan: Plan, error: unknown, kind: AttemptKind, attempt: number): boolean | Thrown {
  const { retryOn } = plan.policy
  if (retryOn.length === 0) return true
  try {
    return isRetryable(plan.policy, error, { key: plan.key, attempt, kind })
  } catch (thrown) {
    return { type: 'threw', error: thrown }
  }
}

/** A promise is always truthy: taken for an answer it would turn every result into a failure. */
function synchronous(answer: unknown, name: string): boolean {
  if (typeof (answer as { then?: unknown } | null | undefined)?.then !== 'function') return Boolean(answer)
  reportLater(answer)
  throw new TypeError(`${name} answered with a promise: it must be synchronous`)
}

/** Whether a result counts as a failure. */
export function countsAsFailure(plan: Plan, value: unknown): boolean | Thrown {
  const { failIf } = plan.policy
  if (failIf === undefined) return false
  try {
    return synchronous(failIf(value), 'failIf')
  } catch (thrown) {
    return { type: 'threw', error: thrown }
  }
}
