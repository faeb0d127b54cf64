/** The tasks of this process that stand in lines of budgets. Imports its own layer. */
import { rankOf } from '../ledger/claim-order.js'
import type { Ledger } from '../ledger/ledger.js'
import { nameOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import { isStopped } from './activity.js'
import type { Definition } from './definition.js'
import type { Holds } from './holds.js'
import { Parked, type ParkedPorts } from './parked.js'
import type { Begun } from './transitions.js'

export interface ParkedTasksPorts extends ParkedPorts {
  readonly ledger: Ledger
  readonly holds: Holds
  /** A task has left the line, and this was committed. */
  readonly follow: (definition: Definition, after: Begun) => void
  /** Another process has the task. */
  readonly taken: (task: TaskRecord) => void
  /** There is room in the line for another task. */
  readonly onRoom: (definition: Definition) => void
}

export class ParkedTasks {
  private readonly ports: ParkedTasksPorts
  private readonly parked = new Map<string, Parked>()

  constructor(ports: ParkedTasksPorts) {
    this.ports = ports
  }

  get size(): number {
    return this.parked.size
  }

  /** Tasks of a queue. */
  countIn(queue: string): number {
    let count = 0
    for (const { definition } of this.parked.values()) if (definition.queue === queue) count++
    return count
  }

  has(key: TaskKey): boolean {
    return this.parked.has(nameOf(key))
  }

  /** That it is parked is committed. */
  park(definition: Definition, task: TaskRecord): void {
    const { events, activity, onRoom, taken, follow } = this.ports
    const parked = new Parked(this.ports, definition, task, (left, deniedBecause) => {
      if (this.parked.get(nameOf(task)) === parked) this.parked.delete(nameOf(task))
      onRoom(definition)
      if (left === undefined) {
        taken(task)
        return
      }
      if (left.task.status === 'waiting' && deniedBecause !== undefined) this.hold(definition, left.task, deniedBecause)
      follow(definition, left)
    })
    events.parked(definition, task)
    if (isStopped(activity, definition)) {
      void parked.turnAway()
      return
    }
    this.parked.set(nameOf(task), parked)
    parked.join()
  }

  /**
   * A task that the line turned away is due at once: without a hold it would be claimed, parked and turned away again
   * without end. After `onRoom`, which ends the holds of this gate.
   */
  private hold(definition: Definition, task: TaskRecord, reason: string): void {
    const { holds, environment } = this.ports
    const denial = { gate: `budget:${definition.policy.budget?.name}`, reason, waitMs: undefined }
    holds.deny(task.queue, rankOf(task), denial, holds.mark, environment.exactMs())
  }

  /** The task was taken from this process. */
  abandon(key: TaskKey): void {
    this.parked.get(nameOf(key))?.abandon()
    this.parked.delete(nameOf(key))
  }

  /** The ledger is gone: nothing is written. */
  abandonAll(): void {
    for (const one of this.parked.values()) one.abandon()
  }

  /** Gives those that are meant back to the queue. */
  async release(isMeant: (definition: Definition) => boolean): Promise<void> {
    const meant = [...this.parked.values()].filter(({ definition }) => isMeant(definition))
    await Promise.all(meant.map((one) => one.release()))
  }

  /** Forgets tasks that were cancelled or taken over by another process. */
  async dropLost(): Promise<void> {
    const { ledger, taken } = this.ports
    const looks = Array.from(this.parked.values(), async ({ task }) => {
      const now = await ledger.get(task)
      if (now?.fence === task.fence) return
      this.abandon(task)
      taken(task)
    })
    await Promise.all(looks)
  }
}
