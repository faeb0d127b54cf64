/**
 * What is recorded of the steps of a run that is taken up again, as its conductor needs it. Those that succeeded may be
 * very many, and only what they gave is read of them. Imports the library and the shapes.
 */
import type { DurableRun, Json } from 'reprise/durable'
import { succeededState, taskState } from '../view/step-look.js'
import type { StepState } from '../view/views.js'

export interface RecordedStep {
  readonly state: StepState
  /** What it gave; undefined if it has not succeeded. */
  readonly result: Json | undefined
}

const UNSUCCESSFUL = ['waiting', 'running', 'parked', 'undecided', 'failed', 'cancelled'] as const

export async function recordedSteps(run: DurableRun): Promise<Map<string, RecordedStep>> {
  const recorded = new Map<string, RecordedStep>()
  for (const { id, result, failures } of await run.results())
    recorded.set(id, { state: succeededState(result, failures), result })
  for (const task of await run.tasks(UNSUCCESSFUL)) recorded.set(task.id, { state: taskState(task), result: undefined })
  return recorded
}
