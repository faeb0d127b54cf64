/**
 * What is done to a run from outside the process that conducts it. Imports the library, the process runner and its own
 * layer.
 */
import {
  type Durable,
  type Json,
  type Ledger,
  openDurable,
  openLedger,
  type RunRecord,
  TaskRefusedError,
} from 'reprise/durable'
import { addressOf, type DurableRun, isJsonObject, nearest, sharedLedger } from 'reprise/internal'
import { mapsOf, phasesIn, type Plan, stepsOf } from '../plan/plan.js'
import { endLeftovers } from '../process/end-leftovers.js'
import type { StateDirectory } from '../state/state-directory.js'
import { budgetsOf } from './gates.js'
import { isFinallyLeft } from '../view/handlers-left.js'
import { halt } from './map/map-halt.js'
import { mapRunId } from './map/map-names.js'
import { cancelAllOpen } from './open-steps.js'
import { planToEnd } from './recorded-plan.js'
import { notesOf } from '../view/run-notes.js'
import { CANCELLED_ENDING, notesAsJson, type RunNotes } from './run-record.js'
import { StepTasks } from './step-task.js'

/** Gives the plan of a run from what is recorded of it. */
export type PlanReader = (ledger: Ledger, run: RunRecord) => Promise<Plan>

/** What a cancel has done. */
interface Cancelled {
  /** False if the run had ended already. */
  readonly isNew: boolean
  /** Steps of `finally` are still to run, and no process conducts the run: a resume runs them, and nothing else. */
  readonly isFinallyLeft: boolean
}

/**
 * Ends a run for good, in whichever process it is. The process that conducts it runs the steps of `finally`; a cancel
 * while they run ends them too.
 */
export async function cancelRun(
  store: string,
  runId: string,
  planOf: PlanReader,
  state: StateDirectory,
): Promise<Cancelled> {
  return withRun(store, runId, planOf, (found) => cancelFound(found, state, false))
}

/** Whether the run works on its steps still; otherwise it ends without being told, after its steps of `finally`. */
export function isBeforeItsEnd(run: RunRecord): boolean {
  return run.endedAtMs === null && notesOf(run).ending === undefined
}

/**
 * Cancels a run to take its group, unless its steps have ended; its own process ends it, and runs its steps of `finally`.
 * What is not there, or not any more, is left to whoever waits for the group, who looks again.
 */
export async function cancelHolder(store: string | Durable, runId: string, state: StateDirectory): Promise<void> {
  const address = typeof store === 'string' ? store : addressOf(store)
  if (address === undefined)
    throw new TaskRefusedError('locked', `Run ${runId} cannot be cancelled: its store has no address`)
  try {
    await withRun(address, runId, planToEnd, (found) => cancelFound(found, state, true))
  } catch (error) {
    if (!(error instanceof TaskRefusedError && error.kind === 'not_found')) throw error
  }
}

/** `isPatient`: the steps of `on_failure` and `finally` of a run that has come to them are not touched. */
async function cancelFound(
  { durable, run, plan }: Found,
  state: StateDirectory,
  isPatient: boolean,
): Promise<Cancelled> {
  const conductor = await durable.runs.conductorOf(run.record)
  const lastSteps = phasesIn(plan, 'finally')
  const ended = lastSteps.length === 0 ? (detail: Json): Json => detail : withFinally
  const isNew = await durable.runs.cancel(run.id, isPatient ? (detail) => unlessEnding(detail, ended) : ended)
  // Whoever cancelled it before may have been stopped on the way: its tasks are looked at again.
  if (!isNew && (isPatient || run.record.status !== 'cancelled')) return { isNew: false, isFinallyLeft: false }
  await cancelAllOpen({ run, plan }, sharedLedger(durable), isPatient)
  for (const map of mapsOf(plan)) await cancelMap(durable, mapRunId(run.id, map.id))
  // Whoever conducts it ends what he started; what nobody conducts has nobody to do so.
  const groupFiles = state.groupFilesOf(run.id)
  if (conductor === undefined)
    await endLeftovers(run.record.correlationId, { isPrefix: true, sparesAgents: true, groupFiles })
  const { record } = await durable.runs.find(run.id)
  const mayBeLeft = conductor === undefined && lastSteps.length > 0
  const isLeft = mayBeLeft && (await isFinallyLeft(sharedLedger(durable), record, plan))
  return { isNew, isFinallyLeft: isLeft }
}

/** A second cancel does not wait for the steps of `finally`. */
function withFinally(detail: Json): Json {
  if (!isJsonObject(detail)) return detail
  const { ending, ...notes } = detail as unknown as RunNotes
  return notesAsJson(ending?.state === 'cancelled' ? notes : { ...notes, ending: CANCELLED_ENDING })
}

function unlessEnding(detail: Json, ended: (detail: Json) => Json): Json | undefined {
  return isJsonObject(detail) && detail['ending'] !== undefined ? undefined : ended(detail)
}

/** Nothing of the map begins any more, in any process. Its items stay as they are: a resume may go on with them. */
async function cancelMap(durable: Durable, mapRun: string): Promise<void> {
  const ledger = sharedLedger(durable)
  if ((await ledger.run(mapRun)) === undefined) return
  await durable.runs.cancel(mapRun)
  if ((await ledger.run(mapRun))?.status === 'cancelled') await halt(ledger, mapRun, { kind: 'cancelled' })
}

/** Ends the wait of a step: its next attempt starts now. */
export async function retryStepNow(store: string, runId: string, stepId: string, planOf: PlanReader): Promise<void> {
  await withRun(store, runId, planOf, async ({ run, plan }) => {
    const step = stepsOf(plan).find(({ id }) => id === stepId)
    if (mapsOf(plan).some(({ id }) => id === stepId)) {
      const message = `Step ${stepId} of run ${runId} is a map: its items start again by themselves when they are due.`
      throw new TaskRefusedError('not_waiting', message)
    }
    if (step === undefined) {
      const ids = stepsOf(plan).map(({ id }) => id)
      const near = nearest(stepId, ids)
      const hint = near === undefined ? `its steps are ${ids.slice(0, 10).join(', ')}` : `did you mean ${near}?`
      throw new TaskRefusedError('not_found', `Run ${runId} has no step ${stepId}: ${hint}`)
    }
    await new StepTasks(run, plan).of(step).retryNow()
  })
}

interface Found {
  readonly durable: Durable
  readonly run: DurableRun
  readonly plan: Plan
}

async function withRun<T>(
  store: string,
  runId: string,
  planOf: PlanReader,
  act: (found: Found) => Promise<T>,
): Promise<T> {
  // The budgets of the run have to be known before its ledger is opened to change it.
  const ledger = await openLedger(store)
  let plan: Plan
  try {
    const record = await ledger.run(runId)
    if (record === undefined) throw new TaskRefusedError('not_found', `There is no run ${runId}`)
    plan = await planOf(ledger, record)
  } finally {
    await ledger.close()
  }
  const durable = await openDurable(store, {
    budgets: Object.fromEntries(budgetsOf(plan, runId)),
    // Whoever uses it next is told.
    onFailure: () => undefined,
  })
  try {
    return await act({ durable, run: await durable.runs.find(runId), plan })
  } finally {
    await durable.close()
  }
}
