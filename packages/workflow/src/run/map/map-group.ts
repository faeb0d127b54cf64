/**
 * What the failure of an item means for its map, written in the commit of that failure: the count of failed items, the
 * stop of the map at its limit, and the task that does `on_item_error`. Pure: asked by the ledger's transactions, perhaps
 * several times. Imports the library's types and the names.
 *
 * Invariants: a lane that is paused claims nothing in any process, so no item begins after the failure that stopped the
 * map. Successes lock nothing of it.
 */
import type { GateRecord, TaskGroup, TaskRecord } from 'reprise/durable'
import type { Changes, GroupChange, ItemQueue } from 'reprise/internal'
import type { MapErrorPolicy } from '../../plan/map-plan.js'
import { errorTaskId } from './map-names.js'
import type { HaltReason } from '../../view/map-views.js'
import type { LaneState } from './map-record.js'

export interface GroupParts {
  /** Where failures are counted. */
  readonly countKey: string
  /** The gates that a stop pauses; none for a lane that no limit stops. */
  readonly pausedKeys: readonly string[]
  readonly errors: Pick<MapErrorPolicy, 'onItemFailure' | 'maxFailures' | 'haltOn'>
  /** Gets a task for each item that failed for good; undefined without `on_item_error`. */
  readonly onError: Pick<ItemQueue<unknown>, 'keyOf' | 'newTask'> | undefined
}

/** The group of the items of one lane. */
export function itemGroup(parts: GroupParts): TaskGroup {
  const { countKey, pausedKeys, onError } = parts
  const gates = [...new Set([countKey, ...pausedKeys])]
  return {
    classes: ['failed', 'undecided'],
    keys: ({ id, generation }) => ({
      gates,
      ...(onError && { tasks: [onError.keyOf(errorTaskId(id, generation))] }),
    }),
    follow: (view, change, now) => {
      const records = new Map(gates.map((key) => [key, view.gate(key)]))
      const failed = Math.max(0, (stateOf(records.get(countKey)).failed ?? 0) + failedBy(change))
      const limit = stateOf(records.get(countKey)).maxFailures ?? parts.errors.maxFailures
      // A failed item may be granted a fresh set of attempts, and an undecided one be decided: neither is a failure.
      const halt = isFailed(change.to) ? haltOf(parts, failed, limit, change.after) : undefined
      const changed = gates.map((key): GateRecord => {
        const state = stateOf(records.get(key))
        const counted = key === countKey ? { ...state, failed } : state
        const paused = halt && pausedKeys.includes(key) ? haltedState(counted, halt) : counted
        return { ...(records.get(key) ?? { key, kind: 'queue' }), state: paused as unknown as GateRecord['state'] }
      })
      return { gates: changed, ...afterwards(parts, view.task.bind(view), change, now) }
    },
  }
}

/** A lane that claims nothing any more. A reason that was there before stays. */
export function haltedState(state: LaneState, halt: HaltReason): LaneState {
  const wasPaused = state.halt === undefined && state.paused === true
  return { ...state, paused: true, halt: state.halt ?? halt, ...(wasPaused && { wasPaused }) }
}

function stateOf(gate: GateRecord | undefined): LaneState {
  return (gate?.state ?? {}) as LaneState
}

/** By how much the count of failed items changes. */
function failedBy({ from, to }: GroupChange): number {
  return Number(isFailed(to)) - Number(isFailed(from))
}

function isFailed(one: GroupChange['to']): boolean {
  return one === 'failed' || one === 'undecided'
}

function haltOf(
  { errors, pausedKeys }: GroupParts,
  failed: number,
  maxFailures: number | null,
  { id, progress }: TaskRecord,
): HaltReason | undefined {
  if (pausedKeys.length === 0) return undefined
  const { onItemFailure, haltOn } = errors
  const { exitCode, halt } = progress.lastFailure ?? {}
  if (halt === true) return { kind: 'halt_on', item: id, exitCode: exitCode ?? null }
  if (exitCode !== undefined && haltOn.includes(exitCode)) return { kind: 'halt_on', item: id, exitCode }
  if (onItemFailure === 'stop') return { kind: 'stop', item: id }
  if (maxFailures !== null && failed >= maxFailures) return { kind: 'max_failures', failed, limit: maxFailures }
  return undefined
}

/** `on_item_error` becomes a task. */
function afterwards(
  { onError }: GroupParts,
  taskOf: (key: ReturnType<ItemQueue<unknown>['keyOf']>) => TaskRecord | undefined,
  { to, after }: GroupChange,
  now: number,
): Changes {
  if (to !== 'failed') return {}
  const { id, generation, input } = after
  const errorId = errorTaskId(id, generation)
  const isNew = onError !== undefined && taskOf(onError.keyOf(errorId)) === undefined
  const task = { id: errorId, input: { item: id, ...(input as object), failure: after.progress.lastFailure } }
  return isNew ? { created: [onError.newTask(task, now)] } : {}
}
