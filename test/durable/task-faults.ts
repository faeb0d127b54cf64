/** What is wrong with the records of a task, by the checks of `reprise doctor`. Imports sources. */
import { type CheckedTask, faultsOfEnd, faultsOfRows } from '../../packages/reprise/src/durable/task-check.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { TaskKey, TaskRecord } from '../../packages/reprise/src/ledger/records.js'

export async function faultsIn(ledger: Ledger, key: TaskKey): Promise<unknown[]> {
  const letters = (await ledger.deadLetters(key)).filter(({ id }) => id === key.id)
  const events = (await ledger.events(0, 1000, key)).filter(({ id }) => id === key.id)
  const checked: CheckedTask = {
    task: (await ledger.get(key)) as TaskRecord,
    rows: [...(await ledger.attempts(key))],
    letters: letters.map(({ generation, closed }) => ({ generation, isOpen: closed === undefined })),
    pastFaults: [],
    hasCheckpoint: (await ledger.checkpoint(key)) !== undefined,
    events: events as unknown as CheckedTask['events'],
  }
  return [...faultsOfEnd(checked, true), ...faultsOfRows(checked, Infinity)]
}
