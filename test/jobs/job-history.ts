/**
 * What must hold of every job, read from its rows: J1 to J4 of the guarantees of jobs at every commit, and J5 between two
 * looks at its result. Imports sources.
 */
import type { AttemptRow, Ledger, TaskRecord } from 'reprise/durable'
import { budgetOf } from '../../packages/jobs/src/record/budget-record.js'
import { datacenterOf } from '../../packages/jobs/src/record/datacenter-record.js'
import { jobOf, type JobRun } from '../../packages/jobs/src/record/job-record.js'
import { budgetKey, datacenterRun } from '../../packages/jobs/src/record/names.js'
import { workflowEnd } from '../../packages/jobs/src/record/workflow-record.js'
import type { JobResult } from '../../packages/jobs/src/rules/job-result.js'
import { readJobEvents } from '../../packages/jobs/src/view/read-job-events.js'
import { findJob } from '../../packages/jobs/src/view/read-job.js'
import { readResult } from '../../packages/jobs/src/view/read-result.js'
import { allAttempts, allTasks } from '../../packages/jobs/src/view/read-tasks.js'

/** Every fault in a sentence; none if all is well. Rows that change while they are read are read again. */
export async function faultsOfJob(ledger: Ledger, id: string): Promise<string[]> {
  for (;;) {
    const before = await stateOf(ledger, id)
    const faults = await faultsNow(ledger, id)
    if (before === (await stateOf(ledger, id))) return faults
  }
}

async function stateOf(ledger: Ledger, id: string): Promise<string> {
  const runs = [await ledger.run(id), ...(await ledger.runs({ idPrefix: `${id}/` }))]
  return JSON.stringify(runs.map((run) => [run?.id, run?.updatedAtMs, run?.detail]))
}

async function faultsNow(ledger: Ledger, id: string): Promise<string[]> {
  const run = await ledger.run(id)
  if (run === undefined) return [`there is no job ${id}`]
  const job = jobOf(run)
  const parks = job.detail.settings.onBudgetExhausted === 'park'
  const sites = await Promise.all(
    job.detail.targets.map(async (name) => {
      const scope = datacenterRun(id, name)
      return { name, scope, tasks: await allTasks(ledger, scope), attempts: await allAttempts(ledger, scope) }
    }),
  )
  const faults = [
    ...(await budgetFaults(ledger, job, sites)),
    ...(await completionFaults(ledger, job)),
    ...(await slotFaults(ledger, job, sites)),
    ...sites.flatMap(({ tasks, attempts }) => tasks.flatMap((task) => attemptFaults(task, attempts, parks))),
  ]
  return faults.map((fault) => `${id}: ${fault}`)
}

interface Site {
  readonly name: string
  readonly scope: string
  readonly tasks: readonly TaskRecord[]
  readonly attempts: readonly AttemptRow[]
}

/** J1: what is used was granted and not given back, and never exceeds the limit; every grant is a charge of a task. */
async function budgetFaults(ledger: Ledger, { id, detail }: JobRun, sites: readonly Site[]): Promise<string[]> {
  const { budgetScope, retryBudgetPerWorkflow } = detail.settings
  const owners = budgetScope === 'job' ? [undefined] : sites.map(({ name }) => name)
  const gates = await ledger.gates()
  const faults = owners.flatMap((owner) => {
    const gate = gates.find(({ key }) => key === budgetKey(id, owner))
    if (gate === undefined) return [`J1: the budget of ${owner ?? 'the job'} is missing`]
    const { used, grants, refunds, total } = budgetOf(gate).state
    const sharing = sites.filter(({ name }) => owner === undefined || owner === name).flatMap(({ tasks }) => tasks)
    const charged = sharing.reduce((sum, { progress }) => sum + (progress.allotted ?? 0), 0)
    return [
      ...(used === grants - refunds ? [] : [`J1: ${used} used, ${grants} granted, ${refunds} given back`]),
      ...(used <= total ? [] : [`J1: ${used} used of ${total}`]),
      ...(charged === grants ? [] : [`J1: ${grants} granted, and tasks were charged ${charged}`]),
    ]
  })
  const over = sites.flatMap(({ scope, tasks }) =>
    tasks
      .filter(({ progress }) => (progress.allotted ?? 0) > retryBudgetPerWorkflow)
      .map((task) => `J1: ${scope}/${task.id} was charged ${task.progress.allotted} of ${retryBudgetPerWorkflow}`),
  )
  return [...faults, ...over]
}

