/** Finds a step of a run that somebody has named, and the logs of its attempts. Imports the library, state and views. */
import type { Ledger, RunRecord } from 'reprise/durable'
import { nearest } from 'reprise/internal'
import { fallbackId } from '../plan/fallback.js'
import { placeOf, placesElsewhere } from '../run/places.js'
import { recordedPlan } from '../run/recorded-plan.js'
import type { RunPlace } from '../run/run-record.js'
import { type LogEntry, StateDirectory } from '../state/state-directory.js'
import type { ItemPlace } from '../state/step-place.js'
import type { RunDetail, StepView } from '../view/views.js'
import { plural } from '../words/failure-words.js'
import { OperationError } from './operation-error.js'
import { stateDirectoryOf } from './store.js'

type Steps = Pick<RunDetail, 'id' | 'steps'>

/** By its id, its name or its number from 1. */
export function findStep({ id: run, steps }: Steps, named: string): StepView {
  const found =
    steps.find(({ id }) => id === named) ?? steps.find(({ name }) => name === named) ?? steps[Number(named) - 1]
  if (found === undefined) throw unknownStep(run, steps, named)
  return found
}

/** By its id alone, which is the name of the directory of its logs. */
export function findLoggedStep({ id: run, steps }: Steps, named: string): StepView {
  const found = steps.find(({ id }) => id === named)
  if (found === undefined) throw unknownStep(run, steps, named)
  return found
}

function unknownStep(run: string, steps: readonly StepView[], named: string): OperationError {
  const near = nearest(
    named,
    steps.map(({ id }) => id),
  )
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
    elsewhere: placesElsewhere(record, placeOf({ stateDirectory: state.path })),
  }
}
