/**
 * What a policy does, as data: attempt by attempt, where it stops, and what is worth a second look.
 * `--json` prints exactly this. Imports the library's types and the parts of an explanation.
 */
import type { Policy, StopReason } from 'reprise'
import type { FoundPolicy, PolicyRole } from '../plan/found-policies.js'
import type { MapStarts } from '../plan/map-starts.js'
import { type ExplainedAttempt, type Facts, gatherFacts } from './facts.js'
import { type Hint, hintsFor } from './hints.js'
import { hintsInMap, mapHints } from './map-hints.js'
import { stopSentence } from './stop-sentence.js'
import { summarize } from './summary.js'

interface Stop {
  /** The last attempt that is made, without jitter. */
  readonly attempt: number
  readonly reason: StopReason
  readonly sentence: string
  /** The last attempt with the unluckiest and the luckiest draws. */
  readonly earliestAttempt: number
  readonly latestAttempt: number
}

export interface Explanation {
  /** `MAP/STEP` for a step that is done for each item of a map. */
  readonly step: string | null
  readonly role: PolicyRole
  readonly summary: string
  /** The condition that the step polls for; null without one. */
  readonly until: string | null
  readonly policy: Policy
  readonly attempts: readonly ExplainedAttempt[]
  readonly stop: Stop
  /** More than all waits together never add up to, `Retry-After` apart. */
  readonly mostWaitedMs: number
  /** What the longest call can take: every attempt its timeout, every wait its longest. Null if unknown. */
  readonly longestMs: number | null
  /** How often it can be started; null where there are no items. */
  readonly starts: MapStarts | null
  readonly hints: readonly Hint[]
  /** What the library remarked when it read the policy. */
  readonly notes: readonly string[]
}

export function explain(found: Omit<FoundPolicy, 'name'>): Explanation {
  const { step, role, until = null, starts, policy, notes } = found
  const facts = gatherFacts(policy)
  const { plain } = facts
  const ends = [plain.attempts, facts.shortest.attempts, facts.longest.attempts]
  const latestAttempt = Math.max(...ends)
  return {
    step,
    role,
    summary: summarize(policy),
    until,
    policy,
    attempts: facts.rows,
    stop: {
      attempt: plain.attempts,
      reason: plain.reason,
      sentence: stopSentence(facts),
      earliestAttempt: Math.min(...ends),
      latestAttempt,
    },
    mostWaitedMs: facts.mostWaitedMs,
    longestMs: longestCall(facts, latestAttempt),
    starts,
    hints:
      starts === null ? hintsFor(facts) : [...mapHints(role, starts), ...hintsInMap(hintsFor(facts), role, starts)],
    notes,
  }
}

function longestCall({ policy, mostWaitedMs }: Facts, attempts: number): number | null {
  const { timeoutMs } = policy
  const groupMs = longestGroup(policy)
  if (groupMs === undefined) return timeoutMs ?? null
  return Math.min(timeoutMs ?? Infinity, attempts * groupMs + mostWaitedMs)
}

/** One attempt with its hedges, the last of which has its whole timeout. Undefined if nobody knows beforehand. */
function longestGroup({ attemptTimeoutMs, hedge }: Policy): number | undefined {
  if (attemptTimeoutMs === undefined || hedge === undefined) return attemptTimeoutMs
  if (hedge.delayMs === undefined) return undefined
  const startsInTime = hedge.delayMs < attemptTimeoutMs
  return attemptTimeoutMs + (startsInTime ? hedge.maxHedges * hedge.delayMs : 0)
}
