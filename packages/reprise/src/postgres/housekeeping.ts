/**
 * How the PostgreSQL ledger forgets and compacts: a few statements per call, over as many rows as the caller allows.
 * Space that comes free is used again by what is written later, once VACUUM has been there, which the server sees to by
 * itself: there is nothing to give back from here. Imports its own layer and the port.
 *
 * Invariants: what belongs to a task is removed under the task's lock, so that nobody adds to it meanwhile. Two sweeps
 * at once pass each other by: a row that somebody has locked is left for the next time, or waited for in order of keys.
 * Whoever has read a task that was shortened finds its version changed.
 */
import type { Compacted, CompactRequest, Forgotten, ForgetRequest, RunRemoval } from '../ledger/ledger.js'
import { expectFinished, expectHistory } from '../ledger/limits.js'
import { ownerIn, type SqlRow } from '../ledger/rows.js'
import { classOfRow, TallyCounts, TASK_CLASSES } from '../ledger/tally.js'
import type { Connection, Row } from './connections.js'
import { housekeepingStatements, type HousekeepingStatements } from './housekeeping-statements.js'
import type { Reader } from './reader.js'

/** A process that has written nothing for so long will not ask what became of its last decision. */
const WRITER_MS = 86_400_000

export class Housekeeping {
  private readonly reader: Reader
  private readonly sql: HousekeepingStatements
  /** Of policies that are old and in use, a task that has it: so that not all tasks are looked through every time. */
  private readonly witnesses = new Map<string, number>()

  constructor(schema: string, reader: Reader) {
    this.reader = reader
    this.sql = housekeepingStatements(schema)
  }

  async forget({ status, beforeMs, limit }: ForgetRequest): Promise<Forgotten> {
    expectFinished(status)
    return this.reader.writing(async (connection) => {
      const old = await connection.query(this.sql.lockFinished, [status, beforeMs, limit])
      const removed = await this.remove(connection, old)
      if (old.length > 0) await connection.query(this.sql.noteRemoval)
      return removed
    })
  }

  removeRun(id: string, limit: number, gates: readonly string[]): Promise<RunRemoval> {
    const { sql } = this
    return this.reader.writing(async (connection) => {
      // In the order in which everybody locks.
      await connection.query(sql.lockGates, [gates])
      await connection.query(sql.lockRun, [id])
      const removed = await this.remove(connection, await connection.query(sql.lockTasksOfRun, [id, limit]))
      const [left] = await connection.query(sql.hasTasks, [id])
      const isDone = left?.['is_so'] !== true
      const [rest] = isDone ? await connection.query(sql.removeRun, [id, gates]) : []
      await connection.query(sql.noteRemoval)
      if (!isDone) return { ...removed, isDone }
      return { ...removed, events: removed.events + (rest?.['events'] as number), isDone }
    })
  }

  private async remove(connection: Connection, old: readonly Row[]): Promise<Forgotten> {
    if (old.length === 0) return { tasks: 0, attempts: 0, events: 0, deadLetters: 0 }
    const [removed] = await connection.query(this.sql.removeTasks, columnsOf(old, 'pk', 'scope_kind', 'scope', 'id'))
    await this.uncount(connection, old)
    return {
      tasks: removed?.['tasks'] as number,
      attempts: removed?.['attempts'] as number,
      events: removed?.['events'] as number,
      deadLetters: removed?.['dead_letters'] as number,
    }
  }

  private async uncount(connection: Connection, old: readonly Row[]): Promise<void> {
    const counts = new TallyCounts()
    for (const { tally, status, progress } of old as readonly SqlRow[]) {
      if (typeof tally === 'string') counts.add(tally, classOfRow(String(status), String(progress)), -1)
    }
    const entries = counts.entries()
    if (entries.length === 0) return
    const columns = TASK_CLASSES.map((_, index) => entries.map(([, delta]) => delta[index]))
    const names = entries.map(([name]) => name)
    await connection.query(this.sql.addToTallies, [names, ...columns])
    await connection.query(this.sql.removeTallies, [names])
  }

  /** With its rows of tallies, which are added up in those of nobody. */
  removeOwner(id: string): Promise<void> {
    return this.reader.writing(async (connection) => {
      await this.merged(connection, await connection.query(this.sql.removeOwner, [id]))
    })
  }

