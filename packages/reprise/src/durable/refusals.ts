/**
 * Tasks that this process leaves as they are, and who is told why: those whose record cannot be, and those whose gates
 * cannot be used. Imports the ledger's types and its own layer.
 */
import { keyOf, nameOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import type { Definition } from './definition.js'
import { TaskRefusedError } from './errors.js'
import type { TaskEvents } from './task-events.js'
import type { Waiters } from './waiters.js'

interface Refused {
  readonly key: TaskKey
  readonly faults: readonly string[]
}

/** A task whose gates cannot be used. */
export interface Unsound {
  readonly unsound: TaskRecord
  readonly faults: readonly string[]
  /** One of its gates: the end of an attempt that holds it is a reason to look again. */
  readonly gate: string
}

export interface RefusalPorts {
  readonly events: TaskEvents
  readonly waiters: Waiters
}

export class Refusals {
  private readonly ports: RefusalPorts
  private readonly refused = new Map<string, Refused>()
  /** By queue: what observers have heard of its gates. */
  private readonly told = new Map<string, string>()

  constructor(ports: RefusalPorts) {
    this.ports = ports
  }

  /** Tasks whose record cannot be: they are not claimed. */
  get keys(): TaskKey[] {
    return Array.from(this.refused.values(), ({ key }) => key)
  }

  /** Why its record was found to be impossible, if it was. */
  faultsOf(key: TaskKey): readonly string[] {
    return this.refused.get(nameOf(key))?.faults ?? []
  }

  refuse(definition: Definition, task: TaskRecord, faults: readonly string[]): void {
    if (this.refused.has(nameOf(task))) return
    this.refused.set(nameOf(task), { key: keyOf(task), faults })
    this.ports.events.refused(definition, task, faults)
  }

  /**
   * The queue is held until the next poll, which finds a gate that was mended. Callers that wait here for tasks of the queue
   * are told why it does not go on.
   */
  refuseGated(definition: Definition, { unsound, faults }: Unsound): void {
    const { events, waiters } = this.ports
    const { queue, scopeKind, scope } = definition
    const text = faults.join('; ')
    if (this.told.get(queue) !== text) events.refused(definition, unsound, faults)
    this.told.set(queue, text)
    const isOfQueue = (key: TaskKey): boolean => scopeKind === 'task' && key.scopeKind === 'task' && key.scope === scope
    for (const key of [keyOf(unsound), ...waiters.keys().filter(isOfQueue)])
      waiters.gone(key, TaskRefusedError.ofState(key, faults))
  }

  /** Somebody may have mended them. */
  lookAgain(): void {
    this.refused.clear()
    this.told.clear()
  }
}
