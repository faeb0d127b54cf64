/**
 * SQLite by the first driver that can be used: `node:sqlite` where the running Node has it, else `better-sqlite3` where
 * the user installed it, else `@photostructure/sqlite`, which comes prebuilt. A few methods, and only what all of them
 * bind alike: numbers, strings, null. Imports none of them until a database is opened, and by a name that no bundler
 * follows: the last two find their native file beside their own code.
 */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LedgerError } from '../ledger/errors.js'
import type { SqlValue } from '../ledger/rows.js'
import { isGlobalInstall } from './global-install.js'
import { type ConnectionClass, PrebuiltHandle } from './prebuilt-handle.js'

export interface SqliteStatement {
  run(...values: SqlValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
}

export interface SqliteDatabase {
  /** The module that it is opened by. */
  readonly driver: SqliteDriverName
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): void
  /** Closes without another write or sync, for a handle that has failed: the log stays for the next one to recover. */
  abandon(): void
}

type Connection = Omit<SqliteDatabase, 'abandon' | 'driver'>
/** `unsafeMode` switches off SQLite's defensive flag. */
type BetterConnection = Connection & { unsafeMode(): unknown }
/** A read-only handle is opened without SQLite's defensive flag: with it, a file that was cut off cannot be read. */
type Connect = (file: string, readOnly: boolean) => Connection
type Opener = (file: string, readOnly: boolean) => SqliteDatabase

/** In the order in which they are tried. */
export const SQLITE_DRIVERS = ['node:sqlite', 'better-sqlite3', '@photostructure/sqlite'] as const
/** The name of a driver package. */
export type SqliteDriverName = (typeof SQLITE_DRIVERS)[number]

/** Loads a module by its name. */
export type Importer = (name: SqliteDriverName) => Promise<unknown>

/** With `driver` that one and no other. */
export async function openDatabase(
  file: string,
  driver?: SqliteDriverName,
  load: Importer = (name) => import(name),
  readOnly = false,
): Promise<SqliteDatabase> {
  const refusals: Refusal[] = []
  for (const name of driver === undefined ? SQLITE_DRIVERS : [driver]) {
    try {
      const open = openerOf(name, await load(name))
      expectSafeVersion(open)
      return open(file, readOnly)
    } catch (error) {
      const reason = refusalReason(error)
      if (reason === undefined) throw error
      refusals.push({ driver: name, reason, error })
    }
  }
  throw missingDriver(refusals)
}

type RefusalReason = 'missing' | 'not built' | 'old'

/** Why a driver cannot be used. */
interface Refusal {
  readonly driver: SqliteDriverName
  readonly reason: RefusalReason
  readonly error: unknown
}

const NEWER_NODE = 'use Node 22.22.3, 24.15 or newer, which has one built in'
const INSTALL_PREBUILT = 'run `npm install @photostructure/sqlite@1.2` (it needs no compiler)'
const INSTALL_BETTER = 'run `npm install better-sqlite3@12`'

/** What to do about it; undefined where nothing but another driver helps. The easiest driver to install is first. */
const CURES: Readonly<Record<SqliteDriverName, Readonly<Record<RefusalReason, string | undefined>>>> = {
  '@photostructure/sqlite': { missing: INSTALL_PREBUILT, 'not built': undefined, old: INSTALL_PREBUILT },
  'better-sqlite3': { missing: INSTALL_BETTER, 'not built': 'run `npm rebuild better-sqlite3`', old: INSTALL_BETTER },
  'node:sqlite': { missing: NEWER_NODE, 'not built': NEWER_NODE, old: NEWER_NODE },
}

function missingDriver(refusals: readonly Refusal[]): MissingDriverError {
  const cures = Object.entries(CURES).flatMap(([driver, byReason]) => {
    const refusal = refusals.find((one) => one.driver === driver)
    return (refusal && byReason[refusal.reason]) ?? []
  })
  const cure = cures.length > 0 ? cures.join(', or ') : `${INSTALL_BETTER}, or ${NEWER_NODE}`
  const flag = isGlobalInstall(fileURLToPath(import.meta.url)) ? ' --global' : ''
  const tried = refusals.map(({ driver, reason, error }) => ({ driver, reason: reasonText(driver, reason, error) }))
  return new MissingDriverError(cure.replaceAll(/npm (?:install|rebuild)/g, `$&${flag}`), tried, refusals.at(-1)?.error)
}

