/**
 * What is done to a run from outside the process that conducts it. Imports the library, the process runner and its own
 * layer.
 */
import { type Durable, type Json, openDurable, openLedger, type RunRecord, TaskRefusedError } from 'reprise/durable'
import { type DurableRun, nearest, sharedLedger } from 'reprise/internal'
import { mapsOf, phasesIn, type Plan, stepsOf } from '../plan/plan.js'
import { endLeftovers } from '../process/end-leftovers.js'
import type { StateDirectory } from '../state/state-directory.js'
import { budgetsOf } from './gates.js'
import { isFinallyLeft } from './handlers-left.js'
import { halt } from './map/map-halt.js'
import { mapRunId } from './map/map-names.js'
import { CANCELLED_ENDING, notesAsJson, type RunNotes } from './run-record.js'
import { FALLBACK_POLICY, StepTasks } from './step-task.js'

/** Gives the plan of a run from what is recorded of it. */
export type PlanReader = (run: RunRecord, definition: Json) => Plan

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
  return withRun(store, runId, planOf, async ({ durable, run, plan }) => {
    const conductor = await durable.runs.conductorOf(run.record)
    const isNew = await durable.runs.cancel(runId, phasesIn(plan, 'finally').length === 0 ? undefined : withFinally)
    // Whoever cancelled it before may have been stopped on the way: its tasks are looked at again.
    if (!isNew && run.record.status !== 'cancelled') return { isNew: false, isFinallyLeft: false }
    const steps = new Map(stepsOf(plan).map((step) => [step.id, step]))
    const tasks = new StepTasks(run, plan)
    for (const task of await run.tasks(['waiting', 'running', 'parked', 'undecided'])) {
      const step = steps.get(task.id)
      const handle = step === undefined ? run.step(task.id, FALLBACK_POLICY, () => null) : tasks.of(step)
      await handle.cancel()
    }
    for (const map of mapsOf(plan)) await cancelMap(durable, mapRunId(runId, map.id))
    // Whoever conducts it ends what he started; what nobody conducts has nobody to do so.
    const groupFiles = state.groupFilesOf(runId)
    if (conductor === undefined) await endLeftovers(run.record.correlationId, { isPrefix: true, groupFiles })
    const { record } = await durable.runs.find(runId)
    const isLeft = conductor === undefined && (await isFinallyLeft(sharedLedger(durable), record, plan))
    return { isNew, isFinallyLeft: isLeft }
  })
}

/** A second cancel does not wait for the steps of `finally`. */
function withFinally(detail: Json): Json {
  const { ending, ...notes } = detail as unknown as RunNotes
  return notesAsJson(ending?.state === 'cancelled' ? notes : { ...notes, ending: CANCELLED_ENDING })
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
    plan = planOf(record, (await ledger.definition(runId)) ?? null)
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
