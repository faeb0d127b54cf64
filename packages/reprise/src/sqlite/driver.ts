/**
 * SQLite by whichever driver there is: `node:sqlite` where the running Node has it, else `better-sqlite3`. Five methods,
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
}

type Opener = (file: string) => SqliteDatabase

/** Which to use; the first that loads when absent. */
export const SQLITE_DRIVERS = ['node:sqlite', 'better-sqlite3'] as const
export type SqliteDriverName = (typeof SQLITE_DRIVERS)[number]

const INSTALL = 'install it with `npm install better-sqlite3`, or use Node 22.13 or newer, which has SQLite built in'

export async function openDatabase(file: string, driver?: SqliteDriverName): Promise<SqliteDatabase> {
  const causes: unknown[] = []
  for (const name of driver === undefined ? SQLITE_DRIVERS : [driver]) {
    try {
      return (await openerOf(name))(file)
    } catch (error) {
      if (!isMissing(error)) throw error
      causes.push(error)
    }
  }
  const what = driver ?? 'better-sqlite3'
  throw new LedgerError('missing_driver', `A SQLite ledger needs the driver ${what}: ${INSTALL}`, causes.at(-1))
}

async function openerOf(name: SqliteDriverName): Promise<Opener> {
  if (name === 'node:sqlite') {
    // Not there before Node 22.5, and not without a warning before 22.13.
    const { DatabaseSync } = (await import(name)) as { DatabaseSync: new (file: string) => SqliteDatabase }
    return (file) => new DatabaseSync(file)
  }
  const { default: Database } = (await import(name)) as {
    default: new (file: string, options: { timeout: number }) => SqliteDatabase
  }
  return (file) => new Database(file, { timeout: 0 })
}

function isMissing(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === 'ERR_UNKNOWN_BUILTIN_MODULE' || code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
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
/** After these the handle is not to be trusted with another write. */
export const FATAL: ReadonlySet<number> = new Set([8, 10, 11, 13, 14, 26])
