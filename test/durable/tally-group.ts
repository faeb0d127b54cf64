/** A group whose tally is the `detail` of a run: how many of its tasks are of which class. Imports sources. */
import type { TaskGroup } from '../../packages/reprise/src/durable/group.js'
import { classOf, type TaskClass } from '../../packages/reprise/src/ledger/tally.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { RunRecord } from '../../packages/reprise/src/ledger/records.js'

export type Tally = Readonly<Record<TaskClass, number>>

export const EMPTY: Tally = { fresh: 0, retrying: 0, undecided: 0, succeeded: 0, failed: 0, cancelled: 0 }

/** The run, with one task moved from one class to another. */
export function recounted(run: RunRecord | undefined, from: TaskClass, to: TaskClass, now: number): RunRecord {
  if (run === undefined) throw new Error('The group has no run')
  const detail = run.detail as unknown as Tally
  return { ...run, detail: { ...detail, [from]: detail[from] - 1, [to]: detail[to] + 1 }, updatedAtMs: now }
}

export function tallyGroup(run: string): TaskGroup {
  return {
    keys: () => ({ runs: [run] }),
    follow: (view, { from, to }, now) => ({ runs: [{ run: recounted(view.run(run), from, to, now) }] }),
  }
}

/** The run, before any of so many tasks has ended. One that is there stays as it is. */
export async function makeTally(ledger: Ledger, id: string, fresh: number): Promise<void> {
  await ledger.transact({ tasks: [], runs: [id] }, (view) => {
    const { now } = view
    if (view.run(id) !== undefined) return { result: undefined }
    const run: RunRecord = {
      id,
      kind: 'group',
      name: 'group',
      status: 'interrupted',
      owner: null,
      fence: 1,
      resumes: 0,
      fingerprint: '',
      detail: { ...EMPTY, fresh },
      correlationId: id,
      createdAtMs: now,
      updatedAtMs: now,
      endedAtMs: null,
    }
    return { runs: [{ run, definition: null }], result: undefined }
  })
}

export async function tallyOf(ledger: Ledger, id: string): Promise<Tally> {
  return (await ledger.run(id))?.detail as unknown as Tally
}

/** The same, counted from the tasks themselves. */
export async function countedTally(ledger: Ledger, scope: string): Promise<Tally> {
  const counts = { ...EMPTY }
  for (const task of await ledger.list({ scopeKind: 'task', scope })) counts[classOf(task)]++
  return counts
}
