/** A database of a server as the place of a scenario's ledger. Imports the store's type, the open and pg. */
import { openLedger } from '../../packages/reprise/src/open/open-durable.js'
import type { Store } from '../crash/store.js'
import { Operator } from './server-faults.js'

/** All tables and indexes of the ledger, row by row, as the server's own checker sees them. */
const DAMAGE = `
  SELECT format('%s: %s', c.relname, v.msg) AS said FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
    LATERAL verify_heapam(c.oid) v
  WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`
const INDEXES = `
  SELECT bt_index_check(c.oid, true), c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_am a ON a.oid = c.relam
  WHERE c.relkind = 'i' AND a.amname = 'btree' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`

/** `through`: what its processes are told, where that is not the server itself. */
export function postgresStore(url: string, through = url): Store {
  return {
    address: through,
    // Whoever opens it first makes it.
    isThere: async () => true,
    open: () => openLedger(url),
    damage: async () => {
      const operator = await Operator.connect(url)
      try {
        await operator.query('CREATE EXTENSION IF NOT EXISTS amcheck')
        const found = await operator.query<{ said: string }>(DAMAGE)
        // It answers with an error if there is something to say.
        const broken = await operator.query(INDEXES).then(
          () => [],
          (error: unknown) => [String(error)],
        )
        return [...found.map(({ said }) => said), ...broken]
      } finally {
        await operator.end()
      }
    },
  }
}
