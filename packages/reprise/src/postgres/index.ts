/** `reprise/postgres`: the ledger in PostgreSQL, for who opens it by himself. Re-exports only. */
export { checkPostgres, copyPostgres, inspectPostgres, pendingPostgresSql, restorePostgres } from './maintenance.js'
export { openPostgres, type PostgresOptions } from './open-postgres.js'
export { PostgresLedger } from './postgres-ledger.js'
