/** Which state an item is in, and which items run; the counts themselves are in `view`. Imports the library and views. */
import type { Ledger, TaskRecord } from 'reprise/durable'
import { classOf } from 'reprise/internal'
import type { MapErrorPolicy } from '../../plan/map-plan.js'
import type { ItemState, MapCounts } from '../../view/map-views.js'

export { countsOf, type ItemClasses, readClasses } from '../../view/item-counts.js'

/** Tasks of a tally that have not ended and go on by themselves. */
export async function openIn(ledger: Pick<Ledger, 'tally'>, tally: string): Promise<number> {
  const { fresh, retrying } = await ledger.tally(tally)
  return fresh + retrying
}

/** `isLost`: the process that ran it is gone, and it waits to be begun again. */
export function stateOfItem(
  { status, progress }: Pick<TaskRecord, 'status' | 'progress'>,
  { onItemFailure }: Pick<MapErrorPolicy, 'onItemFailure'>,
  isLost = false,
): ItemState {
  const waits = (): ItemState => ((progress.retry?.failures ?? 0) > 0 ? 'retrying' : 'pending')
  if (isLost) return waits()
  switch (status) {
    case 'waiting':
      return waits()
    case 'running':
    case 'parked':
      return 'running'
    case 'failed':
      return onItemFailure === 'skip' ? 'skipped' : 'dead'
    default:
      return status
  }
}

/** What a threshold counts as failed: an undecided item too. */
export function failedOf({ skipped, dead, undecided }: Pick<MapCounts, 'skipped' | 'dead' | 'undecided'>): number {
  return skipped + dead + undecided
}

/**
 * Items of these lanes that run now, in any process: found by their owners, since items may be very many. `living`: only
 * those of these owners; without it also those that a lost process has left.
 */
export async function runningItems(
  ledger: Ledger,
  queues: readonly string[],
  { withInput = true, living }: { readonly withInput?: boolean; readonly living?: ReadonlyMap<string, unknown> } = {},
): Promise<TaskRecord[]> {
  const found: TaskRecord[] = []
  const owners = await ledger.taskOwners()
  for (const owner of owners.filter((one) => living?.has(one) ?? true))
    for (const queue of queues) found.push(...(await ledger.list({ owner, queue, withInput, limit: 1000 })))
  return found
}

/** Tasks of a queue that have not ended, in any process. */
export async function openInQueue(ledger: Ledger, queue: string): Promise<number> {
  const waiting = await ledger.countWaiting(queue)
  const running = (await runningItems(ledger, [queue])).length
  return waiting.reduce((sum, { tasks }) => sum + tasks, running)
}

/** Which classes the running items are taken from. */
export function classesOfRunning(running: readonly TaskRecord[]): { fresh: number; retrying: number } {
  const retrying = running.filter((task) => classOf(task) === 'retrying').length
  return { fresh: running.length - retrying, retrying }
}
