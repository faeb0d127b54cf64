/**
 * The result of a job, derived from the rows of the datacenters that count each time it is asked for. Imports the rules and
 * the records.
 */
import type { Json, Ledger, TaskRecord } from 'reprise/durable'
import { datacenterRun } from '../record/names.js'
import { definitionOf, type JobRun, type Slot } from '../record/job-record.js'
import { workflowEnd } from '../record/workflow-record.js'
import { type DatacenterReport, type JobResult, jobResult, type WorkflowResult } from '../rules/job-result.js'
import { DENIAL_REASONS, type DenialReason } from '../rules/retry-grant.js'
import { allAttempts, allTasks } from './read-tasks.js'

/** Undefined: the job has not completed. */
export async function readResult(ledger: Ledger, job: JobRun): Promise<JobResult | undefined> {
  const { detail, id, name, createdAtMs } = job
  const { completion, completedAtMs, settings, targets, version } = detail
  if (completion === null || completedAtMs === null) return undefined
  const { request } = definitionOf(await ledger.definition(id), id)
  const counted = Object.entries(detail.slots).filter(([, slot]) => slot.isCounted)
  const reports = await Promise.all(counted.map(([datacenter, slot]) => readReport(ledger, id, datacenter, slot)))
  const { aggregate } = request
  return jobResult(
    { id, name, targets, settings, aggregate, completion, submittedAtMs: createdAtMs, completedAtMs, version },
    reports,
  )
}

/** A datacenter that has reported, also one that does not count. */
export async function readReport(ledger: Ledger, job: string, name: string, slot: Slot): Promise<DatacenterReport> {
  const run = datacenterRun(job, name)
  const [tasks, attempts] = [await allTasks(ledger, run), await allAttempts(ledger, run)]
  const started = new Map<string, number>()
  for (const { id, startedAtMs } of attempts) started.set(id, Math.min(startedAtMs, started.get(id) ?? Infinity))
  const { end, counts, reportedAtMs, isLate, isCounted } = slot
  const workflows = tasks.map((task) => workflowResult(task, started.get(task.id) ?? null))
  return { name, end, counts, reportedAtMs, isLate, isCounted, workflows }
}

function workflowResult(task: TaskRecord, startedAtMs: number | null): WorkflowResult {
  const { retry, lastFailure, budgetReason } = task.progress
  const end = workflowEnd(task) ?? 'cancelled'
  return {
    name: task.id,
    state: end,
    attempts: retry.launched,
    retries: Math.max(0, retry.launched - 1),
    startedAtMs,
    endedAtMs: task.updatedAtMs,
    outputs: (task.result ?? {}) as Readonly<Record<string, Json>>,
    error: end === 'failed' || end === 'skipped' ? (lastFailure?.message ?? task.stopReason) : null,
    denied: denialOf(budgetReason),
  }
}

export function denialOf(reason: string | undefined): DenialReason | null {
  return DENIAL_REASONS.find((known) => known === reason) ?? null
}
