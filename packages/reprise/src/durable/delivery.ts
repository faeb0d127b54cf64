/**
 * Delivers the end of an attempt for a process that is gone: it had executed the attempt and kept the end elsewhere, and
 * its successor writes it here by the same rules. Imports its own layer and the ledger's port.
 *
 * Invariant: an end is accepted at most once, and only while nobody has claimed the task since: the fence decides.
 */
import type { Ledger } from '../ledger/ledger.js'
import type { TaskKey, TaskRecord } from '../ledger/records.js'
import { attemptEndOf } from './attempt-end.js'
import type { Definition } from './definition.js'
import type { ExecutionEnd } from './execution.js'
import { settleLate } from './interruption.js'
import { retryWhileBusy } from './persistence.js'
import type { TaskWriter } from './task-writer.js'
import { settle, type Settled } from './transitions.js'

/** Which execution of which attempt it was, as the process that is gone had claimed it. */
export interface HeldAttempt extends TaskKey {
  readonly generation: number
  readonly attempt: number
  /** The process that is gone. */
  readonly owner: string
  readonly fence: number
}

/** How an attempt ended, and how long ago. */
export interface HeldEnd {
  readonly end: Extract<ExecutionEnd, { type: 'value' | 'error' }>
  readonly endedAgoMs: number
}

/**
 * `accepted`: it counts as if the process had lived. `accepted_late`: the attempt had been charged as lost, and nobody had
 * claimed the task yet. `refused`: the task is another process's, over or gone, or its next attempt has been decided.
 */
export type Delivery = 'accepted' | 'accepted_late' | 'refused'

export interface DeliveryPorts {
  readonly ledger: Ledger
  readonly writer: TaskWriter
  readonly isStopped: () => boolean
  readonly wallMs: () => number
}

export async function deliverEnd(
  { ledger, writer, isStopped, wallMs }: DeliveryPorts,
  definition: Definition,
  held: HeldAttempt,
  { end, endedAgoMs }: HeldEnd,
): Promise<Delivery> {
  const { owner, fence, generation, attempt } = held
  const task = await retryWhileBusy(() => ledger.get(held), isStopped)
  if (task?.fence !== fence || task.generation !== generation) return 'refused'
  const heldAs: TaskRecord = { ...task, owner, status: 'running' }
  const attemptEnd = attemptEndOf(definition, end, attempt, wallMs())
  const isSuccess = attemptEnd.result === 'success'
  const written = await writer.write<Delivery>({
    definition,
    key: task,
    heldAs,
    isOutcome: true,
    acceptsLate: true,
    mayRetry: !isSuccess,
    isSuccess,
    decide: ({ task: current, now, isLate, retryGates }) => {
      const settled = isLate
        ? settleLate(current, attemptEnd, now)
        : settle(current, definition.policy, attemptEnd, isSuccess ? { breaker: undefined } : retryGates, now)
      if (settled === undefined) return undefined
      return {
        changes: endedAt(settled, now - Math.max(0, Math.floor(endedAgoMs))),
        result: isLate ? 'accepted_late' : 'accepted',
      }
    },
  })
  return written ?? 'refused'
}

/** The time in the row of an attempt is that of its end, however long after it is written. */
export function endedAt(settled: Settled, endedAtMs: number): Settled {
  const [row, ...others] = settled.attempts ?? []
  if (row === undefined || row.endedAtMs <= endedAtMs) return settled
  return { ...settled, attempts: [{ ...row, endedAtMs: Math.max(row.startedAtMs, endedAtMs) }, ...others] }
}
