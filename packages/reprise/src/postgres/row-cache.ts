/**
 * Rows of running tasks as this process wrote them last, so that the end of an attempt need not read what its beginning
 * wrote; and the order in which rows are claimed. Imports the ledger's rows and its order.
 *
 * What is known may be old: it is only written upon where the store finds the row's version unchanged.
 */
import { placesIn } from '../ledger/claim-places.js'
import { fairShare } from '../ledger/fair-share.js'
import type { QueueRef } from '../ledger/ledger.js'
import { nameOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import { parse, type SqlRow, taskOf } from '../ledger/rows.js'

export interface CachedRow {
  readonly pk: number
  /** One more with every write. */
  readonly version: number
  readonly task: TaskRecord
  /** As it is written. */
  readonly input: string
  readonly payloadHash: string
}

export function cachedRowOf(row: SqlRow): CachedRow {
  return { ...taskOf(row), version: row['version'] as number, payloadHash: row['payload_hash'] as string }
}

/** By the names of tasks. */
export class RowCache {
  private readonly rows = new Map<string, CachedRow>()

  /** With an input of its own: operations may change the one they are given. */
  get(name: string): CachedRow | undefined {
    const row = this.rows.get(name)
    if (row === undefined) return undefined
    const { pk, version, task, input, payloadHash } = row
    return { pk, version, task: { ...task, input: parse(input, 'a task') }, input, payloadHash }
  }

  has(name: string): boolean {
    return this.rows.has(name)
  }

  /** Only of running ones: the next that happens to them happens here. */
  put(row: CachedRow): void {
    if (row.task.status === 'running') this.rows.set(nameOf(row.task), row)
    else this.forget(row.task)
  }

  forget(key: TaskKey): void {
    this.rows.delete(nameOf(key))
  }
}

/**
 * In the order in which every ledger decides: the first place of each queue with its tasks, then the second of each.
 * `free`: how many places limited queues have.
 */
export function inTurns(
  due: readonly CachedRow[],
  queues: readonly QueueRef[],
  limit: number,
  free: ReadonlyMap<string, number>,
): CachedRow[][] {
  const rows = new Map(queues.map((ref): [string, CachedRow[]] => [nameOfRef(ref), []]))
  for (const row of due) rows.get(nameOfRef(row.task))?.push(row)
  const places = queues.map((ref) => {
    const of = placesIn(rows.get(nameOfRef(ref)) ?? [], ref, ({ task }) => task)
    return of.slice(0, free.get(ref.queue) ?? limit)
  })
  return fairShare(places, limit)
}

export function nameOfRef({ queue, policyHash }: QueueRef): string {
  return `${policyHash} ${queue}`
}
