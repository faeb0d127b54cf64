/**
 * Reads, and writes that may be done twice: tried again while the server does not answer, for a while. Questions for
 * single tasks that come at once are asked as one. Imports its own layer.
 */
import { LedgerError } from '../ledger/errors.js'
import { nameOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import { type SqlRow, taskOf } from '../ledger/rows.js'
import { type Reading, readLater, writtenFor } from '../ledger/sql/sql-reading.js'
import type { Connection, Connections, Statement } from './connections.js'
import { failureKind, ledgerFailure, MAX_WAIT_MS } from './failures.js'
import { pause } from './pause.js'
import { keyColumns, type Statements } from './statements.js'

export class Reader {
  private readonly name: string
  private readonly sql: Statements
  private readonly connections: Connections
  private closed: LedgerError | undefined = undefined
  private asked: { key: TaskKey; resolve: (task: TaskRecord | undefined) => void; reject: (error: unknown) => void }[] =
    []

  constructor(name: string, sql: Statements, connections: Connections) {
    this.name = name
    this.sql = sql
    this.connections = connections
  }

  close(): void {
    this.closed = new LedgerError('closed', `The ledger ${this.name} is closed`)
  }

  async query(statement: Statement | string, values: readonly unknown[] = []): Promise<SqlRow[]> {
    return this.patiently('read', (connection) => connection.query(statement, values)) as Promise<SqlRow[]>
  }

  /** For what may be done twice. */
  async write(statement: Statement, values: readonly unknown[]): Promise<void> {
    await this.patiently('written', (connection) => connection.query(statement, values))
  }

  /** In one transaction of its own, with the planner's choice of plans: for questions about many rows. */
  async within<T>(ask: (connection: Connection) => Promise<T>): Promise<T> {
    return this.patiently('read', (connection) =>
      inTransaction(connection, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', async () => {
        await connection.query(`SET LOCAL plan_cache_mode = auto; SET LOCAL enable_seqscan = on;
          SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on`)
        return ask(connection)
      }),
    )
  }

  /** A reading at one moment; begun anew after a lost connection. */
  read<T>(schema: string, begin: () => Reading<T>): Promise<T> {
    return this.within((connection) => this.ask(schema, connection, begin))
  }

  /** A reading whose queries are found by an index, each at its own moment: without a transaction, by the session's plans. */
  list<T>(schema: string, begin: () => Reading<T>): Promise<T> {
    return this.patiently('read', (connection) => this.ask(schema, connection, begin))
  }

  private ask<T>(schema: string, connection: Connection, begin: () => Reading<T>): Promise<T> {
    return readLater(begin(), (query) => {
      const text = writtenFor(
        query,
        (table) => `${schema}.${table}`,
        (position) => `$${position}`,
      )
      return connection.query(text, query.values) as Promise<SqlRow[]>
    })
  }

  /** In one transaction of its own that writes what may be written twice: every statement sees what was committed. */
  async writing<T>(act: (connection: Connection) => Promise<T>): Promise<T> {
    return this.patiently('written', (connection) => inTransaction(connection, 'BEGIN', () => act(connection)))
  }

  async patiently<T>(act: 'read' | 'written', ask: (connection: Connection) => Promise<T>): Promise<T> {
    const startMs = performance.now()
    for (let failures = 1; ; failures++) {
      if (this.closed !== undefined) throw this.closed
      try {
        return await this.connections.with(ask)
      } catch (error) {
        const mayPass = failureKind(error) !== 'final' && performance.now() - startMs < MAX_WAIT_MS
        if (!mayPass) throw ledgerFailure(this.name, act, error)
      }
      await pause(failures)
    }
  }

  /** What cannot be read is the ledger's damage, and told with its name. */
  told<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw ledgerFailure(this.name, 'read', error)
    }
  }

  get(key: TaskKey): Promise<TaskRecord | undefined> {
    return new Promise((resolve, reject) => {
      if (this.asked.push({ key, resolve, reject }) === 1) queueMicrotask(() => void this.getAll())
    })
  }

  private async getAll(): Promise<void> {
    const asked = this.asked
    this.asked = []
    try {
      const rows = await this.query(this.sql.tasks, keyColumns(asked.map(({ key }) => key)))
      const tasks = new Map(rows.map((row) => [`${row['scope_kind']}\u0000${row['scope']}\u0000${row['id']}`, row]))
      for (const { key, resolve, reject } of asked) {
        const row = tasks.get(nameOf(key))
        try {
          resolve(row && taskOf(row).task)
        } catch (error) {
          // One that is damaged is told to who asked for it.
          reject(ledgerFailure(this.name, 'read', error))
        }
      }
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }
}

async function inTransaction<T>(connection: Connection, begin: string, act: () => Promise<T>): Promise<T> {
  await connection.query(begin)
  try {
    const answer = await act()
    await connection.query('COMMIT')
    return answer
  } catch (error) {
    if (failureKind(error) !== 'lost') await connection.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}
