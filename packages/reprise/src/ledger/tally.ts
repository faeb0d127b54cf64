/**
 * Tallies: how many tasks of a group are of which class, kept beside the tasks, so that progress and sums of a million
 * tasks are read without counting rows. A task names its tally when it is created, and a store derives the change of
 * the tally from the task as it was and as it is written: nobody who changes a task can forget to count it. Imports the
 * records.
 *
 * Invariant: at every commit the classes of a tally add up to the tasks that name it.
 */
import type { FinishedStatus, TaskProgress, TaskRecord, TaskStatus } from './records.js'

/** In the order of the columns of a tally. */
export const TASK_CLASSES = ['fresh', 'retrying', 'undecided', 'succeeded', 'failed', 'cancelled'] as const

/**
 * What a group counts a task as. `fresh`: not finished, and no attempt has failed yet; `retrying`: not finished, after a
 * failure. Whether such a task waits or runs at the moment is no class: a claim does not have the rows of the group.
 */
export type TaskClass = 'fresh' | 'retrying' | 'undecided' | FinishedStatus

/** How many tasks are of each class. */
export interface Tally {
  /** All tasks that name the tally: the sum of the classes. */
  readonly total: number
  /** Not finished, and no attempt has failed yet. */
  readonly fresh: number
  /** Not finished, after a failure. */
  readonly retrying: number
  /** Interrupted, and only a person can say whether it happened. */
  readonly undecided: number
  /** Ended with a result. */
  readonly succeeded: number
  /** Ended without one. */
  readonly failed: number
  /** Ended by somebody's order. */
  readonly cancelled: number
}

/** A tally with its name. */
export interface NamedTally extends Tally {
  /** What its tasks name. */
  readonly name: string
}

/** Which tallies are listed: those that fit every field. */
export interface TallyFilter {
  /** Tallies whose name begins with this text. @default tallies of every name @example { prefix: 'import-' } */
  readonly prefix?: string
  /** Continue after this name. @default from the first one on @example { after: 'import-7' } */
  readonly after?: string
  /** At most this many. @default no limit @example { limit: 100 } */
  readonly limit?: number
}

/** What a tally changes by: one number for each of `TASK_CLASSES`. */
export type TallyDelta = readonly number[]

/** A task that was created (`was` is null), or that was of another class before. */
export interface TallyMove {
  readonly tally: string
  readonly was: TaskClass | null
  readonly becomes: TaskClass
}

export function classOf({ status, progress }: Pick<TaskRecord, 'status' | 'progress'>): TaskClass {
  if (status !== 'waiting' && status !== 'running' && status !== 'parked') return status
  // A task of a very old version has no retry state.
  return (progress?.retry?.failures ?? 0) > 0 ? 'retrying' : 'fresh'
}

/** The class of a row whose progress may be damaged: such a task can still be removed, and counts as fresh. */
export function classOfRow(status: string, progress: string): TaskClass {
  let parsed: unknown
  try {
    parsed = JSON.parse(progress)
  } catch {
    parsed = undefined
  }
  return classOf({ status: status as TaskStatus, progress: parsed as TaskProgress })
}

/** The task as it is written: what a deciding function says of its tally does not count. */
export function withTallyOf(before: TaskRecord, after: TaskRecord): TaskRecord {
  if (before.tally === after.tally) return after
  const { tally: _tally, ...rest } = after
  return before.tally === undefined ? rest : { ...rest, tally: before.tally }
}

/** The moves of one commit: a task that changes several times in it is counted by its first and its last class. */
export class TallyMoves {
  /** Made at the first move: most commits have none. */
  private moves: Map<number, TallyMove> | undefined = undefined

  /** `pk`: the key of the task in its store. */
  created(pk: number, task: TaskRecord): void {
    if (task.tally !== undefined) this.put(pk, { tally: task.tally, was: null, becomes: classOf(task) })
  }

  changed(pk: number, before: TaskRecord, after: TaskRecord): void {
    const { tally } = before
    if (tally === undefined) return
    const known = this.moves?.get(pk)
    const was = known === undefined ? classOf(before) : known.was
    this.put(pk, { tally, was, becomes: classOf(after) })
  }

  /** By key of the task; without those that are of the same class as before. */
  list(): (TallyMove & { readonly pk: number })[] {
    if (this.moves === undefined) return []
    return Array.from(this.moves, ([pk, move]) => ({ pk, ...move })).filter(({ was, becomes }) => was !== becomes)
  }

  private put(pk: number, move: TallyMove): void {
    this.moves ??= new Map()
    this.moves.set(pk, move)
  }
}

/** Counts by the name of the tally. */
export class TallyCounts {
  private counts: Map<string, number[]> | undefined = undefined

  add(name: string, taskClass: TaskClass, by = 1): void {
    this.counts ??= new Map()
    let counts = this.counts.get(name)
    if (counts === undefined) this.counts.set(name, (counts = TASK_CLASSES.map(() => 0)))
    const place = TASK_CLASSES.indexOf(taskClass)
    counts[place] = (counts[place] as number) + by
  }

  move({ tally, was, becomes }: TallyMove): void {
    if (was !== null) this.add(tally, was, -1)
    this.add(tally, becomes)
  }

  /** In the order of the names, so that two that write the same ones do not wait for each other in a circle. */
  entries(): readonly (readonly [name: string, delta: TallyDelta])[] {
    return this.counts === undefined ? [] : [...this.counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
  }
}

/** From one number for each of `TASK_CLASSES`. */
export function tallyOf(counts: TallyDelta): Tally {
  const [fresh = 0, retrying = 0, undecided = 0, succeeded = 0, failed = 0, cancelled = 0] = counts
  const total = counts.reduce((sum, count) => sum + count, 0)
  return { total, fresh, retrying, undecided, succeeded, failed, cancelled }
}

/** Counted from the tasks, in the order of the names: what a store without rows of tallies answers. */
export function countedTallies(tasks: readonly TaskRecord[], fits: (name: string) => boolean): readonly NamedTally[] {
  const counts = new TallyCounts()
  for (const task of tasks) if (task.tally !== undefined && fits(task.tally)) counts.add(task.tally, classOf(task))
  return counts.entries().map(([name, delta]) => ({ name, ...tallyOf(delta) }))
}
