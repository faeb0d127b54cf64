/**
 * Batches: several tasks of one queue that are handed to one attempt. Each stays a task with its own record and its own
 * decisions; they share a place of the queue, a slot of the process, one execution, and the commit of their ends. Imports
 * types of the ledger and of its own layer.
 */
import type { Json, TaskRecord } from '../ledger/records.js'
import type { Checkpoint } from './checkpoints.js'
import type { DurableContext, ExecutionEnd } from './execution.js'

/** One task of a batch, as the function of the batch sees it. */
export interface BatchMember<I> {
  /** What the task was created with. */
  readonly input: I
  /** Of its own task: its id, attempt and idempotency key. */
  readonly context: Omit<DurableContext, 'checkpoint' | 'lastCheckpoint'>
}

/** How one task of a batch ended. */
export type MemberOutcome =
  | {
      /** It succeeded with this result. */
      readonly value: unknown
    }
  | {
      /** It failed with this, and is retried as if it had run alone. */
      readonly error: unknown
    }

/** What the function of a batch is handed beside its tasks. */
export interface BatchContext<C = Json> {
  /** Aborts when the attempt times out, its first task is cancelled, or the process stops. */
  readonly signal: AbortSignal
  /** What an earlier execution kept with the first task; absent if none did. */
  readonly lastCheckpoint?: Checkpoint<C> | undefined
  /**
   * Keeps how far this execution has come, with the first task.
   * @example await batch.checkpoint({ begun: 3 })
   */
  checkpoint(this: void, value: C): Promise<void>
  /**
   * Says how one of the tasks ended; the last report of a task counts. A task without one has the fate of the batch. A
   * listener of the signal may still report what it knows.
   * @example batch.report('order-42', { value: 'receipt-17' })
   */
  report(this: void, taskId: string, outcome: MemberOutcome): void
}

/** Its value is the result of the tasks that were not reported. */
type BatchFunction<I> = (members: readonly BatchMember<I>[], context: BatchContext) => unknown

/** How many tasks of a queue are handed to one attempt, and what it does. */
export interface BatchRule<I = never> {
  /** At most this many. */
  readonly most: number
  /**
   * Tasks with the same text are never in one batch.
   * @default any tasks may be in one batch
   * @example { most: 50, apart: (task) => task.correlationId }
   */
  readonly apart?: (this: void, task: TaskRecord) => string
  /** Called for every batch. */
  readonly run: BatchFunction<I>
}

/** The task failed with its batch, and goes on alone: nothing is charged. */
export interface SplitOff {
  readonly type: 'split'
  readonly error: unknown
}

interface MemberFacts {
  /** What was reported of it. */
  readonly outcome: MemberOutcome | undefined
  /** Whether it has run alone: then the failure is its own. */
  readonly isSingle: boolean
  /** Whether its own time, with all its attempts, is over. */
  readonly isLate: boolean
}

/**
 * What the end of a batch means for one of its tasks. A report decides; at a stop only a success does, since what fails
 * while it is stopped fails because of it. A failure nobody is named for says nothing about a single task, so that its
 * tasks are split off; an error that stops all the work (`halt`) is the failure of all of them.
 */
export function endOfMember(end: ExecutionEnd, { outcome, isSingle, isLate }: MemberFacts): ExecutionEnd | SplitOff {
  if (outcome !== undefined && 'value' in outcome) return { type: 'value', value: outcome.value }
  if (outcome !== undefined && end.type !== 'stopped') return { type: 'error', error: outcome.error }
  if (end.type === 'value' || end.type === 'stopped' || isSingle) return end
  if (end.type === 'call_timeout' && isLate) return end
  if (end.type === 'call_timeout' && !end.started) return { type: 'stopped', started: false }
  return isHalt(end.error) ? end : { type: 'split', error: end.error }
}

function isHalt(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'halt' in error && error.halt === true
}
