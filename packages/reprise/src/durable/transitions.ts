/**
 * What happens to a task, as pure functions from its record to the changes a ledger commits: an attempt begins, ends, or
 * is interrupted; somebody resets, cancels or starts it early. Decisions are those of `core/decide`; this file only says what
 * of them is written. Imports core and the ledger's types.
 *
 * Invariants: every change of owner raises the fence. An attempt's number is written before it starts, its outcome
 * together with what follows from it.
 */
import type { Breaker } from '../core/breaker.js'
import type { Decision } from '../core/budget.js'
import { admit, advance, decide, type Outcome, type RetryGates, type RetryVerdict, type Stop } from '../core/decide.js'
import { PARK_EXPIRED } from '../core/gate.js'
import type { Policy } from '../core/policy.js'
import { drawsOf, initialState, type RetryState, snapshot } from '../core/state.js'
import type { AttemptResult, StopReason } from '../core/words.js'
import type { Changes } from '../ledger/ledger.js'
import {
  type EndedGeneration,
  type FailureRecord,
  type Json,
  keyOf,
  type LedgerEvent,
  type TaskProgress,
  type TaskRecord,
} from '../ledger/records.js'
import { droppedCheckpoints } from './checkpoints.js'
import { breakerDenial, budgetDenial, deniedRow, type GateDenial, type TaskRetryGates, withDenial } from './denials.js'
import { withoutMarks, withoutWait } from './progress-marks.js'
import { attemptRow, closedLetters, deadLetterOf } from './task-rows.js'

/** Who asks before an attempt, and hears of its end. */
export interface TaskGates {
  readonly breaker: Breaker | undefined
  /** As the policy of now allows: one that was accepted later may allow fewer than were made. */
  readonly attempts: number
  /** Of the whole call, from its first start; undefined: no limit. */
  readonly timeoutMs: number | undefined
  /** When the task was taken up again, if that is the case: then the date of expiry counts. */
  readonly resumedAtMs: number | undefined
  /** Where the expiry was looked at before: the task has waited in line since. */
  readonly isGranted?: boolean
  /** How long a task that is denied may stand in the budget's line; undefined if there is none. */
  readonly maxParkMs: number | undefined
  /** The name of the budget that is asked; undefined without one. */
  readonly budget: string | undefined
  ask(): Decision
}

/** The task runs, is parked, or is over: its status says which. */
export interface Begun extends Changes {
  readonly task: TaskRecord
  /** What the breaker wants to hear with the result. */
  readonly epoch: number
}

/** The next attempt begins, if it may: else the task is over. */
export function begin(given: TaskRecord, owner: string, gates: TaskGates, now: number): Begun {
  if (given.progress.unverified) return { ...takenToVerify(given, owner, now), epoch: 0 }
  const task = started(given, gates, now)
  const { progress } = task
  const interrupted = progress.current
  const { retry } = progress
  if (retry.failures >= gates.attempts) return { ...ended(task, 'failed', 'attempts_exhausted', now), epoch: 0 }
  // The grant of an attempt that was interrupted goes on with it: it is the same attempt.
  const ask = interrupted === null ? () => gates.ask() : () => CARRIED_ON
  const parks = gates.maxParkMs !== undefined
  const dueMs = gates.isGranted ? -Infinity : Math.max(task.dueAtMs ?? -Infinity, progress.resumedAtMs ?? now)
  const admission = admit(retry, { aborted: false, now, dueMs, breaker: gates.breaker, ask, parks })
  if (admission.type === 'stop') return { ...refused(task, owner, admission, gates, now), epoch: 0 }
  if (admission.type === 'park') return { ...parked(task, owner, now + (gates.maxParkMs ?? 0), now), epoch: 0 }
  const attempt = interrupted?.attempt ?? retry.launched + 1
  const isProbe = gates.breaker !== undefined && admission.breaker === 'half_open'
  const plain = { attempt, startedAtMs: now, execution: (interrupted?.execution ?? 0) + 1 }
  const current = isProbe ? { ...plain, probe: { breaker: gates.breaker.key, epoch: admission.epoch } } : plain
  const begun: TaskRecord = {
    ...task,
    status: 'running',
    owner,
    fence: task.fence + 1,
    dueAtMs: null,
    progress: { ...withoutWait(progress), current, retry: { ...retry, launched: attempt } },
    updatedAtMs: now,
  }
  return { task: begun, tasks: [begun], epoch: admission.epoch }
}

