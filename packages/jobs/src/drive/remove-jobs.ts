/**
 * Removes jobs that were over long enough, with everything that belongs to them. Imports the library and the records.
 *
 * Invariant: a job whose datacenters have not all ended stays: a worker may still report.
 */
import type { Ledger, RunRecord } from 'reprise/durable'
import { datacenterOf } from '../record/datacenter-record.js'
import { jobOf, type JobRun } from '../record/job-record.js'
import { aliasKey, budgetKey, datacenterRun, JOB_KIND } from '../record/names.js'
import { idFromKey } from '../rules/job-request.js'

const AT_ONCE = 500

/** Jobs that completed before this time; answers with the ids of those that are gone. */
export async function removeJobs(ledger: Ledger, beforeMs: number): Promise<string[]> {
  const gone: string[] = []
  let after: RunRecord | undefined
  for (;;) {
    const page = await ledger.runs({ kind: JOB_KIND, limit: AT_ONCE, ...(after && { after }) })
    for (const run of page) if (await removeJob(ledger, run, beforeMs)) gone.push(run.id)
    after = page.at(-1)
    if (page.length < AT_ONCE) return gone
  }
}

async function removeJob(ledger: Ledger, run: RunRecord, beforeMs: number): Promise<boolean> {
  const isOld = ({ endedAtMs, status }: RunRecord): boolean =>
    status === 'removing' || (endedAtMs !== null && endedAtMs < beforeMs)
  if (!isOld(run)) return false
  const job = jobOf(run)
  const sites = job.detail.targets.map((name) => datacenterRun(job.id, name))
  const isClaimed = await ledger.transact({ tasks: [], runs: [job.id, ...sites] }, (view) => {
    const current = view.run(job.id)
    if (current === undefined || !isOld(current)) return { result: false }
    const isOpen = sites.some((id) => {
      const site = view.run(id)
      return site !== undefined && datacenterOf(site).detail.end === null
    })
    if (isOpen) return { result: false }
    return { runs: [{ run: { ...current, status: 'removing', fence: current.fence + 1 } }], result: true }
  })
  if (!isClaimed) return false
  for (const id of sites) while (!(await ledger.removeRun(id, AT_ONCE)).isDone);
  while (!(await ledger.removeRun(job.id, AT_ONCE, gatesOf(job))).isDone);
  return true
}

function gatesOf({ id, detail }: JobRun): string[] {
  const { idempotencyKey, targets, settings } = detail
  const budgets = settings.budgetScope === 'job' ? [budgetKey(id)] : targets.map((name) => budgetKey(id, name))
  return idempotencyKey === null ? budgets : [...budgets, aliasKey(idFromKey(idempotencyKey))]
}
