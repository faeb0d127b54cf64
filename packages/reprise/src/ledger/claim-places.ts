/**
 * Which due tasks share a place: a queue may hand several tasks to one attempt, as one *batch*. A batch takes one place of
 * the queue's limit, held by its first task; the others ride with it. Pure: every store groups the tasks of a claim by
 * this file. Imports types of its own layer.
 *
 * Invariant: the number of places that are taken can be counted from the records alone, over all processes: a task that
 * rides names the first task of its batch in `progress.current.batch`.
 */
import { rankOf } from './claim-order.js'
import type { QueueRef } from './ledger.js'
import type { TaskRecord } from './records.js'

/** Where a claimed task sits. */
export interface Seat {
  /** Tasks of one claim with the same number are claimed together. */
  readonly place: number
  /** Whether it is the first of them that is decided. */
  readonly isFirst: boolean
}

/** How many tasks a queue hands to one attempt. */
export function batchOf({ batch }: QueueRef): number {
  return batch?.most ?? 1
}

/** Whether a task with an owner takes a place of its queue's limit. */
export function holdsPlace({ id, progress }: TaskRecord): boolean {
  return (progress?.current?.batch ?? id) === id
}

/**
 * Due tasks of one queue, in the order of the claim, as they are claimed together. What was interrupted as a batch comes
 * together again, its first task first; tasks that go on alone have a place for themselves.
 */
export function placesIn<T>(rows: readonly T[], ref: QueueRef, taskOf: (row: T) => TaskRecord): T[][] {
  const most = batchOf(ref)
  if (most === 1) return rows.map((row) => [row])
  const places: T[][] = []
  const former = new Map<string, T[]>()
  let open: T[] | undefined
  for (const row of rows) {
    const task = taskOf(row)
    const known = rankOf(task) === 0 ? task.progress.current?.batch : undefined
    if (isAlone(task) || (rankOf(task) === 0 && known === undefined)) places.push([row])
    else if (known !== undefined) {
      const members = former.get(known)
      if (members !== undefined && mayJoin(members, row)) members.push(row)
      else {
        const begun = [row]
        former.set(known, begun)
        places.push(begun)
      }
    } else if (open !== undefined && mayJoin(open, row)) open.push(row)
    else places.push((open = [row]))
  }
  for (const [first, members] of former) members.sort((a, b) => compareMembers(taskOf(a), taskOf(b), first))
  return places

  function mayJoin(members: readonly T[], row: T): boolean {
    if (members.length >= most) return false
    const apart = ref.batch?.apart
    if (apart === undefined) return true
    const text = apart(taskOf(row))
    return members.every((member) => apart(taskOf(member)) !== text)
  }
}

/** What runs by itself: it was split off a batch that failed, or is looked into before it runs again. */
function isAlone({ progress }: TaskRecord): boolean {
  return progress.alone === true || progress.unverified === true
}

/** The former first task, then the others as they were: by their ids. */
function compareMembers(a: TaskRecord, b: TaskRecord, first: string): number {
  if (a.id === first || b.id === first) return a.id === b.id ? 0 : a.id === first ? -1 : 1
  return a.id < b.id ? -1 : 1
}
