/**
 * Why the row of a gate is locked before anything is decided: one statement looks as if it could not give too much, and
 * under READ COMMITTED it does. If this trap is ever gone, what is said about it in the architecture is out of date.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { openLedger } from '../../packages/reprise/src/open/open-durable.js'
import { testDatabase, type TestDatabase } from '../postgres/shared-server.js'

const CONNECTIONS = 60
const LIMIT = 20
const LOCK = 7

/** Whoever asks waits for the lock in the middle of the statement; its view of the table is from before. */
const ASK = `INSERT INTO granted (asker)
  SELECT $1 FROM (SELECT pg_advisory_xact_lock_shared(${LOCK})) AS held WHERE (SELECT count(*) FROM granted) < ${LIMIT}`

let database: TestDatabase

beforeAll(async () => {
  database = await testDatabase()
}, 90_000)
afterAll(() => database?.drop())

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return client
}

async function untilAllWait(client: pg.Client): Promise<void> {
  const waiting = `SELECT count(*)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
  while ((await client.query<{ count: number }>(waiting)).rows[0]?.count !== CONNECTIONS)
    await new Promise((resolve) => setTimeout(resolve, 5))
}

describe(`what ${CONNECTIONS} connections that ask at once are given of ${LIMIT}`, () => {
  it('is too much, if one statement counts and inserts', async () => {
    const holder = await connect()
    await holder.query('CREATE TABLE granted (asker int NOT NULL)')
    await holder.query(`SELECT pg_advisory_lock(${LOCK})`)
    const askers = await Promise.all(Array.from({ length: CONNECTIONS }, connect))
    const asked = askers.map((asker, index) => asker.query(ASK, [index]))
    await untilAllWait(holder)
    await holder.query(`SELECT pg_advisory_unlock(${LOCK})`)
    const granted = (await Promise.all(asked)).reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0)
    expect(granted).toBeGreaterThan(LIMIT)
    await Promise.all([holder, ...askers].map((client) => client.end()))
  })

  it('is that and no more, if a ledger locks the gate first, also one that is not there yet', async () => {
    const ledgers = await Promise.all(Array.from({ length: CONNECTIONS }, () => openLedger(database.url)))
    const grants = await Promise.all(ledgers.flatMap((ledger) => [ask(ledger), ask(ledger)]))
    expect(grants.filter(Boolean).length).toBe(LIMIT)
    expect(await ledgers[0]?.gates()).toMatchObject([{ key: 'budget:count', state: { used: LIMIT } }])
    await Promise.all(ledgers.map((ledger) => ledger.close()))
  })
})

function ask(ledger: Ledger): Promise<boolean> {
  const key = 'budget:count'
  return ledger.transact<boolean>({ tasks: [], gates: [key] }, (view) => {
    const { used } = (view.gate(key)?.state ?? { used: 0 }) as { used: number }
    if (used >= LIMIT) return { result: false }
    return { gates: [{ key, kind: 'budget', state: { used: used + 1 } }], result: true }
  })
}