/** The attempt may not begin, and the task is over: a gate that denied it is recorded. */
function refused(task: TaskRecord, owner: string, { reason, decision }: Stop, gates: TaskGates, now: number): Settled {
  const denial = denialOf(decision, gates)
  const isDenied = (reason === 'budget_denied' || reason === 'breaker_open') && denial !== undefined
  return isDenied ? denied(task, owner, reason, denial, now) : ended(task, 'failed', reason, now)
}

function denialOf(decision: Decision | undefined, { breaker, budget }: TaskGates): GateDenial | undefined {
  if (decision === undefined) return breaker && breakerDenial(breaker.key)
  return budget === undefined ? undefined : budgetDenial(budget, decision)
}

function denied(task: TaskRecord, owner: string, reason: StopReason, denial: GateDenial, now: number): Settled {
  const over = ended(withDenial(task, denial), 'failed', reason, now)
  return { ...over, attempts: [deniedRow(task, denial, owner, now)] }
}

/** The task begins in a batch, whose first task is named. */
export function withBatch<T extends Begun>(begun: T, batch: string): T {
  const { current } = begun.task.progress
  if (current === null) return begun
  const task = withProgress(begun.task, { current: { ...current, batch } })
  return { ...begun, task, tasks: [task] }
}

/** The deadline counts from the first start. */
function started(task: TaskRecord, { timeoutMs, resumedAtMs }: TaskGates, now: number): TaskRecord {
  const taken = resumedAtMs === undefined ? task : takenUp(task, resumedAtMs)
  const { retry, current } = taken.progress
  const isFirst = timeoutMs !== undefined && retry.deadlineAtMs === null && retry.launched === 0 && current === null
  return isFirst ? withProgress(taken, { retry: { ...retry, deadlineAtMs: now + timeoutMs } }) : taken
}

/** Only a task that has failed before is resumed, and only once: a first failure that comes later has its whole budget. */
export function takenUp(task: TaskRecord, resumedAtMs: number): TaskRecord {
  // A task of an older version has no retry state: it gets a fresh one before it begins.
  const { retry } = task.progress as Partial<TaskRecord['progress']>
  if (retry === undefined || retry.failures === 0 || retry.resumed) return task
  return withProgress(task, { resumedAtMs, retry: { ...retry, resumed: true } })
}

/** Held by an owner while the program looks whether the interrupted attempt happened; nothing of it runs. */
function takenToVerify(task: TaskRecord, owner: string, now: number): Settled {
  const held: TaskRecord = { ...task, status: 'running', owner, fence: task.fence + 1, dueAtMs: null, updatedAtMs: now }
  return { task: held, tasks: [held] }
}

/** In line: it keeps its owner, and its due time is the end of its patience. */
function parked(task: TaskRecord, owner: string, untilMs: number, now: number): Settled {
  const dueAtMs = Math.min(untilMs, task.progress.retry.deadlineAtMs ?? Infinity)
  const next: TaskRecord = { ...task, status: 'parked', owner, fence: task.fence + 1, dueAtMs, updatedAtMs: now }
  return { task: next, tasks: [next] }
}

/** The line of this budget was left without a grant. */
export function leaveLine(task: TaskRecord, budget: string, now: number): Settled {
  const { deadlineAtMs } = task.progress.retry
  if (deadlineAtMs !== null && now >= deadlineAtMs) return ended(task, 'failed', 'timeout', now)
  return denied(task, task.owner ?? '', 'budget_denied', budgetDenial(budget, PARK_EXPIRED), now)
}

/** A parked task goes back to where others can see it. */
export function unpark(task: TaskRecord, now: number): Settled {
  const next = dueNow({ ...task, fence: task.fence + 1 }, now)
  return { task: next, tasks: [next] }
}

export function dueNow(task: TaskRecord, now: number): TaskRecord {
  return { ...task, status: 'waiting', owner: null, dueAtMs: now, stopReason: null, updatedAtMs: now }
}

export function changed(task: TaskRecord): Settled {
  return { task, tasks: [task] }
}

