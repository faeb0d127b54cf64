/**
 * SQLite by whichever driver there is: `node:sqlite` where the running Node has it, else `better-sqlite3`. A few methods,
 * and only what both bind alike: numbers, strings, null. Imports neither until it is asked.
 */
import { LedgerError } from '../ledger/errors.js'

export type SqlValue = number | string | null
export type SqlRow = Readonly<Record<string, SqlValue>>

export interface SqliteStatement {
  run(...values: SqlValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
}

export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): void
  /** Closes without another write or sync, for a handle that has failed: the log stays for the next one to recover. */
  abandon(): void
}

type Connection = Omit<SqliteDatabase, 'abandon'>
type Opener = (file: string, readOnly: boolean) => Connection

/** Which to use; the first that loads when absent. */
export const SQLITE_DRIVERS = ['node:sqlite', 'better-sqlite3'] as const
export type SqliteDriverName = (typeof SQLITE_DRIVERS)[number]

const INSTALL = 'install it with `npm install better-sqlite3`, or use Node 22.13 or newer, which has SQLite built in'
const REBUILD = 'run `npm rebuild better-sqlite3`, or use Node 22.13 or newer, which has SQLite built in'

/** Loads a module by its name. */
export type Importer = (name: SqliteDriverName) => Promise<unknown>

export async function openDatabase(
  file: string,
  driver?: SqliteDriverName,
  load: Importer = (name) => import(name),
): Promise<SqliteDatabase> {
  const causes: unknown[] = []
  for (const name of driver === undefined ? SQLITE_DRIVERS : [driver]) {
    try {
      const open = openerOf(name, await load(name))
      return new Handle(open(file, false), file, open)
    } catch (error) {
      if (!isMissing(error) && !isNotBuilt(error)) throw error
      causes.push(error)
    }
  }
  const what = driver ?? 'better-sqlite3'
  const cause = causes.at(-1)
  const message = isNotBuilt(cause)
    ? `The driver ${what} is installed, but was not built for this Node: ${REBUILD}`
    : `A SQLite ledger needs the driver ${what}: ${INSTALL}`
  throw new LedgerError('missing_driver', message, cause)
}

function openerOf(name: SqliteDriverName, loaded: unknown): Opener {
  if (name === 'node:sqlite') {
    // Not there before Node 22.5, and not without a warning before 22.13.
    const { DatabaseSync } = loaded as { DatabaseSync: new (file: string, options: object) => Connection }
    return (file, readOnly) => new DatabaseSync(file, { readOnly })
  }
  const { default: Database } = loaded as { default: new (file: string, options: object) => Connection }
  return (file, readonly) => new Database(file, { timeout: 0, readonly })
}

class Handle implements SqliteDatabase {
  private readonly connection: Connection
  private readonly file: string
  private readonly open: Opener

  constructor(connection: Connection, file: string, open: Opener) {
    this.connection = connection
    this.file = file
    this.open = open
  }

  exec(sql: string): unknown {
    return this.connection.exec(sql)
  }

  prepare(sql: string): SqliteStatement {
    return this.connection.prepare(sql)
  }

  close(): void {
    this.connection.close()
  }

  /**
   * Whoever closes a database last writes its log back, and syncs. A reader that is still there makes this one not the
   * last, and cannot write back itself.
   */
  abandon(): void {
    let reader: Connection | undefined
    try {
      reader = this.open(this.file, true)
      reader.prepare('SELECT count(*) FROM sqlite_schema').get()
    } catch {
      // Nothing can be read either: there is nothing that closing could make worse.
    }
    this.connection.close()
    reader?.close()
  }
}

function isMissing(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === 'ERR_UNKNOWN_BUILTIN_MODULE' || code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
}

/** Install scripts may be switched off, and what was built for one version of Node is not for another. */
function isNotBuilt(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return (
    code === 'ERR_DLOPEN_FAILED' || (typeof message === 'string' && message.includes('Could not locate the bindings'))
  )
}

/** SQLite's own primary result code, whichever driver reports it. */
export function resultCode(error: unknown): number | undefined {
  const { errcode, code } = (error ?? {}) as { errcode?: unknown; code?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return undefined
  const primary = code.slice('SQLITE_'.length).split('_')[0] as string
  return RESULT_CODES[primary]
}

/** Those that are told apart. */
const RESULT_CODES: Readonly<Record<string, number>> = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  CONSTRAINT: 19,
  NOTADB: 26,
}

export const BUSY = 5
