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

export interface Definition {
  readonly name: string
  readonly policy: Policy
  readonly record: PolicyRecord
  readonly run: TaskFunction<never, unknown>
  readonly onInterrupt: InterruptRule
  readonly verify: VerifyFunction<never, unknown> | undefined
}
