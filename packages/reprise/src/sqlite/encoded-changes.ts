/** What a decision wants to be written, as statements with their values. Imports its own layer and the port. */
import type { Changes, NewTask } from '../ledger/ledger.js'
import { nameOf, type TaskRecord } from '../ledger/records.js'
import { attemptValues, changedRunValues, gateValues, runValues, type SqlValue, text } from '../ledger/rows.js'
import type { SqliteStatement } from './driver.js'
import type { LockedRows } from './locked-rows.js'
import { updateOf } from './narrow-writes.js'
import type { Statements } from './statements.js'

export type EncodedWrite = readonly [statement: SqliteStatement, values: SqlValue[]]

/** Most changes have rows of one or two kinds. */
const NONE: readonly never[] = []

/** Writes nothing: what cannot be encoded is found before anything is written. */
export function encodeChanges(sql: Statements, changes: Changes, rows: LockedRows): EncodedWrite[] {
  const { runs, created, tasks, attempts, inputs, checkpoints, gates, dead, closedLetters, events } = changes
  for (const { task } of created ?? NONE) rows.expectAbsent(task)
  const writes: EncodedWrite[] = []
  let added: Map<number, number> | undefined
  for (const { run, definition } of runs ?? NONE) {
    if (definition !== undefined) writes.push([sql.putRun, [...runValues(run), text(definition)]])
    else if (rows.run(run.id) !== undefined) writes.push([sql.updateRun, changedRunValues(run)])
    else throw new Error(`Run ${run.id} is new, and nothing says what it runs`)
  }
  const isNew = newNames(created)
  for (const row of attempts ?? NONE) {
    if (isNew?.has(nameOf(row))) {
      const key = [row.scopeKind, row.scope, row.id]
      writes.push([sql.insertAttemptOfNew, [...attemptValues(0, row).slice(1), ...key]], [sql.countHistoryOfNew, key])
      continue
    }
    const { pk } = rows.rowOf(row)
    added ??= new Map()
    added.set(pk, (added.get(pk) ?? 0) + 1)
    writes.push([sql.insertAttempt, attemptValues(pk, row)])
  }
  let latest: Map<number, TaskRecord> | undefined
  for (const task of tasks ?? NONE) {
    const { pk, task: locked } = rows.rowOf(task)
    // A task may be changed twice in one commit: the second change is one of what the first has made.
    const before = latest?.get(pk) ?? locked
    if ((tasks?.length ?? 0) > 1) (latest ??= new Map()).set(pk, task)
    writes.push(updateOf(sql, pk, before, task, added?.get(pk) ?? 0))
    added?.delete(pk)
    if (before.policyHash === task.policyHash) continue
    writes.push([sql.countPolicy, [-1, before.policyHash]], [sql.countPolicy, [1, task.policyHash]])
  }
  // The longer a task's row, the dearer a second update of it: only where there was no first.
  for (const [pk, count] of added ?? NONE) writes.push([sql.countHistory, [count, pk]])
  for (const { input, ...key } of inputs ?? NONE) writes.push([sql.setInput, [text(input), rows.rowOf(key).pk]])
  for (const { value, ...key } of checkpoints ?? NONE) {
    const { pk } = rows.rowOf(key)
    if (value === undefined) writes.push([sql.removeCheckpoint, [pk]])
    else writes.push([sql.putCheckpoint, [pk, text(value)]])
  }
  for (const gate of gates ?? NONE) writes.push([sql.putGate, gateValues(gate)])
  for (const { scopeKind, scope, id, generation, atMs, signature, stopReason, failure, closed } of dead ?? NONE) {
    const why = [signature, stopReason, failure === null ? null : text(failure)]
    const end = [closed?.atMs ?? null, closed?.by ?? null]
    writes.push([sql.putDead, [scopeKind, scope, id, generation, atMs, ...why, ...end]])
  }
  for (const { scopeKind, scope, id, generation, atMs, by } of closedLetters ?? NONE)
    writes.push([sql.closeDead, [atMs, by, scopeKind, scope, id, generation]])
  for (const { type, scopeKind, scope, id, atMs, correlationId, detail } of events ?? NONE) {
    writes.push([sql.insertEvent, [type, scopeKind, scope, id, atMs, correlationId, text(detail)]])
  }
  return writes
}

function newNames(created: readonly NewTask[] = []): ReadonlySet<string> | undefined {
  return created.length === 0 ? undefined : new Set(created.map(({ task }) => nameOf(task)))
}
