/** Jobs as people see them, read from the rows of the ledger. Imports the rules and the records. */
import type { AttemptRow, Ledger, RunRecord, TaskRecord } from 'reprise/durable'
import { livingDatacenterWorkers, silences } from '../drive/living-datacenters.js'
import { budgetOf } from '../record/budget-record.js'
import { datacenterOf } from '../record/datacenter-record.js'
import { definitionOf, type JobRun, jobOf, standingsOf } from '../record/job-record.js'
import { budgetKeys, datacenterRun, HELD_UNTIL_MS, JOB_KIND } from '../record/names.js'
import { workflowEnd } from '../record/workflow-record.js'
import { evaluateCompletion } from '../rules/completion.js'
import type { BudgetStatus, DatacenterStatus, JobStatus, JobSummary, WorkflowStatus } from './job-views.js'
import { denialOf } from './read-result.js'
import { allAttempts, allTasks } from './read-tasks.js'

/** Undefined: there is no such job. */
export async function findJob(ledger: Ledger, id: string): Promise<JobRun | undefined> {
  const run = await ledger.run(id)
  return run === undefined || run.kind !== JOB_KIND || run.status === 'removing' ? undefined : jobOf(run)
}

/** Which jobs are listed. */
export interface JobFilter {
  /** Only jobs that are over, or only those that run. @default both @example { state: 'running' } */
  readonly state?: JobSummary['state']
  /** At most this many. @default 20 @example { limit: 100 } */
  readonly limit?: number
  /**
   * Continue after this job of the list before.
   * @default from the latest on
   * @example { after: { id: 'probe-1', submittedAtMs: 1767225600000 } }
   */
  readonly after?: Pick<JobSummary, 'id' | 'submittedAtMs'>
}

/** The latest first. */
export async function listJobs(ledger: Ledger, { state, limit = 20, after }: JobFilter = {}): Promise<JobSummary[]> {
  const ended = ['succeeded', 'completed_with_failures', 'failed', 'cancelled'] as const
  const statuses: RunRecord['status'][] = state === 'running' ? ['running'] : [...ended]
  const wanted = state === undefined ? { statuses: ['running' as const, ...ended] } : { statuses }
  const from = after && { after: { id: after.id, createdAtMs: after.submittedAtMs } }
  const runs = await ledger.runs({ kind: JOB_KIND, limit, ...wanted, ...from })
  return runs.map((run) => summaryOf(jobOf(run)))
}

function summaryOf({ id, name, detail, createdAtMs }: JobRun): JobSummary {
  const { completion, completedAtMs, targets, slots } = detail
  return {
    id,
    name,
    state: completion === null ? 'running' : 'completed',
    outcome: completion?.outcome ?? null,
    success: completion?.success ?? null,
    reason: completion?.reason ?? null,
    submittedAtMs: createdAtMs,
    completedAtMs,
    targets,
    reported: Object.keys(slots).length,
  }
}

export async function readStatus(ledger: Ledger, job: JobRun): Promise<JobStatus> {
  const { detail, id } = job
  const { settings, targets, startedAtMs, version, completion } = detail
  const { request, clamps } = definitionOf(await ledger.definition(id), id)
  const { workflows: _workflows, id: _id, payloadHash: _payloadHash, ...requested } = request
  const workers = await livingDatacenterWorkers(ledger)
  const datacenters = await Promise.all(
    targets.map((name) => datacenterStatus(ledger, job, name, workers.get(name) ?? 0)),
  )
  const state = { settings, submittedAtMs: startedAtMs, isCancelled: false }
  const silent = await silences(ledger)
  const standings = standingsOf(detail, [...workers.keys()]).map((one) => ({
    ...one,
    silentForMs: silent.get(one.name),
  }))
  const answer = evaluateCompletion({ ...state, datacenters: standings }, await ledger.now())
  const isWaiting = completion === null && answer.kind === 'wait'
  return {
    ...summaryOf(job),
    requested,
    effective: settings,
    clamps,
    budgets: await budgetsOf(ledger, job),
    datacenters,
    waitsFor: isWaiting ? answer.sentence : null,
    isMinimumUnreachable: isWaiting && answer.isMinimumUnreachable,
    version,
  }
}

