/**
 * A fresh database for a test, on one server for all workers and files of a run. The first who asks has it started by the
 * main process of vitest, through a port of its own (see `global-setup.ts`); it ends with that process. A server of your
 * own is used instead if REPRISE_TEST_POSTGRES names it. It is fast, not durable: fsync is off. Imports pg and the server.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { PostgresServer } from './server.js'

export interface TestDatabase {
  readonly url: string
  /** Connections that are still open are closed by the server. */
  drop(): Promise<void>
}

/** In the environment of the workers: whom to ask for the server. */
export const STARTER = 'REPRISE_TEST_POSTGRES_STARTER'

/** Outside of vitest: ends with this process. */
let own: Promise<PostgresServer> | undefined

export function startShared(): Promise<PostgresServer> {
  return PostgresServer.start({ fsync: false, maxConnections: 300, settings: { shared_buffers: '64MB' } })
}

async function serverUrl(): Promise<string> {
  const given = process.env['REPRISE_TEST_POSTGRES']
  if (given !== undefined && given !== '') return given
  const starter = process.env[STARTER]
  if (starter === undefined) return (await (own ??= startShared())).url
  const response = await fetch(starter)
  const said = await response.text()
  if (!response.ok) throw new Error(said)
  return said
}

export async function testDatabase(): Promise<TestDatabase> {
  const admin = await serverUrl()
  const name = `reprise_test_${randomBytes(8).toString('hex')}`
  // Nobody can be connected to template0, and so nobody is in the way.
  await execute(admin, `CREATE DATABASE ${name} TEMPLATE template0`)
  const url = new URL(admin)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => execute(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
