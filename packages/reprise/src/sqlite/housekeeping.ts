/**
 * How the SQLite ledger forgets and compacts, within a transaction of its caller. Space that comes free is used again by
 * what is written later, so the file does not grow beyond what was needed at once; one that was created with
 * `auto_vacuum = INCREMENTAL` is given back to the system bit by bit.
 * Imports its own layer and the port.
 */
import type { Compacted, CompactRequest, Forgotten, ForgetRequest, RunRemoval } from '../ledger/ledger.js'
import { expectFinished, expectHistory } from '../ledger/limits.js'
import { ownerIn, type SqlRow, type SqlValue, text } from '../ledger/rows.js'
import { classOfRow, TallyCounts } from '../ledger/tally.js'
import type { SqliteDatabase, SqliteStatement } from './driver.js'
import type { Statements } from './statements.js'

interface OldTask {
  readonly pk: number
  readonly scope_kind: string
  readonly scope: string
  readonly id: string
  readonly policy_hash: string
  readonly tally: string | null
  readonly status: string
  /** Null without a tally. */
  readonly progress: string | null
}

interface LongTask {
  readonly pk: number
  readonly scope_kind: string
  readonly scope: string
  readonly id: string
  readonly correlation_id: string
  readonly attempts_kept: number
}

/** 4 MiB in pages of 4 KiB: as much as one checkpoint writes. */
const MAX_PAGES = 1024

export class Housekeeping {
  private readonly database: SqliteDatabase
  private readonly sql: Statements

  constructor(database: SqliteDatabase, sql: Statements) {
    this.database = database
    this.sql = sql
  }

  forget({ status, beforeMs, limit }: ForgetRequest): Forgotten {
    expectFinished(status)
    return this.remove(this.sql.finishedBefore.all(status, beforeMs, limit) as OldTask[])
  }

  removeRun(id: string, limit: number, gates: readonly string[]): RunRemoval {
    const { sql } = this
    const removed = this.remove(sql.tasksOfRun.all(id, limit) as OldTask[])
    if (removed.tasks === limit) return { ...removed, isDone: false }
    sql.removeRun.run(id)
    for (const key of gates) sql.removeGate.run(key)
    return { ...removed, events: removed.events + changesOf(sql.removeEventsOfRun, id), isDone: true }
  }

  private remove(old: readonly OldTask[]): Forgotten {
    const { sql } = this
    const counts = { tasks: old.length, attempts: 0, events: 0, deadLetters: 0 }
    const policies = new Map<string, number>()
    const tallies = new TallyCounts()
    for (const { pk, scope_kind: kind, scope, id, policy_hash: hash, tally, status, progress } of old) {
      counts.attempts += changesOf(sql.removeAttempts, pk)
      sql.removeCheckpoint.run(pk)
      counts.events += changesOf(sql.removeEvents, kind, scope, id)
      counts.deadLetters += changesOf(sql.removeDead, kind, scope, id)
      sql.removeTask.run(pk)
      policies.set(hash, (policies.get(hash) ?? 0) + 1)
      if (tally !== null) tallies.add(tally, classOfRow(status, progress ?? ''), -1)
    }
    for (const [hash, count] of policies) sql.countPolicy.run(-count, hash)
    for (const [name, delta] of tallies.entries()) {
      sql.addToTally.run(name, ...delta)
      sql.removeTally.run(name)
    }
    return counts
  }

  compact(request: CompactRequest, now: number): Compacted {
    const { maxHistoryPerTask, eventsBeforeMs, policiesBeforeMs, ownersBeforeMs, limit } = request
    const { sql } = this
    const counts = { tasks: 0, attempts: 0, events: 0, deadLetters: 0, policies: 0, owners: 0, reclaimedBytes: 0 }
    if (maxHistoryPerTask !== undefined) expectHistory(maxHistoryPerTask)
    // First what may find damage: nothing has been written yet.
    if (ownersBeforeMs !== undefined) counts.owners = this.dropOwners(ownersBeforeMs, limit)
    if (maxHistoryPerTask !== undefined) {
      for (const task of sql.longHistories.all(maxHistoryPerTask, limit) as LongTask[]) {
        const removed = this.shorten(task, Math.ceil(maxHistoryPerTask / 2), now)
        counts.tasks++
        counts.attempts += removed.attempts
        counts.events += removed.events
        counts.deadLetters += removed.deadLetters
      }
    }
    if (eventsBeforeMs !== undefined) counts.events += changesOf(sql.removeEventsBefore, limit, eventsBeforeMs)
    if (request.lettersBeforeMs !== undefined)
      counts.deadLetters += changesOf(sql.removeDeadBefore, request.lettersBeforeMs, limit)
    if (policiesBeforeMs !== undefined) counts.policies = changesOf(sql.removePolicies, policiesBeforeMs, limit)
    if (request.reclaim === true) counts.reclaimedBytes = this.reclaim()
    return counts
  }

  /** A quarter stays, since what was needed once will be needed again; all of it where the file cannot shrink. */
  private reclaim(): number {
    const read = (name: string): number => {
      const row = this.database.prepare(`PRAGMA ${name}`).get() as Record<string, number>
      return row[name] as number
    }
    const [pages, free] = [read('page_count'), read('freelist_count')]
    const spare = Math.min(free - Math.ceil(pages / 4), MAX_PAGES)
    if (spare <= 0) return 0
    this.database.exec(`PRAGMA incremental_vacuum(${spare})`)
    return (free - read('freelist_count')) * read('page_size')
  }

  private shorten(task: LongTask, left: number, now: number): Omit<Forgotten, 'tasks'> {
    const { sql } = this
    const { pk } = task
    const key = [task.scope_kind, task.scope, task.id]
    const gone = sql.oldAttempts.all(pk, task.attempts_kept - left) as Record<string, number>[]
    const last = gone.at(-1) ?? {}
    const untilMs = gone.reduce((time, row) => Math.max(time, row['ended_at'] as number), -Infinity)
    const until = ['generation', 'attempt', 'execution'].map((column) => last[column] as number)
    const removed = {
      attempts: changesOf(sql.removeAttemptsUpTo, pk, ...until),
      events: changesOf(sql.removeOldEvents, ...key, ...key, left),
      deadLetters: changesOf(sql.removeOldDead, ...key, ...key, left),
    }
    sql.shortened.run(removed.attempts, removed.attempts, untilMs, pk)
    sql.insertEvent.run('compacted', ...key, now, task.correlation_id, text(removed))
    return removed
  }

  /** There are as many as processes, so each may be looked at. */
  private dropOwners(beforeMs: number, limit: number): number {
    const isOver = (row: SqlRow): boolean => (ownerIn(row)?.leaseUntilMs ?? -Infinity) < beforeMs
    const over = (this.sql.owners.all() as SqlRow[]).filter(isOver).map(({ id }) => String(id))
    const gone = over.filter((id) => this.sql.owns.get(id) === undefined).slice(0, limit)
    for (const id of gone) this.sql.removeOwner.run(id)
    return gone.length
  }
}

function changesOf(statement: SqliteStatement, ...values: SqlValue[]): number {
  return Number(statement.run(...values).changes)
}
