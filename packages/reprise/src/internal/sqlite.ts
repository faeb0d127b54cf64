/**
 * `reprise/internal/sqlite`: looks after SQLite files for `@reprise/cli`: facts, checks, copies, pending migrations. An
 * entry of its own, so that a program loads the adapter only for its kind of store. No promise of stability.
 * Re-exports only.
 */
export {
  checkSqlite,
  missingDriverCure,
  salvageSqlite,
  type Salvage,
  sqliteDrivers,
} from '../sqlite/integrity.js'
export {
  copySqlite,
  expectSqliteLedger,
  inspectSqlite,
  pendingSqliteSql,
  readSqlite,
  writeSqliteCopy,
} from '../sqlite/maintenance.js'
export { SCHEMA_VERSION } from '../sqlite/migrations.js'
