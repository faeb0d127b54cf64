/**
 * The places between the transactions of a job at which a process may be killed, by what the transaction writes, and a
 * ledger that ends its process at one of them as `kill -9` would. Imports the ledger's types and the records.
 */
import type { Decided, Ledger, RunRecord, TaskRecord, View } from 'reprise/durable'
import { DATACENTER_KIND, JOB_KIND, TIMER_QUEUE } from '../../packages/jobs/src/record/names.js'
import { workflowEnd } from '../../packages/jobs/src/record/workflow-record.js'

export const KILL_PLACES = [
  'submit',
  'claim of a workflow',
  'retry of a workflow',
  'denial of a retry',
  'end of a workflow',
  'last end of a datacenter',
  'claim of a timer',
  'report',
  'completion',
  'late report',
  'stop of stragglers',
  'cancellation',
  'order to retry',
  'retry of a datacenter',
  'end of the retry',
  'failure of a datacenter',
  'removal',
] as const

export type KillPlace = (typeof KILL_PLACES)[number]

/** `within`: what it decided is not committed. `after`: it is, and nothing has followed from it. */
export const KILL_MOMENTS = ['within', 'after'] as const

export type KillMoment = (typeof KILL_MOMENTS)[number]

type Verb = (...args: unknown[]) => Promise<unknown>
type Decide = (view: View, ...more: never[]) => Decided<unknown>

/** The same ledger; at the first transaction of this place it ends its process, or stops it. */
export function killedAt(
  ledger: Ledger,
  place: KillPlace,
  moment: KillMoment,
  signal: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL',
): Ledger {
  const kill = (): void => void process.kill(process.pid, signal)
  return new Proxy(ledger, {
    get: (target, verb: keyof Ledger) => {
      const value: unknown = target[verb]
      if (typeof value !== 'function') return value
      if (verb !== 'transact' && verb !== 'claim') return value.bind(target) as unknown
      return async (request: unknown, decide: Decide) => {
        // Only the last answer is written.
        let isReached = false
        const watched: Decide = (view, ...more) => {
          const decided = decide(view, ...more)
          isReached = placesOf(verb, decided, view).includes(place)
          if (isReached && moment === 'within') kill()
          return decided
        }
        const answer = await (value.bind(target) as Verb)(request, watched)
        if (isReached) kill()
        return answer
      }
    },
  })
}

/** What a transaction writes, in the words of the places; one may be several, such as a report that completes the job. */
function placesOf(verb: 'transact' | 'claim', decided: Decided<unknown>, view: View): readonly KillPlace[] {
  const { created = [], tasks = [], runs = [] } = decided
  if (verb === 'claim') {
    const started = tasks.filter(({ status }) => status === 'running')
    return [
      ...(started.some(isWorkflow) ? (['claim of a workflow'] as const) : []),
      ...(started.some(({ queue }) => queue === TIMER_QUEUE) ? (['claim of a timer'] as const) : []),
    ]
  }
  const [job, site] = [JOB_KIND, DATACENTER_KIND].map((kind) => runs.find(({ run }) => run.kind === kind)?.run)
  if (created.some(({ task }) => isWorkflow(task))) return ['submit']
  return [
    ...placesOfWorkflows(tasks.filter(isWorkflow), view, site),
    ...(job === undefined ? [] : placesOfJob(job, view.run(job.id))),
    ...([...created.map(({ task }) => task), ...tasks].some(isReportToCome)
      ? (['last end of a datacenter'] as const)
      : []),
  ]
}

function isWorkflow({ queue, scope }: TaskRecord): boolean {
  return queue !== TIMER_QUEUE && scope.includes('/')
}

function isReportToCome({ queue, id, status }: TaskRecord): boolean {
  return queue === TIMER_QUEUE && id.startsWith('report.') && status === 'waiting'
}

function placesOfWorkflows(tasks: readonly TaskRecord[], view: View, site: RunRecord | undefined): KillPlace[] {
  const places: KillPlace[] = []
  for (const task of tasks) {
    const end = workflowEnd(task)
    const failure = task.progress.lastFailure?.code
    const isReset = end === null && task.generation !== view.task(task)?.generation
    if (isReset) places.push('retry of a datacenter')
    else if (end === null && task.status === 'waiting' && task.progress.retry.failures > 0)
      places.push('retry of a workflow')
    else if (task.stopReason === 'budget_denied') places.push('denial of a retry')
    else if (failure === 'datacenter_disabled') places.push('failure of a datacenter')
    else if (end === 'cancelled' && site !== undefined) places.push('stop of stragglers')
    else if (end === 'succeeded') places.push('end of a workflow')
  }
  return places
}

interface JobDetail {
  readonly completion: { readonly reason: string } | null
  readonly slots: Readonly<Record<string, { readonly isLate: boolean }>>
  readonly retry: unknown
}

function placesOfJob(after: RunRecord, before: RunRecord | undefined): KillPlace[] {
  if (after.status === 'removing') return ['removal']
  if (before === undefined) return []
  const [is, was] = [after.detail, before.detail] as unknown as readonly [JobDetail, JobDetail]
  if (is.retry !== null && was.retry === null) return ['order to retry']
  if (is.retry === null && was.retry !== null) return ['end of the retry']
  const reported = Object.keys(is.slots).filter((name) => was.slots[name] === undefined)
  const places: KillPlace[] = []
  if (reported.some((name) => is.slots[name]?.isLate)) places.push('late report')
  else if (reported.length > 0) places.push('report')
  if (is.completion !== null && was.completion === null)
    places.push(is.completion.reason === 'cancelled' ? 'cancellation' : 'completion')
  return places
}
