/**
 * What becomes of recorded steps that have not ended when the run is cancelled or its time is up. Steps of `on_failure` and
 * `finally` have a record before they begin where the run was resumed with fresh attempts or repeated from a step; those that
 * are still to run are not cancelled with the others. Imports the library, the plan and its own layer.
 */
import type { Ledger, TaskRecord } from 'reprise/durable'
import { type DurableRun, isJsonObject } from 'reprise/internal'
import { handlersOf, phasesIn, type Plan, stepsOf } from '../plan/plan.js'
import { areHandlersLeft } from '../view/handlers-left.js'
import { isUntouched } from './recorded-steps.js'
import { FALLBACK_POLICY, fallbackId, StepTasks } from './step-task.js'

type Choice = (task: TaskRecord) => boolean

interface OpenSteps {
  readonly run: DurableRun
  readonly plan: Plan
}

/** Nothing of the steps of the run goes on: its time is up. Answers with the first of them; null if none was open. */
export function cancelSteps(parts: OpenSteps): Promise<string | null> {
  const isHandler = handlersIn(parts.plan)
  return cancelOpen(parts, (task) => !isHandler(task))
}

/**
 * Nothing of a cancelled run goes on but the steps of `finally`, as far as they have not begun and are still to run.
 * `isPatient`: nor are those ended that its process may have begun meanwhile.
 */
export async function cancelAllOpen(parts: OpenSteps, ledger: Ledger, isPatient: boolean): Promise<void> {
  const { run, plan } = parts
  if ((await isFinallyNext(ledger, run.id)) && phasesIn(plan, 'finally').length > 0) {
    const isHandler = handlersIn(plan)
    await cancelOpen(parts, (task) => !isHandler(task) || !(isPatient || isUntouched(task)))
    // By now another process may have the run for them.
    if (isPatient || (await areHandlersLeft(ledger, run.id, plan, ['finally']))) return
  }
  await cancelOpen(parts, () => true)
}

/** Notes that are damaged do not keep a run from being cancelled. */
async function isFinallyNext(ledger: Ledger, run: string): Promise<boolean> {
  const detail = (await ledger.run(run))?.detail
  const ending = isJsonObject(detail) ? detail['ending'] : undefined
  return isJsonObject(ending) && ending['state'] === 'cancelled'
}

async function cancelOpen({ run, plan }: OpenSteps, isChosen: Choice): Promise<string | null> {
  const steps = new Map(stepsOf(plan).map((step) => [step.id, step]))
  const tasks = new StepTasks(run, plan)
  const open = (await run.tasks(['waiting', 'running', 'parked', 'undecided'])).filter(isChosen)
  for (const { id } of open) {
    const step = steps.get(id)
    await (step === undefined ? run.step(id, FALLBACK_POLICY, () => null) : tasks.of(step)).cancel()
  }
  return open[0]?.id ?? null
}

/** Whether a task is a step of `on_failure` or `finally`, or the fallback of one. */
function handlersIn(plan: Plan): Choice {
  const ids = new Set(handlersOf(plan).flatMap((step) => [step.id, fallbackId(step)]))
  return ({ id }) => ids.has(id)
}
