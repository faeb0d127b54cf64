/**
 * `job retry`: a new round of the workflows that did not succeed. The order is committed with the job, and a task of the
 * job carries it out, one transaction for each datacenter, so that a process which is killed on the way is replaced. The
 * budget is not reset. Imports the records and the library.
 */
import { type Ledger, type TaskRecord, TaskRefusedError, type View } from 'reprise/durable'
import { type Changes, resetTask } from 'reprise/internal'
import { type DatacenterRun, datacenterOf, runOfDatacenter } from '../record/datacenter-record.js'
import { type JobDetail, jobOf, type JobRun, type RetryOrder, runOfJob } from '../record/job-record.js'
import { datacenterRun, HELD_UNTIL_MS, timerKey } from '../record/names.js'
import { againAt, newTimer, type Rearmed, seedFor } from '../record/queue-shapes.js'
import { workflowEnd, workflowInputOf } from '../record/workflow-record.js'
import type { WorkflowCounts } from '../rules/datacenter-end.js'
import type { WorkflowEnd } from '../rules/job-result.js'
import { notFound } from './cancel-job.js'
import { jobEvent } from './job-event.js'
import { reportOf } from './workflow-ends.js'

/** Options of `retry`. */
export interface JobRetryOptions {
  /**
   * Only workflows that failed, and those that were skipped because of them.
   * @default false: cancelled ones too
   * @example { onlyFailed: true }
   */
  readonly onlyFailed?: boolean
  /** Only at this datacenter. @default at all of them @example { datacenter: 'ap' } */
  readonly datacenter?: string
  /** Who asks for it, for its event. @default nobody is named @example { by: 'ada' } */
  readonly by?: string
}

/** Timers that count from the start of a round, and the checks after them. */
const FROM_START = (['deadline', 'timeout'] as const).flatMap((kind) => [
  { ends: kind, kind, letter: undefined },
  { ends: kind, kind: 'check' as const, letter: kind },
])

export async function retryJob(ledger: Ledger, id: string, options: JobRetryOptions = {}): Promise<void> {
  const { onlyFailed = false, datacenter, by } = options
  const timers = [...FROM_START.map(({ kind, letter }) => timerKey(id, kind, letter)), timerKey(id, 'retry')]
  await ledger.transact({ runs: [id], tasks: timers }, (view) => {
    const run = view.run(id)
    if (run === undefined || run.status === 'removing') throw notFound(id)
    const job = jobOf(run)
    const { targets, slots, retry } = job.detail
    if (datacenter !== undefined && !targets.includes(datacenter))
      throw new TaskRefusedError('not_found', `Job ${id} has no datacenter ${datacenter}: it has ${targets.join(', ')}`)
    if (retry !== null) throw new TaskRefusedError('conflict', `A retry of job ${id} is being carried out`)
    const datacenters = (datacenter === undefined ? targets : [datacenter]).filter((name) => {
      const slot = slots[name]
      return slot === undefined || slot.end !== 'completed'
    })
    if (datacenters.length === 0)
      throw new TaskRefusedError('finished', `There is nothing to retry: every workflow of job ${id} succeeded`)
    return { ...reopened(view, job, { datacenters, onlyFailed }, by), result: undefined }
  })
}

/** The job runs again; its deadlines count from now. */
function reopened(view: View, job: JobRun, retry: RetryOrder, by: string | undefined): Changes {
  const { now } = view
  const { detail, id, correlationId } = job
  const slots = Object.fromEntries(Object.entries(detail.slots).filter(([name]) => !retry.datacenters.includes(name)))
  const next: JobDetail = { ...detail, slots, retry, startedAtMs: now, completion: null, completedAtMs: null }
  const run: JobRun = {
    ...job,
    status: 'running',
    detail: next,
    resumes: job.resumes + 1,
    updatedAtMs: now,
    endedAtMs: null,
  }
  const order = view.task(timerKey(id, 'retry'))
  const { deadlineMs, timeoutMs, checkIntervalMs } = detail.settings
  const armed = FROM_START.flatMap(({ ends, kind, letter }) => {
    const timer = view.task(timerKey(id, kind, letter))
    const afterMs = ends === 'deadline' ? deadlineMs : timeoutMs
    if (timer === undefined || afterMs === null) return []
    return [windUp(timer, now + afterMs + (kind === 'check' ? checkIntervalMs : 0), now)]
  })
  const created = order === undefined ? [newTimer({ kind: 'retry', job: id, dueAtMs: now, correlationId }, now)] : []
  const wound = order === undefined ? armed : [...armed, windUp(order, now, now)]
  const named = by === undefined ? {} : { by }
  const about = { datacenters: [...retry.datacenters], onlyFailed: retry.onlyFailed, round: run.resumes, ...named }
  const tasks = wound.flatMap((one) => one.tasks)
  const events = [jobEvent('JobRetried', job, about, now), ...wound.flatMap((one) => one.events)]
  return { runs: [{ run: runOfJob(run) }], created, tasks, events }
}

