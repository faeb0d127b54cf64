/**
 * Rows of a run page by page: a run may have very many, and what is made of a page is smaller than the page. Imports the
 * library.
 */
import type { AttemptRow, Ledger, RunFilter, RunRecord, TaskFilter, TaskRecord, TaskStatus } from 'reprise/durable'
import { JOB_KIND } from 'reprise/internal'

/** At most this many rows are read at once. */
export const PAGE = 2000

/** What names the tasks of a run, or of a map within it. */
export function scopeOf(run: string): { readonly scopeKind: 'run'; readonly scope: string } {
  return { scopeKind: 'run', scope: run }
}

/** Runs that are neither a part of another one, as maps are, nor jobs; in the order of `Ledger.runs`. */
export async function standingRuns(ledger: Pick<Ledger, 'runs'>, filter: RunFilter): Promise<RunRecord[]> {
  const { limit } = filter
  const isStanding = ({ id, kind }: RunRecord): boolean => !id.includes('/') && kind !== JOB_KIND
  if (limit === undefined) return (await ledger.runs(filter)).filter(isStanding)
  const found: RunRecord[] = []
  let after = filter.after
  for (;;) {
    const page = await ledger.runs({ ...filter, ...(after && { after }) })
    found.push(...page.filter(isStanding))
    if (page.length < limit || found.length >= limit) return found.slice(0, limit)
    after = page.at(-1)
  }
}

/** Pages of a list; `read` gives at most `limit` rows that follow the given one. `from`: the row to begin after. */
export async function* pagesOf<T>(
  read: (after: T | undefined) => Promise<readonly T[]>,
  from?: T,
  limit = PAGE,
): AsyncGenerator<readonly T[]> {
  let after = from
  do {
    const page = await read(after)
    yield page
    after = page.length < limit ? undefined : page.at(-1)
  } while (after !== undefined)
}

async function joined<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const page of pages) for (const row of page) all.push(row)
  return all
}

/** The tasks of a run without their inputs, in the order of their ids. */
export function tasksOfRun(
  ledger: Ledger,
  run: string,
  which: Pick<TaskFilter, 'statuses' | 'sinceMs' | 'hasFailed' | 'limit'> = {},
): AsyncGenerator<readonly TaskRecord[]> {
  return taskPages(ledger, { ...scopeOf(run), withInput: false, ...which })
}

/** Tasks in the order of their keys, after a given one; `limit`: of one page. */
export function taskPages(
  ledger: Pick<Ledger, 'list'>,
  filter: Omit<TaskFilter, 'after'>,
  from?: TaskRecord,
): AsyncGenerator<readonly TaskRecord[]> {
  const limit = Math.min(PAGE, filter.limit ?? PAGE)
  const read = (after: TaskRecord | undefined): Promise<readonly TaskRecord[]> =>
    ledger.list({ ...filter, limit, ...(after && { after }) })
  return pagesOf(read, from, limit)
}

/** All of them: for statuses that few tasks have. */
export function allTasksOfRun(ledger: Ledger, run: string, statuses: readonly TaskStatus[]): Promise<TaskRecord[]> {
  return joined(tasksOfRun(ledger, run, { statuses }))
}

/** Tasks that changed at this time or later. */
export function changedTasksOfRun(ledger: Ledger, run: string, sinceMs: number): Promise<TaskRecord[]> {
  return joined(tasksOfRun(ledger, run, { sinceMs }))
}

/** The attempts of a run, read in step with its tasks: at most about two pages of them are held. */
export class AttemptsInStep {
  private readonly pages: AsyncGenerator<readonly AttemptRow[]>
  /** Of tasks that were not asked for yet. */
  private ahead: readonly AttemptRow[] = []

  constructor(ledger: Ledger, run: string) {
    const read = (after: AttemptRow | undefined): Promise<readonly AttemptRow[]> =>
      ledger.attemptsOfRun(run, { limit: PAGE, ...(after && { after }) })
    this.pages = pagesOf(read)
  }

  /** The attempts of these tasks, by task; the next page of tasks has the ids that follow. */
  async of(tasks: readonly TaskRecord[]): Promise<ReadonlyMap<string, readonly AttemptRow[]>> {
    const found = new Map<string, AttemptRow[]>(tasks.map(({ id }) => [id, []]))
    const lastId = tasks.at(-1)?.id ?? ''
    const ahead: AttemptRow[] = []
    let rows = this.ahead
    for (;;) {
      // A row of no such task is of a later page, or of a task that was created after its page was read.
      for (const row of rows) (found.get(row.id) ?? ahead).push(row)
      if (isAfter(rows.at(-1)?.id, lastId)) break
      const next = await this.pages.next()
      if (next.done === true) break
      rows = next.value
    }
    this.ahead = ahead
    return found
  }
}

/** Stores compare ids byte by byte. */
function isAfter(id: string | undefined, other: string): boolean {
  return id !== undefined && Buffer.compare(Buffer.from(id), Buffer.from(other)) > 0
}
