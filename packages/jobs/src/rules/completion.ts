/**
 * Whether a job is over, and with what: asked in the transaction of every report, and by timers.
 *
 * Invariants: pure; the answer depends on the state and the time alone, so it does not matter which process asks, or how
 * often. The order of the ledger decides: a report that is committed before the timer of a deadline counts.
 * Imports the settings and the ends of datacenters.
 */
import { formatDuration } from 'reprise'
import type { EffectiveSettings } from './clamp.js'
import { countsTowardMinimum, type DatacenterEnd } from './datacenter-end.js'

/** A datacenter, as completion sees it. */
export interface DatacenterStanding {
  readonly name: string
  /** null: has not reported. */
  readonly end: DatacenterEnd | null
  /** null: has not reported. */
  readonly reportedAtMs: number | null
  /** A worker of the datacenter has a lease that has not run out. */
  readonly hasLivingWorker: boolean
  /** Since the last heartbeat of any worker of the datacenter, as far as one is known. For people. */
  readonly silentForMs?: number | undefined
}

export interface CompletionState {
  readonly settings: EffectiveSettings
  /** When the round began: the submission, or the last retry by hand. Datacenters may have reported before it. */
  readonly submittedAtMs: number
  readonly isCancelled: boolean
  readonly datacenters: readonly DatacenterStanding[]
}

export const OUTCOMES = ['complete', 'partial', 'below_minimum', 'failed'] as const

/** What a job has to show: everything, a part, less than its minimum, or nothing. */
export type JobOutcome = (typeof OUTCOMES)[number]

export const COMPLETION_REASONS = [
  'all_dcs_reported',
  'min_dcs_reached',
  'deadline_expired',
  'cancelled',
  'timeout',
] as const

/** Why a job completed when it did. */
export type CompletionReason = (typeof COMPLETION_REASONS)[number]

/** How a job ended. */
export interface Completion {
  readonly kind: 'complete'
  readonly reason: CompletionReason
  readonly outcome: JobOutcome
  readonly success: boolean
  readonly minDcsMet: boolean
}

/** What a job waits for. */
export interface Waiting {
  readonly kind: 'wait'
  /** When to ask again if nothing is reported; null: nothing but a report ends the job. */
  readonly nextAtMs: number | null
  /** What ends the job at that time. */
  readonly nextIs: 'settle' | 'deadline' | 'timeout' | null
  /** Too many datacenters have failed for the minimum to be reached. */
  readonly isMinimumUnreachable: boolean
  /** For people. */
  readonly sentence: string
}

export function evaluateCompletion(state: CompletionState, now: number): Completion | Waiting {
  const { settings, datacenters, isCancelled } = state
  const open = datacenters.filter(({ end }) => end === null)
  if (open.length === 0) return completed(state, failedByTimeout(state, now) ? 'timeout' : 'all_dcs_reported')
  if (isCancelled) return completed(state, 'cancelled')
  const moments = momentsOf(state, now)
  const due = moments.find(({ atMs }) => atMs <= now)
  if (due !== undefined) return completed(state, due.reason)
  const next = moments[0]
  const reachable = countedIn(state) + open.length
  return {
    kind: 'wait',
    nextAtMs: next?.atMs ?? null,
    nextIs: next?.is ?? null,
    isMinimumUnreachable: settings.bestEffort && reachable < settings.minDcs,
    sentence: sentenceOf(state, open, next, now),
  }
}

/**
 * Workflows end at the timeout of the job as well, and may report so before its timer is executed: the job has timed out all
 * the same. What is complete by then counts, whatever the clock says.
 */
function failedByTimeout(state: CompletionState, now: number): boolean {
  const [first] = momentsOf(state, now)
  const isOver = first?.is === 'timeout' && first.atMs < now
  return isOver && verdictOf(state, 'all_dcs_reported').outcome !== 'complete'
}

interface Moment {
  readonly atMs: number
  readonly reason: CompletionReason
  readonly is: 'settle' | 'deadline' | 'timeout'
}

