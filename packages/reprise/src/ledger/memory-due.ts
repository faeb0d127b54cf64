/**
 * The due tasks of a ledger in memory, found by one pass over all tasks: of every queue no more are kept and sorted than
 * can be taken. Imports its own layer.
 */
import { compareDue } from './claim-order.js'
import type { QueueRef } from './ledger.js'
import type { TaskRecord } from './records.js'

/** Of every queue at most `limit` tasks, in the order of the claim. */
export function dueTasks(
  tasks: readonly TaskRecord[],
  queues: readonly QueueRef[],
  limit: number,
  now: number,
): readonly (readonly TaskRecord[])[] {
  const due = queues.map((): TaskRecord[] => [])
  const places = new Map(queues.map((ref, index) => [nameOfRef(ref), due[index] as TaskRecord[]]))
  for (const task of tasks) {
    if (task.status !== 'waiting' || task.dueAtMs === null || task.dueAtMs > now) continue
    const first = places.get(nameOfRef(task))
    if (first !== undefined) insert(first, task, limit)
  }
  return due
}

function nameOfRef({ queue, policyHash }: QueueRef): string {
  return `${policyHash}\u0000${queue}`
}

/** Into a list in order, which keeps the first of them. */
function insert(first: TaskRecord[], task: TaskRecord, limit: number): void {
  let [low, high] = [0, first.length]
  // Most come behind all that are there.
  if (high > 0 && compareDue(first[high - 1] as TaskRecord, task) <= 0) low = high
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareDue(first[middle] as TaskRecord, task) <= 0) low = middle + 1
    else high = middle
  }
  if (low >= limit) return
  first.splice(low, 0, task)
  if (first.length > limit) first.pop()
}
