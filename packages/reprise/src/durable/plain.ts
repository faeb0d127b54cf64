/**
 * Plain tasks: no gate, count or group is involved when an attempt begins or ends. Their changes are
 * those of `transitions.ts`, as for every task. What is left out is the bookkeeping around them: views of gates, counts
 * and groups, and the chain of promises of a write that may need them. Imports its own layer
 * and the ledger's types.
 *
 * Invariant: what is written of a plain task is what would be written of it with all the bookkeeping.
 */
import type { TaskRecord } from '../ledger/records.js'
import type { Started, TaskAdmission } from './admission.js'
import type { Definition } from './definition.js'
import { hasQueueGate } from './queue-gate.js'
import { faultsOfState, lacksState } from './state-check.js'

/** Whether tasks of this definition have neither gates, deadline, group, count, batch nor run, and no end is told to others. */
export function isPlain(definition: Definition): boolean {
  const { policy } = definition
  return (
    policy.budget === undefined &&
    policy.breaker === undefined &&
    policy.timeoutMs === undefined &&
    definition.conductor === undefined &&
    definition.group === undefined &&
    definition.allot === undefined &&
    definition.batch === undefined &&
    definition.runClaimed === undefined &&
    definition.onRecorded === undefined &&
    // The result of a process that was taken for lost may still count.
    definition.onInterrupt !== 'charge' &&
    definition.prefersOthers !== true &&
    definition.keepsNoLetters !== true &&
    !hasQueueGate(definition)
  )
}

/** A plain task that a claim has found, if it may begin; undefined: what becomes of it takes all the bookkeeping. */
export function startPlain(
  admission: TaskAdmission,
  definition: Definition,
  task: TaskRecord,
  now: number,
): (Started & Required<Pick<Started, 'tasks'>>) | undefined {
  if (!isPlain(definition) || lacksState(task)) return undefined
  if (faultsOfState(task, definition.policy.attempts).length > 0) return undefined
  if (task.progress.unverified || task.progress.unpaid) return undefined
  const { task: begun } = admission.startUngated(definition, task, now)
  if (begun.status !== 'running') return undefined
  return { task: begun, tasks: [begun], epoch: 0, asked: undefined, restedSinceMs: task.updatedAtMs }
}
