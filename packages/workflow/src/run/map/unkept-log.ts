/** Removes the log of an item that succeeded, unless `keep_logs` keeps it. Imports the plan, the state directory and types. */
import type { DurableContext } from 'reprise/durable'
import type { MapPlan } from '../../plan/map-plan.js'
import type { StateDirectory } from '../../state/state-directory.js'
import { StateError } from '../../state/state-error.js'

export interface LogParts {
  /** The id of the run that the map is a part of. */
  readonly run: string
  readonly map: Pick<MapPlan, 'id' | 'keepLogs'>
  readonly state: StateDirectory
  readonly onStateFailure: (error: StateError) => void
}

export function removeUnkeptLog(
  { run, map: { id, keepLogs }, state, onStateFailure }: LogParts,
  { taskId, generation, attempt, execution }: Pick<DurableContext, 'taskId' | 'generation' | 'attempt' | 'execution'>,
): void {
  const isFirst = generation === 1 && attempt === 1 && execution === 1
  if (keepLogs === 'all' || (keepLogs === 'failures' && !isFirst)) return
  try {
    state.removeLog({ run, item: { map: id, id: taskId }, step: '' }, { generation, attempt, execution })
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    onStateFailure(error)
  }
}
