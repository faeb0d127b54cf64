/**
 * Opens a SQLite file as a ledger: the driver, the settings that durability needs, the version check, the schema.
 * Imports its own layer.
 */
import { LedgerError } from '../ledger/errors.js'
import { BUSY, openDatabase, resultCode, type SqliteDatabase, type SqliteDriverName } from './driver.js'
import { migrate } from './migrations.js'
import { SqliteLedger } from './sqlite-ledger.js'

export interface SqliteOptions {
  /** The ledger's time; milliseconds since the epoch. */
  readonly clock: () => number
  readonly driver?: SqliteDriverName
  /** `normal` is faster, and loses the last commits when the power fails; a crash of the process loses nothing. */
  readonly synchronous?: 'full' | 'normal'
}

const MAX_WAIT_MS = 30_000

export async function openSqlite(file: string, options: SqliteOptions): Promise<SqliteLedger> {
  const name = `sqlite:${file}`
  const database = await opened(file, name, options.driver)
  try {
    database.exec('PRAGMA busy_timeout = 0')
    // Reading too finds the file locked, while another process mends what a killed one left.
    return await patiently(name, () => {
      checkVersion(database)
      database.exec('PRAGMA journal_mode = WAL')
      database.exec(`PRAGMA synchronous = ${options.synchronous === 'normal' ? 'NORMAL' : 'FULL'}`)
      migrate(database, name)
      return new SqliteLedger(database, name, options.clock)
    })
  } catch (error) {
    database.close()
    if (error instanceof LedgerError) throw error
    throw new LedgerError('unusable', `The ledger ${name} cannot be opened: ${(error as Error).message}`, error)
  }
}

async function opened(file: string, name: string, driver: SqliteDriverName | undefined): Promise<SqliteDatabase> {
  try {
    return await openDatabase(file, driver)
  } catch (error) {
    if (error instanceof LedgerError) throw error
    throw new LedgerError('unusable', `The ledger ${name} cannot be opened: ${(error as Error).message}`, error)
  }
}

/** Tries again while another program holds the file, without blocking this one. */
async function patiently<T>(name: string, act: () => T): Promise<T> {
  const startMs = performance.now()
  for (;;) {
    try {
      return act()
    } catch (error) {
      if (resultCode(error) !== BUSY) throw error
      if (performance.now() - startMs > MAX_WAIT_MS) {
        throw new LedgerError('busy', `The ledger ${name} has been locked by another program for 30 s`, error)
      }
      await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 9))
    }
  }
}

/** Older ones may lose what was written when a WAL is reset while another process reads it. */
function checkVersion(database: SqliteDatabase): void {
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string }
  const [, minor, patch] = version.split('.').map(Number) as [number, number, number]
  const isSafe =
    minor > 51 || (minor === 51 && patch >= 3) || (minor === 50 && patch >= 7) || (minor === 44 && patch >= 6)
  if (isSafe) return
  const why = 'it has a bug that can lose writes when several processes use one file'
  throw new LedgerError('unusable', `SQLite ${version} is too old (${why}): 3.51.3, 3.50.7 or 3.44.6 is needed`)
}
