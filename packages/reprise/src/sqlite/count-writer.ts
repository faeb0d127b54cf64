/**
 * What counts change by in a transaction, gathered over all of its units and written before the commit: tallies, and how
 * many tasks have a policy. Tasks begin and end in large numbers at once, and share one update of each row. Imports its own
 * layer and the port.
 */
import type { Creation } from '../ledger/ledger.js'
import type { PolicyRecord, TaskRecord } from '../ledger/records.js'
import { text } from '../ledger/rows.js'
import { classOf, TallyCounts } from '../ledger/tally.js'
import type { TransactionListener } from './commit-queue.js'
import type { RowCache } from './row-cache.js'
import type { Statements } from './statements.js'

export class CountWriter implements TransactionListener {
  private readonly sql: Statements
  private readonly cache: RowCache
  private readonly nowMs: () => number
  private counts: TallyCounts | undefined = undefined
  private policies: Map<string, { readonly policy: PolicyRecord; tasks: number }> | undefined = undefined

  /** The cache hears of transactions too. */
  constructor(sql: Statements, cache: RowCache, nowMs: () => number) {
    this.sql = sql
    this.cache = cache
    this.nowMs = nowMs
  }

  begin(): void {
    this.counts = undefined
    this.policies = undefined
    this.cache.begin()
  }

  undo(): void {
    this.counts = undefined
    this.policies = undefined
    this.cache.undo()
  }

  end(): void {
    for (const [name, delta] of this.counts?.entries() ?? []) this.sql.addToTally.run(name, ...delta)
    this.writePolicies()
  }

  /** Before another unit of the transaction counts the tasks of a policy, or removes some: their rows have to be there. */
  writePolicies(): void {
    for (const { policy, tasks } of this.policies?.values() ?? []) this.countPolicy(policy, tasks)
    this.policies = undefined
  }

  /** A task that was created has the policy. To be called once nothing of the unit can fail any more. */
  usesPolicy(policy: PolicyRecord): void {
    this.policies ??= new Map()
    const known = this.policies.get(policy.hash)
    if (known === undefined) this.policies.set(policy.hash, { policy, tasks: 1 })
    else known.tasks++
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

  /** The row of a policy that no task had any more may have been removed: then the policy is written again. */
  private countPolicy({ hash, policy }: PolicyRecord, tasks: number): void {
    if (Number(this.sql.countPolicy.run(tasks, hash).changes) === 1) return
    this.sql.putPolicy.run(hash, text(policy), tasks, this.nowMs())
  }
}
