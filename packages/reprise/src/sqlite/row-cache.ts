/**
 * Rows of running tasks as this connection wrote them last, so that the end of an attempt need not read what its
 * beginning wrote.
 *
 * Invariant: what is known is what the file holds. All is forgotten as soon as another connection has committed, which
 * SQLite's `data_version` tells, and when a transaction of this one is undone. Imports its own layer and the records.
 */
import type { TaskKey, TaskRecord } from '../ledger/records.js'
import { TaskMap } from '../ledger/task-map.js'
import type { SqliteDatabase, SqliteStatement } from './driver.js'
import { parse, type TaskRow } from '../ledger/rows.js'

export class RowCache {
  private readonly rows = new TaskMap<TaskRow>()
  private readonly dataVersion: SqliteStatement
  private version = -1

  constructor(database: SqliteDatabase) {
    this.dataVersion = database.prepare('PRAGMA data_version')
  }

  /** To be called first in every transaction. */
  begin(): void {
    const { data_version: version } = this.dataVersion.get() as { data_version: number }
    if (version !== this.version) this.rows.clear()
    this.version = version
  }

  undo(): void {
    this.rows.clear()
  }

  forget(key: TaskKey): void {
    this.rows.delete(key)
  }

  /** With an input of its own, if it can be changed: operations may change the one they are given. */
  get(key: TaskKey): TaskRow | undefined {
    const row = this.rows.get(key)
    if (row === undefined || typeof row.task.input !== 'object') return row
    return { ...row, task: { ...row.task, input: parse(row.input, 'a task') } }
  }

  /** Only of running ones: the next that happens to them happens here. */
  put(pk: number, task: TaskRecord, input: string): void {
    if (task.status === 'running') this.rows.set(task, { pk, task, input })
    else this.rows.delete(task)
  }
}
