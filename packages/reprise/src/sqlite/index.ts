/**
 * `reprise/sqlite`: the ledger in a SQLite file, for programs that open it themselves. Re-exports only.
 */
export { SQLITE_DRIVERS, type SqliteDriverName } from './driver.js'
export {
  checkSqlite,
  type DriverReport,
  missingDriverCure,
  salvageSqlite,
  type Salvage,
  sqliteDrivers,
} from './integrity.js'
export {
  copySqlite,
  expectSqliteLedger,
  inspectSqlite,
  pendingSqliteSql,
  readSqlite,
  writeSqliteCopy,
} from './maintenance.js'
export { SCHEMA_VERSION } from './migrations.js'
export { openSqlite, type SqliteOptions } from './open-sqlite.js'
export type { SqliteLedger } from './sqlite-ledger.js'
