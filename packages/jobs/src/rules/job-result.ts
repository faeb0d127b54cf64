/**
 * The result of a job, derived from the job and from the datacenters that count, each time it is asked for. It is never
 * copied, so there is no second copy that could disagree, and a late result that does not count cannot change a byte of it.
 * Pure. Imports the rules.
 */
import type { Json } from 'reprise/durable'
import { type Aggregate, aggregateOutputs } from './aggregate.js'
import type { EffectiveSettings } from './clamp.js'
import type { Completion, CompletionReason, JobOutcome } from './completion.js'
import { countsTowardMinimum, type DatacenterEnd, type WorkflowCounts } from './datacenter-end.js'
import type { AggregateKind } from './job-request.js'
import type { DenialReason } from './retry-grant.js'

/** How a workflow ended at a datacenter. `skipped`: a workflow that it needs did not succeed there. */
export type WorkflowEnd = 'succeeded' | 'failed' | 'skipped' | 'cancelled'

/** One workflow at one datacenter. */
export interface WorkflowResult {
  /** The name of the workflow in the job. */
  readonly name: string
  /** How it ended. */
  readonly state: WorkflowEnd
  /** Attempts that were made, the first one included. */
  readonly attempts: number
  /** Attempts that were charged to the retry budget. */
  readonly retries: number
  /** When its first attempt began; null: it never began. */
  readonly startedAtMs: number | null
  /** When it ended. */
  readonly endedAtMs: number
  /** Its `outputs`, by name; empty unless it succeeded. */
  readonly outputs: Readonly<Record<string, Json>>
  /** The last real error, or why it was skipped; null: it succeeded, or was cancelled. */
  readonly error: string | null
  /** Why there was no further attempt; null: no retry was denied. */
  readonly denied: DenialReason | null
}

/** A datacenter that has reported, as its record says. */
export interface DatacenterReport {
  /** The name of the datacenter. */
  readonly name: string
  /** How it ended. */
  readonly end: DatacenterEnd
  /** Its workflows by how they ended. */
  readonly counts: WorkflowCounts
  /** When its last workflow ended. */
  readonly reportedAtMs: number
  /** Reported after the job had completed. */
  readonly isLate: boolean
  /** False: a late report that the policy keeps out of the result. */
  readonly isCounted: boolean
  /** Its workflows, in the order of their names. */
  readonly workflows: readonly WorkflowResult[]
}

/** A job that has completed, as its record says. */
export interface CompletedJobRecord {
  readonly id: string
  readonly name: string
  readonly targets: readonly string[]
  readonly settings: EffectiveSettings
  readonly aggregate: Readonly<Record<string, AggregateKind>>
  readonly completion: Completion
  readonly submittedAtMs: number
  readonly completedAtMs: number
  readonly version: number
}

/** A datacenter that counts in the result. */
interface DatacenterResult {
  /** The name of the datacenter. */
  readonly name: string
  /** How it ended. */
  readonly state: DatacenterEnd
  /** It reported after the job had completed, and the job takes late results in. */
  readonly isLate: boolean
  /** When its report was committed. */
  readonly reportedAtMs: number
  /** Every workflow of the job, in the order of the job. */
  readonly workflows: readonly WorkflowResult[]
}

/** What came of a job. */
export interface JobResult {
  /** The id of the job. */
  readonly jobId: string
  /** The name of the job. */
  readonly name: string
  /** What there is: everything, a part, less than the minimum, or nothing. */
  readonly outcome: JobOutcome
  /** Whether that is enough by the job's own settings. */
  readonly success: boolean
  /** At least `best_effort_min_dcs` datacenters completed; all of them where best effort is off. */
  readonly minDcsMet: boolean
  /** Why the job completed when it did. */
  readonly reason: CompletionReason
  /** 1, and one more with every late result that was taken in. */
  readonly version: number
  /** When the job was accepted. */
  readonly submittedAtMs: number
  /** When it completed for the first time. */
  readonly completedAtMs: number
  /** From its acceptance to its first completion. */
  readonly durationMs: number
  /** Datacenters that reported and count: totals and aggregates are over these alone. */
  readonly reported: readonly string[]
  /** Reported datacenters that count toward the minimum. */
  readonly completed: readonly string[]
  /** Reported datacenters that do not count toward the minimum. */
  readonly failed: readonly string[]
  /** Targets without a report that counts. */
  readonly missing: readonly string[]
  /** What becomes of the missing ones: they run on, or were stopped. */
  readonly stragglers: 'none' | 'running' | 'cancelled_after_completion'
  /** Completed datacenters of all targets. */
  readonly ratio: number
  /** Sums over the reported datacenters. */
  readonly totals: JobTotals
  /** The outputs that `aggregate` of the job names, combined. */
  readonly aggregates: Readonly<Record<string, Aggregate>>
  /** The reported datacenters, in the order of the targets. */
  readonly datacenters: readonly DatacenterResult[]
}

