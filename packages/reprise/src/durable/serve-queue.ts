/**
 * Queues with tasks of many runs: a workflow of a job at a datacenter is a task of the job's run there and waits in the
 * queue of the datacenter, with tasks of other jobs. Imports core, the ledger's types and its own layer.
 *
 * Invariant: a task of such a queue has no conductor: any process that serves the queue may execute it.
 */
import { randomUUID } from 'node:crypto'
import { IN_CODE, normalizePolicy } from '../core/normalize.js'
import type { PolicyArgument } from '../core/policy.js'
import type { NewTask } from '../ledger/ledger.js'
import { type Json, scopeOfRun, type TaskRecord } from '../ledger/records.js'
import type { AllotmentRule } from './allotment.js'
import type { ClaimedTaskFunction, Definition, TaskFunction } from './definition.js'
import type { TaskGroup } from './group.js'
import { fingerprint, recordOf } from './policy-record.js'
import { freshProgress } from './transitions.js'

/** What a queue of tasks of many runs is made of. */
export interface QueueInput {
  /** The queue's name: unique within the ledger. */
  readonly queue: string
  /** What observers are told its tasks are called. */
  readonly name: string
  readonly policy: PolicyArgument
  /** What is executed for each attempt; the context does not say which run the task belongs to, so its input does. */
  readonly run: TaskFunction<never, unknown>
  /** Called in its place by a process that executes the tasks, with the task as it was claimed. */
  readonly runClaimed?: ClaimedTaskFunction
  /** The end of an attempt is recorded (`isKept`), or another process has the task: see `Definition`. */
  readonly onRecorded?: (claimed: TaskRecord, isKept: boolean) => void
  readonly group?: TaskGroup
  readonly allot?: AllotmentRule
  /** A lost process costs an attempt (`charge`), or the attempt runs again. */
  readonly onInterrupt?: 'rerun' | 'charge'
  /** A retry is left to processes that have not failed the task. */
  readonly prefersOthers?: boolean
  /** A task that fails leaves no dead letter. */
  readonly keepsNoLetters?: boolean
}

/** The definition of such a queue. It may be used to record tasks by processes that do not serve it. */
export function defineQueue(input: QueueInput): Definition {
  const { queue, name, run, runClaimed, onRecorded, group, allot, onInterrupt = 'rerun' } = input
  const { prefersOthers, keepsNoLetters } = input
  const { policy } = normalizePolicy(input.policy, IN_CODE)
  return {
    name,
    queue,
    ...scopeOfRun(queue),
    policy,
    record: recordOf(policy, onInterrupt),
    run,
    onInterrupt,
    verify: undefined,
    ...(runClaimed && { runClaimed }),
    ...(onRecorded && { onRecorded }),
    ...(group && { group }),
    ...(allot && { allot }),
    ...(prefersOthers && { prefersOthers }),
    ...(keepsNoLetters && { keepsNoLetters }),
  }
}

/** A task to be recorded in such a queue. */
export interface QueueTask {
  /** The run that it belongs to. */
  readonly run: string
  readonly id: string
  readonly input: Json
  /** When its first attempt may start. */
  readonly dueAtMs: number
  /** When it must have ended, with all its attempts; null for no limit. @default null @example { deadlineAtMs: 1767225600000 } */
  readonly deadlineAtMs?: number | null
  /** The seed of its delays, so that two decisions of one transaction make the same task. */
  readonly seed: number
  /** Joins its events with those of its run. */
  readonly correlationId?: string
}

/** The record of a task in the queue. Pure but for the correlation id, if none is given. */
export function queueTask(definition: Definition, input: QueueTask, now: number): NewTask {
  const { run, id, dueAtMs, deadlineAtMs = null, seed, correlationId = randomUUID() } = input
  const fresh = freshProgress(seed)
  const retry = { ...fresh.retry, deadlineAtMs }
  const grouped = definition.group === undefined ? {} : { grouped: true }
  const task: TaskRecord = {
    ...scopeOfRun(run),
    id,
    queue: definition.queue,
    generation: 1,
    status: 'waiting',
    dueAtMs,
    owner: null,
    fence: 0,
    progress: { ...fresh, retry, ...grouped },
    policyHash: definition.record.hash,
    input: input.input,
    stopReason: null,
    correlationId,
    createdAtMs: now,
    updatedAtMs: now,
  }
  return { task, policy: definition.record, payloadHash: fingerprint({ name: definition.name, input: input.input }) }
}
