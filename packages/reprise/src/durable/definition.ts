/** A kind of task, as a program registers it. Imports core and its own layer. */
import type { Policy } from '../core/policy.js'
import type { PolicyRecord } from '../ledger/records.js'
import type { DurableContext } from './execution.js'
import type { InterruptRule } from './policy-record.js'

export type TaskFunction<I, R> = (input: I, context: DurableContext) => R | PromiseLike<R>

export interface Definition {
  readonly name: string
  readonly policy: Policy
  readonly record: PolicyRecord
  readonly run: TaskFunction<never, unknown>
  readonly onInterrupt: InterruptRule
}
