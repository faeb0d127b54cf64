/**
 * `reprise/internal/postgres`: looks after a ledger in PostgreSQL for `@reprise/cli`: facts, checks, copies, pending
 * migrations. An entry of its own, so that a program loads the adapter only for its kind of store. No promise of
 * stability. Re-exports only.
 */
export {
  checkPostgres,
  copyPostgres,
  inspectPostgres,
  pendingPostgresSql,
  restorePostgres,
} from '../postgres/maintenance.js'