/** Only a person can say what became of it. */
export function undecided(task: TaskRecord, now: number): Settled {
  const held = { ...task, owner: null, dueAtMs: null, updatedAtMs: now }
  const next: TaskRecord = { ...held, status: 'undecided', stopReason: 'interrupted' }
  return { ...changed(next), dead: [deadLetterOf(next, now)] }
}

const CARRIED_ON: Decision = Object.freeze({ allowed: true, reason: 'allowed' })

export type AttemptEnd =
  | { readonly result: 'success'; readonly value: Json }
  | {
      readonly result: Exclude<AttemptResult, 'success' | 'denied'>
      readonly failure: FailureRecord
      readonly retryable: boolean
      readonly retryAfterMs: number | undefined
      /** The operation worked, and what it waits for is not there yet: its breaker does not count it. */
      readonly isNotYet?: boolean
      /** The whole call is out of time, whatever else there would be to say. */
      readonly outOfTime?: boolean
    }

const EXHAUSTED: { readonly reason: StopReason; readonly budgetReason?: string } = { reason: 'attempts_exhausted' }

export interface Settled extends Changes {
  readonly task: TaskRecord
}

/** The attempt has ended: what follows is decided and written with it. */
export function settle(task: TaskRecord, policy: Policy, end: AttemptEnd, gates: TaskRetryGates, now: number): Settled {
  const row = attemptRow(task, end.result, end.result === 'success' ? null : end.failure, now)
  if (end.result === 'success') {
    const over = endedTask(task, 'succeeded', null, now)
    over.result = end.value
    const { checkpoint } = task.progress
    // Field by field: every task succeeds once.
    return checkpoint === undefined
      ? { task: over, tasks: [over], attempts: [row] }
      : { task: over, tasks: [over], attempts: [row], ...droppedCheckpoints(task) }
  }
  if (end.outOfTime) {
    const late = ended(withProgress(task, { lastFailure: end.failure }), 'failed', 'timeout', now)
    return { ...late, attempts: [row] }
  }
  const outcome: Outcome = { type: 'failure', retryable: end.retryable, retryAfterMs: end.retryAfterMs }
  const state: RetryState = { ...task.progress.retry }
  const verdict = decide(policy, state, outcome, now, drawsOf(task.progress.retry.seed), gates)
  const failed = withProgress(task, { lastFailure: end.failure })
  if (verdict.type !== 'retry') {
    const { reason, budgetReason } = verdict.type === 'stop' ? verdict : EXHAUSTED
    const denial = gates.denial?.(reason, budgetReason)
    if (denial === undefined) return { ...ended(failed, 'failed', reason, now), attempts: [row] }
    const over = ended(withDenial(failed, denial), 'failed', reason, now)
    return { ...over, attempts: [row, deniedRow(unstarted(failed), denial, task.owner ?? '', now)] }
  }
  advance(state, verdict)
  const retry = snapshot(state, task.progress.retry.seed)
  const waiting = atRest(withProgress(failed, { retry, ...chargeMark(failed, gates, verdict) }), verdict.dueAtMs, now)
  return { task: waiting, tasks: [waiting], attempts: [row] }
}

/** What the allotment has charged; or that it is asked again. */
function chargeMark({ progress }: TaskRecord, gates: RetryGates, { postponed }: RetryVerdict): Partial<TaskProgress> {
  if (postponed) return { unpaid: true }
  return gates.allot === undefined ? {} : { allotted: (progress.allotted ?? 0) + 1 }
}

/**
 * A task that waits for the grant of its retry asks again: it is `paid` and may start, waits on, or is over. `isFree` is
 * read after the allotment was asked.
 */
