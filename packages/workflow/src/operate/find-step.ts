/** Finds a step of a run that somebody has named, and the logs of its attempts. Imports the library, state and views. */
import type { Ledger, RunRecord } from 'reprise/durable'
import { nearest, queueKey } from 'reprise/internal'
import { fallbackId } from '../plan/fallback.js'
import { mapsOf, type PhasePlan, type Plan } from '../plan/plan.js'
import { itemQueues, mapRunId } from '../run/map/map-names.js'
import { laneStateOf } from '../run/map/map-record.js'
import { placeOf, placesElsewhere } from '../run/places.js'
import { recordedPlan } from '../run/recorded-plan.js'
import type { RunPlace } from '../run/run-record.js'
import { type LogEntry, StateDirectory } from '../state/state-directory.js'
import type { ItemPlace } from '../state/step-place.js'
import type { RunReader } from '../view/read-runs.js'
import { viewStepOf } from '../view/run-excerpt.js'
import { scopeOf } from '../view/run-pages.js'
import type { RunDetail, StepView } from '../view/views.js'
import { plural } from '../words/failure-words.js'
import { OperationError } from './operation-error.js'
import { stateDirectoryOf } from './store.js'

/** A run, with one of its steps. */
interface FoundStep {
  readonly run: RunDetail
  readonly step: StepView
}

/** By its id, its name or its number from 1: its place among the steps and fallbacks that are shown of the run. */
export function findStep(reader: RunReader, id: string, named: string): Promise<FoundStep> {
  return stepWhere(reader, id, named, async ({ phases }, order) => {
    if (order.phaseOf(named) !== undefined || (await hasTask(reader.ledger, id, named))) return named
    const byName = phases.find(({ name }) => name === named)
    if (byName !== undefined) return byName.id
    return /^[1-9]\d*$/.test(named) ? numberedStep(reader.ledger, id, phases, Number(named)) : undefined
  })
}

/** By its id alone, which is the name of the directory of its logs. */
export async function findLoggedStep(reader: RunReader, id: string, named: string): Promise<StepView> {
  return (await stepWhere(reader, id, named, async () => named)).step
}

async function stepWhere(
  reader: RunReader,
  id: string,
  named: string,
  find: Parameters<typeof viewStepOf>[2],
): Promise<FoundStep> {
  const found = await viewStepOf(reader, id, find)
  const step = found?.detail.steps[0]
  if (found !== undefined && step !== undefined) return { run: found.detail, step }
  throw unknownStep(id, found?.plan.phases.map((phase) => phase.id) ?? [], named)
}

async function hasTask(ledger: Ledger, run: string, id: string): Promise<boolean> {
  return (await ledger.get({ ...scopeOf(run), id })) !== undefined
}

/** A fallback that has run is a row of its own, after its step. */
async function numberedStep(
  ledger: Ledger,
  run: string,
  phases: readonly PhasePlan[],
  number: number,
): Promise<string | undefined> {
  let left = number
  for (const phase of phases) {
    if (--left === 0) return phase.id
    if (typeof phase.onFailure === 'string' || !(await hasTask(ledger, run, fallbackId(phase)))) continue
    if (--left === 0) return fallbackId(phase)
  }
  return undefined
}

export function unknownStep(run: string, ids: readonly string[], named: string): OperationError {
  const near = nearest(named, [...ids])
  const message = `Run ${run} has no step ${named}.${near === undefined ? '' : ` Did you mean ${near}?`}`
  return new OperationError('not_found', { code: 'unknown_step', run, near }, message)
}

export function expectAttempt({ id, attempts, history }: StepView, run: string, attempt: number): void {
  const made = history.reduce((most, one) => Math.max(most, one.attempt), attempts)
  if (attempt <= made) return
  const count = made === 0 ? 'has not run' : `has made ${plural(made, 'attempt')}`
  const message = `There is no attempt ${attempt}: step ${id} ${count}.`
  throw new OperationError('not_found', { code: 'unknown_attempt', run, step: id }, message)
}

interface LogSelection {
  readonly step?: string | undefined
  readonly attempt?: number | undefined
  /** An item of the map that is named as the step. */
  readonly item?: ItemPlace
}

interface RunLogs {
  /** Logs that are here by now, in the order of the steps. */
  files(selection: LogSelection): readonly LogEntry[]
  /** Machines and directories that have the logs of other steps. */
  readonly elsewhere: readonly RunPlace[]
}

/** Where agents have run items of the maps of the run. */
async function placesOfAgents(ledger: Ledger, { id }: RunRecord, plan: Plan): Promise<RunPlace[]> {
  const lanes = new Set(mapsOf(plan).flatMap((map) => itemQueues(mapRunId(id, map.id)).map(queueKey)))
  if (lanes.size === 0) return []
  const gates = (await ledger.gates()).filter(({ key }) => lanes.has(key))
  return gates.flatMap((gate) => laneStateOf(gate).places ?? [])
}

export async function logsOfRun(ledger: Ledger, record: RunRecord, store: string): Promise<RunLogs> {
  const state = StateDirectory.at(stateDirectoryOf(store))
  const plan = recordedPlan(record, (await ledger.definition(record.id)) ?? null)
  const order = new Map(
    plan.phases.flatMap(({ id }, index) => [[id, index] as const, [fallbackId({ id }), index + 0.5] as const]),
  )
  const orderOf = (log: LogEntry): number => order.get(log.step) ?? Infinity
  return {
    files: ({ step, attempt, item }) =>
      (item === undefined ? state.logsOf(record.id, step) : state.logsOfItem(record.id, item))
        .filter((log) => attempt === undefined || log.attempt === attempt)
        .toSorted((a, b) => orderOf(a) - orderOf(b)),
    elsewhere: placesElsewhere(
      record,
      placeOf({ stateDirectory: state.path }),
      await placesOfAgents(ledger, record, plan),
    ),
  }
}
