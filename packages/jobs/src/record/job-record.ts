/**
 * A job as the detail of its run: its effective settings, the datacenters that have reported, and how it completed. Read
 * with checks, written as it is. Imports the rules and the library's types.
 */
import type { Json, RunRecord } from 'reprise/durable'
import type { Clamp, EffectiveSettings } from '../rules/clamp.js'
import { type Completion, COMPLETION_REASONS, type DatacenterStanding, OUTCOMES } from '../rules/completion.js'
import { DATACENTER_ENDS, type DatacenterEnd, type WorkflowCounts } from '../rules/datacenter-end.js'
import type { JobRequest } from '../rules/job-request.js'
import { countsIn } from './datacenter-record.js'
import { countIn, damaged, type Fields, fieldsOf, textsIn, timeIn, wordIn } from './damaged-record.js'

/** A datacenter that has reported. */
export interface Slot {
  readonly end: DatacenterEnd
  readonly counts: WorkflowCounts
  readonly reportedAtMs: number
  /** Reported after the job had completed. */
  readonly isLate: boolean
  /** False: a late report that the policy keeps out of the result, or a straggler that was stopped. */
  readonly isCounted: boolean
  /** Which start of the datacenter has reported: a second report of it is none. */
  readonly round: number
}

/** What is counted of a job for metrics. */
export interface JobCounts {
  /** Retries that its budgets have granted. */
  readonly grants: number
  /** Retries that were given back. */
  readonly refunds: number
  /** Workflows that a budget has denied a retry. */
  readonly denied: number
}

export const NOTHING_COUNTED: JobCounts = { grants: 0, refunds: 0, denied: 0 }

/** What a `job retry` asks for, until every datacenter has it. */
export interface RetryOrder {
  readonly datacenters: readonly string[]
  readonly onlyFailed: boolean
}

export interface JobDetail {
  readonly settings: EffectiveSettings
  readonly targets: readonly string[]
  /** From when deadlines count: the submission, or the last `job retry`. */
  readonly startedAtMs: number
  /** By datacenter. */
  readonly slots: Readonly<Record<string, Slot>>
  readonly completion: Completion | null
  readonly completedAtMs: number | null
  /** 1 at the completion, one more with every late result that was taken in. */
  readonly version: number
  readonly idempotencyKey: string | null
  readonly retry: RetryOrder | null
  /** What is in the sums over all jobs, of the round in which every datacenter had reported; null: nothing yet. */
  readonly tally: (JobCounts & { readonly round: number }) | null
}

/** What a job runs, kept apart from its detail since it may be long. */
export interface JobDefinition {
  readonly request: JobRequest
  readonly clamps: readonly Clamp[]
}

export interface JobRun extends Omit<RunRecord, 'detail'> {
  readonly detail: JobDetail
}

export function jobOf(run: RunRecord): JobRun {
  const what = `job ${run.id}`
  const fields = fieldsOf(run.detail, what)
  const detail: JobDetail = {
    settings: fieldsOf(fields['settings'], what) as unknown as EffectiveSettings,
    targets: textsIn(fields, 'targets', what),
    startedAtMs: timeIn(fields, 'startedAtMs', what),
    slots: slotsIn(fields, what),
    completion: completionIn(fields['completion'], what),
    completedAtMs: fields['completedAtMs'] === null ? null : timeIn(fields, 'completedAtMs', what),
    version: countIn(fields, 'version', what),
    idempotencyKey: typeof fields['idempotencyKey'] === 'string' ? fields['idempotencyKey'] : null,
    retry: retryIn(fields['retry'], what),
    tally: tallyIn(fields['tally'], what),
  }
  for (const name of ['minDcs', 'retryBudget', 'settleMs']) countIn(detail.settings as unknown as Fields, name, what)
  return { ...run, detail }
}

export function runOfJob({ detail, ...run }: JobRun): RunRecord {
  return { ...run, detail: detail as unknown as Json }
}

function slotsIn(fields: Fields, what: string): Readonly<Record<string, Slot>> {
  const entries = Object.entries(fieldsOf(fields['slots'], what)).map(([name, value]): [string, Slot] => {
    const of = `${what}, datacenter ${name}`
    const slot = fieldsOf(value, of)
    return [
      name,
      {
        end: wordIn(slot, 'end', DATACENTER_ENDS, of),
        counts: countsIn(fieldsOf(slot['counts'], of), of),
        reportedAtMs: timeIn(slot, 'reportedAtMs', of),
        isLate: slot['isLate'] === true,
        isCounted: slot['isCounted'] === true,
        round: countIn(slot, 'round', of),
      },
    ]
  })
  return Object.fromEntries(entries)
}

function completionIn(value: Json | undefined, what: string): Completion | null {
  if (value === null || value === undefined) return null
  const fields = fieldsOf(value, what)
  if (typeof fields['success'] !== 'boolean' || typeof fields['minDcsMet'] !== 'boolean')
    throw damaged(what, 'its completion says neither success nor failure')
  return {
    kind: 'complete',
    reason: wordIn(fields, 'reason', COMPLETION_REASONS, what),
    outcome: wordIn(fields, 'outcome', OUTCOMES, what),
    success: fields['success'],
    minDcsMet: fields['minDcsMet'],
  }
}

function retryIn(value: Json | undefined, what: string): RetryOrder | null {
  if (value === null || value === undefined) return null
  const fields = fieldsOf(value, what)
  return { datacenters: textsIn(fields, 'datacenters', what), onlyFailed: fields['onlyFailed'] === true }
}

function tallyIn(value: Json | undefined, what: string): JobDetail['tally'] {
  if (value === null || value === undefined) return null
  const fields = fieldsOf(value, what)
  const count = (name: string): number => countIn(fields, name, what)
  return { grants: count('grants'), refunds: count('refunds'), denied: count('denied'), round: count('round') }
}

/** The definition as it was written by a submission. */
export function definitionOf(value: Json | undefined, job: string): JobDefinition {
  const what = `job ${job}`
  const fields = fieldsOf(value, what)
  const request = fieldsOf(fields['request'], what)
  if (!Array.isArray(request['workflows'])) throw damaged(what, 'it has no workflows')
  return value as unknown as JobDefinition
}

/** The datacenters as completion sees them: those that count, and the open ones. `living`: datacenters with a worker. */
export function standingsOf({ targets, slots }: JobDetail, living: readonly string[]): DatacenterStanding[] {
  return targets.map((name) => {
    const slot = slots[name]
    const isReported = slot?.isCounted === true
    return {
      name,
      end: isReported ? slot.end : null,
      reportedAtMs: isReported ? slot.reportedAtMs : null,
      hasLivingWorker: living.includes(name),
    }
  })
}