/** One that runs at this moment arms itself again, since the job is not over. */
function windUp(timer: TaskRecord, dueAtMs: number, now: number): Rearmed {
  if (timer.status === 'running') return { tasks: [], events: [] }
  if (timer.status === 'waiting') return { tasks: [{ ...timer, dueAtMs, updatedAtMs: now }], events: [] }
  return againAt(timer, dueAtMs, now)
}

/** Carries out the order; a datacenter that has it already is left alone. */
export async function retryDatacenters(ledger: Ledger, id: string): Promise<void> {
  const run = await ledger.run(id)
  if (run === undefined) return
  const { detail, resumes } = jobOf(run)
  const { retry } = detail
  if (retry === null) return
  for (const name of retry.datacenters) await retryDatacenter(ledger, id, name, resumes, retry)
  await ledger.transact({ runs: [id], tasks: [] }, (view) => {
    const current = view.run(id)
    if (current?.resumes !== resumes) return { result: undefined }
    const job = jobOf(current)
    return { runs: [{ run: runOfJob({ ...job, detail: { ...job.detail, retry: null } }) }], result: undefined }
  })
}

async function retryDatacenter(
  ledger: Ledger,
  id: string,
  name: string,
  round: number,
  { onlyFailed }: RetryOrder,
): Promise<void> {
  const scope = datacenterRun(id, name)
  const tasks = await ledger.list({ scopeKind: 'run', scope })
  const report = timerKey(id, 'report', name)
  await ledger.transact({ runs: [id, scope], tasks: [...tasks, report] }, (view) => {
    const [job, run] = [view.run(id), view.run(scope)]
    if (job?.resumes !== round || run === undefined || datacenterOf(run).detail.round === round)
      return { result: undefined }
    const current = tasks.flatMap((key) => view.task(key) ?? [])
    const { timeoutMs } = jobOf(job).detail.settings
    const deadlineAtMs = timeoutMs === null ? null : jobOf(job).detail.startedAtMs + timeoutMs
    const wanted: readonly (WorkflowEnd | null)[] = onlyFailed
      ? ['failed', 'skipped']
      : ['failed', 'skipped', 'cancelled']
    return { ...newRound(view, datacenterOf(run), current, { wanted, deadlineAtMs, round }), result: undefined }
  })
}

interface Round {
  readonly wanted: readonly (WorkflowEnd | null)[]
  readonly deadlineAtMs: number | null
  readonly round: number
}

/** Workflows that ended so, without those that need one which stays as it ended. */
function retriable(tasks: readonly TaskRecord[], wanted: Round['wanted']): readonly TaskRecord[] {
  const stays = tasks.filter((task) => {
    const end = workflowEnd(task)
    return end !== null && end !== 'succeeded' && !wanted.includes(end)
  })
  const cannot = new Set(stays.flatMap((task) => workflowInputOf(task).downstream))
  return tasks.filter((task) => wanted.includes(workflowEnd(task)) && !cannot.has(task.id))
}

/** A new generation for each of these workflows; those that need one which has not succeeded wait for it. */
function newRound(view: View, datacenter: DatacenterRun, tasks: readonly TaskRecord[], order: Round): Changes {
  const { now } = view
  const { wanted, deadlineAtMs, round } = order
  const again = retriable(tasks, wanted)
  const isOpen = new Set(again.map(({ id }) => id))
  for (const task of tasks) if (workflowEnd(task) === null) isOpen.add(task.id)
  const blocked = new Map<string, number>()
  for (const task of tasks.filter(({ id }) => isOpen.has(id)))
    for (const name of workflowInputOf(task).dependents)
      if (isOpen.has(name)) blocked.set(name, (blocked.get(name) ?? 0) + 1)
  const settled = again.map((task) => {
    const { task: reset, ...beside } = resetTask(
      task,
      task.policyHash,
      seedFor(task.scope, task.id, String(round)),
      now,
    )
    const retry = { ...reset.progress.retry, deadlineAtMs }
    const dueAtMs = blocked.has(task.id) ? HELD_UNTIL_MS : now
    return { ...beside, task: { ...reset, dueAtMs, progress: { ...reset.progress, retry } } }
  })
  const counts: { -readonly [K in keyof WorkflowCounts]: number } = { ...datacenter.detail.counts }
  for (const task of again) {
    const end = workflowEnd(task)
    if (end !== null) counts[end]--
  }
  const isOver = isOpen.size === 0
  const run: DatacenterRun = {
    ...datacenter,
    status: isOver ? datacenter.status : 'running',
    detail: {
      ...datacenter.detail,
      counts,
      blocked: Object.fromEntries(blocked),
      end: isOver ? datacenter.detail.end : null,
      round,
    },
    updatedAtMs: now,
    endedAtMs: isOver ? datacenter.endedAtMs : null,
  }
  const report = isOver ? reportOf(view, run, now) : {}
  return {
    runs: [{ run: runOfDatacenter(run) }],
    ...report,
    tasks: [...settled.map(({ task }) => task), ...(report.tasks ?? [])],
    events: [...settled.flatMap(({ events }) => events ?? []), ...(report.events ?? [])],
    closedLetters: settled.flatMap(({ closedLetters }) => closedLetters ?? []),
    checkpoints: settled.flatMap(({ checkpoints }) => checkpoints ?? []),
  }
}