async function budgetsOf(ledger: Ledger, { id, detail }: JobRun): Promise<BudgetStatus[]> {
  const { budgetScope } = detail.settings
  const owners: readonly (string | null)[] = budgetScope === 'job' ? [null] : detail.targets
  const keys = budgetKeys(id, detail)
  const gates = await ledger.transact({ tasks: [], gates: keys }, (view) => ({
    result: keys.map((key) => view.gate(key)),
  }))
  return owners.flatMap((datacenter, index) => {
    const gate = gates[index]
    if (gate === undefined) return []
    const { total, used, grants, refunds } = budgetOf(gate).state
    return [{ datacenter, total, used, remaining: Math.max(0, total - used), grants, refunds }]
  })
}

async function datacenterStatus(
  ledger: Ledger,
  { id, detail }: JobRun,
  name: string,
  workers: number,
): Promise<DatacenterStatus> {
  const run = datacenterRun(id, name)
  const [record, tasks, attempts] = [await ledger.run(run), await allTasks(ledger, run), await allAttempts(ledger, run)]
  const counts = record === undefined ? EMPTY : datacenterOf(record).detail.counts
  const end = record === undefined ? null : datacenterOf(record).detail.end
  const hasBegun = tasks.some(({ progress }) => progress.retry.launched > 0)
  const slot = detail.slots[name]
  return {
    name,
    state: end ?? (workers === 0 && hasBegun ? 'suspected' : hasBegun ? 'running' : 'waiting'),
    counts,
    workers,
    reportedAtMs: slot?.reportedAtMs ?? null,
    isLate: slot?.isLate === true,
    isCounted: slot?.isCounted === true,
    workflows: workflowStatuses(tasks, attempts),
  }
}

const EMPTY = { total: 0, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 }

function workflowStatuses(tasks: readonly TaskRecord[], attempts: readonly AttemptRow[]): WorkflowStatus[] {
  const byWorkflow = new Map<string, AttemptRow[]>()
  for (const row of attempts) byWorkflow.set(row.id, [...(byWorkflow.get(row.id) ?? []), row])
  return tasks.map((task) => workflowStatus(task, byWorkflow.get(task.id) ?? []))
}

function workflowStatus(task: TaskRecord, rows: readonly AttemptRow[]): WorkflowStatus {
  const { retry, allotted = 0, lastFailure, budgetReason, budgetDenial } = task.progress
  const reason = denialOf(budgetReason)
  const { used = 0, total = 0 } = (budgetDenial ?? {}) as { readonly used?: number; readonly total?: number }
  const isWaiting = task.status === 'waiting' && task.dueAtMs !== HELD_UNTIL_MS
  return {
    name: task.id,
    state: stateOf(task),
    attempts: retry.launched,
    charged: allotted,
    nextAttemptAtMs: isWaiting ? task.dueAtMs : null,
    error: lastFailure?.message ?? null,
    denied: reason === null ? null : { reason, used, total },
    history: rows.map(({ attempt, outcome, startedAtMs, endedAtMs, failure }) => ({
      attempt,
      outcome,
      startedAtMs,
      endedAtMs,
      class: outcome === 'interrupted' ? 'interrupted' : (failure?.code ?? failure?.name ?? null),
      error: failure?.message ?? null,
    })),
  }
}

function stateOf(task: TaskRecord): WorkflowStatus['state'] {
  const end = workflowEnd(task)
  if (end !== null) return end
  if (task.status === 'running') return 'running'
  if (task.dueAtMs === HELD_UNTIL_MS) return 'blocked'
  if (task.progress.unpaid) return 'parked'
  return task.progress.retry.failures > 0 ? 'retrying' : 'waiting'
}
