/**
 * The queues of jobs: what every process has to agree on, so that a task which one process records is executed by another.
 * Imports the library.
 *
 * Invariant: the policies are the same in every process that shares a ledger; a task with another policy is not claimed.
 */
import type { PolicyInput } from 'reprise'
import type { NewTask, TaskRecord } from 'reprise/durable'
import {
  type Changes,
  type Definition,
  defineQueue,
  fingerprint,
  type QueueInput,
  queueTask,
  resetTask,
} from 'reprise/internal'
import { fieldsOf, wordIn } from './damaged-record.js'
import { TIMER_KINDS, TIMER_QUEUE, timerId, type TimerKind, workQueue } from './names.js'

/**
 * Retries of workflows: exponential, with full jitter. The budget of the job stops them, not the number of attempts; a
 * breaker or gate budget would deny what the job has paid for.
 */
export const WORKFLOW_POLICY: PolicyInput = {
  attempts: 1000,
  backoff: 'exponential',
  initialDelay: '1s',
  maxDelay: '1m',
  jitter: 'full',
}

/** A timer fails only where the store does: it is tried until it is heard. */
const TIMER_POLICY: PolicyInput = {
  attempts: 1000,
  backoff: 'exponential',
  initialDelay: '100ms',
  maxDelay: '5s',
  jitter: 'full',
}

const inert = async (): Promise<null> => null
/** Tasks are marked as members of a group when they are recorded. */
const GROUPED = { keys: () => ({}), follow: () => ({}) }

export function workShape(datacenter: string, isLarge: boolean, policy: PolicyInput): QueueInput {
  return {
    queue: workQueue(datacenter, isLarge),
    name: `job-workflow at ${datacenter}`,
    policy,
    run: inert,
    group: GROUPED,
    onInterrupt: 'charge',
    prefersOthers: true,
    keepsNoLetters: true,
  }
}

export const TIMER_SHAPE: QueueInput = {
  queue: TIMER_QUEUE,
  name: 'job-timer',
  policy: TIMER_POLICY,
  run: inert,
  group: GROUPED,
  keepsNoLetters: true,
}

const TIMERS: Definition = defineQueue(TIMER_SHAPE)

/** A number that depends on nothing but the names: two decisions of one transaction make the same task. */
export function seedFor(...names: readonly string[]): number {
  return Number.parseInt(fingerprint([...names]).slice(0, 8), 16)
}

export interface TimerInput {
  readonly kind: TimerKind
  readonly job: string
  /** Of a report, or of a dispatch; which check it is. */
  readonly datacenter?: string
}

export function timerInputOf({ input, scope, id }: Pick<TaskRecord, 'input' | 'scope' | 'id'>): TimerInput {
  const what = `timer ${scope}/${id}`
  const fields = fieldsOf(input, what)
  const { datacenter } = fields
  const named = typeof datacenter === 'string' ? { datacenter } : {}
  return { kind: wordIn(fields, 'kind', TIMER_KINDS, what), job: scope, ...named }
}

interface TimerParts extends TimerInput {
  readonly dueAtMs: number
  readonly correlationId: string
}

/** A timer to be recorded. */
export function newTimer({ kind, job, datacenter, dueAtMs, correlationId }: TimerParts, now: number): NewTask {
  const id = timerId(kind, datacenter)
  const input = { kind, job, ...(datacenter !== undefined && { datacenter }) }
  return queueTask(TIMERS, { run: job, id, input, dueAtMs, seed: seedFor(job, id), correlationId }, now)
}

/** The same timer once more: the task that has ended gets a new generation. */
export function againAt(task: TaskRecord, dueAtMs: number, now: number): Rearmed {
  const { task: again, events = [] } = resetTask(task, TIMERS.record.hash, seedFor(task.scope, task.id), now)
  return { tasks: [{ ...again, dueAtMs }], events }
}

/** A timer that is due again, with the event of its new generation. */
export type Rearmed = Required<Pick<Changes, 'tasks' | 'events'>>
