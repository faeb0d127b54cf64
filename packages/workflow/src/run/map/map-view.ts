/**
 * A map as it is in a ledger: counts from its tallies, failures by kind, and what its lanes are limited to. Nothing is
 * written, and no reading depends on how many items there are. Imports the library, the plan, the shapes and the records
 * of maps.
 */
import type { Ledger, RunRecord, TaskRecord } from 'reprise/durable'
import { laneName, livingOwners, queueKey } from 'reprise/internal'
import { attemptsOf } from '../../plan/attempts.js'
import type { MapPlan } from '../../plan/map-plan.js'
import { countsOf, readClasses } from '../../view/item-counts.js'
import { Agents } from '../../view/map-agents.js'
import { type MapViewOptions, mapStepState } from '../../view/read-runs.js'
import { scopeOf } from '../../view/run-pages.js'
import { conductedMs } from '../../view/run-times.js'
import type { FailureGroup, MapRunningItem, MapView, StepState, StepView } from '../../view/views.js'
import { classesOfRunning } from './map-counts.js'
import { mapRunId } from './map-names.js'
import { laneStateOf, type LaneState, mapNotesOf } from './map-record.js'

/** Running items that are told of. */
const MOST_RUNNING = 20
/** Running items of one process that are counted. */
const MOST_COUNTED = 1000
/** A rate over less time says nothing. */
const LEAST_RATE_MS = 1000

/** The map as a row among the steps; `pending` if it has not begun. */
export async function viewMap(ledger: Ledger, run: string, map: MapPlan, look: MapViewOptions): Promise<StepView> {
  const record = await ledger.run(mapRunId(run, map.id))
  if (record === undefined) return rowOf(map, undefined, 'pending', null, 0)
  const view = await mapView(ledger, record, map, look)
  const state = mapStepState(record, look.isInterrupted)
  return rowOf(map, record, state, view, activeMsOf(record, state, look))
}

/** How long the map took, without the time in which no process conducted its run. */
function activeMsOf(record: RunRecord, state: StepState, { nowMs, sessions }: MapViewOptions): number {
  const { createdAtMs: fromMs, endedAtMs, updatedAtMs } = record
  const isOpen = endedAtMs === null && sessions !== undefined
  const toMs = state === 'running' || isOpen ? nowMs : (endedAtMs ?? updatedAtMs)
  return sessions === undefined ? Math.max(0, toMs - fromMs) : conductedMs({ fromMs, toMs }, sessions)
}

async function mapView(ledger: Ledger, record: RunRecord, map: MapPlan, look: MapViewOptions): Promise<MapView> {
  const notes = mapNotesOf(record)
  const lanes = await lanesOf(ledger, record.id)
  const living = await livingOwners(ledger)
  const running = await runningIn(ledger, record.id, living)
  const counts = countsOf(await readClasses(ledger, record.id), classesOfRunning(running), map.errors)
  const { items } = lanes
  const lasted = (record.endedAtMs ?? look.nowMs) - record.createdAtMs
  const ended = counts.total - counts.pending - counts.running - counts.retrying
  const isGoing = record.status === 'running' && !look.isInterrupted
  return {
    state: record.status === 'running' && look.isInterrupted ? 'interrupted' : stateOf(record),
    counts,
    recovered: notes.counts === null ? null : notes.recovered,
    perSecond: isGoing && lasted >= LEAST_RATE_MS ? (ended / lasted) * 1000 : null,
    maxParallel: items.most ?? notes.maxParallel ?? map.maxParallel,
    perSecondAllowed: items.rate?.perSecond ?? null,
    maxFailures: items.maxFailures ?? notes.maxFailures ?? map.errors.maxFailures,
    isPaused: lanes.isPaused && lanes.halt === null,
    isPart: notes.isPartial,
    halted: lanes.halt ?? (record.status === 'failed' ? notes.halted : null),
    agents: isGoing ? (await Agents.read(ledger, living)).of(record.id) : [],
    running: await namedItems(ledger, running),
    failures: look.failures === 0 ? [] : await failuresOf(ledger, record.id, look.failures),
    resultsFile: notes.resultsFile,
  }
}

function stateOf({ status }: RunRecord): MapView['state'] {
  return status === 'removing' ? 'cancelled' : status
}

interface Lanes {
  readonly items: LaneState
  readonly halt: MapView['halted']
  readonly isPaused: boolean
}

async function lanesOf(ledger: Ledger, mapRun: string): Promise<Lanes> {
  const gates = new Map((await ledger.gates()).map((gate) => [gate.key, gate]))
  const of = (lane: string): LaneState => laneStateOf(gates.get(queueKey(laneName(mapRun, lane))))
  const [items, sample] = [of('items'), of('sample')]
  return { items, halt: items.halt ?? sample.halt ?? null, isPaused: items.paused === true || sample.paused === true }
}

/** What lost processes have left waits. Without their inputs, which may be large. */
async function runningIn(ledger: Ledger, mapRun: string, living: ReadonlyMap<string, unknown>): Promise<TaskRecord[]> {
  const found: TaskRecord[] = []
  for (const owner of (await ledger.taskOwners()).filter((one) => living.has(one)))
    found.push(...(await ledger.list({ ...scopeOf(mapRun), owner, withInput: false, limit: MOST_COUNTED })))
  return found
}

async function namedItems(ledger: Ledger, running: readonly TaskRecord[]): Promise<MapRunningItem[]> {
  const longest = running.toSorted((a, b) => startOf(a) - startOf(b)).slice(0, MOST_RUNNING)
  const named = longest.map(async (task): Promise<MapRunningItem> => {
    const { input } = (await ledger.get(task)) ?? {}
    const key = (input as { readonly key?: string } | null | undefined)?.key ?? task.id
    return { item: task.id, key, attempt: task.progress.current?.attempt ?? 1, startedAtMs: startOf(task) }
  })
  return Promise.all(named)
}

function startOf({ progress, updatedAtMs }: TaskRecord): number {
  return progress.current?.startedAtMs ?? updatedAtMs
}

async function failuresOf(ledger: Ledger, mapRun: string, limit: number): Promise<FailureGroup[]> {
  const patterns = await ledger.analytics.failurePatterns({ ...scopeOf(mapRun), limit, examples: 1 })
  return patterns.map(({ signature, tasks, failed, recovered, examples: [example] }) => ({
    signature,
    items: tasks,
    failed,
    recovered,
    example: example === undefined ? null : { item: example.id, message: example.message },
  }))
}

function rowOf(
  map: MapPlan,
  record: RunRecord | undefined,
  state: StepState,
  view: MapView | null,
  activeMs: number,
): StepView {
  const { id, name } = map
  return {
    id,
    name,
    kind: 'map',
    state,
    generation: 1,
    attempts: 0,
    attemptsAllowed: attemptsOf(map),
    nextAttemptAtMs: null,
    activeMs,
    waitedMs: 0,
    retryBudgetMs: null,
    stopReason: null,
    failure: record === undefined ? null : mapNotesOf(record).failure,
    startedAtMs: record?.createdAtMs ?? null,
    endedAtMs: record?.endedAtMs ?? null,
    correlationId: record?.correlationId ?? null,
    log: null,
    history: [],
    map: view,
  }
}
