/** A kind of task, as a program registers it. Imports core and its own layer. */
import type { Policy } from '../core/policy.js'
import type { View } from '../ledger/ledger.js'
import type { QueueRate } from '../ledger/queue-limit.js'
import type { Json, PolicyRecord, RunRecord, Scope, TaskRecord } from '../ledger/records.js'
import type { Allotment, AllotmentRule } from './allotment.js'
import type { BatchRule } from './batch.js'
import { TaskRefusedError } from './errors.js'
import type { DurableContext } from './execution.js'
import type { TaskGroup } from './group.js'
import type { InterruptRule } from './policy-record.js'

/**
 * `T` if a ledger can keep a value of it, else a type to which it cannot be assigned: `{ at: Date }` is refused at `at`. A
 * field that may be undefined is fine, since JSON leaves it out. What types do not show is refused when it is given.
 */
export type JsonOf<T> = unknown extends T
  ? T
  : T extends Json | undefined | void
    ? T
    : T extends Date
      ? 'a Date is not JSON: pass date.toISOString()'
      : T extends bigint | symbol | ((...args: never) => unknown)
        ? 'not JSON'
        : { [K in keyof T]: JsonOf<T[K]> }

/** Nothing, where a ledger can keep input, result and checkpoints; else what is wrong with them, so that the compiler says so. */
export type Recordable<I, R, C = null> = [I, R, C] extends [JsonOf<I>, JsonOf<R>, JsonOf<C>]
  ? unknown
  : { readonly notJson: { readonly input: JsonOf<I>; readonly result: JsonOf<R>; readonly checkpoint: JsonOf<C> } }

/**
 * The function that a task runs, once for each attempt. `C`: what its checkpoints are; say it with the context:
 * `(input: Order, context: DurableContext<{ page: number }>)`.
 */
export type TaskFunction<I, R, C = Json> = (input: I, context: DurableContext<C>) => R | PromiseLike<R>

/**
 * Whether an attempt that was interrupted has happened, and with what result: `unknown` leaves it to a person, as does
 * an error or a look that takes longer than an attempt may.
 */
export type VerifyAnswer<R> =
  | {
      /** It happened, with this result. */
      readonly done: R
    }
  | 'rerun'
  | 'unknown'
/** Looks whether an interrupted attempt happened, before anything is run again. */
export type VerifyFunction<I, R, C = Json> = (
  input: I,
  context: DurableContext<C>,
) => VerifyAnswer<R> | PromiseLike<VerifyAnswer<R>>

/** What this process does for a run. */
export interface Conductor {
  /** Only while the run has this fence may this process begin the tasks; null: any process may, whoever conducts. */
  readonly fence: number | null
  /** Of the run: one that was removed and begun again under the same id has the same fences, and another correlation id. */
  readonly correlationId?: string
  /** Set by a stop of the run: no attempt of its tasks begins in this process any more. */
  isStopped: boolean
}

/** The run, if its conductor is still this one: another process may have taken the run, or ended it. */
export function expectConductor(
  run: RunRecord | undefined,
  id: string,
  conductor: Pick<Conductor, 'fence' | 'correlationId'>,
): RunRecord {
  if (run === undefined) throw new TaskRefusedError('not_found', `There is no run ${id}`)
  if (isConductedBy(run, conductor)) return run
  const what = run.status === 'cancelled' ? 'was cancelled' : 'was taken over by another process'
  throw new TaskRefusedError('run_lost', `Run ${id} ${what}`)
}

function isConductedBy(
  run: RunRecord | undefined,
  { fence, correlationId }: Pick<Conductor, 'fence' | 'correlationId'>,
): boolean {
  return run?.fence === fence && (correlationId === undefined || run.correlationId === correlationId)
}

/** Whether any process may begin the tasks, whoever conducts their run. */
export function isShared({ conductor }: Definition): boolean {
  return conductor === undefined || conductor.fence === null
}

/** No gate is asked before an attempt. */
export function asksNothing({ policy }: Definition): boolean {
  return policy.budget === undefined && policy.breaker === undefined
}

/** The run that has to be named in a transaction which may begin an attempt of these tasks. */
export function runsOf(definition: Definition): readonly string[] {
  return isShared(definition) ? [] : [definition.scope]
}

/** Whether this process may still begin attempts: a process that has lost the run begins none. */
export function isConducted({ scope, conductor }: Definition, view: View): boolean {
  if (conductor === undefined) return true
  return !conductor.isStopped && (conductor.fence === null || isConductedBy(view.run(scope), conductor))
}

/** When a task that waits was taken up again with its run; undefined if it was not. */
export function takenUpAtMs(definition: Definition | undefined, { updatedAtMs }: TaskRecord): number | undefined {
  const atMs = definition?.takenUpAtMs
  return atMs !== undefined && updatedAtMs < atMs ? atMs : undefined
}

/** A task's function that is handed the task itself: its owner and fence say what a result belongs to. */
export type ClaimedTaskFunction = (input: Json, context: DurableContext, claimed: TaskRecord) => unknown

/** `end`: a task that its breaker or budget denies is over. `hold`: the tasks of its name wait until the gate allows them. */
type WhenDenied = 'end' | 'hold'

/**
 * `scope` is the task's own name, or the id of the run whose step it is. A queue may hold tasks of many runs (`serve-queue.ts`):
 * then it is the queue's name, and the scope of a task is in its own record.
 */
export interface Definition extends Scope {
  /** For people, and in what observers are told. */
  readonly name: string
  /** Where its tasks wait; a queue has one definition. */
  readonly queue: string
  readonly conductor?: Conductor
  /** What to do with tasks that were recorded with another policy; the setting of the process when absent. */
  readonly policyChange?: 'refuse' | 'accept'
  /** What makes the idempotency key of a task unique; the scope's name when absent. */
  readonly idempotencyScope?: string
  readonly policy: Policy
  readonly record: PolicyRecord
  readonly run: TaskFunction<never, unknown, never>
  /** Called in its place, with the task as it was claimed; absent for tasks of programs. */
  readonly runClaimed?: ClaimedTaskFunction
  /**
   * The end of an attempt is recorded (`isKept`), or another process has the task, so that nobody needs it. Not called if
   * the process stops before the store has answered.
   */
  readonly onRecorded?: (claimed: TaskRecord, isKept: boolean) => void
  /** At most this many of its tasks run or stand in line at a time, over all processes. */
  readonly most?: number | undefined
  /** How many of its tasks start in a second, over all processes. */
  readonly rate?: QueueRate | undefined
  /** The gate of the queue is made and changed by another process; this one only keeps to it. */
  readonly hasForeignGate?: boolean
  /** What a denial by a breaker or budget means: the end of the task, or that its queue is held. `end` when absent. */
  readonly whenDenied?: WhenDenied | undefined
  readonly onInterrupt: InterruptRule
  readonly verify: VerifyFunction<never, unknown, never> | undefined
  /** A task that fails leaves no dead letter. */
  readonly keepsNoLetters?: boolean
  /** When the run of the tasks was taken up again: tasks that have waited since before are resumed. */
  readonly takenUpAtMs?: number
  /** Rows that change in the commit in which a task changes its class. */
  readonly group?: TaskGroup
  /** The tally that counts a new task; undefined if none does. */
  readonly tally?: (task: TaskRecord) => string | undefined
  /** A count that every retry is charged to. */
  readonly allot?: Allotment | AllotmentRule
  /** A retry is left to processes that have not failed the task, as long as there may be one with room. */
  readonly prefersOthers?: boolean
  /** Its tasks are handed to attempts together; `run` is not called then. */
  readonly batch?: BatchRule | undefined
}
