/**
 * What is recorded of the steps of a run that is taken up again, as its conductor needs it. Those that succeeded may be
 * very many, and only what they gave is read of them. Imports the library and the shapes.
 */
import type { StopReason } from 'reprise'
import type { FailureRecord, Json, TaskRecord } from 'reprise/durable'
import type { DurableRun } from 'reprise/internal'
import { retryStateOf } from '../view/retry-state.js'
import { succeededState, taskState } from '../view/step-look.js'
import type { StepState } from '../view/views.js'

/** How a step has failed for good. */
export interface FailedStep {
  readonly stopReason: StopReason
  readonly failure: FailureRecord | null
  readonly attempts: number
}

export interface RecordedStep {
  readonly state: StepState
  /** What it gave; undefined if it has not succeeded. */
  readonly result?: Json
  /** undefined if it has not failed. */
  readonly failed?: FailedStep
}

const UNSUCCESSFUL = ['waiting', 'running', 'parked', 'undecided', 'failed', 'cancelled'] as const

export async function recordedSteps(run: DurableRun): Promise<Map<string, RecordedStep>> {
  const recorded = new Map<string, RecordedStep>()
  for (const { id, result, failures } of await run.results())
    recorded.set(id, { state: succeededState(result, failures), result })
  for (const task of await run.tasks(UNSUCCESSFUL))
    recorded.set(task.id, { state: taskState(task), ...(task.status === 'failed' && { failed: failureOf(task) }) })
  return recorded
}

function failureOf(task: TaskRecord): FailedStep {
  const { stopReason, progress } = task
  return { stopReason: stopReason ?? 'aborted', failure: progress.lastFailure, attempts: retryStateOf(task).launched }
}
