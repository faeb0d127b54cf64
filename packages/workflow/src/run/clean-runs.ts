/** Forgets runs that have ended, with their logs. Imports the library, the state directory and the shapes. */
import type { Ledger, RunRecord } from 'reprise/durable'
import type { StateDirectory } from '../state/state-directory.js'
import { viewRuns } from '../view/read-runs.js'
import type { RunView } from '../view/views.js'
import type { PlanReader } from './control.js'
import { ownGates } from './gates.js'

/** Others write between two of them. */
const TASKS_AT_ONCE = 500

/** What a removal left behind, as well. */
const ENDED = ['succeeded', 'completed_with_failures', 'failed', 'cancelled', 'removing'] as const

/** Runs that ended before this time; with ids, only these. What runs, waits or can be resumed stays. */
export async function cleanableRuns(ledger: Ledger, beforeMs: number, ids: readonly string[] = []): Promise<RunView[]> {
  const ended = await viewRuns(ledger, { statuses: ENDED })
  const isMeant = ({ id }: RunView): boolean => ids.length === 0 || ids.includes(id)
  return ended.filter((run) => run.endedAtMs !== null && run.endedAtMs < beforeMs && isMeant(run))
}

/** The records last: while they are there, another try finds what is left. Answers with those that are gone. */
export async function removeRuns(
  ledger: Ledger,
  state: StateDirectory,
  runs: readonly RunView[],
  planOf: PlanReader,
): Promise<RunView[]> {
  const gone: RunView[] = []
  for (const run of runs) {
    const record = await claimForRemoval(ledger, run)
    if (record === undefined) continue
    const gates = ownGates(planOf(record, (await ledger.definition(run.id)) ?? null), run.id)
    state.removeRun(run.id)
    while (!(await ledger.removeRun(run.id, TASKS_AT_ONCE, gates)).isDone);
    gone.push(run)
  }
  return gone
}

/** Somebody may have taken it up again since it was listed: then it stays. From here on nobody can. */
function claimForRemoval(ledger: Ledger, { id, endedAtMs }: RunView): Promise<RunRecord | undefined> {
  return ledger.transact({ tasks: [], runs: [id] }, (view) => {
    const run = view.run(id)
    if (run === undefined || run.endedAtMs === null || run.endedAtMs !== endedAtMs) return { result: undefined }
    const claimed: RunRecord = { ...run, status: 'removing', fence: run.fence + 1 }
    return { runs: [{ run: claimed }], result: claimed }
  })
}
