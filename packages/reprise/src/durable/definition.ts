/** A kind of task, as a program registers it. Imports core and its own layer. */
import type { Policy } from '../core/policy.js'
import type { View } from '../ledger/ledger.js'
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

/** The run that has to be named in a transaction which may begin an attempt of these tasks. */
export function runsOf({ runId, conductor }: Definition): readonly string[] {
  return conductor === undefined ? [] : [runId]
}

/** Whether this process may still begin attempts: who has lost the run begins nothing. */
export function isConducted({ runId, conductor }: Definition, view: View): boolean {
  return conductor === undefined || view.run(runId)?.fence === conductor.fence
}

export interface Definition {
  /** For people, and in what observers are told. */
  readonly name: string
  /** Where its tasks wait; a queue has one definition. */
  readonly queue: string
  /** What groups its tasks: its own name, or the id of a run. */
  readonly runId: string
  readonly conductor?: Conductor
  /** What makes the key of a task nobody else's; what groups it when absent. */
  readonly idempotencyScope?: string
  readonly policy: Policy
  readonly record: PolicyRecord
  readonly run: TaskFunction<never, unknown>
  readonly onInterrupt: InterruptRule
  readonly verify: VerifyFunction<never, unknown> | undefined
}
