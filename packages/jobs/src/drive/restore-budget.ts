/** Writes the row of a retry budget that is missing, from what the tasks of the job were charged. Imports the records. */
import type { Ledger, TaskRecord } from 'reprise/durable'
import { budgetGate } from '../record/budget-record.js'
import { jobOf } from '../record/job-record.js'
import { datacenterRun } from '../record/names.js'
import { workflowInputOf } from '../record/workflow-record.js'
import { rebuiltRetryBudget } from '../rules/retry-grant.js'

/** Nothing is written if the job is gone, or if another process has restored the row meanwhile. */
export async function restoreBudget(ledger: Ledger, task: TaskRecord): Promise<void> {
  const { job, datacenter, budget } = workflowInputOf(task)
  const run = await ledger.run(job)
  if (run === undefined) return
  const { settings, targets } = jobOf(run).detail
  const sharing = settings.budgetScope === 'job' ? targets : [datacenter]
  const pages = await Promise.all(
    sharing.map((name) => ledger.list({ scopeKind: 'run', scope: datacenterRun(job, name), withInput: false })),
  )
  const tasks = pages.flat()
  // With the row every failure of the job waits, so what the tasks say does not change before it is written.
  await ledger.transact({ gates: [budget], tasks }, (view) => {
    if (view.gate(budget) !== undefined) return { result: undefined }
    const charges = tasks.map((key) => view.task(key)?.progress.allotted ?? 0)
    const state = rebuiltRetryBudget(settings.retryBudget, charges)
    return { gates: [budgetGate(budget, state, settings)], result: undefined }
  })
}
