/**
 * Rows of a run page by page: a run may have very many, and what is made of a page is smaller than the page. Imports the
 * library.
 */
import type { AttemptRow, Ledger, TaskRecord, TaskStatus } from 'reprise/durable'

const PAGE = 2000

/** The tasks of a run without their inputs, in the order of their ids. */
export async function* tasksOfRun(
  ledger: Ledger,
  run: string,
  statuses?: readonly TaskStatus[],
): AsyncGenerator<readonly TaskRecord[]> {
  const filter = { scopeKind: 'run', scope: run, withInput: false, limit: PAGE, ...(statuses && { statuses }) } as const
  let after: TaskRecord | undefined
  do {
    const page = await ledger.list({ ...filter, ...(after && { after }) })
    yield page
    after = page.length < PAGE ? undefined : page.at(-1)
  } while (after !== undefined)
}

/** All of them: for statuses that few tasks have. */
export async function allTasksOfRun(
  ledger: Ledger,
  run: string,
  statuses: readonly TaskStatus[],
): Promise<TaskRecord[]> {
  const all: TaskRecord[] = []
  for await (const page of tasksOfRun(ledger, run, statuses)) all.push(...page)
  return all
}

/** All attempts of a run, in the order of their tasks. */
export async function allAttemptsOfRun(ledger: Ledger, run: string): Promise<AttemptRow[]> {
  const all: AttemptRow[] = []
  for (;;) {
    const after = all.at(-1)
    const page = await ledger.attemptsOfRun(run, { limit: PAGE, ...(after && { after }) })
    all.push(...page)
    if (page.length < PAGE) return all
  }
}