export function askAgain(
  task: TaskRecord,
  gates: TaskRetryGates,
  isFree: () => boolean,
  now: number,
): Settled & { readonly isPaid: boolean } {
  const { unpaid: _unpaid, ...progress } = task.progress
  const paid = { ...task, progress }
  const answer = gates.allot?.()
  if (answer?.allowed === false) {
    const denial = gates.denial?.('budget_denied', answer.reason)
    const over = denial && denied(paid, '', 'budget_denied', denial, now)
    return { ...(over ?? ended(paid, 'failed', 'budget_denied', now)), isPaid: false }
  }
  const postponeMs = answer?.postponeMs
  if (postponeMs !== undefined) {
    const { retry } = progress
    const waited = { ...retry, totalDelayMs: retry.totalDelayMs + postponeMs, lastDelayMs: postponeMs }
    const next = { ...withProgress(task, { retry: waited }), dueAtMs: now + postponeMs, updatedAtMs: now }
    return { ...changed(next), isPaid: false }
  }
  const isCharged = answer !== undefined && !isFree()
  const granted = isCharged ? withProgress(paid, { allotted: (progress.allotted ?? 0) + 1 }) : paid
  return { ...changed(granted), isPaid: true }
}

/** Between two attempts, of which the second was denied before its wait began. */
function unstarted(task: TaskRecord): TaskRecord {
  return withProgress(task, { current: null, retry: { ...task.progress.retry, lastDelayMs: 0 } })
}

/** What a redrive adds to a reset. */
interface RedriveGrant {
  /** Retries of the new generation are charged to no allotment. */
  readonly uncharged: boolean
  /** Where the task waits from now on; where it waited before when absent. */
  readonly queue?: string | undefined
  /** What the event says of it. */
  readonly detail: Readonly<Record<string, Json>>
}

/** Ends of earlier generations that a task keeps: somebody may reset it again and again. */
const MOST_EARLIER = 20

function endOf({ generation, status, stopReason, progress, updatedAtMs }: TaskRecord): EndedGeneration {
  // A task of an older version has no retry state.
  const { launched = 0, totalDelayMs = 0 } = (progress as Partial<TaskProgress>).retry ?? {}
  return { generation, status, stopReason, attempts: launched, waitedMs: totalDelayMs, endedAtMs: updatedAtMs }
}

/** A fresh set of attempts, by the policy of now. History, gates, what was charged and the idempotency key stay. */
export function reset(
  task: TaskRecord,
  policyHash: string,
  seed: number,
  now: number,
  redrive?: RedriveGrant,
): Settled {
  const { allotted, grouped } = task.progress
  const progress: TaskProgress = {
    ...freshProgress(seed),
    ...(allotted !== undefined && { allotted }),
    ...(grouped && { grouped }),
    ...(redrive?.uncharged && { uncharged: true }),
    earlier: [...(task.progress.earlier ?? []), endOf(task)].slice(-MOST_EARLIER),
  }
  const { result: _result, ...rest } = task
  const next: TaskRecord = {
    ...rest,
    queue: redrive?.queue ?? task.queue,
    generation: task.generation + 1,
    status: 'waiting',
    owner: null,
    fence: task.fence + 1,
    dueAtMs: now,
    progress,
    policyHash,
    stopReason: null,
    updatedAtMs: now,
  }
  const events = [eventOf('reset', task, now, { generation: next.generation, ...redrive?.detail })]
  return { task: next, tasks: [next], events, ...droppedCheckpoints(task), ...closedLetters(task, 'reset', now) }
}

export function cancel(task: TaskRecord, now: number): Settled {
  const { checkpoint: _checkpoint, lost: _lost, unpaid: _unpaid, ...progress } = withoutSlot(task).progress
  const next: TaskRecord = {
    ...task,
    progress,
    status: 'cancelled',
    owner: null,
    fence: task.fence + 1,
    dueAtMs: null,
    stopReason: 'aborted',
    updatedAtMs: now,
  }
  // While it was looked into nothing ran.
  const isRunning = task.status === 'running' && !task.progress.unverified
  const attempts = isRunning ? [attemptRow(task, 'aborted', null, now)] : []
  const events = [eventOf('cancelled', task, now, {})]
  const beside = { ...droppedCheckpoints(task), ...closedLetters(task, 'cancelled', now) }
  return { task: next, tasks: [next], attempts, events, ...beside }
}

/** The wait is over now; recorded, since the attempt starts before its time. */
export function retryNow(task: TaskRecord, now: number): Settled {
  const next = { ...withProgress(task, { startEarly: true }), dueAtMs: now, updatedAtMs: now }
  return { task: next, tasks: [next], events: [eventOf('retry_now', task, now, { dueAtMs: task.dueAtMs })] }
}

