/**
 * The policies that people know, under their names, written from their published rules. Those with a budget of a kind
 * that the library does not have are in files of their own. Imports core and the simulator's types.
 */
import { adaptiveBudget } from '../../core/budgets/adaptive.js'
import { recommended } from '../../core/recommended.js'
import type { DurationInput, PolicyInput } from '../../core/policy.js'
import type { Subject } from '../subject.js'

/** How long callers wait; the same for all, so that the policies compare. */
export interface Limits {
  readonly attemptTimeout?: DurationInput
  readonly timeout?: DurationInput
}

export function wellKnown(limits: Limits = {}): readonly Subject[] {
  const { attemptTimeout = '1s', timeout = '10s' } = limits
  const exponential: PolicyInput = {
    backoff: 'exponential',
    initialDelay: '100ms',
    maxDelay: '5s',
    jitter: 'full',
    attemptTimeout,
    timeout,
  }
  const best = recommended({ attemptTimeout, timeout })
  return [
    { name: 'none', title: 'no retry', policy: { ...exponential, attempts: 1 } },
    { name: 'exponential-3', title: 'exponential, full jitter, 3 attempts', policy: { ...exponential, attempts: 3 } },
    { name: 'exponential-5', title: 'exponential, full jitter, 5 attempts', policy: { ...exponential, attempts: 5 } },
    {
      name: 'adaptive',
      title: 'adaptiveBudget',
      policy: { ...exponential, attempts: 8, budget: 'adaptive' },
      budgets: { adaptive: () => adaptiveBudget() },
    },
    {
      name: 'recommended',
      title: 'recommended (adaptiveBudget with bulkhead)',
      policy: best.defaultPolicy,
      budgets: { recommended: () => adaptiveBudget({ bulkhead: true }) },
    },
    { name: 'unlimited', title: 'unlimited retries', policy: { ...exponential, attempts: 1000 } },
  ]
}
