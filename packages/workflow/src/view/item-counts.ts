/**
 * How many items of a map are in which state, from the tallies that the ledger writes with each outcome. Imports the
 * library, the plan and the shapes.
 *
 * Invariant: the states add up to the total. Waiting and running are one class in a tally, so items that run are counted
 * apart and taken from the class that they belong to.
 */
import type { Ledger } from 'reprise/durable'
import type { MapErrorPolicy } from '../plan/map-plan.js'
import type { MapCounts } from './map-views.js'

/** What tallies say: classes of tasks, running or not. */
export interface ItemClasses {
  readonly total: number
  readonly fresh: number
  readonly retrying: number
  readonly undecided: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
}

/** The tallies of all lanes together. */
export async function readClasses(ledger: Pick<Ledger, 'tallies'>, mapRun: string): Promise<ItemClasses> {
  const sums = { total: 0, fresh: 0, retrying: 0, undecided: 0, succeeded: 0, failed: 0, cancelled: 0 }
  for (const tally of await ledger.tallies({ prefix: `${mapRun}/` }))
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += tally[name]
  return sums
}

/** `running`: the items that run now, as far as they are known. */
export function countsOf(
  classes: ItemClasses,
  running: { readonly fresh: number; readonly retrying: number },
  { onItemFailure }: Pick<MapErrorPolicy, 'onItemFailure'>,
): MapCounts {
  const [fresh, retrying] = [Math.min(running.fresh, classes.fresh), Math.min(running.retrying, classes.retrying)]
  const isSkipped = onItemFailure === 'skip'
  return {
    total: classes.total,
    pending: classes.fresh - fresh,
    running: fresh + retrying,
    retrying: classes.retrying - retrying,
    succeeded: classes.succeeded,
    skipped: isSkipped ? classes.failed : 0,
    dead: isSkipped ? 0 : classes.failed,
    cancelled: classes.cancelled,
    undecided: classes.undecided,
  }
}
