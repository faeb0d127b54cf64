/**
 * What becomes of an attempt whose process was lost or stopped, as pure functions from the task's record to the changes:
 * it runs again, counts as failed, is looked into, or waits for a person. Imports core's and the ledger's types and its
 * own layer.
 */
import type { RetryGates } from '../core/decide.js'
import type { Policy } from '../core/policy.js'
import type { FailureRecord, Json, TaskRecord } from '../ledger/records.js'
import type { InterruptRule } from './policy-record.js'
import {
  type AttemptEnd,
  attemptRow,
  dueNow,
  ended,
  eventOf,
  settle,
  type Settled,
  undecided,
  unpark,
  withoutSlot,
  withProgress,
} from './transitions.js'

/** After this many interruptions that nobody ordered, an attempt counts as failed: it may be what kills its process. */
const MAX_INTERRUPTIONS = 3

/** The process that ran the attempt is gone, or was asked to stop (`orderly`). */
export function interrupt(
  task: TaskRecord,
  policy: Policy,
  rule: InterruptRule,
  orderly: boolean,
  gates: RetryGates,
  now: number,
): Settled {
  const resumed = withProgress(task, { retry: { ...task.progress.retry, resumed: true } })
  // Nothing ran: it stood in line.
  if (task.progress.current === null) return unpark(orderly ? task : resumed, now)
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
  const { retry } = orderly ? task.progress : resumed.progress
  // If looking is what ends its process, a person decides.
  const mustLook = rule === 'verify' && !(isTooOften && task.progress.unverified)
  const { unverified: _unverified, ...rest } = withoutSlot(task).progress
  const progress = { ...rest, retry, interruptions, ...(mustLook && { unverified: true }) }
  const stopped = { ...task, progress, fence: task.fence + 1 }
  // An attempt that must not run twice does not count as failed either: a retry would run it again.
  const next = rule === 'rerun' || mustLook ? dueNow(stopped, now) : undecided(stopped, now)
  return { task: next, tasks: [next], attempts, events }
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
  gates: RetryGates,
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
    const current = progress.current && {
      ...progress.current,
      execution: progress.current.execution + 1,
      startedAtMs: now,
    }
    return settle({ ...known, progress: { ...progress, current } }, policy, INTERRUPTED_TOO_OFTEN, gates, now)
  }
  const next = found.type === 'rerun' ? dueNow(known, now) : undecided(known, now)
  return { task: next, tasks: [next], events: [eventOf('decided', task, now, { answer: found.type, by: 'verify' })] }
}

export type Verification =
  | { readonly type: 'done'; readonly result: Json }
  | { readonly type: 'rerun' }
  | { readonly type: 'unknown' }
