/** `reprise/postgres`: the ledger in PostgreSQL, for programs that open it themselves. Re-exports only. */
export { openPostgres, type PostgresOptions } from './open-postgres.js'
export type { PostgresLedger } from './postgres-ledger.js'
