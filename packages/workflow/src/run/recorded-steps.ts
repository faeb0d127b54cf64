/**
 * What is recorded of the steps of a run that is taken up again, as its conductor needs it. Those that succeeded may be
 * very many, and only what they gave is read of them. Imports the library and the shapes.
 */
import type { StopReason } from 'reprise'
import type { FailureRecord, Json, TaskRecord, TaskResult } from 'reprise/durable'
import type { DurableRun } from 'reprise/internal'
import { retryStateOf } from '../view/retry-state.js'
import { PAGE, pagesOf } from '../view/run-pages.js'
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
  /** It was recorded, and nothing of it has begun: whether it is wanted is looked at when its turn comes. */
  readonly isUntouched?: boolean
  /** undefined if it has not failed. */
  readonly failed?: FailedStep
}

const UNSUCCESSFUL = ['waiting', 'running', 'parked', 'undecided', 'failed', 'cancelled'] as const

export async function recordedSteps(run: DurableRun): Promise<Map<string, RecordedStep>> {
  const recorded = new Map<string, RecordedStep>()
  const results = pagesOf((after: TaskResult | undefined) =>
    run.results({ limit: PAGE, ...(after && { after: after.id }) }),
  )
  for await (const page of results)
    for (const { id, result, failures } of page) recorded.set(id, { state: succeededState(result, failures), result })
  const left = pagesOf((after: TaskRecord | undefined) =>
    run.tasks(UNSUCCESSFUL, { limit: PAGE, ...(after && { after }) }),
  )
  for await (const page of left)
    for (const task of page)
      recorded.set(task.id, {
        state: taskState(task),
        ...(task.status === 'failed' && { failed: failureOf(task) }),
        ...(isUntouched(task) && { isUntouched: true }),
      })
  return recorded
}

function isUntouched(task: TaskRecord): boolean {
  return task.status === 'waiting' && task.progress.current === null && retryStateOf(task).launched === 0
}

function failureOf(task: TaskRecord): FailedStep {
  const { stopReason, progress } = task
  return { stopReason: stopReason ?? 'aborted', failure: progress.lastFailure, attempts: retryStateOf(task).launched }
}
