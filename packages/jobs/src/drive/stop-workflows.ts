/**
 * Ends the open workflows of datacenters: stragglers of a completed job, datacenters without workers, datacenters that an
 * operator has given up. In batches, each a transaction with the run of the datacenter; a process that is killed between
 * two of them leaves the rest to the next execution of the same task. Imports the records and the library.
 *
 * Invariant: waiting workflows are ended before running ones, so that nothing starts in their place.
 */
import type { Ledger, TaskRecord, TaskStatus, View } from 'reprise/durable'
import { cancelledTask, endedTask, type Settled } from 'reprise/internal'
import { datacenterOf } from '../record/datacenter-record.js'
import { type JobRun, jobOf } from '../record/job-record.js'
import { datacenterRun, timerKey } from '../record/names.js'
import { workflowEnd } from '../record/workflow-record.js'
import { cancelsStragglers } from '../rules/job-result.js'
import { followEnds } from './workflow-ends.js'

/** Other processes write between two transactions. */
const AT_ONCE = 200

interface EndingOrder {
  readonly job: string
  readonly datacenters: readonly string[]
  /** Whether it still holds in the transaction; the job may have been taken up again. */
  readonly isWanted: (job: JobRun) => boolean
  readonly end: (task: TaskRecord, now: number) => Settled
}

/** What a completed job has left running, where its settings say so. */
export async function stopStragglers(ledger: Ledger, job: string): Promise<void> {
  const run = await ledger.run(job)
  if (run === undefined) return
  const isWanted = ({ detail: { settings, completion } }: JobRun): boolean =>
    completion !== null && cancelsStragglers(settings, completion)
  await endWorkflows(ledger, { job, datacenters: jobOf(run).detail.targets, isWanted, end: cancelledTask })
}

/** No worker has claimed anything of the datacenter in time: it has failed. */
export async function failUndispatched(ledger: Ledger, job: string, datacenter: string): Promise<void> {
  const scope = datacenterRun(job, datacenter)
  const tasks = await ledger.list({ scopeKind: 'run', scope, withInput: false })
  if (tasks.some(({ progress }) => progress.retry.launched > 0)) return
  await failDatacenter(ledger, job, datacenter, 'dispatch_timeout', 'no worker has claimed a workflow in time')
}

/** The open workflows of the datacenter fail, with this code and message. */
export async function failDatacenter(
  ledger: Ledger,
  job: string,
  datacenter: string,
  code: string,
  message: string,
): Promise<void> {
  const failure = { name: 'DispatchError', message, code }
  const end = (task: TaskRecord, now: number): Settled => {
    const failed = { ...task, fence: task.fence + 1, progress: { ...task.progress, lastFailure: failure } }
    return withoutLetter(endedTask(failed, 'failed', 'timeout', now))
  }
  const isWanted = ({ detail }: JobRun): boolean => detail.completion?.reason !== 'cancelled'
  await endWorkflows(ledger, { job, datacenters: [datacenter], isWanted, end })
}

/** The job shows the failure, and `job retry` retries it: there is no dead letter for it. */
function withoutLetter(settled: Settled): Settled {
  const task = { ...settled.task, progress: { ...settled.task.progress, acknowledged: true } }
  return { ...settled, task, tasks: [task], dead: [] }
}

async function endWorkflows(ledger: Ledger, order: EndingOrder): Promise<void> {
  let isOpen = true
  while (isOpen) {
    isOpen = false
    for (const statuses of [['waiting'], ['running', 'parked']] as const)
      for (const datacenter of order.datacenters) if (await endSome(ledger, order, datacenter, statuses)) isOpen = true
  }
}

/** Whether there may be more. */
async function endSome(
  ledger: Ledger,
  order: EndingOrder,
  datacenter: string,
  statuses: readonly TaskStatus[],
): Promise<boolean> {
  const { job } = order
  const scope = datacenterRun(job, datacenter)
  const some = await ledger.list({ scopeKind: 'run', scope, statuses, limit: AT_ONCE })
  if (some.length === 0) return false
  const report = timerKey(job, 'report', datacenter)
  return ledger.transact({ runs: [job, scope], tasks: [...some, report] }, (view) =>
    endInView(view, order, some, scope),
  )
}

function endInView(view: View, { job, isWanted, end }: EndingOrder, some: readonly TaskRecord[], scope: string) {
  const [jobRun, run] = [view.run(job), view.run(scope)]
  if (jobRun === undefined || run === undefined || !isWanted(jobOf(jobRun))) return { result: false }
  const open = some.flatMap((key) => {
    const task = view.task(key)
    return task !== undefined && workflowEnd(task) === null ? [task] : []
  })
  const ended = open.map((task) => ({ before: task, settled: end(task, view.now) }))
  const changes = followEnds(
    view,
    datacenterOf(run),
    ended.map(({ before, settled }) => ({ before, after: settled.task })),
    view.now,
    'alone',
  )
  return {
    ...changes,
    tasks: [...ended.map(({ settled }) => settled.task), ...(changes.tasks ?? [])],
    attempts: ended.flatMap(({ settled }) => settled.attempts ?? []),
    checkpoints: ended.flatMap(({ settled }) => settled.checkpoints ?? []),
    events: [...ended.flatMap(({ settled }) => settled.events ?? []), ...(changes.events ?? [])],
    result: true,
  }
}
