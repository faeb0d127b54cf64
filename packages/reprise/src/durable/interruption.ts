/**
 * What becomes of an attempt whose process was lost or stopped, as pure functions from the task's record to the changes:
 * it runs again, is charged as failed, is looked into, or waits for a person. Imports core's and the ledger's types and its
 * own layer.
 */
import type { Policy } from '../core/policy.js'
import type { FailureRecord, Json, TaskProgress, TaskRecord } from '../ledger/records.js'
import type { TaskRetryGates } from './denials.js'
import type { InterruptRule } from './policy-record.js'
import {
  type AttemptEnd,
  changed,
  dueNow,
  ended,
  eventOf,
  settle,
  type Settled,
  takenUp,
  undecided,
  unpark,
  withoutSlot,
  withProgress,
} from './transitions.js'
import { attemptRow } from './task-rows.js'

/** After this many interruptions that nobody ordered, an attempt counts as failed: it may be what kills its process. */
const MAX_INTERRUPTIONS = 3

/** The process that ran the attempt is gone, or was asked to stop (`orderly`). */
export function interrupt(
  task: TaskRecord,
  policy: Policy,
  rule: InterruptRule,
  orderly: boolean,
  gates: TaskRetryGates,
  now: number,
): Settled {
  const resumed = takenUp(task, now)
  // Nothing ran: it stood in line.
  if (task.progress.current === null) return unpark(orderly ? task : resumed, now)
  if (rule === 'charge' && !orderly) return charge(resumed, policy, gates, now)
  const interruptions = task.progress.interruptions + (orderly ? 0 : 1)
  const isTooOften = interruptions >= MAX_INTERRUPTIONS
  if (isTooOften && rule === 'rerun') {
    // The fence rises, so that a process which was only believed to be lost writes nothing when it goes on.
    const settled = settle({ ...resumed, fence: task.fence + 1 }, policy, INTERRUPTED_TOO_OFTEN, gates, now)
    return { ...settled, events: [eventOf('interrupted', task, now, { interruptions })] }
  }
  // Nothing ran while the program looked into the attempt: its row is there already.
  const attempts = task.progress.unverified ? [] : [attemptRow(task, 'interrupted', null, now)]
  const events = [eventOf('interrupted', task, now, { attempt: task.progress.current.attempt, orderly })]
  // If looking is what ends its process, a person decides.
  const mustLook = rule === 'verify' && !(isTooOften && task.progress.unverified)
  const { unverified: _unverified, ...rest } = withoutSlot(orderly ? task : resumed).progress
  // One task of a batch may be what ends the process: the others must not be charged with it.
  const isAlone = !orderly && interruptions === MAX_INTERRUPTIONS - 1 && rest.current?.batch !== undefined
  const looked = mustLook ? { unverified: true } : {}
  const progress = { ...rest, interruptions, ...looked, ...(isAlone && { alone: true }) }
  const stopped = { ...task, progress, fence: task.fence + 1 }
  // An attempt that must not run twice does not count as failed either: a retry would run it again.
  const runsAgain = rule === 'rerun' || rule === 'charge' || mustLook
  const changes = runsAgain ? changed(dueNow(stopped, now)) : undecided(stopped, now)
  return { ...changes, attempts, events }
}

/**
 * The batch of the attempt failed, and nothing says that this task is the cause: it runs again alone, under its number and
 * with its grant.
 */
export function splitOff(task: TaskRecord, failure: FailureRecord, now: number): Settled {
  const attempt = task.progress.current?.attempt ?? task.progress.retry.launched
  const apart = { ...withProgress(withoutSlot(task), { alone: true }), fence: task.fence + 1 }
  const events = [eventOf('interrupted', task, now, { attempt, orderly: true, split: true, failure: { ...failure } })]
  return { ...changed(dueNow(apart, now)), attempts: [attemptRow(task, 'interrupted', null, now)], events }
}

const LOST: AttemptEnd = {
  result: 'interrupted',
  failure: { name: 'InterruptedError', message: 'The process that ran the attempt was lost' },
  retryable: true,
  retryAfterMs: undefined,
}

/**
 * A lost process costs an attempt: policy and allotment decide whether there is a next one. The fence stays until the next
 * claim, so that a process which was only cut off, or stopped, can still deliver its result; a task that is over has none.
 */
