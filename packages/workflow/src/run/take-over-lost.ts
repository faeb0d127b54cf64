/** Attempts that lost processes left in a run that is left. Imports the library, the plan and its own layer. */
import { type TaskRecord, TaskRefusedError } from 'reprise/durable'
import { mapsOf } from '../plan/plan.js'
import type { ConductorParts } from './conductor.js'
import type { StepTasks } from './step-task.js'

/**
 * Of a run that is left, nothing runs: attempts of lost processes are recorded as interrupted, also those that this
 * process was stopped before. False if there was none of a step, or if another process has the run by now.
 */
export async function takeOverLost(
  { run, plan, takeOverMap }: Pick<ConductorParts, 'run' | 'plan' | 'takeOverMap'>,
  tasks: StepTasks,
): Promise<boolean> {
  if (run.record.resumes === 0) return false
  const isLost = ({ owner }: TaskRecord): boolean => owner !== null && owner !== run.record.owner
  const lost = (await run.tasks(['running', 'parked'])).filter(isLost)
  try {
    for (const { id } of lost) await tasks.withId(id)?.takeOver()
    for (const map of mapsOf(plan)) await takeOverMap(map)
  } catch (error) {
    // Another process conducts the run by now, and takes them over.
    if (error instanceof TaskRefusedError && error.kind === 'run_lost') return false
    throw error
  }
  return lost.length > 0
}
