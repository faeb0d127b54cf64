/**
 * Whether a job is over, as changes of its rows: asked by every report and by every timer, in a transaction that has locked
 * the job. Pure. Imports the rules and the records.
 *
 * Invariant: a job completes once in each round. The completion, its event and its counter are written together.
 */
import type { GateRecord, Keys, TaskRecord, View } from 'reprise/durable'
import type { Changes } from 'reprise/internal'
import type { DatacenterRun } from '../record/datacenter-record.js'
import { type JobRun, runOfJob, type Slot, standingsOf } from '../record/job-record.js'
import { counterKey, timerKey, type TimerKind } from '../record/names.js'
import { againAt, newTimer } from '../record/queue-shapes.js'
import { type Completion, evaluateCompletion, type Waiting } from '../rules/completion.js'
import { cancelsStragglers } from '../rules/job-result.js'
import { acceptLateResult } from '../rules/late-result.js'
import { jobEvent } from './job-event.js'
import { jobStatus } from './run-status.js'
import { isSettled } from './tally-job.js'

/** Timers that an evaluation may create or wind up again. Every transaction that evaluates a job names them. */
const ARMED: readonly (readonly [TimerKind, string?])[] = [
  ['settle'],
  ['deadline'],
  ['timeout'],
  ['stop'],
  ['tally'],
  ['check', 'a'],
  ['check', 'b'],
]

/** The rows that an evaluation needs. `except`: the task that asks. */
export function evaluationKeys(job: string, except?: string): Required<Keys> {
  const timers = ARMED.map(([kind, letter]) => timerKey(job, kind, letter))
  return { runs: [job], gates: [counterKey(job)], tasks: timers.filter(({ id }) => id !== except) }
}

/** Somebody cancels the job now. */
interface Cancellation {
  /** Who asked for it; undefined: nobody is named. */
  readonly by: string | undefined
}

/** `cancellation`: the job is cancelled now. `living`: datacenters with a worker. */
export function evaluateJob(
  view: View,
  job: JobRun,
  living: readonly string[],
  now: number,
  cancellation?: Cancellation,
): Changes {
  const { detail } = job
  if (detail.completion !== null) return {}
  const { settings, startedAtMs } = detail
  const datacenters = standingsOf(detail, living)
  const isCancelled = cancellation !== undefined
  const answer = evaluateCompletion({ settings, submittedAtMs: startedAtMs, isCancelled, datacenters }, now)
  if (answer.kind !== 'complete') return armTimers(view, job, answer, now)
  return complete(view, job, answer, now, answer.reason === 'cancelled' ? cancellation?.by : undefined)
}

function complete(view: View, job: JobRun, completion: Completion, now: number, by?: string): Changes {
  const { detail, id } = job
  const { settings, targets, slots } = detail
  const over: JobRun = {
    ...job,
    status: jobStatus(completion),
    detail: { ...detail, completion, completedAtMs: now, version: detail.version + 1 },
    updatedAtMs: now,
    endedAtMs: now,
  }
  const { reason, outcome, success } = completion
  const about = { reason, outcome, success, reported: Object.keys(slots).length, targets: targets.length }
  const events = [jobEvent('JobCompleted', job, { ...about, ...(by !== undefined && { by }) }, now)]
  const hasStragglers = targets.some((name) => slots[name] === undefined)
  const stop = hasStragglers && cancelsStragglers(settings, completion) ? arm(view, job, 'stop', now, now) : {}
  const runs = [{ run: runOfJob(over) }]
  if (!settings.bestEffort) return merged({ runs, events }, stop)
  events.push(jobEvent('BestEffortCompletion', job, about, now))
  return merged({ runs, events, gates: [raised(view, counterKey(id), reason)] }, stop)
}

function raised(view: View, key: string, reason: string): GateRecord {
  const state = (view.gate(key)?.state ?? {}) as Readonly<Record<string, number>>
  return { key, kind: 'record', state: { ...state, [reason]: (state[reason] ?? 0) + 1 } }
}

/**
 * The next moment has its timer. If that timer runs at this moment, a check is set for it in its place. Before the end of
 * the settling time workers may be lost, which a check finds.
 */