/** J2: one completion for each round, and one event for each thing that happened once. */
async function completionFaults(ledger: Ledger, { id, detail, resumes }: JobRun): Promise<string[]> {
  const { events } = await readJobEvents(ledger, 0, { job: id, limit: 10_000 })
  const count = (name: string): number => events.filter(({ event }) => event === name).length
  const completed = count('JobCompleted')
  const most = resumes + 1
  const least = detail.completion === null ? 0 : 1
  const late = Object.values(detail.slots).filter(({ isLate, end }) => isLate && end !== 'cancelled').length
  const isFirstRound = resumes === 0
  return [
    ...(completed >= least && completed <= most ? [] : [`J2: ${completed} completions in ${most} rounds`]),
    ...differs('BestEffortCompletion', count('BestEffortCompletion'), detail.settings.bestEffort ? completed : 0),
    ...differs('JobSubmitted', count('JobSubmitted'), 1),
    ...differs('JobRetried', count('JobRetried'), resumes),
    ...(isFirstRound ? differs('LateDatacenterResult', count('LateDatacenterResult'), late) : []),
    ...(isFirstRound ? differs('JobUpdated', count('JobUpdated'), Math.max(0, detail.version - 1)) : []),
  ]
}

function differs(event: string, told: number, happened: number): string[] {
  return told === happened ? [] : [`J2: ${told} events ${event} for what happened ${happened} times`]
}

/** J3: the counts are the ends of the tasks, in the row of the datacenter and in its slot. */
async function slotFaults(ledger: Ledger, { detail }: JobRun, sites: readonly Site[]): Promise<string[]> {
  const faults: string[] = []
  for (const { name, scope, tasks } of sites) {
    const run = await ledger.run(scope)
    if (run === undefined) {
      faults.push(`J3: there is no run ${scope}`)
      continue
    }
    const { counts, end, round } = datacenterOf(run).detail
    const counted = { total: tasks.length, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 }
    for (const task of tasks) {
      const how = workflowEnd(task)
      if (how !== null) counted[how]++
    }
    if (JSON.stringify(counted) !== JSON.stringify(counts))
      faults.push(`J3: ${scope} counts ${JSON.stringify(counts)}, and has ${JSON.stringify(counted)}`)
    const slot = detail.slots[name]
    if (
      slot !== undefined &&
      slot.round === round &&
      (slot.end !== end || JSON.stringify(slot.counts) !== JSON.stringify(counts))
    )
      faults.push(`J3: the slot of ${name} says ${JSON.stringify(slot)}`)
  }
  return faults
}

/** J4: a workflow that was denied has no later attempt. Numbers have no gap, and an open one has a time or an owner. */
function attemptFaults(task: TaskRecord, rows: readonly AttemptRow[], parks: boolean): string[] {
  const own = rows.filter(({ id, generation }) => id === task.id && generation === task.generation)
  const name = `${task.scope}/${task.id}`
  const numbers = [...new Set(own.map(({ attempt }) => attempt))]
  const { launched } = task.progress.retry
  const faults: string[] = []
  if (numbers.some((number, index) => number !== index + 1))
    faults.push(`I2: attempts of ${name}: ${numbers.join(', ')}`)
  if (task.stopReason === 'budget_denied') {
    if (own.some(({ startedAtMs }) => startedAtMs > task.updatedAtMs)) faults.push(`J4: ${name} ran after its denial`)
    if (numbers.length !== launched) faults.push(`J4: ${name} has ${numbers.length} attempts of ${launched}`)
  }
  // Probes of parked workflows are free, and a retry by hand begins anew.
  const { allotted = 0 } = task.progress
  const isPaid = parks || task.generation > 1 || launched - 1 <= allotted
  if (!isPaid) faults.push(`J1: ${name} has made ${launched} attempts for ${allotted} retries`)
  const isOpen = workflowEnd(task) === null
  if (isOpen && (task.owner === null) === (task.dueAtMs === null)) faults.push(`I3: ${name} has no place`)
  return faults
}

/**
 * J5: with `log_only` no byte of a result changes once the job has completed. With `update_result` the version grows with
 * every change, and the first completion's time and reason stay.
 */
export class ResultWatch {
  readonly faults: string[] = []
  private readonly ledger: Ledger
  /** By job and round. */
  private readonly seen = new Map<string, JobResult>()

  constructor(ledger: Ledger) {
    this.ledger = ledger
  }

  /** The result, compared with what was seen of it before; undefined while the job runs. */
  async look(id: string): Promise<JobResult | undefined> {
    const job = await findJob(this.ledger, id)
    const result = job && (await readResult(this.ledger, job))
    if (job === undefined || result === undefined) return undefined
    const round = `${id} ${job.resumes}`
    const before = this.seen.get(round)
    if (before !== undefined) this.compare(before, result, job.detail.settings.lateResultPolicy)
    this.seen.set(round, result)
    return result
  }

  private compare(before: JobResult, after: JobResult, policy: string): void {
    const isSame = JSON.stringify(before) === JSON.stringify(after)
    const isUpdate =
      policy === 'update_result' &&
      after.version > before.version &&
      after.reason === before.reason &&
      after.completedAtMs === before.completedAtMs &&
      (after.success || !before.success)
    if (!isSame && !isUpdate)
      this.faults.push(`J5: ${after.jobId} was ${JSON.stringify(before)}, and is ${JSON.stringify(after)}`)
  }
}
