/**
 * Removes jobs that were over long enough, with everything that belongs to them. Imports the library and the records.
 *
 * Invariant: a job stays while a living worker runs one of its workflows. What a worker that is lost or cut off delivers
 * after the removal is refused, and the worker forgets it.
 */
import type { Ledger, RunRecord } from 'reprise/durable'
import { livingOwners } from 'reprise/internal'
import { jobOf, type JobRun } from '../record/job-record.js'
import { aliasKey, budgetKeys, datacenterRun, JOB_KIND } from '../record/names.js'
import { idFromKey } from '../rules/job-request.js'
import { gatesOfTally, tallyAtRemoval } from './tally-job.js'

const AT_ONCE = 500

/** Jobs that completed before this time; answers with the ids of those that are gone. */
export async function removeJobs(ledger: Ledger, beforeMs: number): Promise<string[]> {
  const gone: string[] = []
  const living = await livingOwners(ledger)
  let after: RunRecord | undefined
  for (;;) {
    const page = await ledger.runs({ kind: JOB_KIND, limit: AT_ONCE, ...(after && { after }) })
    for (const run of page) if (await removeJob(ledger, run, beforeMs, living)) gone.push(run.id)
    after = page.at(-1)
    if (page.length < AT_ONCE) return gone
  }
}

type Living = Awaited<ReturnType<typeof livingOwners>>

async function removeJob(ledger: Ledger, run: RunRecord, beforeMs: number, living: Living): Promise<boolean> {
  const isOld = ({ endedAtMs, status }: RunRecord): boolean =>
    status === 'removing' || (endedAtMs !== null && endedAtMs < beforeMs)
  if (!isOld(run)) return false
  const job = jobOf(run)
  const sites = job.detail.targets.map((name) => datacenterRun(job.id, name))
  for (const scope of sites) {
    const running = await ledger.list({ scopeKind: 'run', scope, statuses: ['running'], withInput: false })
    if (running.some(({ owner }) => living.has(owner ?? ''))) return false
  }
  const keys = { tasks: [], gates: gatesOfTally(job), runs: [job.id, ...sites] }
  const isClaimed = await ledger.transact(keys, (view) => {
    const current = view.run(job.id)
    if (current === undefined || !isOld(current)) return { result: false }
    if (current.status === 'removing') return { result: true }
    const { gates = [] } = tallyAtRemoval(view, jobOf(current))
    return { runs: [{ run: { ...current, status: 'removing', fence: current.fence + 1 } }], gates, result: true }
  })
  if (!isClaimed) return false
  for (const id of sites) while (!(await ledger.removeRun(id, AT_ONCE)).isDone);
  while (!(await ledger.removeRun(job.id, AT_ONCE, gatesOf(job))).isDone);
  return true
}

function gatesOf({ id, detail }: JobRun): string[] {
  const { idempotencyKey } = detail
  const budgets = budgetKeys(id, detail)
  return idempotencyKey === null ? budgets : [...budgets, aliasKey(idFromKey(idempotencyKey))]
}
