/**
 * The policies that people know, under their names, written from their published rules. Budgets of a kind that the
 * library does not have are in files of their own. Every subject has the time limits that are given, and but for
 * `fixed-3` the same waits, so that what is compared is the rule. Imports core and the simulator's types.
 */
import type { Budget } from '../../core/budget.js'
import { adaptiveBudget } from '../../core/budgets/adaptive.js'
import { durationCheck, expectOptions } from '../../core/options.js'
import type { DurationInput, PolicyInput } from '../../core/policy.js'
import { RECOMMENDED_BUDGET, recommended } from '../../core/recommended.js'
import type { Subject } from '../subject.js'
import { budgeted } from './budgeted.js'
import { SOURCES } from './sources.js'

/** How long callers wait; the same for all, so that the policies compare. */
export interface Limits {
  /** The time limit of one attempt. @default '1s' @example { attemptTimeout: '500ms' } */
  readonly attemptTimeout?: DurationInput
  /** The time limit of a whole call. @default '10s' @example { timeout: '5s' } */
  readonly timeout?: DurationInput
}

/**
 * The policies that people know, under their names, for comparison. Throws an `OptionsError` for wrong limits.
 * @example const reports = wellKnown({ timeout: '5s' }).map((subject) => simulate({ fault: 'hang' }, subject, 1))
 */
export function wellKnown(limits: Limits = {}): readonly Subject[] {
  const limit = durationCheck("a duration such as '1s'")
  expectOptions('wellKnown', limits, { attemptTimeout: limit, timeout: limit })
  const { attemptTimeout = '1s', timeout = '10s' } = limits
  const exponential: PolicyInput = {
    backoff: 'exponential',
    initialDelay: '100ms',
    maxDelay: '5s',
    jitter: 'full',
    attemptTimeout,
    timeout,
  }
  return [
    ...unbudgeted(exponential),
    ...budgeted(exponential),
    ...hedged(exponential),
    {
      name: 'adaptive',
      title: 'adaptiveBudget',
      policy: { ...exponential, attempts: 8, budget: 'adaptive' },
      budgets: { adaptive: () => adaptiveBudget() },
    },
    {
      name: 'recommended',
      title: 'recommended (adaptiveBudget with bulkhead)',
      policy: recommended({ attemptTimeout, timeout }).defaultPolicy,
      budgets: { [RECOMMENDED_BUDGET]: () => recommended().budgets[RECOMMENDED_BUDGET] as Budget },
    },
    { name: 'unlimited', title: 'unlimited retries', policy: { ...exponential, attempts: 1000 } },
  ]
}

function unbudgeted(exponential: PolicyInput): readonly Subject[] {
  return [
    { name: 'none', title: 'no retry', policy: { ...exponential, attempts: 1 } },
    {
      name: 'fixed-3',
      title: 'fixed delay, 3 attempts',
      // The defaults of Resilience4j: maxAttempts 3, waitDuration 500 ms.
      policy: { ...exponential, attempts: 3, backoff: 'fixed', initialDelay: '500ms', jitter: false },
      source: SOURCES.fixed,
    },
    {
      name: 'exponential-3',
      title: 'exponential, full jitter, 3 attempts',
      policy: { ...exponential, attempts: 3 },
      source: SOURCES.exponential,
    },
    {
      name: 'exponential-5',
      title: 'exponential, full jitter, 5 attempts',
      policy: { ...exponential, attempts: 5 },
      source: SOURCES.exponential,
    },
    {
      name: 'breaker',
      title: 'circuit breaker, 5 consecutive failures',
      // Five failures and five seconds, as in the example of the Ruby gem circuit_breaker.
      policy: { ...exponential, attempts: 5, breaker: { failureThreshold: 5, recoveryTimeout: '5s' } },
      source: SOURCES.breaker,
    },
  ]
}

/**
 * One hedge and no retry: what is seen is then the hedge's. The paper waits for the 95th percentile and hedges to
 * another replica; there is one server here, which under a load of 0.75 that tips over by itself.
 */
function hedged(exponential: PolicyInput): readonly Subject[] {
  const hedge = { percentile: 98 }
  const policy = { ...exponential, attempts: 1 }
  const title = 'hedge at the 98th percentile'
  return [
    { name: 'hedge', title, policy: { ...policy, hedge }, source: SOURCES.hedge },
    {
      name: 'hedge-budget',
      title: `${title}, adaptiveBudget`,
      policy: { ...policy, budget: 'adaptive', hedge: { ...hedge, budget: 'share' } },
      budgets: { adaptive: () => adaptiveBudget() },
      source: SOURCES.hedge,
    },
  ]
}
