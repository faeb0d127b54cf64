/**
 * Changes a map while it runs: how many items run at a time, how many start in a second, the failed item that stops it,
 * and a pause. Imports the library, recorded plans and maps.
 *
 * Invariant: a change is written to the gates of the map's lanes with an event that says who asked and why, and every
 * process has it with its next claim. A map that was stopped is not continued here: it would stop again at once.
 */
import type { GateChange, Ledger, RunRecord } from 'reprise/durable'
import {
  type Actor,
  changeGate,
  continueQueue,
  laneName,
  nearest,
  pauseQueue,
  queueKey,
  setQueueMost,
  setQueueRate,
} from 'reprise/internal'
import type { MapPlan, MapRate } from '../plan/map-plan.js'
import { mapsOf } from '../plan/plan.js'
import { haltText } from '../run/map/halt-text.js'
import { readClasses } from '../run/map/map-counts.js'
import { readLanes } from '../run/map/map-halt.js'
import { mapRunId } from '../run/map/map-names.js'
import { laneStateOf, mapNotesOf } from '../run/map/map-record.js'
import type { HaltReason } from '../view/map-views.js'
import { recordedPlan } from '../run/recorded-plan.js'
import { OperationError } from './operation-error.js'

/** What is changed of a map. */
export interface MapLimits {
  readonly maxParallel?: number
  /** Null for no limit. */
  readonly rate?: MapRate | null
  readonly maxFailures?: number
}

/** A map that was begun and has not ended. */
export interface OpenMap {
  readonly run: string
  readonly map: MapPlan
  /** The id of its run in the ledger. */
  readonly mapRun: string
}

/** `named`: its id; undefined for the only one that can be changed. */
export async function findOpenMap(ledger: Ledger, run: RunRecord, named: string | undefined): Promise<OpenMap> {
  const maps = mapsOf(recordedPlan(run, (await ledger.definition(run.id)) ?? null))
  if (maps.length === 0) throw refused(run.id, `Run ${run.id} has no map.`)
  if (named !== undefined) return openMap(ledger, run, mapNamed(run, maps, named))
  const [only, ...others] = maps
  if (only !== undefined && others.length === 0) return openMap(ledger, run, only)
  const open = await Promise.all(maps.map((map) => openMap(ledger, run, map).catch(() => undefined)))
  const found = open.filter((one) => one !== undefined)
  const [first] = found
  if (first !== undefined && found.length === 1) return first
  const ids = maps.map(({ id }) => id)
  const message = `Run ${run.id} has ${maps.length} maps: ${ids.join(', ')}. Choose one with --map.`
  throw new OperationError('not_possible', { code: 'several_maps', run: run.id }, message)
}

function mapNamed(run: RunRecord, maps: readonly MapPlan[], named: string): MapPlan {
  const map = maps.find(({ id, name }) => id === named || name === named)
  if (map !== undefined) return map
  const ids = maps.map(({ id }) => id)
  const near = nearest(named, ids)
  const cure = near === undefined ? `Its maps are ${ids.join(', ')}.` : `Did you mean ${near}?`
  throw new OperationError(
    'not_found',
    { code: 'unknown_map', run: run.id },
    `Run ${run.id} has no map ${named}. ${cure}`,
  )
}

async function openMap(ledger: Ledger, { id }: RunRecord, map: MapPlan): Promise<OpenMap> {
  const mapRun = mapRunId(id, map.id)
  const record = await ledger.run(mapRun)
  if (record === undefined || !mapNotesOf(record).isEnumerated)
    throw refused(id, `Map ${map.id} of run ${id} has not begun: nothing of it can be changed yet.`)
  const { items, sample } = await readLanes(ledger, mapRun)
  const halted = items.halt ?? sample.halt ?? (record.status === 'failed' ? mapNotesOf(record).halted : null)
  if (halted !== null && halted.kind !== 'cancelled') throw await stopped(ledger, id, map, mapRun, halted)
  if (record.endedAtMs !== null) throw refused(id, `Map ${map.id} of run ${id} has ended: it is ${record.status}.`)
  return { run: id, map, mapRun }
}

async function stopped(
  ledger: Ledger,
  run: string,
  { id }: MapPlan,
  mapRun: string,
  halted: HaltReason,
): Promise<OperationError> {
  const { failed, undecided } = await readClasses(ledger, mapRun)
  const maxFailures = halted.kind === 'max_failures' ? failed + undecided + 10 : null
  const message = `Map ${id} of run ${run} was stopped: ${haltText(halted)}. A resume continues it, once nothing stops it any more.`
  return new OperationError('not_possible', { code: 'map_stopped', run, maxFailures }, message)
}

function refused(run: string, message: string): OperationError {
  return new OperationError('not_possible', { code: 'map_not_open', run }, message)
}

/** Answers with what was done to each lane. */
export async function setMap(ledger: Ledger, map: OpenMap, limits: MapLimits, actor: Actor): Promise<GateChange[]> {
  const { maxParallel, rate, maxFailures } = limits
  const changes: GateChange[] = []
  for (const queue of await lanesOf(ledger, map)) {
    if (maxParallel !== undefined) changes.push(await setQueueMost(ledger, queue, { ...actor, most: maxParallel }))
    if (rate !== undefined) changes.push(await setQueueRate(ledger, queue, { ...actor, rate: rate && perSecond(rate) }))
  }
  if (maxFailures !== undefined) changes.push(await setMaxFailures(ledger, map, maxFailures, actor))
  return changes
}

/** Where failures are counted: the lane `items`. */
function setMaxFailures(ledger: Ledger, { mapRun }: OpenMap, maxFailures: number, actor: Actor): Promise<GateChange> {
  return changeGate(ledger, queueKey(laneName(mapRun, 'items')), 'limit', actor, (gate) => ({
    after: { ...laneStateOf(gate), maxFailures } as unknown as GateChange['after'],
  }))
}

/** Nothing of the map begins any more until it is continued; what runs may end. */
export async function pauseMap(ledger: Ledger, map: OpenMap, actor: Actor): Promise<GateChange[]> {
  const changes: GateChange[] = []
  for (const queue of await lanesOf(ledger, map)) changes.push(await pauseQueue(ledger, queue, actor))
  return changes
}

export async function continueMap(ledger: Ledger, map: OpenMap, actor: Actor): Promise<GateChange[]> {
  const changes: GateChange[] = []
  for (const queue of await lanesOf(ledger, map)) changes.push(await continueQueue(ledger, queue, actor))
  return changes
}

/** Lanes of items that have a gate. */
async function lanesOf(ledger: Ledger, { mapRun }: OpenMap): Promise<string[]> {
  const known = new Set((await ledger.gates()).map(({ key }) => key))
  const lanes = ['items', 'sample'].map((lane) => laneName(mapRun, lane))
  return lanes.filter((lane) => known.has(queueKey(lane)))
}

function perSecond({ count, perMs }: MapRate): { readonly perSecond: number } {
  return { perSecond: (count / perMs) * 1000 }
}
