/**
 * A workflow at a datacenter as a task: its input names the rows that its end changes, and what was skipped is told from
 * what was cancelled by its last failure. Imports the rules and the library's types.
 */
import type { FailureRecord, Json, TaskRecord } from 'reprise/durable'
import type { WorkflowEnd } from '../rules/job-result.js'
import { fieldsOf, textIn, textsIn } from './damaged-record.js'

/** What the task of a workflow is recorded with: short, since what it runs is kept once with the job. */
export interface WorkflowInput {
  readonly job: string
  readonly datacenter: string
  /** The gate of the retry budget. */
  readonly budget: string
  /** A success changes the budget: it gives retries back, or ends the waiting of probes. */
  readonly changesBudget: boolean
  /** Workflows that need this one. */
  readonly dependents: readonly string[]
  /** All that cannot run without it: its dependents, theirs, and so on. */
  readonly downstream: readonly string[]
}

export function workflowInputOf({ input, scope, id }: Pick<TaskRecord, 'input' | 'scope' | 'id'>): WorkflowInput {
  const what = `workflow ${scope}/${id}`
  const fields = fieldsOf(input, what)
  return {
    job: textIn(fields, 'job', what),
    datacenter: textIn(fields, 'datacenter', what),
    budget: textIn(fields, 'budget', what),
    changesBudget: fields['changesBudget'] === true,
    dependents: textsIn(fields, 'dependents', what),
    downstream: textsIn(fields, 'downstream', what),
  }
}

export function inputOfWorkflow(input: WorkflowInput): Json {
  return input as unknown as Json
}

const SKIPPED = 'skipped'

/** Why a workflow is skipped: the one that it needs, and how that ended. */
export function skippedFailure(cause: TaskRecord): FailureRecord {
  const { lastFailure, budgetReason } = cause.progress
  const why = budgetReason ?? lastFailure?.message ?? cause.status
  return { name: 'SkippedError', message: `needs ${cause.id}, which ${cause.status}: ${why}`, code: SKIPPED }
}

/** How it ended; null while it is open. */
export function workflowEnd({ status, progress }: Pick<TaskRecord, 'status' | 'progress'>): WorkflowEnd | null {
  if (status === 'succeeded' || status === 'failed') return status
  if (status !== 'cancelled') return null
  return progress.lastFailure?.code === SKIPPED ? 'skipped' : 'cancelled'
}
