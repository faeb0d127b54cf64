/** Hints on timeouts, breakers, hedges and budgets: where two limits meet. Imports durations of the library. */
import { formatDuration } from 'reprise'
import { roundedDuration } from '../words/duration.js'
import type { Facts } from './facts.js'
import type { HintRule } from './hint-rule.js'

export const GATE_HINTS: readonly HintRule[] = [
  ['timeout_before_attempts', (facts) => slowCall(facts)],
  [
    'breaker_needs_many_calls',
    ({ policy: { breaker, attempts } }) =>
      breaker !== undefined &&
      breaker.failureThreshold > attempts &&
      `The breaker opens at ${breaker.failureThreshold} failures in a row, and one call makes ${attempts} at most: only several calls together open it.`,
  ],
  [
    'breaker_opened_by_one_call',
    ({ policy: { breaker, attempts } }) =>
      breaker !== undefined &&
      breaker.failureThreshold < attempts &&
      `One call alone opens the breaker: its failure ${breaker.failureThreshold} of ${attempts}. All calls with the same key are refused then.`,
  ],
  [
    'hedge_without_budget',
    ({ policy: { hedge, budget } }) =>
      hedge !== undefined &&
      budget === undefined &&
      hedge.budget === undefined &&
      'When the dependency is slow, every call hedges, and the load doubles when it hurts most. Give the hedge a `budget`.',
  ],
  [
    'hedge_too_late',
    ({ policy: { hedge, attemptTimeoutMs } }) =>
      hedge?.delayMs !== undefined &&
      attemptTimeoutMs !== undefined &&
      hedge.delayMs >= attemptTimeoutMs &&
      `A hedge after ${formatDuration(hedge.delayMs)} never starts: the attempt has timed out by then.`,
  ],
  [
    'product_of_limits',
    ({ policy: { hedge, attempts } }) =>
      hedge !== undefined &&
      `${count(attempts, 'attempt')} with ${count(hedge.maxHedges, 'hedge')}${attempts === 1 ? '' : ' each'}: up to ${attempts * (1 + hedge.maxHedges)} executions for one call.`,
  ],
  [
    'budget_decides',
    ({ policy: { budget } }) =>
      budget !== undefined && `Budget ${budget.name} is asked before each attempt, and a denial ends the call earlier.`,
  ],
]

/** What becomes of the attempts when each takes as long as it may. */
function slowCall({ policy, plain, slow }: Facts): string | false {
  const { attemptTimeoutMs = 0, timeoutMs = 0 } = policy
  if (slow === undefined || slow.reason !== 'timeout' || slow.attempts >= plain.attempts) return false
  const most = slow.attempts === 1 ? 'there is no time for a retry' : `attempt ${slow.attempts} is the last`
  const timeout = `the timeout of ${formatDuration(timeoutMs)}`
  const end =
    slow.endedAtMs >= timeoutMs
      ? `${timeout} ends the call`
      : `the call ends after ${roundedDuration(slow.endedAtMs)}, for the next wait would not end before ${timeout}`
  return `If attempts take their whole ${formatDuration(attemptTimeoutMs)}, ${most}: ${end}.`
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}
