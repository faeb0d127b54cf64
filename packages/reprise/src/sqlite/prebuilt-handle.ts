/**
 * A database by `@photostructure/sqlite`, whose `close()` differs: the file stays open until the garbage collector has
 * taken every prepared statement, at the latest until the process ends, and no statement can be finalized before.
 * Imports the driver's types.
 *
 * Invariants: a closed handle holds no transaction and has its log written back. An abandoned handle writes and syncs
 * nothing any more, not even when the garbage collector or the end of the process closes its file.
 */
import { resolve } from 'node:path'
import type { SqlRow, SqlValue } from '../ledger/rows.js'
import type { SqliteDatabase, SqliteStatement } from './driver.js'

interface PreparedStatement extends SqliteStatement {
  setReturnArrays(areArrays: boolean): void
  columns(): readonly { readonly name: string }[]
}

interface Connection {
  readonly isTransaction: boolean
  open(): void
  exec(sql: string): unknown
  prepare(sql: string): PreparedStatement
  close(): void
}

export type ConnectionClass = new (
  file: string,
  options: { readOnly?: boolean; open?: boolean; defensive?: boolean },
) => Connection

/** Readers that keep abandoned handles from being the last of their file. */
const abandoned = new Set<Connection>()

export class PrebuiltHandle implements SqliteDatabase {
  readonly driver = '@photostructure/sqlite'
  private readonly reader: Connection
  private readonly connection: Connection

  private readonly readOnly: boolean

  constructor(Connection: ConnectionClass, file: string, readOnly: boolean) {
    // As it is now: the program may go to another directory.
    const place = file === ':memory:' ? file : resolve(file)
    // Before the other: when a process ends, Node closes first what was made last.
    this.reader = new Connection(place, { readOnly: true, open: false })
    this.connection = new Connection(file, readOnly ? { readOnly, defensive: false } : {})
    this.readOnly = readOnly
  }

  exec(sql: string): unknown {
    return this.connection.exec(sql)
  }

  prepare(sql: string): SqliteStatement {
    return new PrebuiltStatement(this.connection.prepare(sql))
  }

  close(): void {
    try {
      this.endTransaction()
      if (!this.readOnly) this.connection.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      this.abandon()
      return
    }
    this.connection.close()
  }

  /** The reader stays open for as long as the process lives, since the driver does not say when the file is closed. */
  abandon(): void {
    try {
      this.reader.open()
      // Not a prepared statement, which would keep the reader open in its turn.
      this.reader.exec('SELECT count(*) FROM sqlite_schema')
      abandoned.add(this.reader)
    } catch {
      // Nothing can be read either: there is nothing that closing could make worse.
    }
    try {
      this.endTransaction()
    } catch {
      // SQLite has ended it by itself.
    }
    this.connection.close()
  }

  /** Closing would do it, but the connection is closed much later: until then it would keep others from writing. */
  private endTransaction(): void {
    if (this.connection.isTransaction) this.connection.exec('ROLLBACK')
  }
}

/**
 * Rows come from the driver as arrays and get their names here: the driver makes a call for each property, and rows of 20
 * columns take 1.6 times as long from it.
 */
class PrebuiltStatement implements SqliteStatement {
  private readonly statement: PreparedStatement
  private names: readonly string[] = []
  /** A row with all names. Copied for each row, which takes half as long as adding one name after the other. */
  private blank: SqlRow = {}

  constructor(statement: PreparedStatement) {
    statement.setReturnArrays(true)
    this.statement = statement
  }

  run(...values: SqlValue[]): ReturnType<SqliteStatement['run']> {
    return this.statement.run(...values)
  }

  get(...values: SqlValue[]): SqlRow | undefined {
    const found = this.statement.get(...values) as readonly SqlValue[] | undefined
    return found && this.named(found)
  }

  all(...values: SqlValue[]): SqlRow[] {
    return (this.statement.all(...values) as (readonly SqlValue[])[]).map((found) => this.named(found))
  }

  private named(values: readonly SqlValue[]): SqlRow {
    // Also when `SELECT *` has more columns after a migration.
    if (this.names.length !== values.length) this.learnNames()
    const { names } = this
    const row: Record<string, SqlValue> = { ...this.blank }
    for (let column = 0; column < names.length; column++) row[names[column] as string] = values[column] as SqlValue
    return row
  }

  private learnNames(): void {
    this.names = this.statement.columns().map(({ name }) => name)
    this.blank = Object.fromEntries(this.names.map((name) => [name, null]))
  }
}