/** No driver can be used. */
export class MissingDriverError extends LedgerError {
  /** What to do about it. */
  readonly cure: string
  readonly tried: readonly { readonly driver: SqliteDriverName; readonly reason: string }[]

  constructor(cure: string, tried: MissingDriverError['tried'], cause: unknown) {
    const list = tried.map(({ driver, reason }) => `${driver} (${reason})`).join(', ')
    super('missing_driver', `A SQLite ledger needs a driver: ${cure}. Tried: ${list}`, cause)
    this.cure = cure
    this.tried = tried
  }
}

function reasonText(driver: SqliteDriverName, reason: RefusalReason, error: unknown): string {
  if (reason === 'old') return (error as OldSqlite).message
  if (reason === 'not built') return 'installed, but not built for this system and Node'
  return driver === 'node:sqlite' ? `not in Node ${process.versions.node}` : 'not installed'
}

function refusalReason(error: unknown): RefusalReason | undefined {
  if (error instanceof OldSqlite) return 'old'
  if (isMissing(error)) return 'missing'
  return isNotBuilt(error) ? 'not built' : undefined
}

class OldSqlite extends Error {
  constructor(version: string) {
    const why = 'a bug in it can lose writes when several processes use one file'
    super(`SQLite ${version} is too old: ${why}; 3.51.3, 3.50.7 or 3.44.6 is needed`)
  }
}

/** Older ones may lose what was written when a WAL is reset while another process reads it. */
function expectSafeVersion(open: Opener): void {
  const nowhere = open(':memory:', false)
  const { version } = nowhere.prepare('SELECT sqlite_version() AS version').get() as { version: string }
  nowhere.close()
  const [, minor, patch] = version.split('.').map(Number) as [number, number, number]
  const isSafe =
    minor > 51 || (minor === 51 && patch >= 3) || (minor === 50 && patch >= 7) || (minor === 44 && patch >= 6)
  if (!isSafe) throw new OldSqlite(version)
}

function openerOf(name: SqliteDriverName, loaded: unknown): Opener {
  if (name === '@photostructure/sqlite') {
    const { DatabaseSync } = loaded as { DatabaseSync: ConnectionClass }
    return (file, readOnly) => new PrebuiltHandle(DatabaseSync, file, readOnly)
  }
  const connect = name === 'node:sqlite' ? connectByNode(loaded) : connectByBetter(loaded)
  return (file, readOnly) => new Handle(name, file, connect, readOnly)
}

/** Not there before Node 22.5, and not without a flag before 22.13. */
function connectByNode(loaded: unknown): Connect {
  const { DatabaseSync } = loaded as { DatabaseSync: new (file: string, options: object) => Connection }
  return (file, readOnly) => new DatabaseSync(file, readOnly ? { readOnly, defensive: false } : {})
}

function connectByBetter(loaded: unknown): Connect {
  const { default: Database } = loaded as { default: new (file: string, options: object) => BetterConnection }
  return (file, readonly) => {
    const connection = new Database(file, { timeout: 0, readonly })
    if (readonly) connection.unsafeMode()
    return connection
  }
}

/** A database by `node:sqlite` or `better-sqlite3`, which close the file with the connection. */
export class Handle implements SqliteDatabase {
  readonly driver: SqliteDriverName
  private readonly connection: Connection
  private readonly file: string
  private readonly connect: Connect

  constructor(driver: SqliteDriverName, file: string, connect: Connect, readOnly: boolean) {
    this.driver = driver
    this.connection = connect(file, readOnly)
    // As it is now: the program may go to another directory.
    this.file = file === ':memory:' ? file : resolve(file)
    this.connect = connect
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
      reader = this.connect(this.file, true)
      reader.prepare('SELECT count(*) FROM sqlite_schema').get()
    } catch {
      // Nothing can be read either: there is nothing that closing could make worse.
    }
    this.connection.close()
    reader?.close()
  }
}

const NO_MODULE = ['ERR_UNKNOWN_BUILTIN_MODULE', 'ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']

function isMissing(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  // Vite, and so Vitest, loads a module that throws this in place of an optional peer that is not installed.
  return NO_MODULE.includes(code as string) || /^Could not resolve ".+" imported by "/.test(String(message))
}

/** Install scripts may be switched off, and what was built for one version of Node or system is not for another. */
function isNotBuilt(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  // As `bindings` says it for `better-sqlite3`, and `node-gyp-build` for `@photostructure/sqlite`.
  const notFound = /Could not locate the bindings|No native build was found/
  return code === 'ERR_DLOPEN_FAILED' || (typeof message === 'string' && notFound.test(message))
}
