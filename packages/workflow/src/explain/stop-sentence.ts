/** Where a call that keeps failing stops, and why, in a sentence. Imports the library's durations. */
import { delayAfter, formatDuration, type Policy } from 'reprise'
import { roundedDuration } from '../words/duration.js'
import type { Facts } from './facts.js'

export function stopSentence(facts: Facts): string {
  const { policy, plain, shortest, longest } = facts
  const sentence = `Stops after attempt ${plain.attempts} (${plain.reason}): ${because(facts)}.`
  const [least, most] = [Math.min(plain.attempts, longest.attempts), Math.max(plain.attempts, shortest.attempts)]
  if (policy.jitter === 'none' || least === most) return sentence
  const which = most === least + 1 ? `${least} or ${most}` : `any from ${least} to ${most}`
  return `${sentence} Chance decides: the last attempt is ${which}.`
}

function because({ policy, plain }: Facts): string {
  const nextMs = delayAfter(policy, plain.attempts)
  const next = `the next wait of ${roundedDuration(nextMs)}`
  switch (plain.reason) {
    case 'retry_budget_exhausted':
      return `${next} would bring the sum to ${roundedDuration(plain.waitedMs + nextMs)}, above the retry budget of ${limit(policy.retryBudgetMs)}`
    case 'timeout':
      return `${next} would not end before the timeout of ${limit(policy.timeoutMs)}`
    case 'breaker_open':
      return `failure ${breakerFailures(policy)} in a row opens the breaker for ${limit(policy.breaker?.recoveryTimeoutMs)}, longer than ${next}`
    default:
      return policy.attempts === 1 ? 'it is the only one' : `it is the last of ${policy.attempts}`
  }
}

function limit(ms: number | undefined): string {
  return formatDuration(ms ?? 0)
}

function breakerFailures(policy: Policy): number {
  return policy.breaker?.failureThreshold ?? 0
}
