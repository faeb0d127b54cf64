/**
 * What there is to know of a policy before a word is said: a row per attempt, and walks with every kind of luck.
 * Delays and stops are the library's, asked and not computed again. Imports the library.
 */
import { delayAfter, type Policy } from 'reprise'
import { plainChance, type Walk, walk } from './walk.js'

export interface ExplainedAttempt {
  readonly attempt: number
  /** Before this attempt, without jitter; of `decorrelated` the longest. */
  readonly waitMs: number
  readonly minWaitMs: number
  readonly maxWaitMs: number
  /** Up to the start of this attempt. */
  readonly waitedMs: number
  readonly minWaitedMs: number
  readonly maxWaitedMs: number
  /** `waitedMs` as a share of `retry_budget`; null without one. */
  readonly budgetShare: number | null
}

export interface Facts {
  readonly policy: Policy
  readonly rows: readonly ExplainedAttempt[]
  readonly plain: Walk
  /** Every draw as low, and as high, as it can be. */
  readonly shortest: Walk
  readonly longest: Walk
  /** As `plain`, with every attempt taking its whole `attempt_timeout`; undefined without one. */
  readonly slow: Walk | undefined
  /** More than the longest waits together never add up to. */
  readonly mostWaitedMs: number
}

export function gatherFacts(policy: Policy): Facts {
  const chance = plainChance(policy)
  const [plain, shortest, longest] = [walk(policy, chance), walk(policy, 0), walk(policy, 1)]
  const latest = Math.max(plain.attempts, shortest.attempts, longest.attempts)
  const rows = makeRows(policy, latest)
  return {
    policy,
    rows: rows.slice(0, plain.attempts),
    plain,
    shortest,
    longest,
    slow: policy.attemptTimeoutMs === undefined ? undefined : walk(policy, chance, policy.attemptTimeoutMs),
    mostWaitedMs: rows.at(-1)?.maxWaitedMs ?? 0,
  }
}

/** What the sum of all waits stays within, whatever chance or a server's `Retry-After` adds to them. */
export function waitLimitMs({ retryBudgetMs, timeoutMs }: Policy): number {
  return Math.min(retryBudgetMs ?? Infinity, timeoutMs ?? Infinity)
}

function makeRows(policy: Policy, attempts: number): ExplainedAttempt[] {
  const rows: ExplainedAttempt[] = []
  let [waitedMs, minWaitedMs, maxWaitedMs] = [0, 0, 0]
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const waitMs = delayAfter(policy, attempt - 1)
    const minWaitMs = delayAfter(policy, attempt - 1, () => 0)
    const maxWaitMs = delayAfter(policy, attempt - 1, () => 1)
    waitedMs += waitMs
    minWaitedMs += minWaitMs
    maxWaitedMs = Math.min(maxWaitedMs + maxWaitMs, waitLimitMs(policy))
    const budgetShare = policy.retryBudgetMs === undefined ? null : shareOf(waitedMs, policy.retryBudgetMs)
    rows.push({ attempt, waitMs, minWaitMs, maxWaitMs, waitedMs, minWaitedMs, maxWaitedMs, budgetShare })
  }
  return rows
}

function shareOf(partMs: number, wholeMs: number): number {
  return wholeMs === 0 ? 0 : partMs / wholeMs
}
