/**
 * Finds the tasks of a SQLite file that are due, by one search of the index for every queue and rank. Imports its own
 * layer and the port.
 */
import { RANK_NUMBERS } from '../ledger/claim-order.js'
import { batchOf, placesIn } from '../ledger/claim-places.js'
import { fairShare } from '../ledger/fair-share.js'
import type { DueRequest, QueueRef } from '../ledger/ledger.js'
import { mostOf, queueKey } from '../ledger/queue-limit.js'
import { nameOf, type TaskKey } from '../ledger/records.js'
import { gateOf, keyInRow, type SqlRow, taskOf, type TaskRow } from '../ledger/rows.js'
import type { Statements } from './statements.js'

/** The places that a claim takes, each with its tasks, in the order in which they are decided; `places`: what limited queues had before. */
export function takeDue(
  sql: Statements,
  request: DueRequest,
  now: number,
): { readonly taken: TaskRow[][]; readonly places: ReadonlyMap<string, number> } {
  const { queues, limit, except = [] } = request
  const names = namesOf(except)
  const places = new Map<string, number>()
  const due = queues.map((ref) => {
    let room = limit
    if (ref.most !== undefined) {
      const free = freePlaces(sql, ref)
      places.set(ref.queue, free)
      room = Math.min(limit, free)
    }
    const rows = dueIn(sql, ref, room * batchOf(ref), now, names)
    return placesIn(rows, ref, ({ task }) => task).slice(0, room)
  })
  return { taken: fairShare(due, limit), places }
}

/** How many more places a limited queue has. */
function freePlaces(sql: Statements, ref: QueueRef): number {
  const row = sql.gate.get(queueKey(ref.queue)) as SqlRow | undefined
  const count = batchOf(ref) === 1 ? sql.countOwned : sql.countPlaces
  const { tasks } = count.get(ref.queue) as { tasks: number }
  return Math.max(0, mostOf(ref, row && gateOf(row)) - tasks)
}

function dueIn(
  sql: Statements,
  { queue, policyHash, ranks = RANK_NUMBERS }: QueueRef,
  limit: number,
  now: number,
  except: ReadonlySet<string>,
): TaskRow[] {
  const found: TaskRow[] = []
  for (const rank of ranks) {
    const missing = limit - found.length
    if (missing <= 0) break
    const rows = (sql.due.all(queue, policyHash, rank, now, missing + except.size) as SqlRow[]).map(taskOf)
    // Those that are excepted may be of another queue: then more were read than may be taken.
    const free = except.size === 0 ? rows : rows.filter(({ task }) => !except.has(nameOf(task))).slice(0, missing)
    found.push(...free)
  }
  return found
}

/** When the next task of these queues is due; null if none waits. */
export function nextDue(sql: Statements, queues: readonly QueueRef[], except: readonly TaskKey[]): number | null {
  const names = namesOf(except)
  let next: number | null = null
  for (const { queue, policyHash, ranks = RANK_NUMBERS } of queues) {
    for (const rank of ranks) {
      const rows = sql.nextDue.all(queue, policyHash, rank, 1 + names.size) as SqlRow[]
      const row = names.size === 0 ? rows[0] : rows.find((one) => !names.has(nameOf(keyInRow(one))))
      const dueAtMs = row?.['due_at'] as number | undefined
      if (dueAtMs !== undefined && (next === null || dueAtMs < next)) next = dueAtMs
    }
  }
  return next
}

function namesOf(except: readonly TaskKey[]): ReadonlySet<string> {
  return new Set(except.map(nameOf))
}
