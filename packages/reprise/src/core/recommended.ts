/**
 * The settings to start with: exponential, full jitter, a time limit for everything, and a budget for every key that
 * keeps an outage at the load it has anyway. `docs/retry-storms.md` shows what each part is for. Imports core only.
 */
import type { Budget } from './budget.js'
import { adaptiveBudget } from './budgets/adaptive.js'
import { perKey } from './budgets/per-key.js'
import type { PolicyInput } from './policy.js'

/** Options of `createExecutor`, as `recommended` makes them. */
export interface Recommended {
  /** The policy for keys without one. */
  readonly defaultPolicy: PolicyInput
  /** The budget that the policy names. */
  readonly budgets: Readonly<Record<string, Budget>>
}

/** The name of the budget in its policy. */
export const RECOMMENDED_BUDGET = 'recommended'

/**
 * The settings to start with: 8 attempts, exponential waits from 100 ms to 5 s with full jitter, 3 s for an attempt, 10
 * s for a call, and an adaptive budget for each key. Fields of `changes` replace those of the policy. Every call makes
 * new budgets.
 * @example const api = createExecutor(recommended({ timeout: '30s' }))
 */
export function recommended(changes: PolicyInput = {}): Recommended {
  return {
    defaultPolicy: {
      attempts: 8,
      backoff: 'exponential',
      initialDelay: '100ms',
      maxDelay: '5s',
      jitter: 'full',
      attemptTimeout: '3s',
      timeout: '10s',
      budget: RECOMMENDED_BUDGET,
      ...changes,
    },
    budgets: { [RECOMMENDED_BUDGET]: perKey(() => adaptiveBudget({ bulkhead: true })) },
  }
}
