/**
 * Writes the limit of a queue that a definition sets. The ledger's row decides, so that the limit can be changed while
 * tasks run. Imports the ledger's port and its own layer.
 */
import type { Ledger } from '../ledger/ledger.js'
import { queueKey, type QueueState } from '../ledger/queue-limit.js'
import type { GateRecord } from '../ledger/records.js'

/**
 * Makes the gate of the queue if it is missing. One that was made with another number, by an earlier version of the
 * program, gets the new one; one that was changed by hand since then stays as it is.
 */
export async function writeQueueLimit(ledger: Ledger, queue: string, most: number): Promise<void> {
  const key = queueKey(queue)
  await ledger.transact({ tasks: [], gates: [key] }, (view) => {
    const gate = view.gate(key)
    return gate !== undefined && mostIn(gate.settings) === most
      ? { result: undefined }
      : { gates: [limitedTo(gate, key, most)], result: undefined }
  })
}

function limitedTo(gate: GateRecord | undefined, key: string, most: number): GateRecord {
  const state = (gate?.state ?? {}) as QueueState
  return { ...gate, key, kind: 'queue', state: { ...state, most }, settings: { most } }
}

function mostIn(settings: GateRecord['settings']): number | undefined {
  return ((settings ?? {}) as QueueState).most
}