  private async merged(connection: Connection, rows: readonly Row[]): Promise<void> {
    if (rows.length > 0) await connection.query(this.sql.removeTallies, columnsOf(rows, 'name'))
  }

  async compact(request: CompactRequest, now: number): Promise<Compacted> {
    const { maxHistoryPerTask, eventsBeforeMs, policiesBeforeMs, ownersBeforeMs, limit } = request
    const counts = { tasks: 0, attempts: 0, events: 0, deadLetters: 0, policies: 0, owners: 0, reclaimedBytes: 0 }
    if (maxHistoryPerTask !== undefined) expectHistory(maxHistoryPerTask)
    // First what may find damage: nothing has been written yet.
    if (ownersBeforeMs !== undefined) counts.owners = await this.dropOwners(ownersBeforeMs, limit)
    if (maxHistoryPerTask !== undefined) Object.assign(counts, await this.shorten(maxHistoryPerTask, limit, now))
    if (eventsBeforeMs !== undefined) {
      counts.events += await this.count(this.sql.removeEventsBefore, [eventsBeforeMs, limit])
    }
    if (request.lettersBeforeMs !== undefined)
      counts.deadLetters += await this.count(this.sql.removeDeadBefore, [request.lettersBeforeMs, limit])
    if (policiesBeforeMs !== undefined) counts.policies = await this.dropPolicies(policiesBeforeMs, limit)
    return counts
  }

  private shorten(most: number, limit: number, now: number): Promise<Forgotten> {
    return this.reader.writing(async (connection) => {
      const long = await connection.query(this.sql.lockLong, [most, limit])
      if (long.length === 0) return { tasks: 0, attempts: 0, events: 0, deadLetters: 0 }
      const values = [...columnsOf(long, 'pk', 'scope_kind', 'scope', 'id', 'correlation_id'), Math.ceil(most / 2), now]
      const [removed] = await connection.query(this.sql.shorten, values)
      await connection.query(this.sql.noteRemoval)
      return {
        tasks: long.length,
        attempts: removed?.['attempts'] as number,
        events: removed?.['events'] as number,
        deadLetters: removed?.['dead_letters'] as number,
      }
    })
  }

  /** There are as many as processes, so each may be looked at. One that has changed since is alive. */
  private async dropOwners(beforeMs: number, limit: number): Promise<number> {
    const rows = await this.reader.query(this.sql.owners)
    const leaseEndOf = (row: SqlRow): number => this.reader.told(() => ownerIn(row))?.leaseUntilMs ?? -Infinity
    const old = rows.filter((row) => leaseEndOf(row) < beforeMs)
    await this.count(this.sql.removeWriters, [WRITER_MS, limit])
    return this.reader.writing(async (connection) => {
      const values = [...columnsOf(old, 'id', 'record'), limit]
      const [row] = old.length === 0 ? [] : await connection.query(this.sql.removeOwners, values)
      // Of owners that are gone, and of processes that never were owners.
      await this.merged(connection, await connection.query(this.sql.mergeTallies))
      return (row?.['removed'] ?? 0) as number
    })
  }

  /** The tasks have no index by policy, since each would pay for it: they are read once for all that are in doubt. */
  private async dropPolicies(beforeMs: number, limit: number): Promise<number> {
    const { sql, witnesses } = this
    const known = [[...witnesses.keys()], [...witnesses.values()]]
    const doubtful = await this.reader.query(sql.doubtfulPolicies, [beforeMs, limit, ...known])
    if (doubtful.length === 0) return 0
    const hashes = doubtful.map((row) => row['hash'] as string)
    const used = await this.reader.within((connection) => connection.query(sql.usedPolicies, [hashes]))
    for (const hash of hashes) witnesses.delete(hash)
    for (const row of used) witnesses.set(row['policy_hash'] as string, row['pk'] as number)
    return this.count(sql.removePolicies, [hashes.filter((hash) => !witnesses.has(hash)), beforeMs])
  }

  private async count(...[statement, values]: Parameters<Reader['query']>): Promise<number> {
    const [row] = await this.reader.writing((connection) => connection.query(statement, values))
    return row?.['removed'] as number
  }
}

function columnsOf(rows: readonly Row[], ...columns: readonly string[]): Row[string][][] {
  return columns.map((column) => rows.map((row) => row[column] as Row[string]))
}
