/**
 * Names of what the ledger holds of a map: a run within the run, lanes of items, tallies and gates. Imports the library.
 *
 * Invariant: the lanes of a map are served one after the other, so `max_parallel` holds for all of them together.
 */
import { childId, laneName, queueKey } from 'reprise/internal'

/** The kind of run that a map is. */
export const MAP_KIND = 'map'

/**
 * `items`: all items, unless a part was asked for: then that part is in `sample`, which is served first. `redrive`: dead
 * letters that were granted a fresh set of attempts. `on-error`: `on_item_error` of items that failed for good.
 */
type Lane = 'items' | 'sample' | 'redrive' | 'on-error'

/** The id of the run that a map of a run is. */
export function mapRunId(run: string, map: string): string {
  return childId(run, map)
}

/** Where the tasks of `on_item_error` are. */
export function errorScope(mapRun: string): string {
  return laneName(mapRun, 'on-error' satisfies Lane)
}

const LANES: readonly Lane[] = ['items', 'sample', 'redrive', 'on-error']

/** Lanes of items, of which one is served at a time. */
export const ITEM_LANES = ['items', 'sample', 'redrive'] as const satisfies readonly Lane[]

/** The queues of these lanes. */
export function itemQueues(mapRun: string): string[] {
  return ITEM_LANES.map((lane) => laneName(mapRun, lane))
}

/** The queues of all lanes of the map. */
export function mapQueues(mapRun: string): string[] {
  return LANES.map((lane) => laneName(mapRun, lane))
}

/** The keys of all gates that are the map's own. */
export function mapGates(mapRun: string): string[] {
  return [...mapQueues(mapRun).map(queueKey), `budget:${retryCount(mapRun)}`]
}

/** The run and the map that an id of a map names; undefined for the id of another run. */
export function partsOfMapRun(id: string): { readonly run: string; readonly map: string } | undefined {
  const [run = '', map] = id.split('/')
  return map === undefined ? undefined : { run, map }
}

/** The tally of the items of a lane. An item that is redriven stays in the tally of its first lane. */
export function itemTally(mapRun: string, lane: 'items' | 'sample'): string {
  return laneName(mapRun, lane)
}

/** The tally of `on_item_error`: not one of the items'. */
export function errorTally(mapRun: string): string {
  return `on-error:${mapRun}`
}

/** The name of the count that `max_retries` is. */
export function retryCount(mapRun: string): string {
  return `max_retries@${mapRun}`
}

/** The task that does `on_item_error` for one generation of an item. */
export function errorTaskId(item: string, generation: number): string {
  return `${item}.g${generation}`
}
