/**
 * From which due time on a claim looks for fresh tasks of a queue. Of tasks that were claimed, entries stay in the index of
 * due tasks for as long as any transaction on the server may still see them waiting, and a claim from the beginning passes
 * over all of them. So while a process takes all that it has room for, its next claim begins where the last one ended.
 * Imports the order of claims and its own layer.
 *
 * Invariant: no task is passed over for longer than `FLOOR_MS`, or than there are later ones to fill the room. It can only be
 * one whose transaction was open while others with a later due time were claimed: what is recorded is due from then on.
 */
import { FRESH_RANK, rankOf } from '../ledger/claim-order.js'
import type { QueueRef } from '../ledger/ledger.js'
import { type CachedRow, nameOfRef } from './row-cache.js'

/** Claims begin where the last one ended for at most this long. */
const FLOOR_MS = 1000
const MOST_QUEUES = 1000

export const NO_FLOOR = -Infinity

interface Floor {
  readonly dueAtMs: number
  /** On the monotonic clock. */
  readonly untilMs: number
}

export class DueFloors {
  private readonly floors = new Map<string, Floor>()
  private readonly monotonicMs: () => number

  constructor(monotonicMs = () => performance.now()) {
    this.monotonicMs = monotonicMs
  }

  /** `NO_FLOOR` after `FLOOR_MS`, so that tasks that became visible late are found. */
  of(ref: QueueRef): number {
    const floor = this.floors.get(nameOfRef(ref))
    return floor === undefined || this.monotonicMs() >= floor.untilMs ? NO_FLOOR : floor.dueAtMs
  }

  /** A claim that began at `from` has taken these tasks, all of them, and there may be more. */
  claimed(ref: QueueRef, rows: readonly CachedRow[], from: number): void {
    const name = nameOfRef(ref)
    const last = rows.at(-1)?.task
    const untilMs = from === NO_FLOOR ? this.monotonicMs() + FLOOR_MS : this.floors.get(name)?.untilMs
    if (last === undefined || untilMs === undefined || rankOf(last) !== FRESH_RANK) this.floors.delete(name)
    else {
      // Queues of runs come and go.
      if (this.floors.size >= MOST_QUEUES) this.floors.clear()
      this.floors.set(name, { dueAtMs: last.dueAtMs as number, untilMs })
    }
  }

  /** Not all that were found were taken, or there was room for more. */
  forget(ref: QueueRef): void {
    this.floors.delete(nameOfRef(ref))
  }

  /** This process has written these rows. */
  written(rows: readonly { readonly task: CachedRow['task'] }[]): void {
    if (this.floors.size === 0) return
    for (const { task } of rows) {
      if (task.status !== 'waiting' || task.dueAtMs === null) continue
      const name = nameOfRef(task)
      if (task.dueAtMs < (this.floors.get(name)?.dueAtMs ?? NO_FLOOR)) this.floors.delete(name)
    }
  }
}