/** The moments that end the job, earliest first; of equal ones the better for the job. */
function momentsOf(state: CompletionState, now: number): readonly Moment[] {
  const { settings, submittedAtMs } = state
  const deadlineAtMs = settings.deadlineMs === null ? Infinity : submittedAtMs + settings.deadlineMs
  const moments: Moment[] = []
  const settledAtMs = settings.bestEffort ? settledAt(state, now) : Infinity
  if (settledAtMs < Infinity) {
    // Settling never passes the deadline.
    moments.push({ atMs: Math.min(settledAtMs, deadlineAtMs), reason: 'min_dcs_reached', is: 'settle' })
  }
  if (deadlineAtMs < Infinity) moments.push({ atMs: deadlineAtMs, reason: 'deadline_expired', is: 'deadline' })
  if (settings.timeoutMs !== null) {
    moments.push({ atMs: submittedAtMs + settings.timeoutMs, reason: 'timeout', is: 'timeout' })
  }
  return moments.toSorted((a, b) => a.atMs - b.atMs)
}

/**
 * When the job has waited long enough after its minimum was reached in this round; Infinity: it is not reached, or was
 * before a retry by hand. The minimum cannot end that retry, which asks for the other datacenters.
 */
function settledAt({ settings, submittedAtMs, datacenters }: CompletionState, now: number): number {
  const { minDcs, settleMs, datacenterSuccess } = settings
  const reports = datacenters
    .filter(({ end }) => countsTowardMinimum(end, datacenterSuccess))
    .map(({ reportedAtMs }) => reportedAtMs ?? now)
    .toSorted((a, b) => a - b)
  const reachedAtMs = reports[minDcs - 1]
  if (reachedAtMs === undefined || reachedAtMs < submittedAtMs) return Infinity
  const rest = datacenters.filter(({ end }) => end === null)
  const isAnybodyLeft = rest.some(({ hasLivingWorker }) => hasLivingWorker)
  return isAnybodyLeft ? reachedAtMs + settleMs : Math.min(now, reachedAtMs + settleMs)
}

function countedIn({ settings, datacenters }: CompletionState): number {
  return datacenters.filter(({ end }) => countsTowardMinimum(end, settings.datacenterSuccess)).length
}

function completed(state: CompletionState, reason: CompletionReason): Completion {
  return { kind: 'complete', reason, ...verdictOf(state, reason) }
}

/** Outcome and success, by what was reported. */
export function verdictOf(
  state: Pick<CompletionState, 'settings' | 'datacenters'>,
  reason: CompletionReason,
): Pick<Completion, 'outcome' | 'success' | 'minDcsMet'> {
  const { settings, datacenters } = state
  const counted = datacenters.filter(({ end }) => countsTowardMinimum(end, settings.datacenterSuccess)).length
  const minDcsMet = counted >= settings.minDcs
  const outcome = outcomeOf(datacenters, settings, minDcsMet)
  const isStopped = reason === 'cancelled' || reason === 'timeout'
  const isEnough = settings.bestEffort && (minDcsMet || (!settings.strictMinDcs && counted > 0))
  return { outcome, success: !isStopped && (outcome === 'complete' || isEnough), minDcsMet }
}

function outcomeOf(
  datacenters: readonly DatacenterStanding[],
  { bestEffort }: EffectiveSettings,
  minDcsMet: boolean,
): JobOutcome {
  if (datacenters.every(({ end }) => end === 'completed')) return 'complete'
  const hasResults = datacenters.some(({ end }) => end === 'completed' || end === 'completed_with_failures')
  if (!hasResults) return 'failed'
  return bestEffort && !minDcsMet ? 'below_minimum' : 'partial'
}

function sentenceOf(
  state: CompletionState,
  open: readonly DatacenterStanding[],
  next: Moment | undefined,
  now: number,
): string {
  const { settings, datacenters } = state
  const counted = countedIn(state)
  const names = open.map((one) => (one.hasLivingWorker ? one.name : `${one.name} (${silenceOf(one)})`))
  const missing = settings.minDcs - counted
  const parts = [
    `waits for ${names.join(', ')}`,
    ...(settings.bestEffort && missing > 0
      ? [
          missing > open.length
            ? `the minimum of ${settings.minDcs} datacenters cannot be reached`
            : `${counted} of at least ${settings.minDcs} datacenters completed`,
        ]
      : [`${datacenters.length - open.length} of ${datacenters.length} datacenters reported`]),
    ...(next === undefined
      ? []
      : [`${momentWords(next)} in ${formatDuration(Math.ceil((next.atMs - now) / 1000) * 1000)}`]),
  ]
  return parts.join('; ')
}

function silenceOf({ silentForMs = 0 }: DatacenterStanding): string {
  const seconds = Math.floor(silentForMs / 1000)
  return seconds > 0 ? `no worker for ${formatDuration(seconds * 1000)}` : 'no worker'
}

function momentWords({ is }: Moment): string {
  return is === 'settle' ? 'completes with what is there' : is
}
