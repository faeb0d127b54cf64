/**
 * The settings to start with: exponential, full jitter, a time limit for everything, and a budget for every key that
 * keeps an outage at the load it has anyway. `docs/retry-storms.md` shows what each part is for. Imports core only.
 */
import type { Budget } from './budget.js'
import { adaptiveBudget } from './budgets/adaptive.js'
import { perKey } from './budgets/per-key.js'
import type { PolicyInput } from './policy.js'

/** Options of an executor. */
export interface Recommended {
  readonly defaultPolicy: PolicyInput
  readonly budgets: Readonly<Record<string, Budget>>
}

/** The name of the budget in its policy. */
export const RECOMMENDED_BUDGET = 'recommended'

/** `createExecutor(recommended())`; fields of a policy given here take the place of its own. Every call makes new budgets. */
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
