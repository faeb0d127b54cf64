/**
 * Whether steps of `on_failure` or `finally` have still to run, as far as is recorded. Imports the ledger's types, the
 * plan and the notes of runs.
 */
import type { Ledger, RunRecord, TaskStatus } from 'reprise/durable'
import { fallbackId } from '../plan/fallback.js'
import { type HandlerPart, HANDLER_PARTS, phasesIn, type Plan, type StepPlan } from '../plan/plan.js'
import { notesOf } from './run-notes.js'

type TaskReader = Pick<Ledger, 'get'>

/** Whether one of these lists has not come to its end. */
export async function areHandlersLeft(
  ledger: TaskReader,
  runId: string,
  plan: Plan,
  parts: readonly HandlerPart[] = HANDLER_PARTS,
): Promise<boolean> {
  for (const part of parts) if (await isLeft(ledger, runId, phasesIn(plan, part) as readonly StepPlan[])) return true
  return false
}

/** Of a run that was cancelled before its last steps began. */
export async function isFinallyLeft(ledger: TaskReader, run: RunRecord, plan: Plan): Promise<boolean> {
  if (run.status !== 'cancelled' || notesOf(run).ending?.state !== 'cancelled') return false
  return areHandlersLeft(ledger, run.id, plan, ['finally'])
}

async function isLeft(ledger: TaskReader, runId: string, steps: readonly StepPlan[]): Promise<boolean> {
  const statusOf = async (id: string): Promise<TaskStatus | undefined> =>
    (await ledger.get({ scopeKind: 'run', scope: runId, id }))?.status
  for (const step of steps) {
    let status = await statusOf(step.id)
    if (status === 'failed' && step.onFailure === 'continue') continue
    if (status === 'failed' && typeof step.onFailure !== 'string') {
      status = await statusOf(fallbackId(step))
      if (status === 'succeeded' && step.onFailure.afterwards === 'fail') return false
    }
    if (status === 'succeeded') continue
    // A step that failed or was cancelled ends its list.
    return status !== 'failed' && status !== 'cancelled'
  }
  return false
}
