/** Tasks for tests of ledgers, with every field filled in. Imports core and the ledger's types. */
import { initialState, snapshot } from '../core/state.js'
import type { NewTask } from '../ledger/ledger.js'
import type { TaskRecord } from '../ledger/records.js'

export function sampleTask(changes: Partial<TaskRecord> = {}): TaskRecord {
  return {
    scopeKind: 'task',
    scope: 'mail',
    id: 'a',
    queue: 'mail',
    generation: 1,
    status: 'waiting',
    dueAtMs: 1000,
    owner: null,
    fence: 0,
    progress: { retry: snapshot(initialState(null), 7), current: null, interruptions: 0, lastFailure: null },
    policyHash: 'p1',
    input: { to: 'ada', tries: [1, 2.5, null, true] },
    stopReason: null,
    correlationId: 'c1',
    createdAtMs: 500,
    updatedAtMs: 500,
    ...changes,
  }
}

export function newTask(changes: Partial<TaskRecord> = {}, payloadHash = 'payload'): NewTask {
  return { task: sampleTask(changes), policy: { hash: 'p1', policy: { attempts: 3 } }, payloadHash }
}
