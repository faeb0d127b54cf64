/**
 * How far a task has come, as its program says: a value that is kept beside the task, in a commit of its own, and given to
 * every later execution of it. Imports core's errors, the ledger's port and its own layer.
 *
 * Invariants: the last checkpoint counts. An execution whose task was taken over, cancelled or concluded writes none. A
 * task that has ended or was reset has none.
 */
import type { Changes, Ledger } from '../ledger/ledger.js'
import { type CheckpointChange, type Json, keyOf, type TaskRecord, wordsOf } from '../ledger/records.js'
import { TaskRefusedError } from './errors.js'
import { expectJson } from './json.js'
import { retryWhileBusy } from './persistence.js'

/** Bytes of a checkpoint as JSON, at most: it is written while the task runs, perhaps often. */
const MAX_BYTES = 65_536

/** What an earlier execution of a task kept of how far it had come. */
export interface Checkpoint<C> {
  /** The value that it gave to `context.checkpoint`. */
  readonly value: C
  /** The attempt that wrote it. */
  readonly attempt: number
  /** The execution of that attempt. */
  readonly execution: number
}

/**
 * Writes the checkpoints of one execution, in the order in which they are given: a store may commit two transactions of
 * one process in another order. Rejects if the task is not this execution's any more; a caller that does not wait for the
 * promise is not ended by that.
 */
export function checkpointWriter(
  ledger: Ledger,
  held: TaskRecord,
  isStopped: () => boolean,
): (value: unknown) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve()
  return (given) => {
    const written = writeAfter(last, ledger, held, given, isStopped)
    last = written.catch(() => undefined)
    return written
  }
}

async function writeAfter(
  earlier: Promise<unknown>,
  ledger: Ledger,
  held: TaskRecord,
  given: unknown,
  isStopped: () => boolean,
): Promise<void> {
  const value = expectSmall(expectJson(given, 'checkpoint'))
  await earlier
  const commit = (): Promise<boolean> =>
    ledger.transact({ tasks: [held] }, (view) => {
      const task = view.task(held)
      const isHeld = task?.fence === held.fence && task.owner === held.owner && task.status === 'running'
      return isHeld ? { ...checkpointed(task, value), result: true } : { result: false }
    })
  if (await retryWhileBusy(commit, isStopped)) return
  const why = 'this execution has ended, or another process has the task'
  throw new TaskRefusedError('task_lost', `The checkpoint of ${wordsOf(held)} was not written: ${why}`)
}

/** A copy of it as it is now: the program may change it while it is being written. */
function expectSmall(value: Json): Json {
  const text = JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  if (bytes <= MAX_BYTES) return JSON.parse(text) as Json
  const cure = 'keep the data where the task works, and only its place in the checkpoint'
  throw new RangeError(`The checkpoint has ${bytes} bytes as JSON, and ${MAX_BYTES} are allowed: ${cure}`)
}

function checkpointed(task: TaskRecord, value: Json): Changes {
  const { current, retry } = task.progress
  const checkpoint = { attempt: current?.attempt ?? retry.launched, execution: current?.execution ?? 1 }
  const next = { ...task, progress: { ...task.progress, checkpoint } }
  return { tasks: [next], checkpoints: [{ ...keyOf(task), value }] }
}

/** Of a task that ends or begins anew: what is to be removed beside it. */
export function droppedCheckpoints(task: TaskRecord): { checkpoints?: readonly CheckpointChange[] } {
  return task.progress?.checkpoint === undefined ? {} : { checkpoints: [keyOf(task)] }
}

/** Undefined if there is none. */
export async function lastCheckpointOf(
  ledger: Ledger,
  task: TaskRecord,
  isStopped: () => boolean,
): Promise<Checkpoint<Json> | undefined> {
  const { checkpoint } = task.progress
  if (checkpoint === undefined) return undefined
  const value = await retryWhileBusy(() => ledger.checkpoint(task), isStopped)
  return value === undefined ? undefined : { value, ...checkpoint }
}
