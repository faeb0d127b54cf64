/** Where the items of a map work while it is conducted: opened, closed, and brought together at the end. Imports its own layer. */
import type { Ledger } from 'reprise/durable'
import type { Workplaces } from '../../workplaces/workplaces.js'
import type { MapCounts } from '../../view/map-views.js'
import { isInputFault } from './input-faults.js'
import { readLanes } from './map-halt.js'
import { openWorkplaces, type WorkplacesInput } from './open-workplaces.js'

/** `fail`: the places cannot be had, which a person can mend. */
export async function atWorkplaces<T>(
  input: WorkplacesInput,
  act: (places: Workplaces) => Promise<T>,
  fail: (error: unknown) => Promise<T>,
): Promise<T> {
  let places: Workplaces
  try {
    places = await openWorkplaces(input)
  } catch (error) {
    if (!isInputFault(error)) throw error
    return fail(error)
  }
  try {
    return await act(places)
  } finally {
    await places.close()
  }
}

export interface LandingParts {
  readonly ledger: Ledger
  /** The id of the map's run. */
  readonly mapRun: string
  readonly counts: MapCounts
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal
}

/**
 * What was done of the items goes where the run goes on, once all of them have ended and nothing has stopped the map.
 * Resolves to why it cannot, where a person can mend that.
 */
export async function landItems(
  places: Workplaces,
  { ledger, mapRun, counts, signal }: LandingParts,
): Promise<unknown> {
  const { items, sample } = await readLanes(ledger, mapRun)
  const left = counts.pending + counts.retrying + counts.running
  if (left > 0 || signal.aborted || (items.halt ?? sample.halt) !== undefined) return undefined
  try {
    await places.land(counts.succeeded === counts.total)
    return undefined
  } catch (error) {
    if (!isInputFault(error)) throw error
    return error
  }
}
