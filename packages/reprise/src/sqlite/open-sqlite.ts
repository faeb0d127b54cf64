/**
 * Opens a SQLite file as a ledger: the driver, the settings that durability needs, the version check, the schema.
 * Imports core, the ledger's port and its own layer.
 */
import { closeSync, openSync } from 'node:fs'
import { CLOCK, expectOptions, FLAG, type OptionCheck } from '../core/options.js'
import type { Clock } from '../core/time.js'
import { LedgerError } from '../ledger/errors.js'
import { LedgerTime } from '../ledger/ledger-time.js'
import { isAbsent } from './absent-file.js'
import { openDatabase, SQLITE_DRIVERS, type SqliteDatabase, type SqliteDriverName } from './driver.js'
import { ledgerFailure, MAX_WAIT_MS } from './failures.js'
import { expectCurrent, migrate } from './migrations.js'
import { OpenFiles } from './open-files.js'
import { RESULT_CODES, resultCode } from './result-codes.js'
import { SqliteLedger } from './sqlite-ledger.js'

/** Options of `openSqlite`. */
export interface SqliteOptions {
  /**
   * Gives the ledger's time, and with its wall time that of leases.
   * @default `systemClock`
   * @example { clock: virtualClock() }
   */
  readonly clock?: Clock | undefined
  /**
   * The driver to use, and no other.
   * @default the first of `SQLITE_DRIVERS` that is installed
   * @example { driver: 'better-sqlite3' }
   */
  readonly driver?: SqliteDriverName
  /**
   * `normal` is faster, and loses the last commits when the power fails; a crash of the process loses nothing.
   * @default 'full'
   * @example { synchronous: 'normal' }
   */
  readonly synchronous?: 'full' | 'normal'
  /** Whether a file that is not there is made. @default true @example { create: false } */
  readonly create?: boolean
  /**
   * Opens it to read: nothing is made, brought up to date or written. A schema of another version is refused.
   * @default false
   * @example { readOnly: true }
   */
  readonly readOnly?: boolean
}

const CHECKS: Readonly<Record<keyof SqliteOptions, OptionCheck>> = {
  clock: CLOCK,
  driver: [(value) => SQLITE_DRIVERS.includes(value as SqliteDriverName), `one of ${SQLITE_DRIVERS.join(', ')}`],
  synchronous: [(value) => value === 'full' || value === 'normal', "'full' or 'normal'"],
  create: FLAG,
  readOnly: FLAG,
}

/** Has no effect once there is a first page: what is freed can then be given back to the system. */
export const BEFORE_FIRST_PAGE = 'PRAGMA auto_vacuum = INCREMENTAL'

/** The log is cut to this when it is reset. */
const MAX_LOG_BYTES = 16 * 1024 * 1024

/**
 * Opens a store in a SQLite file, which is made with rights for its owner alone. Rejects with a `LedgerError` if it
 * cannot be opened.
 * @example
 * const store = await openSqlite('./tasks.db', { synchronous: 'normal' })
 * const tasks = await openDurable(store)
 */
export async function openSqlite(file: string, options: SqliteOptions = {}): Promise<SqliteLedger> {
  expectOptions('openSqlite', options, CHECKS)
  const name = `sqlite:${file}`
  if ((options.create === false || options.readOnly === true) && isAbsent(file)) {
    throw new LedgerError('missing', `There is no ledger ${name}`)
  }
  if (options.readOnly === true) return openReadOnly(file, name, options)
  makePrivate(file)
  const database = await opened(file, name, options.driver)
  try {
    return await patiently(() => {
      // Whatever is asked first reads the file, and finds it locked while another process makes the schema.
      database.exec('PRAGMA busy_timeout = 0')
      database.exec(BEFORE_FIRST_PAGE)
      expectLog(database, file)
      database.exec(`PRAGMA journal_size_limit = ${MAX_LOG_BYTES}`)
      database.exec(`PRAGMA synchronous = ${options.synchronous === 'normal' ? 'NORMAL' : 'FULL'}`)
      // The queue does it, since SQLite would keep to itself that it failed.
      database.exec('PRAGMA wal_autocheckpoint = 0')
      migrate(database, name)
      return new SqliteLedger(database, name, new LedgerTime(options.clock), new OpenFiles(file))
    })
  } catch (error) {
    database.abandon()
    throw ledgerFailure(name, 'opened', error)
  }
}

async function openReadOnly(file: string, name: string, options: SqliteOptions): Promise<SqliteLedger> {
  let database: SqliteDatabase | undefined
  try {
    database = await openDatabase(file, options.driver, undefined, true)
    expectCurrent(database, name)
    return new SqliteLedger(database, name, new LedgerTime(options.clock))
  } catch (error) {
    database?.close()
    throw ledgerFailure(name, 'opened', error)
  }
}

async function opened(file: string, name: string, driver: SqliteDriverName | undefined): Promise<SqliteDatabase> {
  try {
    return await openDatabase(file, driver)
  } catch (error) {
    throw ledgerFailure(name, 'opened', error)
  }
}

/** What tasks are given is nobody else's business. The log gets the rights of the file. */
function makePrivate(file: string): void {
  if (file === ':memory:') return
  try {
    closeSync(openSync(file, 'ax', 0o600))
  } catch {
    // It is there already, or SQLite will say what is wrong.
  }
}

/** Tries again while another program holds the file, without blocking this one. */
async function patiently<T>(act: () => T): Promise<T> {
  const startMs = performance.now()
  for (;;) {
    try {
      return act()
    } catch (error) {
      if (resultCode(error) !== RESULT_CODES.BUSY || performance.now() - startMs > MAX_WAIT_MS) throw error
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 9))
    }
  }
}

/** SQLite keeps the mode it has, and says nothing, where the file system has no shared memory. */
function expectLog(database: SqliteDatabase, file: string): void {
  // By itself: whoever takes only the answer as a row does not hear that the change was not committed.
  database.exec('PRAGMA journal_mode = WAL')
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode').get() as { journal_mode: string }
  if (mode === 'wal' || mode === 'memory') return
  throw new Error(`${file} cannot have a write-ahead log (its journal mode stays ${mode}): put it on a local disk`)
}
