/**
 * What is worth a second look in a policy that is valid. Each hint has a code that stays, and a sentence that may change.
 * Imports the library.
 */
import { formatDuration, normalizePolicy, type Policy } from 'reprise'
import type { Backoff } from 'reprise/core'
import { roundedDuration } from '../words/duration.js'
import type { Facts } from './facts.js'
import { GATE_HINTS } from './gate-hints.js'
import type { HintRule } from './hint-rule.js'

export interface Hint {
  readonly code: string
  readonly message: string
}

export function hintsFor(facts: Facts): Hint[] {
  return [...(facts.policy.attempts === 1 ? ONCE : RETRY_HINTS), ...GATE_HINTS].flatMap(([code, say]) => {
    const message = say(facts)
    return message ? [{ code, message }] : []
  })
}

/** Waits longer than this are rarely what a person meant to wait for. */
const LONG_WAIT_MS = 600_000

const ONCE: readonly HintRule[] = [['runs_once', ({ policy }) => runsOnce(policy)]]

const RETRY_HINTS: readonly HintRule[] = [
  [
    'no_jitter',
    ({ policy }) =>
      policy.jitter === 'none' &&
      'Without jitter, callers that failed together return together: `jitter: full` spreads them.',
  ],
  [
    'retries_everything',
    ({ policy }) =>
      policy.retryOn.length === 0 &&
      'Every failure is retried, also one that cannot get better, such as a 404 or a bug. Name what can: `retry_on: [network, timeout, 5xx, rate_limit]`.',
  ],
  [
    'timeout_not_retried',
    ({ policy }) =>
      policy.attemptTimeoutMs !== undefined &&
      policy.retryOn.length > 0 &&
      policy.retryOn.every(
        (matcher) => typeof matcher === 'string' && matcher !== 'timeout' && matcher !== 'network',
      ) &&
      'An attempt that runs into `attempt_timeout` is not retried: `timeout` is missing from `retry_on`.',
  ],
  [
    'no_attempt_timeout',
    ({ policy }) =>
      policy.attemptTimeoutMs === undefined &&
      (policy.timeoutMs === undefined
        ? 'Nothing ends an attempt that hangs: add `attempt_timeout`.'
        : 'An attempt that hangs uses up the whole `timeout`, and is not retried: add a shorter `attempt_timeout`.'),
  ],
  [
    'retry_budget_below_first_wait',
    ({ policy, plain, shortest }) =>
      plain.reason === 'retry_budget_exhausted' &&
      Math.max(plain.attempts, shortest.attempts) === 1 &&
      `The retry budget of ${formatDuration(policy.retryBudgetMs ?? 0)} is below the first wait: nothing is retried.`,
  ],
  [
    'attempts_out_of_reach',
    ({ policy, plain, shortest }) =>
      plain.reason !== 'attempts_exhausted' &&
      Math.max(plain.attempts, shortest.attempts) > 1 &&
      shortest.attempts < policy.attempts &&
      `${policy.attempts} attempts are never reached: ${Math.max(plain.attempts, shortest.attempts)} is the most.`,
  ],
  [
    'retry_budget_out_of_reach',
    ({ policy, mostWaitedMs, plain, shortest, longest }) =>
      policy.retryBudgetMs !== undefined &&
      mostWaitedMs < policy.retryBudgetMs &&
      [plain, shortest, longest].every(({ reason }) => reason !== 'retry_budget_exhausted') &&
      `The waits add up to ${roundedDuration(mostWaitedMs)} at most: the retry budget of ${formatDuration(policy.retryBudgetMs)} never stops them.`,
  ],
  [
    'no_wait',
    ({ rows }) =>
      rows.length > 1 &&
      rows.every((row) => row.maxWaitMs === 0) &&
      'Retries follow at once. A dependency in trouble needs time: give `initial_delay` some.',
  ],
  [
    'long_wait',
    ({ mostWaitedMs }) =>
      mostWaitedMs > LONG_WAIT_MS &&
      `A call can spend ${roundedDuration(mostWaitedMs)} waiting. \`retry_budget\` limits that.`,
  ],
  [
    'above_max_delay',
    ({ policy, rows }) =>
      policy.jitter === 'proportional' &&
      rows.some((row) => row.maxWaitMs > policy.maxDelayMs) &&
      'Jitter comes after the cap: a wait may be longer than `max_delay`.',
  ],
  [
    'does_not_grow',
    ({ policy: { backoff } }) =>
      backoff.type === 'exponential' &&
      backoff.base <= 1 &&
      `With base ${backoff.base} the waits ${backoff.base === 1 ? 'do not grow' : 'shrink'}.`,
  ],
  [
    'backoff_unused',
    ({ policy: { jitter, backoff } }) =>
      jitter === 'decorrelated' &&
      !isUsualBackoff(backoff) &&
      `\`decorrelated\` draws from the wait before: the ${backoff.type} backoff has no effect.`,
  ],
  [
    'jitter_factor_unused',
    ({ policy }) =>
      policy.jitterFactor !== 0.3 &&
      policy.jitter !== 'proportional' &&
      '`jitter_factor` has an effect with `jitter: true` only.',
  ],
  ['custom_delays', ({ policy }) => customDelays(policy)],
]

/** Names what was given for retries that never come. */
function runsOnce(policy: Policy): string {
  const { policy: usual } = normalizePolicy(1)
  const unused = [
    policy.initialDelayMs !== usual.initialDelayMs && '`initial_delay`',
    policy.maxDelayMs !== usual.maxDelayMs && '`max_delay`',
    !isUsualBackoff(policy.backoff) && '`backoff`',
    policy.jitter !== usual.jitter && '`jitter`',
    policy.retryBudgetMs !== undefined && '`retry_budget`',
  ].filter((name) => name !== false)
  if (unused.length === 0) return 'One attempt means no retry.'
  return `One attempt means no retry: ${unused.join(', ')} ${unused.length === 1 ? 'has' : 'have'} no effect.`
}

function isUsualBackoff(backoff: Backoff): boolean {
  return backoff.type === 'exponential' && backoff.base === 2
}

function customDelays({ backoff, attempts, maxDelayMs, jitter }: Facts['policy']): string | false {
  if (!('delaysMs' in backoff) || jitter === 'decorrelated') return false
  const { delaysMs } = backoff
  const most = formatDuration(maxDelayMs)
  const cut = delaysMs.find((delayMs) => delayMs > maxDelayMs)
  if (cut !== undefined) return `The delay of ${formatDuration(cut)} is cut to \`max_delay\`, ${most}.`
  const [given, needed] = [delaysMs.length, attempts - 1]
  if (given < needed) return `${given} of ${needed} waits are given: each further one is \`max_delay\`, ${most}.`
  return given > needed && `Of ${given} delays only the first ${needed} can be used: there are ${attempts} attempts.`
}