function charge(task: TaskRecord, policy: Policy, gates: TaskRetryGates, now: number): Settled {
  const known = task.progress.unverified ? nextExecution(task, now) : task
  const { attempt, execution, startedAtMs } = known.progress.current as NonNullable<TaskProgress['current']>
  const settled = settle(known, policy, LOST, gates, now)
  const events = [eventOf('interrupted', task, now, { attempt, orderly: false, charged: true })]
  const delayBeforeMs = known.progress.retry.lastDelayMs
  const lost = { attempt, execution, startedAtMs, delayBeforeMs, owner: task.owner ?? '' }
  const after =
    settled.task.status === 'waiting'
      ? withProgress(settled.task, { lost })
      : { ...settled.task, fence: settled.task.fence + 1 }
  return { ...settled, task: after, tasks: [after], events }
}

/** The row of the execution is there already: what follows is another one. */
function nextExecution(task: TaskRecord, now: number): TaskRecord {
  const { current } = task.progress
  if (current === null) return task
  return withProgress(task, { current: { ...current, execution: current.execution + 1, startedAtMs: now } })
}

/**
 * The result of an attempt that has been charged as lost, before anybody has claimed the task again: a second execution of
 * the same number. A success ends the task, and so does a failure that is not retried; what was charged stays charged.
 * Undefined for any other failure, since the next attempt has been decided.
 */
export function settleLate(task: TaskRecord, end: AttemptEnd, now: number): Settled | undefined {
  const { lost } = task.progress
  if (lost === undefined) return undefined
  const { owner, delayBeforeMs, ...execution } = lost
  const current = { ...execution, execution: lost.execution + 1 }
  // The wait that was chosen since is of the attempt that does not come.
  const retry = { ...task.progress.retry, lastDelayMs: delayBeforeMs }
  const ran = withProgress({ ...task, owner }, { current, retry })
  if (end.result === 'success') {
    const row = attemptRow(ran, 'success', null, now)
    return { ...ended({ ...task, result: end.value }, 'succeeded', null, now), attempts: [row] }
  }
  if (end.retryable || end.outOfTime) return undefined
  const row = attemptRow(ran, end.result, end.failure, now)
  const failed = ended(withProgress(task, { lastFailure: end.failure }), 'failed', 'not_retryable', now)
  return { ...failed, attempts: [row] }
}

const KILLED: FailureRecord = {
  name: 'InterruptedError',
  message: `The attempt was interrupted ${MAX_INTERRUPTIONS} times: it may be what ends its process`,
}

const INTERRUPTED_TOO_OFTEN: AttemptEnd = {
  result: 'interrupted',
  failure: KILLED,
  retryable: true,
  retryAfterMs: undefined,
}

/** What the program found: then the attempt ends, runs again by `begin`, or waits for a person. */
export function verified(
  task: TaskRecord,
  found: Verification,
  policy: Policy,
  gates: TaskRetryGates,
  now: number,
): Settled {
  const { unverified: _unverified, ...progress } = task.progress
  const known = { ...task, progress, fence: task.fence + 1 }
  if (found.type === 'done') {
    const events = [eventOf('decided', task, now, { answer: 'done', by: 'verify' })]
    return { ...ended({ ...known, result: found.result }, 'succeeded', null, now), events }
  }
  if (found.type === 'rerun' && progress.interruptions >= MAX_INTERRUPTIONS) {
    // It did not happen, and was interrupted too often: it counts as failed, beside the rows of the interruptions.
    return settle(nextExecution(known, now), policy, INTERRUPTED_TOO_OFTEN, gates, now)
  }
  const changes = found.type === 'rerun' ? changed(dueNow(known, now)) : undecided(known, now)
  const failure = found.type === 'unknown' && found.failure !== undefined ? { failure: { ...found.failure } } : {}
  return { ...changes, events: [eventOf('decided', task, now, { answer: found.type, by: 'verify', ...failure })] }
}

export type Verification =
  | { readonly type: 'done'; readonly result: Json }
  | { readonly type: 'rerun' }
  | { readonly type: 'unknown'; readonly failure?: FailureRecord }
