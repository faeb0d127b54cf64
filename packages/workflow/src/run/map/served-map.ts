/** What serves the items of a map while it is conducted: its lanes, whose turns they take, and what is waited for. Imports its own layer. */
import type { Ledger } from 'reprise/durable'
import type { DurableRun, ItemQueue } from 'reprise/internal'
import type { LaneWatch } from './lane-watch.js'
import type { MapLanes } from './map-lanes.js'
import { LaneTurns } from './map-turns.js'

export interface Served {
  readonly child: DurableRun
  readonly lanes: MapLanes
  readonly watch: LaneWatch
  readonly turns: LaneTurns
}

interface TurnsInput {
  readonly ledger: Ledger
  readonly child: DurableRun
  readonly lanes: MapLanes
  /** The lane of dead letters that run again. */
  readonly redrive: () => ItemQueue<never>
  /** Items or batches that this process may run at a time. */
  readonly slots: number
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal
}

export function turnsFor(
  { ledger, child, lanes, redrive, slots, signal }: TurnsInput,
  note: (message: string) => void,
): LaneTurns {
  const { id, fence, correlationId, owner } = child.record
  return new LaneTurns({
    ledger,
    child: { id, fence, correlationId },
    owner: owner ?? '',
    slots,
    lanes: () => [lanes.items('items'), lanes.items('sample'), redrive()],
    signal,
    note,
  })
}
