/**
 * SQLite by whichever driver there is: `node:sqlite` where the running Node has it, else `better-sqlite3`. A few methods,
 * and only what both bind alike: numbers, strings, null. Imports neither until it is asked.
 */
import { resolve } from 'node:path'
import { LedgerError } from '../ledger/errors.js'
import type { SqlValue } from '../ledger/rows.js'

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

const NEW_NODE = 'or use Node 22.22.3, 24.15 or newer, which have it built in'
const INSTALL = `install it with \`npm install better-sqlite3\`, ${NEW_NODE}`
const REBUILD = `run \`npm rebuild better-sqlite3\`, ${NEW_NODE}`

/** Loads a module by its name. */
export type Importer = (name: SqliteDriverName) => Promise<unknown>

export async function openDatabase(
  file: string,
  driver?: SqliteDriverName,
  load: Importer = (name) => import(name),
  readOnly = false,
): Promise<SqliteDatabase> {
  const causes: unknown[] = []
  for (const name of driver === undefined ? SQLITE_DRIVERS : [driver]) {
    try {
      const open = openerOf(name, await load(name))
      expectSafeVersion(name, open)
      return new Handle(open(file, readOnly), file, open)
    } catch (error) {
      if (!isMissing(error) && !isNotBuilt(error) && !(error instanceof OldSqlite)) throw error
      causes.push(error)
    }
  }
  throw missingDriver(driver ?? 'better-sqlite3', causes)
}

function missingDriver(what: SqliteDriverName, causes: readonly unknown[]): LedgerError {
  const cause = causes.at(-1)
  const old = causes.find((one) => one instanceof OldSqlite)
  if (isNotBuilt(cause)) {
    const message = `The driver ${what} is installed, but was not built for this Node: ${REBUILD}`
    return new LedgerError('missing_driver', message, cause)
  }
  if (old === undefined) {
    return new LedgerError('missing_driver', `A SQLite ledger needs the driver ${what}: ${INSTALL}`, cause)
  }
  const cure =
    old.driver === 'node:sqlite'
      ? 'install better-sqlite3 with `npm install better-sqlite3`, or use Node 22.22.3, 24.15 or newer'
      : 'update it'
  return new LedgerError('missing_driver', `${old.message}: ${cure}`, old)
}

class OldSqlite extends Error {
  readonly driver: SqliteDriverName

  constructor(driver: SqliteDriverName, version: string) {
    const why = 'a bug in it can lose writes when several processes use one file'
    super(`SQLite ${version} of ${driver} is too old (${why}; 3.51.3, 3.50.7 or 3.44.6 is needed)`)
    this.driver = driver
  }
}

/** Older ones may lose what was written when a WAL is reset while another process reads it. */
function expectSafeVersion(driver: SqliteDriverName, open: Opener): void {
  const nowhere = open(':memory:', false)
  const { version } = nowhere.prepare('SELECT sqlite_version() AS version').get() as { version: string }
  nowhere.close()
  const [, minor, patch] = version.split('.').map(Number) as [number, number, number]
  const isSafe =
    minor > 51 || (minor === 51 && patch >= 3) || (minor === 50 && patch >= 7) || (minor === 44 && patch >= 6)
  if (!isSafe) throw new OldSqlite(driver, version)
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
    // As it is now: the program may go to another directory.
    this.file = file === ':memory:' ? file : resolve(file)
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
export const CONSTRAINT = 19
