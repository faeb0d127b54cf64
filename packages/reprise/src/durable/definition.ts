/** A kind of task, as a program registers it. Imports core and its own layer. */
import type { Policy } from '../core/policy.js'
import type { View } from '../ledger/ledger.js'
import type { Json, PolicyRecord, RunRecord, Scope } from '../ledger/records.js'
import type { Allotment } from './allotment.js'
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

/** The process that conducts a run may begin its tasks, as long as no other process has taken the run. */
export interface Conductor {
  readonly fence: number
  /** Set by a stop of the run: no attempt of its tasks begins in this process any more. */
  isStopped: boolean
}

/** The run, if its conductor is still this one: another process may have taken the run, or ended it. */
export function expectConductor(
  run: RunRecord | undefined,
  id: string,
  { fence }: Pick<Conductor, 'fence'>,
): RunRecord {
  if (run === undefined) throw new TaskRefusedError('not_found', `There is no run ${id}`)
  if (run.fence === fence) return run
  const what = run.status === 'cancelled' ? 'was cancelled' : 'was taken over by another process'
  throw new TaskRefusedError('run_lost', `Run ${id} ${what}`)
}

/** The run that has to be named in a transaction which may begin an attempt of these tasks. */
export function runsOf({ scope, conductor }: Definition): readonly string[] {
  return conductor === undefined ? [] : [scope]
}

/** Whether this process may still begin attempts: a process that has lost the run begins none. */
export function isConducted({ scope, conductor }: Definition, view: View): boolean {
  return conductor === undefined || (!conductor.isStopped && view.run(scope)?.fence === conductor.fence)
}

/** `end`: a task that its breaker or budget denies is over. `hold`: the tasks of its name wait until the gate allows them. */
type WhenDenied = 'end' | 'hold'

/** `scope` is the task's own name, or the id of the run whose step it is. */
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
  /** At most this many of its tasks run or stand in line at a time, over all processes. */
  readonly most?: number | undefined
  /** What a denial by a breaker or budget means: the end of the task, or that its queue is held. `end` when absent. */
  readonly whenDenied?: WhenDenied | undefined
  readonly onInterrupt: InterruptRule
  readonly verify: VerifyFunction<never, unknown, never> | undefined
  /** Rows that change in the commit in which a task changes its class. */
  readonly group?: TaskGroup
  /** A count that every retry is charged to. */
  readonly allot?: Allotment
}
