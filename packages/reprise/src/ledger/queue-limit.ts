/**
 * Limits of queues: at most this many tasks of a queue have an owner at a time, over all processes; tasks that ride in the
 * batch of another (`claim-places.ts`) are not counted. Imports types of its own layer.
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
  /** Nothing is claimed: the process that conducts the run of the queue serves another queue of it now, or none. */
  readonly closed?: boolean
  /** Processes that serve the queue, by owner, with how many tasks each may run at a time; absent where none has said so. */
  readonly servers?: Readonly<Record<string, number>>
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
  const { paused, closed, most: limit } = (gate.state ?? {}) as Partial<Record<keyof QueueState, unknown>>
  if (paused === true || closed === true) return 0
  // A limit that cannot be is refused by the driver, which sees the row with every task that is claimed.
  return typeof limit === 'number' && limit >= 0 ? limit : Infinity
}

/**
 * How many tasks of the queue this process runs at a time, so that the others that serve it get their part of the limit: the
 * process that ends a task claims the next one before another process sees the free place. The parts are in proportion to
 * what each may run, and add up to the limit: what rounding leaves goes to the largest remainders.
 */
export function shareOf({ servers = {}, most = Infinity }: QueueState, owner: string): number {
  const all = Object.values(servers).reduce((sum, slots) => sum + slots, 0)
  const own = servers[owner]
  if (own === undefined || own === all || all <= most) return Infinity
  const exact = Object.entries(servers).map(([id, slots]) => ({ id, exact: (most * slots) / all }))
  const left = most - exact.reduce((sum, one) => sum + Math.floor(one.exact), 0)
  const remainder = (one: { readonly exact: number }): number => one.exact - Math.floor(one.exact)
  const byRemainder = exact.toSorted((a, b) => remainder(b) - remainder(a) || (a.id < b.id ? -1 : 1))
  const place = byRemainder.findIndex(({ id }) => id === owner)
  return Math.floor((most * own) / all) + (place < left ? 1 : 0)
}

/**
 * Tells which of the limited queues have no place left, given how many each had before. `taken`: the places that were taken,
 * each with its tasks.
 */
export function tellFull(
  places: ReadonlyMap<string, number>,
  taken: readonly (readonly TaskRecord[])[],
  onFull: ((queue: string) => void) | undefined,
): void {
  if (onFull === undefined) return
  for (const [queue, count] of places) {
    if (taken.filter(([first]) => first?.queue === queue).length >= count) onFull(queue)
  }
}
