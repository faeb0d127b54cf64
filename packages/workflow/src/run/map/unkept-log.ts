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

type EndedAttempt = Pick<DurableContext, 'taskId' | 'generation' | 'attempt' | 'execution'>

/** Whether the log of an attempt that succeeded is kept. */
export function keepsLog({ keepLogs }: LogParts['map'], { generation, attempt, execution }: EndedAttempt): boolean {
  const isFirst = generation === 1 && attempt === 1 && execution === 1
  return keepLogs === 'all' || (keepLogs === 'failures' && !isFirst)
}

export function removeUnkeptLog({ run, map, state, onStateFailure }: LogParts, ended: EndedAttempt): void {
  if (keepsLog(map, ended)) return
  try {
    state.removeLog({ run, item: { map: map.id, id: ended.taskId }, step: '' }, ended)
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    onStateFailure(error)
  }
}
