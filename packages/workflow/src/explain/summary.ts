/** A policy in a line of words. Imports types of the library and its durations. */
import { formatDuration, type Policy } from 'reprise'
import type { Backoff, Matcher } from 'reprise/core'

/** `budgetWords` says more of a budget than its name, where more is known. */
export function summarize(policy: Policy, budgetWords: (name: string) => string = (name) => name): string {
  const limits = limitWords(policy, budgetWords)
  if (policy.attempts === 1) return ['one attempt, no retry', ...limits].join(' · ')
  const waits = policy.jitter === 'decorrelated' ? decorrelatedWaits(policy) : `${backoffWords(policy)}${cap(policy)}`
  return [`up to ${policy.attempts} attempts`, waits, jitterWords(policy), ...limits].join(' · ')
}

/** Which failures are retried. */
export function matcherWords(policy: Policy): string {
  return policy.retryOn.length === 0 ? 'every failure' : policy.retryOn.map(matcherWord).join(', ')
}

function matcherWord(matcher: Matcher): string {
  if (typeof matcher === 'string') return matcher
  if (typeof matcher === 'function') return 'a predicate'
  return 'pattern' in matcher ? `/${matcher.pattern}/` : `exit code ${matcher.exitCode.join(' or ')}`
}

function backoffWords({ backoff, initialDelayMs }: Policy): string {
  const initial = formatDuration(initialDelayMs)
  return BACKOFFS[backoff.type](backoff as never, initial)
}

const BACKOFFS: {
  readonly [T in Backoff['type']]: (backoff: Extract<Backoff, { type: T }>, initial: string) => string
} = {
  fixed: (_, initial) => `${initial} apart`,
  linear: ({ incrementMs }, initial) => `linear from ${initial} by ${formatDuration(incrementMs)}`,
  exponential: ({ base }, initial) => `exponential ×${base} from ${initial}`,
  fibonacci: (_, initial) => `fibonacci from ${initial}`,
  custom: (backoff) =>
    'formula' in backoff ? `formula ${backoff.formula}` : `${backoff.delaysMs.length} given delays`,
}

function cap({ backoff, initialDelayMs, maxDelayMs }: Policy): string {
  const isConstant = backoff.type === 'fixed' && initialDelayMs <= maxDelayMs
  return isConstant ? '' : `, at most ${formatDuration(maxDelayMs)}`
}

function decorrelatedWaits({ initialDelayMs, maxDelayMs }: Policy): string {
  return `from ${formatDuration(initialDelayMs)} to three times the wait before, at most ${formatDuration(maxDelayMs)}`
}

function jitterWords({ jitter, jitterFactor }: Policy): string {
  if (jitter === 'none') return 'no jitter'
  return jitter === 'proportional' ? `jitter ±${Math.round(jitterFactor * 500) / 10} %` : `${jitter} jitter`
}

function limitWords(policy: Policy, budgetWords: (name: string) => string): string[] {
  const { attemptTimeoutMs, timeoutMs, retryBudgetMs, budget, breaker, hedge } = policy
  const words = [
    attemptTimeoutMs !== undefined && `${formatDuration(attemptTimeoutMs)} per attempt`,
    timeoutMs !== undefined && `${formatDuration(timeoutMs)} in all`,
    retryBudgetMs !== undefined && policy.attempts > 1 && `retry budget ${formatDuration(retryBudgetMs)}`,
    budget !== undefined && `asks budget ${budgetWords(budget.name)}`,
    breaker !== undefined && `breaker opens at ${breaker.failureThreshold}`,
    hedge !== undefined && `hedges ${hedge.maxHedges}`,
  ]
  return words.filter((word) => word !== false)
}
