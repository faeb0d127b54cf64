/** A kind of task, as a program registers it. Imports core and its own layer. */
import type { Policy } from '../core/policy.js'
import type { PolicyRecord } from '../ledger/records.js'
import type { DurableContext } from './execution.js'
import type { InterruptRule } from './policy-record.js'

export type TaskFunction<I, R> = (input: I, context: DurableContext) => R | PromiseLike<R>

/**
 * Whether an attempt that was interrupted has happened, and with what result: `unknown` leaves it to a person, as does
 * an error or a look that takes longer than an attempt may.
 */
export type VerifyAnswer<R> = { readonly done: R } | 'rerun' | 'unknown'
export type VerifyFunction<I, R> = (input: I, context: DurableContext) => VerifyAnswer<R> | PromiseLike<VerifyAnswer<R>>

/** Who conducts a run may begin its tasks, as long as nobody else has taken the run. */
export interface Conductor {
  readonly fence: number
}

export interface Definition {
  /** For people, and in what observers are told. */
  readonly name: string
  /** Where its tasks wait; a queue has one definition. */
  readonly queue: string
  /** What groups its tasks: its own name, or the id of a run. */
  readonly runId: string
  readonly conductor?: Conductor
  readonly policy: Policy
  readonly record: PolicyRecord
  readonly run: TaskFunction<never, unknown>
  readonly onInterrupt: InterruptRule
  readonly verify: VerifyFunction<never, unknown> | undefined
}
