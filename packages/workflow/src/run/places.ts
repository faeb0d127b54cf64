/**
 * Where a run was conducted: its record is for all machines, what its steps wrote is on the machine, and in the state
 * directory, of whoever started them. Imports Node and the record.
 */
import { hostname } from 'node:os'
import path from 'node:path'
import type { RunRecord } from 'reprise/durable'
import { notesOf } from '../view/run-notes.js'
import type { RunPlace } from './run-record.js'
import type { RunSettings } from './session.js'

/** Short, since every step reads the record. */
const MAX_PLACES = 8

export function placeOf({ stateDirectory }: Pick<RunSettings, 'stateDirectory'>): RunPlace {
  return { host: hostname(), stateDirectory: path.resolve(stateDirectory) }
}

/** With this one as the last; the same list if it is there. */
export function withPlace(places: readonly RunPlace[] | undefined, place: RunPlace): readonly RunPlace[] {
  if (places?.some((one) => isSame(one, place)) === true) return places
  return [...(places ?? []), place].slice(-MAX_PLACES)
}

/** Where else to look for what its steps wrote. `more`: places of its agents. */
export function placesElsewhere(run: RunRecord, here: RunPlace, more: readonly RunPlace[] = []): readonly RunPlace[] {
  const known: RunPlace[] = []
  for (const place of [...(notesOf(run)?.places ?? []), ...more])
    if (![here, ...known].some((one) => isSame(one, place))) known.push(place)
  return known
}

function isSame(one: RunPlace, other: RunPlace): boolean {
  return one.host === other.host && one.stateDirectory === other.stateDirectory
}
