/** Forgets runs that have ended, with their logs. Imports the library, the state directory and the shapes. */
import type { Ledger, RunRecord } from 'reprise/durable'
import { ENDED_RUN_STATUSES, livingOwners } from 'reprise/internal'
import type { StateDirectory } from '../state/state-directory.js'
import { viewRecords } from '../view/read-runs.js'
import { standingRuns } from '../view/run-pages.js'
import type { RunView } from '../view/views.js'
import type { PlanReader } from './control.js'
import { cleanTrees } from './clean-trees.js'
import { ownGates } from './gates.js'
import { removeMapRun, TASKS_AT_ONCE } from './map/remove-map-run.js'
import { EMPTY_NOTES, faultsOfNotes } from '../view/run-notes.js'

/** Runs that ended before this time, with those whose removal was interrupted; with ids, only these. Others stay. */
export async function cleanableRuns(ledger: Ledger, beforeMs: number, ids: readonly string[] = []): Promise<RunView[]> {
  const found =
    ids.length === 0 ? await standingRuns(ledger, { statuses: [...ENDED_RUN_STATUSES] }) : await named(ledger, ids)
  const ended = found.filter(({ status, endedAtMs }) => {
    return ENDED_RUN_STATUSES.has(status) && endedAtMs !== null && endedAtMs < beforeMs
  })
  // What is noted of a run that cannot be is not needed to remove it.
  const shown = ended.map((run) => (faultsOfNotes(run).length === 0 ? run : { ...run, detail: EMPTY_NOTES }))
  return viewRecords(ledger, shown, await livingOwners(ledger))
}

async function named(ledger: Ledger, ids: readonly string[]): Promise<RunRecord[]> {
  const runs: RunRecord[] = []
  for (const id of new Set(ids)) {
    const run = await ledger.run(id)
    if (run !== undefined) runs.push(run)
  }
  return runs
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
    const record = await ledger.run(run.id)
    if (record === undefined) continue
    // Whatever of the run cannot be read is told before anything of it is removed.
    const gates = ownGates(await planOf(ledger, record), run.id)
    if (!(await claimForRemoval(ledger, run))) continue
    await cleanTrees(ledger, state, false, run.id)
    state.removeRun(run.id)
    for (const { id } of await ledger.runs({ idPrefix: `${run.id}/` })) await removeMapRun(ledger, id)
    while (!(await ledger.removeRun(run.id, TASKS_AT_ONCE, gates)).isDone);
    gone.push(run)
  }
  return gone
}

/** Somebody may have taken it up again since it was listed: then it stays. From here on nobody can. */
function claimForRemoval(ledger: Ledger, { id, endedAtMs }: RunView): Promise<boolean> {
  return ledger.transact({ tasks: [], runs: [id] }, (view) => {
    const run = view.run(id)
    if (run === undefined || run.endedAtMs === null || run.endedAtMs !== endedAtMs) return { result: false }
    const claimed: RunRecord = { ...run, status: 'removing', fence: run.fence + 1 }
    return { runs: [{ run: claimed }], result: true }
  })
}
