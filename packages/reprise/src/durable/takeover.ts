/**
 * Takes tasks over from an owner that is lost: each in a transaction that finds its fence and owner unchanged and applies
 * the interrupt rule of its definition. Imports the ledger's port and its own layer.
 */
import type { Ledger, AttemptCounts } from '../ledger/ledger.js'
import type { TaskRecord } from '../ledger/records.js'
import { isStill } from './adoption.js'
import type { Definition } from './definition.js'
import { interrupt } from './interruption.js'
import { withoutProbe } from './shared-breaker.js'
import { faultsOfHistory, faultsOfState } from './state-check.js'
import type { TaskEvents } from './task-events.js'
import type { TaskView, TaskWriter } from './task-writer.js'
import { eventOf, type Settled, withoutSlot } from './transitions.js'
import type { Waiters } from './waiters.js'

export interface TakeoverPorts {
  readonly ledger: Ledger
  readonly writer: TaskWriter
  readonly events: TaskEvents
  readonly waiters: Waiters
  /** By queue. */
  readonly definitions: ReadonlyMap<string, Definition>
  /** What the ledger says of the task cannot be. */
  readonly refuse: (definition: Definition, task: TaskRecord, faults: readonly string[]) => void
}

const BATCH = 500

export class Takeover {
  private readonly ports: TakeoverPorts

  constructor(ports: TakeoverPorts) {
    this.ports = ports
  }

  /** Tasks that this program does not know are left for a program that does. */
  async takeFrom(owner: string, resumeId: string): Promise<{ moved: number; left: number }> {
    const { ledger } = this.ports
    let [moved, left] = [0, 0]
    let after: TaskRecord | undefined
    for (;;) {
      const tasks = await ledger.list({ owner, limit: BATCH, ...(after && { after }) })
      const results = await Promise.all(tasks.map((task) => this.takeOne(task, resumeId)))
      const taken = results.filter(Boolean).length
      moved += taken
      left += tasks.length - taken
      after = tasks.at(-1)
      if (tasks.length < BATCH) return { moved, left }
    }
  }

  private async takeOne(task: TaskRecord, resumeId: string): Promise<boolean> {
    const { ledger, definitions, refuse, writer, events } = this.ports
    const definition = definitions.get(task.queue)
    if (definition === undefined) {
      await freeProbe(ledger, task)
      return false
    }
    const [counts] = await ledger.attemptCounts([task])
    const faults = [
      ...faultsOfState(task, definition.policy.attempts),
      ...faultsOfHistory(task, counts as AttemptCounts),
    ]
    if (faults.length > 0) {
      if (await isStill(ledger, task)) refuse(definition, task, faults)
      return false
    }
    const after = await writer.write<TaskRecord>({
      definition,
      key: task,
      heldAs: task,
      mayRetry: true,
      decide: (view) => {
        const changes = interrupted(definition, view, resumeId)
        return { changes, result: changes.task }
      },
    })
    if (after === undefined) return false
    events.resumed(definition, after, task.owner ?? '')
    this.emitInterrupted(definition, task, after)
    return true
  }

  private emitInterrupted(definition: Definition, before: TaskRecord, after: TaskRecord): void {
    const { events, waiters } = this.ports
    events.interrupted(definition, before, false)
    // Interrupted too often: it counts as an attempt that failed.
    if (before.progress.current !== null && after.progress.current === null) {
      events.finished(definition, before, { outcome: 'interrupted' }, after.updatedAtMs)
      events.followed(definition, after)
    }
    if (after.status === 'failed' || after.status === 'undecided') waiters.settled(after)
  }
}

function interrupted(
  { policy, onInterrupt }: Definition,
  { task, now, retryGates }: TaskView,
  resumeId: string,
): Settled {
  const carried = { ...task, progress: { ...task.progress, resumeId } }
  const changes = interrupt(carried, policy, onInterrupt, false, retryGates, now)
  const resumed = eventOf('resumed', task, now, { from: task.owner, resumeId })
  return { ...changes, events: [...(changes.events ?? []), resumed] }
}

/**
 * The attempt of a lost process holds a slot of a breaker that this program uses too, without knowing the task: the slot
 * goes back, and the task is left as it is. If the process lives after all, the breaker does not hear of its result.
 */
async function freeProbe(ledger: Ledger, task: TaskRecord): Promise<void> {
  const probe = task.progress?.current?.probe
  if (probe === undefined) return
  const key = `breaker:${probe.breaker}`
  await ledger.transact({ tasks: [task], gates: [key] }, (view) => {
    const current = view.task(task)
    const gate = view.gate(key)
    const isHeld = current?.fence === task.fence && current.progress.current?.probe !== undefined
    if (!isHeld || gate === undefined) return { result: undefined }
    const free = { ...gate, state: withoutProbe(gate.state, probe.epoch) }
    return { tasks: [withoutSlot(current)], gates: [free], result: undefined }
  })
}