function armTimers(view: View, job: JobRun, { nextIs, nextAtMs }: Waiting, now: number): Changes {
  const runs = [{ run: runOfJob({ ...job, updatedAtMs: now }) }]
  if (nextIs === null || nextAtMs === null) return { runs }
  const timer = arm(view, job, nextIs, nextAtMs, now)
  const isBusy = view.task(timerKey(job.id, nextIs))?.status === 'running'
  const checkAtMs = nextIs === 'settle' ? now + job.detail.settings.checkIntervalMs : Infinity
  const atMs = isBusy ? Math.min(checkAtMs, nextAtMs) : checkAtMs
  const check = isBusy || atMs < nextAtMs ? armCheck(view, job, atMs, now) : {}
  return { runs, ...merged(timer, check) }
}

type Armed = Pick<Changes, 'created' | 'tasks' | 'events'>

function merged(changes: Changes, { created = [], tasks = [], events = [] }: Armed): Changes {
  return {
    ...changes,
    created: [...(changes.created ?? []), ...created],
    tasks: [...(changes.tasks ?? []), ...tasks],
    events: [...(changes.events ?? []), ...events],
  }
}

/** A timer that waits already stays as it is. */
function arm(view: View, job: JobRun, kind: TimerKind, dueAtMs: number, now: number, letter?: string): Armed {
  const { id, correlationId } = job
  const before = view.task(timerKey(id, kind, letter))
  const named = letter === undefined ? {} : { datacenter: letter }
  if (before === undefined) return { created: [newTimer({ kind, job: id, ...named, dueAtMs, correlationId }, now)] }
  return isOpen(before) ? {} : againAt(before, dueAtMs, now)
}

/** Two timers take turns: the one that asks has not ended yet. */
function armCheck(view: View, job: JobRun, dueAtMs: number, now: number): Armed {
  const [a, b] = ['a', 'b'].map((letter) => view.task(timerKey(job.id, 'check', letter)))
  const isWaiting = [a, b].some((task) => task?.status === 'waiting')
  if (isWaiting) return {}
  return arm(view, job, 'check', dueAtMs, now, a !== undefined && isOpen(a) ? 'b' : 'a')
}

function isOpen({ status }: TaskRecord): boolean {
  return status === 'waiting' || status === 'running'
}

/** A datacenter whose last workflow has ended reports. A second report of the same round changes nothing. */
export function acceptReport(
  view: View,
  job: JobRun,
  datacenter: DatacenterRun,
  living: readonly string[],
  now: number,
): Changes {
  const { detail } = job
  const { name } = datacenter
  const { end, counts, round } = datacenter.detail
  const before = detail.slots[name]
  if (end === null || !detail.targets.includes(name) || before?.round === round) return {}
  const reportedAtMs = datacenter.endedAtMs ?? now
  const slot: Slot = { end, counts, reportedAtMs, isLate: detail.completion !== null, isCounted: true, round }
  const reported: JobRun = { ...job, detail: { ...detail, slots: { ...detail.slots, [name]: slot } } }
  const changes =
    detail.completion === null ? evaluateJob(view, reported, living, now) : acceptLate(job, name, slot, now)
  return isSettled(reported) ? merged(changes, arm(view, job, 'tally', now, now)) : changes
}

/** The job has completed: by its policy the report is kept, or changes the result. */
function acceptLate(job: JobRun, name: string, slot: Slot, now: number): Changes {
  const { detail } = job
  const { completion, version, settings } = detail
  const kept = (next: Slot, more: Partial<JobRun['detail']> = {}): JobRun => ({
    ...job,
    detail: { ...detail, slots: { ...detail.slots, [name]: next }, ...more },
    updatedAtMs: now,
  })
  const uncounted = { runs: [{ run: runOfJob(kept({ ...slot, isCounted: false })) }] }
  // Stopped because the job had completed: its result is not needed.
  if (completion === null || slot.end === 'cancelled') return uncounted
  const about = { datacenter: name, end: slot.end, policy: settings.lateResultPolicy }
  const late = { name, end: slot.end, reportedAtMs: slot.reportedAtMs, hasLivingWorker: false }
  const answer = acceptLateResult({ settings, completion, version, datacenters: standingsOf(detail, []) }, late)
  const event = jobEvent('LateDatacenterResult', job, { ...about, isCounted: answer.kind === 'updated' }, now)
  if (answer.kind === 'logged') return { ...uncounted, events: [event] }
  const updated = kept(slot, { completion: answer.completion, version: answer.version })
  const { outcome, success } = answer.completion
  const events = [event, jobEvent('JobUpdated', job, { outcome, success, version: answer.version }, now)]
  return { runs: [{ run: runOfJob({ ...updated, status: jobStatus(answer.completion) }) }], events }
}
