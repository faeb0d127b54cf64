/** The run that a map is in the ledger: begun, or taken up again. Imports the library, the plan and its own layer. */
import type { Durable, Json, Ledger } from 'reprise/durable'
import type { ConductOptions, DurableRun } from 'reprise/internal'
import type { MapPlan } from '../../plan/map-plan.js'
import { MAP_KIND, mapRunId } from './map-names.js'
import { type MapNotes, mapNotesOf, NEW_MAP } from './map-record.js'
import type { MapSettings } from './map-settings.js'
import { TASKS_AT_ONCE } from './remove-map-run.js'

export interface MapRunParts {
  readonly durable: Durable
  readonly ledger: Ledger
  /** The run that the map is a part of. */
  readonly run: Pick<DurableRun, 'id'>
  readonly map: MapPlan
  readonly settings: MapSettings
  readonly detailOf: (notes: MapNotes) => Json
}

/** What was recorded of an enumeration that did not end is removed. */
export async function openMapRun(
  { durable, ledger, run, map, settings, detailOf }: MapRunParts,
  conductWith: ConductOptions,
): Promise<DurableRun> {
  const mapRun = mapRunId(run.id, map.id)
  const record = await ledger.run(mapRun)
  if (record !== undefined) {
    const options = { ...conductWith, ...(settings.force && { force: true }) }
    const child = await durable.runs.take(mapRun, options)
    const notes = mapNotesOf(record)
    if (notes.isEnumerated || lacksPart(notes, settings)) return child
    child.release()
    while (!(await ledger.removeRun(mapRun, TASKS_AT_ONCE)).isDone);
  }
  const detail = detailOf({ ...NEW_MAP, isPartial: settings.part !== undefined })
  const start = { parent: run.id, kind: MAP_KIND, name: map.name, definition: null, fingerprint: '', detail }
  return durable.runs.start({ id: map.id, ...start }, conductWith)
}

/** Only a part of the items was asked for, and the run stopped before it was chosen: this process does not know it. */
export function lacksPart({ isPartial, isEnumerated }: MapNotes, { part }: Pick<MapSettings, 'part'>): boolean {
  return isPartial && !isEnumerated && part === undefined
}