/** Sums over the datacenters that reported. */
interface JobTotals {
  /** Workflows, each counted once for each datacenter. */
  readonly workflows: number
  /** Of these, those that succeeded. */
  readonly succeeded: number
  /** Of these, those that failed. */
  readonly failed: number
  /** Of these, those that were skipped. */
  readonly skipped: number
  /** Of these, those that were cancelled. */
  readonly cancelled: number
  /** Attempts of all workflows. */
  readonly attempts: number
  /** Attempts that were charged to the retry budget. */
  readonly retries: number
  /** From the first attempt to the end, over all workflows that began, added up. */
  readonly workflowDurationSumMs: number
  /** The same of the slowest workflow; 0 where none began. */
  readonly workflowDurationMaxMs: number
}

/** The result of a completed job, from the reports of its datacenters; those that do not count are left out. */
export function jobResult(job: CompletedJobRecord, reports: readonly DatacenterReport[]): JobResult {
  const { completion, settings, targets } = job
  const counted = targets.flatMap((name) => reports.filter((report) => report.name === name && report.isCounted))
  const reported = counted.map(({ name }) => name)
  const completed = counted
    .filter(({ end }) => countsTowardMinimum(end, settings.datacenterSuccess))
    .map(({ name }) => name)
  const missing = targets.filter((name) => !reported.includes(name))
  const outputs = counted.flatMap(({ name, workflows }) =>
    workflows.map((one) => ({ datacenter: name, workflow: one.name, outputs: one.outputs })),
  )
  return {
    jobId: job.id,
    name: job.name,
    outcome: completion.outcome,
    success: completion.success,
    minDcsMet: completion.minDcsMet,
    reason: completion.reason,
    version: job.version,
    submittedAtMs: job.submittedAtMs,
    completedAtMs: job.completedAtMs,
    durationMs: job.completedAtMs - job.submittedAtMs,
    reported,
    completed,
    failed: reported.filter((name) => !completed.includes(name)),
    missing,
    stragglers: stragglersOf(missing, settings, completion),
    ratio: targets.length === 0 ? 0 : completed.length / targets.length,
    totals: totalsOf(counted),
    aggregates: aggregateOutputs(job.aggregate, outputs),
    datacenters: counted.map(({ name, end, isLate, reportedAtMs, workflows }) => ({
      name,
      state: end,
      isLate,
      reportedAtMs,
      workflows,
    })),
  }
}

/** A cancelled or timed-out job stops everything, whatever `stragglers` says. */
export function cancelsStragglers({ stragglers }: EffectiveSettings, { reason }: Completion): boolean {
  return stragglers === 'cancel' || reason === 'cancelled' || reason === 'timeout'
}

function stragglersOf(
  missing: readonly string[],
  settings: EffectiveSettings,
  completion: Completion,
): JobResult['stragglers'] {
  if (missing.length === 0) return 'none'
  return cancelsStragglers(settings, completion) ? 'cancelled_after_completion' : 'running'
}

function totalsOf(reports: readonly DatacenterReport[]): JobTotals {
  const sum = (valueOf: (report: DatacenterReport) => number): number =>
    reports.reduce((total, report) => total + valueOf(report), 0)
  const workflows = reports.flatMap((report) => report.workflows)
  const durations = workflows.flatMap(({ startedAtMs, endedAtMs }) =>
    startedAtMs === null ? [] : [endedAtMs - startedAtMs],
  )
  return {
    workflows: sum(({ counts }) => counts.total),
    succeeded: sum(({ counts }) => counts.succeeded),
    failed: sum(({ counts }) => counts.failed),
    skipped: sum(({ counts }) => counts.skipped),
    cancelled: sum(({ counts }) => counts.cancelled),
    attempts: workflows.reduce((total, { attempts }) => total + attempts, 0),
    retries: workflows.reduce((total, { retries }) => total + retries, 0),
    workflowDurationSumMs: durations.reduce((total, ms) => total + ms, 0),
    workflowDurationMaxMs: durations.reduce((most, ms) => Math.max(most, ms), 0),
  }
}

/** Exit codes of commands that wait for a job. */
export function exitCodeOf({ success, outcome, reason }: Pick<JobResult, 'success' | 'outcome' | 'reason'>): 0 | 1 | 3 {
  if (success) return 0
  if (reason === 'cancelled' || reason === 'timeout') return 1
  return outcome === 'partial' || outcome === 'below_minimum' ? 3 : 1
}
