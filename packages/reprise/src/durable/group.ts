/**
 * Groups of tasks: what the end of a task means for rows beside it (a tally, a task that depends on it, a limit) is
 * written in the commit of that end, by whichever process writes it. There is no coordinator that could miss it or count
 * it twice. Imports the ledger's types.
 */
import type { Changes, Keys, View } from '../ledger/ledger.js'
import type { TaskRecord } from '../ledger/records.js'
import { classOf, type TaskClass } from '../ledger/tally.js'

/** A task that has changed its class. A reset leads from `failed` back to `fresh`: a tally may fall. */
export interface GroupChange {
  /** The task as it was. */
  readonly before: TaskRecord
  /** The task as it is written. */
  readonly after: TaskRecord
  /** What the group counted it as. */
  readonly from: TaskClass
  /** What the group counts it as from now on. */
  readonly to: TaskClass
}

/** Rows that a transaction locks beside the task. Tasks that may be created are named too. */
type GroupKeys = Partial<Keys>

/** What the ends of tasks mean for rows beside them. */
export interface TaskGroup {
  /**
   * The rows that `follow` may see and change. Depends on the scope, the id and the input of the task alone, and names a
   * run or a gate if `follow` may create tasks: its lock keeps two processes from creating the same one.
   * @example const keys = ({ scope }: TaskRecord) => ({ gates: [`tally:${scope}`] })
   */
  keys(task: TaskRecord): GroupKeys
  /**
   * Asked in the transaction in which a task changes its class, once for each such transaction; not when a task is
   * created. `view` shows the rows as they were before the task changed. Pure and synchronous: it may be called several
   * times, and only its last answer is written. It is not asked for tasks that it changes or creates itself. What it
   * throws stops the driver, as a ledger that fails does.
   * @example
   * const follow: TaskGroup['follow'] = (view, { to }) => {
   *   const tally = view.gate('tally:import')
   *   const { failed = 0 } = (tally?.state ?? {}) as { failed?: number }
   *   if (tally === undefined || to !== 'failed') return {}
   *   return { gates: [{ ...tally, state: { failed: failed + 1 } }] }
   * }
   */
  follow(view: View, change: GroupChange, now: number): Changes
}

/** What a change of a task means for its group; undefined if the class stays the same. */
export function changeOf(before: TaskRecord, after: TaskRecord): GroupChange | undefined {
  const [from, to] = [classOf(before), classOf(after)]
  return from === to ? undefined : { before, after, from, to }
}
