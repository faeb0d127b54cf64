/**
 * The due tasks of a ledger in memory, found by one pass over all tasks: of every queue no more are kept and sorted than
 * can be taken. Imports its own layer.
 */
import { compareDue, rankOf } from './claim-order.js'
import { batchOf, holdsPlace, placesIn } from './claim-places.js'
import type { DueRequest, QueueRef } from './ledger.js'
import { mostOf, queueKey } from './queue-limit.js'
import { type GateRecord, nameOf, type TaskKey, type TaskRecord } from './records.js'

/** Of every queue no more places than it has, and at most `limit`, each with its tasks, in the order of the claim. */
export function dueTasks(
  tasks: readonly TaskRecord[],
  { queues, limit }: DueRequest,
  places: ReadonlyMap<string, number>,
  now: number,
): readonly (readonly (readonly TaskRecord[])[])[] {
  const due = new Map(queues.map((ref) => [nameOfRef(ref), { ref, first: [] as TaskRecord[] }]))
  for (const task of tasks) {
    if (task.status !== 'waiting' || task.dueAtMs === null || task.dueAtMs > now) continue
    const queue = due.get(nameOfRef(task))
    if (queue !== undefined && isRanked(task, queue.ref))
      insert(queue.first, task, room(queue.ref) * batchOf(queue.ref))
  }
  return Array.from(due.values(), ({ ref, first }) => placesIn(first, ref, (task) => task).slice(0, room(ref)))

  function room({ queue }: QueueRef): number {
    return Math.min(limit, places.get(queue) ?? limit)
  }
}

/** Whether the task is of one of the queues, with its policy and a rank that is asked for. */
export function isOf(task: TaskRecord, queues: readonly QueueRef[]): boolean {
  return queues.some((ref) => task.queue === ref.queue && task.policyHash === ref.policyHash && isRanked(task, ref))
}

/** Passes over these tasks. */
export function isNoneOf(except: readonly TaskKey[] = []): (task: TaskRecord) => boolean {
  const names = new Set(except.map(nameOf))
  return (task) => names.size === 0 || !names.has(nameOf(task))
}

/** Whether the task has one of the ranks that are asked for. */
function isRanked(task: TaskRecord, { ranks }: QueueRef): boolean {
  return ranks === undefined || ranks.includes(rankOf(task))
}

/** How many more places each limited queue has. */
export function freePlaces(
  tasks: readonly TaskRecord[],
  queues: readonly QueueRef[],
  gates: ReadonlyMap<string, GateRecord>,
): ReadonlyMap<string, number> {
  const limited = queues.filter(({ most }) => most !== undefined)
  return new Map(
    limited.map((ref) => {
      const owned = tasks.filter((task) => task.queue === ref.queue && task.owner !== null && holdsPlace(task)).length
      return [ref.queue, Math.max(0, mostOf(ref, gates.get(queueKey(ref.queue))) - owned)]
    }),
  )
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
