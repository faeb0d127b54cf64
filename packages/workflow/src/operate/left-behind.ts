/**
 * What stands still in a ledger: held by processes that are gone, or due for long and not claimed. Nothing is written.
 * Imports the library.
 */
import type { Ledger, TaskRecord } from 'reprise/durable'
import { livingOwners } from 'reprise/internal'

export interface LeftBehind {
  /** Processes that are gone and still hold something. */
  readonly lostHolders: number
  /** Whether they hold runs, which can be resumed. */
  readonly hasRuns: boolean
  /** Tasks that have been due for more than a minute. */
  readonly overdue: {
    /** In a run that no process executes. */
    readonly inStoppedRun: boolean
    /** Retries, in other runs or of a program. */
    readonly isRetry: boolean
    /** One that no process has tried yet. */
    readonly untried: { readonly id: string; readonly queue: string } | undefined
  }
}

/** A task that is due for longer than this is overdue. */
const OVERDUE_MS = 60_000
/** At most this many stopped runs, and waiting tasks, are looked at. */
const MOST_RUNS = 200
const MOST_TASKS = 1000

export async function leftBehind(ledger: Ledger): Promise<LeftBehind> {
  const living = await livingOwners(ledger)
  const open = await ledger.runs({ statuses: ['running', 'interrupted'] })
  const held = open.flatMap(({ status, owner }) => (status === 'running' && owner !== null ? [owner] : []))
  const isLost = (owner: string): boolean => !living.has(owner)
  const lost = new Set([...held, ...(await ledger.taskOwners())].filter(isLost))
  const stopped = new Set(open.filter(({ owner }) => owner === null || isLost(owner)).map(({ id }) => id))
  return { lostHolders: lost.size, hasRuns: held.some(isLost), overdue: await overdueIn(ledger, stopped) }
}

async function overdueIn(ledger: Ledger, stopped: ReadonlySet<string>): Promise<LeftBehind['overdue']> {
  const beforeMs = (await ledger.now()) - OVERDUE_MS
  const isOverdue = ({ dueAtMs }: TaskRecord): boolean => dueAtMs !== null && dueAtMs < beforeMs
  const waitingIn = (run?: string): ReturnType<Ledger['list']> =>
    ledger.list({
      ...(run !== undefined && { scopeKind: 'run', scope: run }),
      statuses: ['waiting'],
      limit: MOST_TASKS,
    })
  let inStoppedRun = false
  for (const run of [...stopped].slice(0, MOST_RUNS)) inStoppedRun ||= (await waitingIn(run)).some(isOverdue)
  const isStopped = ({ scopeKind, scope }: TaskRecord): boolean => scopeKind === 'run' && stopped.has(scope)
  const others = (await waitingIn()).filter((task) => !isStopped(task) && isOverdue(task))
  const untried = others.find(({ progress }) => progress.retry.failures === 0)
  return {
    inStoppedRun,
    isRetry: others.some(({ progress }) => progress.retry.failures > 0),
    untried: untried && { id: untried.id, queue: untried.queue },
  }
}
