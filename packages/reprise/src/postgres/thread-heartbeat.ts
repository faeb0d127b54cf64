/**
 * How a second thread renews an owner's row in PostgreSQL: by a connection that lives for one statement. Imports Node's
 * modules and its own layer.
 */
import { createRequire } from 'node:module'
import type { ThreadHeartbeat } from '../ledger/ledger.js'
import type { PostgresAddress } from './address.js'
import { CLOCK } from './connections.js'

const CONNECT = `
  const { module, connectionString, text } = data
  const { Client } = require(module)
  return async (owner, leaseMs) => {
    const client = new Client({
      connectionString,
      application_name: 'reprise heartbeat',
      connectionTimeoutMillis: leaseMs,
      query_timeout: leaseMs,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query(text, [owner, leaseMs])
    } finally {
      await client.end()
    }
  }
`

/** Undefined where the driver cannot be found again. */
export function postgresHeartbeat({ connectionString, schema }: PostgresAddress): ThreadHeartbeat | undefined {
  const until = `to_jsonb(${CLOCK} + $2::float8)`
  const text = `UPDATE ${schema}.owners SET record = jsonb_set(record::jsonb, '{leaseUntilMs}', ${until})::text WHERE id = $1`
  try {
    const module = createRequire(import.meta.url).resolve('pg')
    return { connect: CONNECT, data: { module, connectionString, text } }
  } catch {
    return undefined
  }
}
