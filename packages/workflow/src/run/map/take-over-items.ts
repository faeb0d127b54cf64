/**
 * Takes over items that lost processes left running, for a map that its run is stopped before: of a run that is left,
 * nothing is recorded as running. Nothing is started. Imports the library and its own layer.
 */
import type { Durable, Ledger } from 'reprise/durable'
import type { DurableRun, ItemQueue } from 'reprise/internal'
import { runningItems } from './map-counts.js'
import { mapQueues } from './map-names.js'

export interface TakeOverParts {
  readonly ledger: Ledger
  readonly durable: Durable
  readonly mapRun: string
  /** Whether the run was taken from a process that may live. */
  readonly isForced: boolean
}

/** `lanesOf`: all lanes of the map. They say what an interruption means for an item. */
export async function takeOverItems(
  { ledger, durable, mapRun, isForced }: TakeOverParts,
  lanesOf: (child: DurableRun) => readonly (Pick<ItemQueue<never>, 'queue' | 'open' | 'close'> | undefined)[],
): Promise<void> {
  const record = await ledger.run(mapRun)
  if (record === undefined || record.endedAtMs !== null) return
  const running = new Set((await runningItems(ledger, mapQueues(mapRun))).map(({ queue }) => queue))
  if (running.size === 0 && record.status !== 'running') return
  const child = await durable.runs.take(mapRun, { policyChange: 'accept', force: isForced })
  try {
    for (const lane of lanesOf(child)) {
      if (lane === undefined || !running.has(lane.queue)) continue
      await lane.open(AbortSignal.abort())
      await lane.close()
    }
    await child.leave()
  } finally {
    child.release()
  }
}
