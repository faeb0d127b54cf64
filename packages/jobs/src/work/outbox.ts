/**
 * What an earlier process of a worker has left in the worker's own ledger: results are delivered before anything is
 * claimed, and what had not ended is given up. Imports the library and its own layer.
 */
import type { Durable } from 'reprise/durable'
import { type Definition, type Delivery, deliverHeld, type HeldEnd } from 'reprise/internal'
import { outputsOf } from './job-handler.js'
import type { HeldWorkflow, LocalLedger } from './local-ledger.js'
import { outputsOfRun } from './run-document.js'
import { workerNote, type WorkerNote, type WorkerNoteKind } from './worker-notes.js'

const KINDS: Readonly<Record<Delivery, WorkerNoteKind>> = {
  accepted: 'delivered',
  accepted_late: 'delivered_late',
  refused: 'refused',
}

export interface OutboxParts {
  readonly local: LocalLedger
  /** Of the job's ledger. */
  readonly durable: Durable
  readonly definitionOf: (held: HeldWorkflow) => Definition
  readonly onNote: (note: WorkerNote) => void
}

/** Resolves when all is delivered; waits for a store that is away. */
export async function deliverOutbox({ local, durable, definitionOf, onNote }: OutboxParts): Promise<void> {
  for (const held of await local.held()) {
    const end = await endOf(local, held)
    if (end === undefined) {
      await local.abandon(held.runId)
      onNote(workerNote('abandoned', held))
      continue
    }
    const delivery = await deliverHeld(durable, definitionOf(held), held, end)
    // Killed before this, the next process delivers it once more, and is refused.
    await local.release(held.runId)
    onNote(workerNote(KINDS[delivery], held))
  }
}

async function endOf(local: LocalLedger, { runId }: HeldWorkflow): Promise<HeldEnd | undefined> {
  const ended = await local.endOf(runId)
  if (ended === undefined) return undefined
  const { end, endedAgoMs } = ended
  try {
    const value = outputsOf(await outputsOfRun(local.durable, runId, end))
    return { end: { type: 'value', value }, endedAgoMs }
  } catch (error) {
    return { end: { type: 'error', error }, endedAgoMs }
  }
}
