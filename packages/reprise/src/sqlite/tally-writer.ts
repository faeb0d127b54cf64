/**
 * What the tallies change by in a transaction, gathered over all of its units and written before the commit: tasks of a
 * group end in large numbers at once, and share one update of its row. Imports its own layer and the port.
 */
import type { Creation } from '../ledger/ledger.js'
import type { TaskRecord } from '../ledger/records.js'
import { classOf, TallyCounts } from '../ledger/tally.js'
import type { TransactionListener } from './commit-queue.js'
import type { RowCache } from './row-cache.js'
import type { Statements } from './statements.js'

export class TallyWriter implements TransactionListener {
  private readonly sql: Statements
  private readonly cache: RowCache
  private counts: TallyCounts | undefined = undefined

  /** The cache hears of transactions too. */
  constructor(sql: Statements, cache: RowCache) {
    this.sql = sql
    this.cache = cache
  }

  begin(): void {
    this.counts = undefined
    this.cache.begin()
  }

  undo(): void {
    this.counts = undefined
    this.cache.undo()
  }

  end(): void {
    for (const [name, delta] of this.counts?.entries() ?? []) this.sql.addToTally.run(name, ...delta)
  }

  /** To be called once nothing of the unit can fail any more. */
  created({ type, task }: Creation): void {
    if (type !== 'created' || task.tally === undefined) return
    this.counts ??= new TallyCounts()
    this.counts.add(task.tally, classOf(task))
  }

  /** The same, with the task as it was. */
  changed(before: TaskRecord, after: TaskRecord): void {
    const { tally } = before
    const [was, becomes] = [classOf(before), classOf(after)]
    if (tally === undefined || was === becomes) return
    this.counts ??= new TallyCounts()
    this.counts.move({ tally, was, becomes })
  }
}
