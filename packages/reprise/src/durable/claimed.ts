/** What a claim makes of a task that is due. Imports the ledger's types and its own layer. */
import type { TaskRecord } from '../ledger/records.js'
import type { Denied, Started } from './admission.js'
import type { Unsound } from './refusals.js'

export type Claimed =
  | Started
  /** Another process conducts its run. */
  | { readonly lost: TaskRecord }
  | { readonly faults: readonly string[]; readonly task: TaskRecord }
  /** Its gates cannot be used: it was left alone. */
  | Unsound
  | Denied
  /** Its queue has a rate, and no start is left for now: it was left alone. */
  | { readonly paced: TaskRecord; readonly waitMs: number }
  /** The places that are left are those of other processes that serve its queue: it was left alone. */
  | { readonly shared: TaskRecord }
  /** Others are preferred for it: it was left alone. */
  | { readonly avoided: TaskRecord; readonly waitMs: number }
  /** Its end changes its group, or its start a count, whose rows the claim does not have: it was left alone. */
  | { readonly left: TaskRecord }
  | { readonly error: unknown }

/** What a claim made of a task, and the place that it was claimed for. */
export interface Seated {
  readonly one: Claimed
  readonly place: number
}
