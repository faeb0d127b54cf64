/**
 * Retries that this process leaves to others for a moment, since it has failed the task before and another process that
 * has not may have room. Nothing of it is written: it is each process's own, and gone with it. Imports types.
 */
import { keyOf, nameOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import type { Definition } from './definition.js'

/** How long after its due time a retry is left to others: several times what a claim takes, also over a network. */
const GRACE_MS = 1000

export interface AvoidedPorts {
  /** This process. */
  readonly owner: string
  /** Other processes that are believed to live and serve the queue, by id. */
  readonly othersServing: (queue: string) => readonly string[]
}

export class AvoidedRetries {
  private readonly ports: AvoidedPorts
  private readonly avoided = new Map<string, { readonly key: TaskKey; readonly untilMs: number }>()

  constructor(ports: AvoidedPorts) {
    this.ports = ports
  }

  /** How long the task is left to others from now on; 0 if it may be taken. */
  waitMs({ prefersOthers, queue }: Definition, { progress, dueAtMs }: TaskRecord, now: number): number {
    const { failedOn = [] } = progress ?? {}
    if (!prefersOthers || !failedOn.includes(this.ports.owner)) return 0
    const isWanted = this.ports.othersServing(queue).some((other) => !failedOn.includes(other))
    return isWanted ? Math.max(0, Math.min(GRACE_MS, (dueAtMs ?? now) + GRACE_MS - now)) : 0
  }

  /** `untilMs`: on the scale of this process's clock. */
  add(task: TaskRecord, untilMs: number): void {
    this.avoided.set(nameOf(task), { key: keyOf(task), untilMs })
  }

  expire(nowMs: number): void {
    for (const [name, { untilMs }] of this.avoided) if (untilMs <= nowMs) this.avoided.delete(name)
  }

  get keys(): readonly TaskKey[] {
    return Array.from(this.avoided.values(), ({ key }) => key)
  }

  /** When the first of them may be taken; `Infinity` for none. */
  get nextAtMs(): number {
    let next = Infinity
    for (const { untilMs } of this.avoided.values()) next = Math.min(next, untilMs)
    return next
  }
}
