/**
 * What the steps after a map see of it as it is recorded, when the map itself is not conducted any more: in `on_failure`
 * and `finally` of a run that was resumed there. Imports the ledger's types, the plan and its own layer.
 */
import type { Ledger } from 'reprise/durable'
import type { MapPlan } from '../../plan/map-plan.js'
import type { StateDirectory } from '../../state/state-directory.js'
import { countsOf, readClasses } from './map-counts.js'
import { endOf, type MapEnd, NO_ITEMS } from './map-end.js'
import { mapRunId } from './map-names.js'
import { mapNotesOf } from './map-record.js'
import { MapResults } from './map-results.js'

export interface RecallParts {
  readonly ledger: Ledger
  readonly state: StateDirectory
  /** The run that the map is a part of. */
  readonly runId: string
  /** Result files that are missing here are not written: another process conducts the run. */
  readonly isGuest?: boolean
}

const NEVER = new AbortController().signal

export async function recallMap(
  { ledger, state, runId, isGuest }: RecallParts,
  map: MapPlan,
): Promise<MapEnd['figures']> {
  const mapRun = mapRunId(runId, map.id)
  const record = await ledger.run(mapRun)
  if (record === undefined) return NO_ITEMS
  const notes = mapNotesOf(record)
  const { errors } = map
  const counts = notes.counts ?? countsOf(await readClasses(ledger, mapRun), { fresh: 0, retrying: 0 }, errors)
  const results = new MapResults({
    ledger,
    mapRun,
    directory: state.mapDirectory(runId, map.id),
    errors,
    signal: NEVER,
  })
  const isEnded = record.status === 'succeeded' || record.status === 'completed_with_failures'
  if (!isEnded) return endOf('interrupted', counts, notes, undefined).figures
  const files =
    isGuest === true
      ? { file: notes.resultsFile ?? results.file, results: await results.values() }
      : await results.completed()
  return endOf('interrupted', counts, notes, files).figures
}
