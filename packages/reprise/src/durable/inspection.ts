/**
 * Whether tasks can be as a ledger has them, for whoever wants to know before anything follows from it. Imports the
 * ledger's port and its own layer.
 */
import type { Ledger, AttemptCounts } from '../ledger/ledger.js'
import type { TaskRecord } from '../ledger/records.js'
import { faultsOfHistory, faultsOfState, lacksState } from './state-check.js'

interface FaultyTask {
  readonly task: TaskRecord
  /** Every one of them. */
  readonly faults: readonly string[]
}

/** Those of which what is written cannot be; by the policies that they have. */
export async function faultsOfTasks(ledger: Ledger, tasks: readonly TaskRecord[]): Promise<FaultyTask[]> {
  const counts = await ledger.attemptCounts(tasks)
  const allowed = new Map<string, number>()
  for (const { policyHash } of tasks) {
    if (allowed.has(policyHash)) continue
    const kept = (await ledger.policy(policyHash))?.policy as { readonly attempts?: number } | undefined
    allowed.set(policyHash, kept?.attempts ?? Infinity)
  }
  return tasks.flatMap((task, index) => {
    if (lacksState(task)) return []
    const attempts = allowed.get(task.policyHash) ?? Infinity
    const faults = [...faultsOfState(task, attempts), ...faultsOfHistory(task, counts[index] as AttemptCounts)]
    return faults.length === 0 ? [] : { task, faults }
  })
}
