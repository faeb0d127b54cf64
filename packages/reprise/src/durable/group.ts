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
   * The classes whose tasks concern the group: a task that enters one of them, or that had ended in one and leaves it by
   * hand. The end of an attempt that enters another class locks no row of it: a group that counts failures costs
   * successes nothing.
   * @default all classes
   * @example const classes: TaskGroup['classes'] = ['failed', 'undecided']
   */
  readonly classes?: readonly TaskClass[]
  /**
   * The rows that `follow` may see and change. Depends on the scope, the id and the input of the task alone, and names a
   * run or a gate if `follow` may create tasks: its lock keeps two processes from creating the same one.
   * @example const keys = ({ scope }: TaskRecord) => ({ gates: [`tally:${scope}`] })
   */
  keys(task: TaskRecord): GroupKeys
  /**
   * Asked in the transaction in which a task changes its class, once for each such transaction; not when a task is
   * created. `view` shows the rows as they were before the task changed, but gates with what this change has charged
   * them. Pure and synchronous: it may be called several times, and only its last answer is written. It is not asked for
   * tasks that it changes or creates itself. What it throws stops the driver, as a ledger that fails does.
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

/** What a change of a task means for its group; undefined if it means nothing. */
export function changeOf(group: TaskGroup, before: TaskRecord, after: TaskRecord): GroupChange | undefined {
  const [from, to] = [classOf(before), classOf(after)]
  const isLeft = ENDED.has(from) && concerns(group, from)
  return from === to || !(isLeft || concerns(group, to)) ? undefined : { before, after, from, to }
}

/** Nothing but a person leads out of them. */
const ENDED: ReadonlySet<TaskClass> = new Set(['succeeded', 'failed', 'cancelled', 'undecided'])

/** Whether the group wants to know of tasks of the class. */
export function concerns({ classes }: TaskGroup, one: TaskClass): boolean {
  return classes === undefined || classes.includes(one)
}
