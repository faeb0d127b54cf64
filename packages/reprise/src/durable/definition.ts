/** A kind of task, as a program registers it. Imports core and its own layer. */
import type { Policy } from '../core/policy.js'
import type { View } from '../ledger/ledger.js'
import type { Json, PolicyRecord, Scope } from '../ledger/records.js'
import type { DurableContext } from './execution.js'
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

/** `C`: what its checkpoints are; say it with the context: `(input: Order, context: DurableContext<{ page: number }>)`. */
export type TaskFunction<I, R, C = Json> = (input: I, context: DurableContext<C>) => R | PromiseLike<R>

/**
 * Whether an attempt that was interrupted has happened, and with what result: `unknown` leaves it to a person, as does
 * an error or a look that takes longer than an attempt may.
 */
export type VerifyAnswer<R> = { readonly done: R } | 'rerun' | 'unknown'
export type VerifyFunction<I, R, C = Json> = (
  input: I,
  context: DurableContext<C>,
) => VerifyAnswer<R> | PromiseLike<VerifyAnswer<R>>

/** Who conducts a run may begin its tasks, as long as nobody else has taken the run. */
export interface Conductor {
  readonly fence: number
}

/** The run that has to be named in a transaction which may begin an attempt of these tasks. */
export function runsOf({ scope, conductor }: Definition): readonly string[] {
  return conductor === undefined ? [] : [scope]
}

/** Whether this process may still begin attempts: who has lost the run begins nothing. */
export function isConducted({ scope, conductor }: Definition, view: View): boolean {
  return conductor === undefined || view.run(scope)?.fence === conductor.fence
}

/** `scope` is the task's own name, or the id of the run whose step it is. */
export interface Definition extends Scope {
  /** For people, and in what observers are told. */
  readonly name: string
  /** Where its tasks wait; a queue has one definition. */
  readonly queue: string
  readonly conductor?: Conductor
  /** What makes the idempotency key of a task unique; the scope's name when absent. */
  readonly idempotencyScope?: string
  readonly policy: Policy
  readonly record: PolicyRecord
  readonly run: TaskFunction<never, unknown, never>
  readonly onInterrupt: InterruptRule
  readonly verify: VerifyFunction<never, unknown, never> | undefined
}
