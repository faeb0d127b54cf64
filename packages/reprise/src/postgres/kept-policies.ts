/** Which policies this process has said that it uses: one that nobody has said so of may be removed. Imports its own layer. */
import type { PolicyRecord } from '../ledger/records.js'
import { text } from '../ledger/rows.js'
import type { Batch } from './batch.js'

/** How often a process says that it still uses a policy. */
const KEEP_POLICY_MS = 600_000

export class KeptPolicies {
  /** When it was last said, by hash. */
  private readonly keptAtMs = new Map<string, number>()

  keep({ hash, policy }: PolicyRecord, batch: Batch): void {
    const now = performance.now()
    if (now - (this.keptAtMs.get(hash) ?? -Infinity) < KEEP_POLICY_MS) return
    batch.keepPolicy(hash, text(policy), () => this.keptAtMs.set(hash, now))
  }
}
