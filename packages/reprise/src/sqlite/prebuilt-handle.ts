/**
 * A database by `@photostructure/sqlite`, whose `close()` differs: the file stays open until the garbage collector has
 * taken every prepared statement, at the latest until the process ends, and no statement can be finalized before.
 * Imports the driver's types.
 *
 * Invariants: a closed handle holds no transaction and has its log written back. An abandoned handle writes and syncs
 * nothing any more, not even when the garbage collector or the end of the process closes its file.
 */
import { resolve } from 'node:path'
import type { SqliteDatabase, SqliteStatement } from './driver.js'

interface Connection {
  readonly isTransaction: boolean
  open(): void
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
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
    return this.connection.prepare(sql)
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
