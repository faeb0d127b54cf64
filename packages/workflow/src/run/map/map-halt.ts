/**
 * When a map stops before its items have ended, and how that is undone: the gate of its lane is paused, which every process
 * sees at its next claim. Imports the library and its own layer.
 */
import type { GateRecord, Json, Ledger, RunRecord } from 'reprise/durable'
import { laneName, queueKey } from 'reprise/internal'
import type { MapErrorPolicy, MapPlan } from '../../plan/map-plan.js'
import { type ItemClasses, readClasses } from './map-counts.js'
import type { HaltReason } from '../../view/map-views.js'
import { haltedState } from './map-group.js'
import { laneStateOf, type LaneState, mapNotesOf } from './map-record.js'

/** A share of failures says little while few items have ended. */
const LEAST_ENDED = 10

/** The lanes that a stop pauses. */
const LANES = ['items', 'sample'] as const

/** Why the failure rate stops the map; undefined if it does not. */
export function thresholdHalt(
  classes: ItemClasses,
  errors: Pick<MapErrorPolicy, 'failureThreshold'>,
): HaltReason | undefined {
  const { succeeded, failed, undecided } = classes
  const lost = failed + undecided
  const ended = succeeded + lost
  if (isShareOpen(classes) || !isShareHigh(classes, errors)) return undefined
  return { kind: 'failure_threshold', failed: lost, ended, limit: errors.failureThreshold ?? 0 }
}

/** Whether too few items have ended for the share of failures to mean something. */
export function isShareOpen({ succeeded, failed, undecided }: ItemClasses): boolean {
  return succeeded + failed + undecided < LEAST_ENDED
}

function isShareHigh(
  { succeeded, failed, undecided }: ItemClasses,
  { failureThreshold }: Pick<MapErrorPolicy, 'failureThreshold'>,
): boolean {
  const lost = failed + undecided
  return failureThreshold !== null && lost > 0 && lost / (succeeded + lost) > failureThreshold
}

export async function readLanes(
  ledger: Ledger,
  mapRun: string,
): Promise<Readonly<Record<'items' | 'sample', LaneState>>> {
  const keys = LANES.map((lane) => keyOf(mapRun, lane))
  return ledger.transact({ tasks: [], gates: keys }, (view) => {
    const [items = {}, sample = {}] = keys.map((key) => laneStateOf(view.gate(key)))
    return { result: { items, sample } }
  })
}

/** Whether somebody has paused the map, which was not stopped. */
export async function isPausedByHand(ledger: Ledger, mapRun: string): Promise<boolean> {
  const { items, sample } = await readLanes(ledger, mapRun)
  return [items, sample].some(({ paused, halt: stopped }) => paused === true && stopped === undefined)
}

/** Stops the map: nothing of it is claimed any more. A reason that was there before stays. */
export async function halt(ledger: Ledger, mapRun: string, reason: HaltReason): Promise<void> {
  await changeLanes(ledger, mapRun, (state) => haltedState(state, reason))
}

/**
 * The map may go on, unless it would stop again at once: a process that was killed between the stop of the map and its end
 * has left the stop to the next one. A pause by hand stays.
 */
export async function clearHalt(
  ledger: Ledger,
  mapRun: string,
  errors: Pick<MapErrorPolicy, 'maxFailures' | 'failureThreshold'>,
): Promise<void> {
  const { items, sample } = await readLanes(ledger, mapRun)
  const reason = items.halt ?? sample.halt
  if (reason === undefined) return
  const limits = { ...errors, maxFailures: items.maxFailures ?? errors.maxFailures }
  if (isStillHalted(reason, items.failed ?? 0, await readClasses(ledger, mapRun), limits)) return
  await changeLanes(ledger, mapRun, ({ halt: before, paused, wasPaused, ...state }) => {
    const isPaused = before === undefined ? paused === true : wasPaused === true
    return isPaused ? { ...state, paused: true } : state
  })
}

/** Limits that a command has given: they replace those of the document, and those that were set by hand before. */
export interface GivenLimits {
  readonly maxParallel?: number
  readonly maxFailures?: number
}

export async function limitLanes(
  ledger: Ledger,
  mapRun: string,
  { maxParallel, maxFailures }: GivenLimits,
): Promise<void> {
  if (maxParallel === undefined && maxFailures === undefined) return
  await changeLanes(ledger, mapRun, (state) => ({
    ...state,
    ...(maxParallel !== undefined && { most: maxParallel }),
    ...(maxFailures !== undefined && { maxFailures }),
  }))
}

/** Why the count of failed items stops a map whose limit was lowered by hand; undefined if it does not. */
export function countHalt({ failed = 0, maxFailures }: LaneState): HaltReason | undefined {
  if (maxFailures === undefined || failed < maxFailures) return undefined
  return { kind: 'max_failures', failed, limit: maxFailures }
}

/** Whether a map that was stopped would stop again at once: redriven items may have lowered the count. */
export function isStillHalted(
  reason: HaltReason,
  failed: number,
  classes: ItemClasses,
  errors: Pick<MapErrorPolicy, 'maxFailures' | 'failureThreshold'>,
): boolean {
  switch (reason.kind) {
    case 'max_failures':
      return errors.maxFailures !== null && failed >= errors.maxFailures
    case 'failure_threshold':
      return thresholdHalt(classes, errors) !== undefined
    case 'stop':
    case 'halt_on':
      return failed > 0
    case 'cancelled':
      return false
  }
}

/** Whether a map that was stopped would be stopped again at once. */
export async function isMapHalted(
  ledger: Ledger,
  record: RunRecord,
  { errors }: MapPlan,
  maxFailures?: number,
): Promise<boolean> {
  const notes = mapNotesOf(record)
  if (notes.halted === null) return false
  const { items } = await readLanes(ledger, record.id)
  const limits = { ...errors, maxFailures: maxFailures ?? items.maxFailures ?? notes.maxFailures ?? errors.maxFailures }
  return isStillHalted(notes.halted, items.failed ?? 0, await readClasses(ledger, record.id), limits)
}

async function changeLanes(ledger: Ledger, mapRun: string, change: (state: LaneState) => LaneState): Promise<void> {
  const keys = LANES.map((lane) => keyOf(mapRun, lane))
  await ledger.transact({ tasks: [], gates: keys }, (view) => {
    const gates = keys.flatMap((key): GateRecord[] => {
      const gate = view.gate(key)
      return gate === undefined ? [] : [{ ...gate, state: change(laneStateOf(gate)) as unknown as Json }]
    })
    return { gates, result: undefined }
  })
}

function keyOf(mapRun: string, lane: string): string {
  return queueKey(laneName(mapRun, lane))
}
