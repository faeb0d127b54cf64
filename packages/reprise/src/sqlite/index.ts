/**
 * `reprise/sqlite`: the ledger in a SQLite file, for programs that open it themselves. Re-exports only.
 */
export { SQLITE_DRIVERS, type SqliteDriverName } from './driver.js'
export { openSqlite, type SqliteOptions } from './open-sqlite.js'
export type { SqliteLedger } from './sqlite-ledger.js'