/** What is left to wait when the clock was set back since: never more than there was when it was written. */
export function sinceSetBack(task: TaskRecord, now: number): TaskRecord {
  if (task.dueAtMs === null || now >= task.updatedAtMs) return task
  return {
    ...task,
    dueAtMs: Math.min(task.dueAtMs, now + Math.max(0, task.dueAtMs - task.updatedAtMs)),
    updatedAtMs: now,
  }
}

/**
 * Written before there was a retry state: it begins with a fresh one, in a generation of its own, since it may have made
 * attempts that have its numbers.
 */
export function migrate(task: TaskRecord, seed: number, now: number): Settled {
  const progress = freshProgress(seed)
  const next: TaskRecord = { ...task, generation: task.generation + 1, progress, updatedAtMs: now }
  return { task: next, tasks: [next], events: [eventOf('migrated', task, now, {})] }
}

/** The program's policy is the task's from now on; what was counted counts. */
export function acceptPolicy(task: TaskRecord, policyHash: string, now: number): Settled {
  const next: TaskRecord = { ...withProgress(task, { policyAccepted: true }), policyHash, updatedAtMs: now }
  const detail = { from: task.policyHash, to: policyHash }
  return { task: next, tasks: [next], events: [eventOf('policy_accepted', task, now, detail)] }
}

/** A person says what became of an interrupted attempt. `detail`: what the event says of it, such as who and why. */
export function resolve(
  task: TaskRecord,
  answer: 'done' | 'rerun',
  result: Json,
  now: number,
  detail: Readonly<Record<string, Json>> = {},
): Settled {
  const events = [eventOf('decided', task, now, { answer, ...detail })]
  const decided = { events, ...closedLetters(task, 'decided', now) }
  if (answer === 'done') return { ...ended({ ...task, result }, 'succeeded', null, now), ...decided }
  // Whoever decides has seen what became of it: the count of losses begins anew.
  return { ...changed(dueNow(withProgress(task, { interruptions: 0 }), now)), ...decided }
}

export function seedOf(random: () => number): number {
  return Math.floor(random() * 2 ** 32)
}

/** Without a deadline: that is set by the first start. */
export function freshProgress(seed: number): TaskProgress {
  return {
    retry: snapshot(initialState(null), seed),
    current: null,
    interruptions: 0,
    lastFailure: null,
  }
}

export function withProgress(task: TaskRecord, progress: Partial<TaskProgress>): TaskRecord {
  return { ...task, progress: { ...task.progress, ...progress } }
}

/** Its attempt holds no slot of a breaker any more; the slot is given back in the same transaction. */
export function withoutSlot(task: TaskRecord): TaskRecord {
  const { current } = task.progress
  if (current?.probe === undefined) return task
  const { probe: _probe, ...rest } = current
  return withProgress(task, { current: rest })
}

/** Between two attempts: no owner, but a time. */
function atRest(task: TaskRecord, dueAtMs: number, now: number): TaskRecord {
  const waitChosenBy = task.owner === null ? {} : { waitChosenBy: task.owner }
  const { unverified: _unverified, ...rest } = task.progress
  const progress = { ...rest, current: null, interruptions: 0, ...waitChosenBy }
  return { ...task, status: 'waiting', owner: null, dueAtMs, progress, updatedAtMs: now }
}

export function ended(
  task: TaskRecord,
  status: 'succeeded' | 'failed',
  stopReason: StopReason | null,
  now: number,
): Settled {
  const over = endedTask(task, status, stopReason, now)
  const dead = status === 'failed' ? [deadLetterOf(over, now)] : []
  return { task: over, tasks: [over], dead, ...droppedCheckpoints(task) }
}

function endedTask(
  task: TaskRecord,
  status: 'succeeded' | 'failed',
  stopReason: StopReason | null,
  now: number,
): { -readonly [Field in keyof TaskRecord]: TaskRecord[Field] } {
  const progress = { ...withoutMarks(task.progress), current: null, interruptions: 0 }
  return { ...task, status, owner: null, dueAtMs: null, progress, stopReason, updatedAtMs: now }
}

export function eventOf(type: LedgerEvent['type'], task: TaskRecord, now: number, detail: Json): LedgerEvent {
  return { type, ...keyOf(task), atMs: now, correlationId: task.correlationId, detail }
}
