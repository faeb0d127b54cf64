/**
 * How many steps of a run are in which state, counted by the store: a run may have very many. A fallback belongs to its step,
 * and is not counted; maps are counted by their own records. Imports the library, the plan and the shapes.
 */
import type { Ledger } from 'reprise/durable'
import type { TaskCount } from 'reprise/internal'
import { FALLBACK_ENDING } from '../plan/fallback.js'
import { STATE_OF } from './step-views.js'
import type { StepState } from './views.js'

export type StepCounts = Partial<Record<StepState, number>>

/** Of steps that have a task; `isInterrupted`: no process conducts the run, which has not ended. */
export async function readStepCounts(ledger: Ledger, run: string, isInterrupted: boolean): Promise<StepCounts> {
  const counts: StepCounts = {}
  for (const count of await ledger.analytics.tasksOfRun(run, FALLBACK_ENDING)) {
    const state = stateOfCount(count, isInterrupted)
    counts[state] = (counts[state] ?? 0) + count.tasks
  }
  return counts
}

/** As `taskState` says of one task: a step that was skipped has succeeded without an attempt. */
function stateOfCount({ status, hasFailed, hasBegun, isInFlight }: TaskCount, isInterrupted: boolean): StepState {
  if (isInterrupted && (status === 'running' || (status === 'waiting' && isInFlight))) return 'interrupted'
  if (status === 'succeeded') return hasFailed ? 'recovered' : hasBegun ? 'succeeded' : 'skipped'
  return status === 'waiting' && !hasFailed ? 'pending' : STATE_OF[status]
}

export function sumOfCounts(counts: Readonly<StepCounts>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** With those of all steps that have no task yet. */
export function withPending(counts: Readonly<StepCounts>, steps: number): StepCounts {
  const pending = (counts.pending ?? 0) + Math.max(0, steps - sumOfCounts(counts))
  return { ...counts, ...(pending > 0 && { pending }) }
}

export function countStates(states: readonly StepState[], counts: StepCounts = {}): StepCounts {
  const sums = { ...counts }
  for (const state of states) sums[state] = (sums[state] ?? 0) + 1
  return sums
}
