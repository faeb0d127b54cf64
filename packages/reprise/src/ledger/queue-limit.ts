/**
 * Limits of queues: at most this many tasks of a queue have an owner at a time, over all processes. Imports types of its
 * own layer.
 *
 * Invariants: the limit is a row of `gates`, which a claim locks first. It counts the tasks that have an owner, running or
 * parked, while it holds that lock, and only claims give tasks an owner: so no two claims count the same place as free.
 * The end of a task locks nothing of it. Tasks of a lost owner count until they are taken over.
 */
import type { QueueRef } from './ledger.js'
import type { GateRecord, TaskRecord } from './records.js'

/** The state of a gate of the kind `queue`. */
export interface QueueState {
  /** No limit when absent. */
  readonly most?: number
  /** Nothing is claimed. */
  readonly paused?: boolean
  /** How many tasks may start in a second; no limit when absent. Drivers keep to it, stores do not know it. */
  readonly rate?: QueueRate
  /** Starts that are left of the rate, as a token bucket keeps them; absent before the first start. */
  readonly bucket?: { readonly tokens: number; readonly atMs: number }
}

/** Starts of tasks: in `t` seconds at most `burst + t × perSecond`. */
export interface QueueRate {
  readonly perSecond: number
  readonly burst: number
}

/** The limit of a queue that has a gate for another reason: a store counts its tasks, and none is too many. */
export const NO_MOST = 2 ** 31 - 1

/** The key of the gate that limits a queue. */
export function queueKey(queue: string): string {
  return `queue:${queue}`
}

/** How many tasks of the queue may have an owner. The gate decides; where there is none yet, the request. */
export function mostOf({ most = Infinity }: QueueRef, gate: GateRecord | undefined): number {
  if (gate === undefined) return most
  const state = (gate.state ?? {}) as QueueState
  return state.paused === true ? 0 : (state.most ?? Infinity)
}

/** Tells which of the limited queues have no place left, given how many each had before the tasks were taken. */
export function tellFull(
  places: ReadonlyMap<string, number>,
  taken: readonly TaskRecord[],
  onFull: ((queue: string) => void) | undefined,
): void {
  if (onFull === undefined) return
  for (const [queue, count] of places) {
    if (taken.filter((task) => task.queue === queue).length >= count) onFull(queue)
  }
}
