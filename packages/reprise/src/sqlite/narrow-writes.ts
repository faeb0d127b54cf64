/**
 * The three writes of a task that succeeds at once: it is recorded, begun, and ended. Each has a statement that names the
 * columns which change and no others: a column that is bound takes time, and a column of an index that is set, though to
 * the same value, has its entry written anew. Imports its own layer and the records.
 *
 * Invariant: the row is what the statement with all columns would make of it.
 */
import { FRESH_RANK, rankOf } from '../ledger/claim-order.js'
import type { TaskRecord } from '../ledger/records.js'
import { type SqlValue, text, updatedValues } from '../ledger/rows.js'
import type { SqliteStatement } from './driver.js'
import type { Statements } from './statements.js'

/** Whether the task is recorded as every new task is: `insertFresh` says the rest. */
export function isFresh(task: TaskRecord): boolean {
  return (
    task.status === 'waiting' &&
    task.generation === 1 &&
    task.owner === null &&
    task.fence === 0 &&
    task.result === undefined &&
    task.stopReason === null &&
    task.tally === undefined &&
    rankOf(task) === FRESH_RANK
  )
}

/** In the order of `insertFresh`. */
export function freshValues({ queue, dueAtMs, progress, policyHash, updatedAtMs }: TaskRecord): SqlValue[] {
  return [queue, dueAtMs, text(progress), policyHash, updatedAtMs]
}

/** The narrowest statement that makes the row of `before` that of `after`. `added`: rows of its attempts. */
export function updateOf(
  sql: Statements,
  pk: number,
  before: TaskRecord,
  after: TaskRecord,
  added: number,
): readonly [statement: SqliteStatement, values: SqlValue[]] {
  if (isSameButState(before, after)) {
    const { status, owner, fence, progress, result, updatedAtMs } = after
    const isBegun = before.status === 'waiting' && status === 'running' && progress.current !== null && added === 0
    if (isBegun && result === undefined) return [sql.beginTask, [owner, fence, text(progress), updatedAtMs, pk]]
    const isOver = before.status === 'running' && status === 'succeeded' && owner === null && before.fence === fence
    if (isOver && before.dueAtMs === null && result !== undefined)
      return [sql.endTask, [rankOf(after), text(progress), text(result), updatedAtMs, added, pk]]
  }
  const values = updatedValues(after)
  values.push(added, pk)
  return [sql.updateTask, values]
}

function isSameButState(before: TaskRecord, after: TaskRecord): boolean {
  return (
    before.queue === after.queue &&
    before.generation === after.generation &&
    before.policyHash === after.policyHash &&
    before.stopReason === null &&
    after.stopReason === null &&
    after.dueAtMs === null &&
    before.result === undefined
  )
}
