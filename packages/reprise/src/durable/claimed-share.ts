/**
 * How much of a limited queue one claim takes, when several processes serve the queue: see `shareOf`. Tasks that ride in the
 * batch of another take no place. A store may decide a claim twice: then the same places are not counted twice. Imports the
 * ledger's types and its own layer.
 */
import type { Seat, View } from '../ledger/ledger.js'
import type { TaskRecord } from '../ledger/records.js'
import type { Definition } from './definition.js'
import { shareIn } from './queue-gate.js'

export interface SharePorts {
  readonly owner: string
  /** Places of the queue that this process has taken. */
  readonly runningIn: (queue: string) => number
}

export class ClaimedShare {
  private readonly ports: SharePorts
  /** Places by queue. */
  private readonly taken = new Map<string, Set<number>>()

  constructor(ports: SharePorts) {
    this.ports = ports
  }

  /** Whether the places that are left are those of other processes. */
  isUsedUp(definition: Definition, { queue }: TaskRecord, view: View, { place }: Seat): boolean {
    const share = shareIn(definition, view, this.ports.owner)
    if (share === Infinity) return false
    const taken = this.taken.get(queue)
    if (taken?.has(place) === true) return false
    return this.ports.runningIn(queue) + (taken?.size ?? 0) >= share
  }

  /** The claim starts the task. */
  take({ queue }: TaskRecord, { place }: Seat): void {
    const taken = this.taken.get(queue) ?? new Set()
    this.taken.set(queue, taken.add(place))
  }
}
