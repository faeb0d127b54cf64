/** All tasks and attempts of a datacenter of a job, page by page. Imports the library. */
import type { AttemptRow, Ledger, TaskRecord } from 'reprise/durable'

const PAGE = 1000

/** In the order of their names, without their inputs. */
export async function allTasks(ledger: Ledger, run: string): Promise<readonly TaskRecord[]> {
  const found: TaskRecord[] = []
  for (;;) {
    const after = found.at(-1)
    const filter = { scopeKind: 'run', scope: run, withInput: false, limit: PAGE } as const
    const page = await ledger.list({ ...filter, ...(after && { after }) })
    found.push(...page)
    if (page.length < PAGE) return found
  }
}

/** In the order of the names of their workflows, without those that the budget denied: these were not made. */
export async function allAttempts(ledger: Ledger, run: string): Promise<readonly AttemptRow[]> {
  const found: AttemptRow[] = []
  for (;;) {
    const after = found.at(-1)
    const page = await ledger.attemptsOfRun(run, { limit: PAGE, ...(after && { after }) })
    found.push(...page)
    if (page.length < PAGE) return found.filter(({ outcome }) => outcome !== 'denied')
  }
}
