/**
 * The policy's own functions, which may throw: what they say of a failure and of a result. Imports core and types.
 */
import { expectAnswer } from '../core/answer.js'
import { isRetryable } from '../core/classify.js'
import type { Launch } from './context.js'
import type { Plan } from './plan.js'

export interface Thrown {
  readonly type: 'threw'
  readonly error: unknown
}

/** Whether a failure is worth another attempt. */
export function classify(plan: Plan, error: unknown, { attempt, launch, kind }: Launch): boolean | Thrown {
  try {
    return isRetryable(plan.policy, error, { key: plan.key, attempt, launch, kind })
  } catch (thrown) {
    return { type: 'threw', error: thrown }
  }
}

/** Whether a result counts as a failure. */
export function countsAsFailure(plan: Plan, value: unknown): boolean | Thrown {
  const { failIf } = plan.policy
  if (failIf === undefined) return false
  try {
    return expectAnswer(failIf(value), 'failIf')
  } catch (thrown) {
    return { type: 'threw', error: thrown }
  }
}
