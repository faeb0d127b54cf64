/**
 * The batches that a claim begins: which task holds the place of each, and that the others ride with it. Imports the
 * ledger's types.
 *
 * Invariant: the tasks of a place are decided one after the other, so one batch is open at a time.
 */
import type { Seat } from '../ledger/claim-places.js'

/** The tasks of one place, as a claim begins them: the first that starts holds it, and the others ride with it. */
export class OpenBatch {
  first: string | undefined = undefined

  /** The first task of the batch that the task begins in. */
  join(id: string): string {
    return (this.first ??= id)
  }
}

/** The batches of one claim, which may be decided several times. */
export class OpenBatches {
  private open = new OpenBatch()

  enter({ isFirst }: Seat): OpenBatch {
    if (isFirst) this.open = new OpenBatch()
    return this.open
  }
}
