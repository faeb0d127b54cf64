/** Forgets runs that have ended, with their logs. Imports the library, the state directory and the shapes. */
import type { Ledger } from 'reprise/durable'
import type { StateDirectory } from '../state/state-directory.js'
import { viewRuns } from '../view/read-runs.js'
import type { RunView } from '../view/views.js'
import type { PlanReader } from './control.js'
import { ownGates } from './gates.js'

/** Others write between two of them. */
const TASKS_AT_ONCE = 500

/** Those that ended before; what runs, waits or can be resumed stays. */
export async function cleanableRuns(ledger: Ledger, beforeMs: number): Promise<RunView[]> {
  const ended = await viewRuns(ledger, { statuses: ['succeeded', 'completed_with_failures', 'failed', 'cancelled'] })
  return ended.filter(({ endedAtMs }) => endedAtMs !== null && endedAtMs < beforeMs)
}

/** The records last: while they are there, another try finds what is left. */
export async function removeRuns(
  ledger: Ledger,
  state: StateDirectory,
  runs: readonly RunView[],
  planOf: PlanReader,
): Promise<void> {
  for (const { id } of runs) {
    const record = await ledger.run(id)
    if (record === undefined) continue
    const gates = ownGates(planOf(record, (await ledger.definition(id)) ?? null), id)
    state.removeRun(id)
    while (!(await ledger.removeRun(id, TASKS_AT_ONCE, gates)).isDone);
  }
}
