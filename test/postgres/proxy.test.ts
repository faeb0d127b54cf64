/** The network that fails on purpose, shown with a plain client: what the server has, and what the client was told. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../faults/rig.js'
import { type CutMoment, PostgresProxy } from './proxy.js'
import { type TestDatabase, testDatabase } from './shared-server.js'
import { ClientStream, doesCommit, statusAfter } from './wire.js'

let database: TestDatabase
let proxy: PostgresProxy
/** Past the proxy. */
let direct: pg.Client
const clients: pg.Client[] = []

async function connectTo(url: string): Promise<pg.Client> {
  const config = { connectionString: url, pipeline: true }
  const client = new pg.Client(config)
  client.on('error', () => undefined)
  await client.connect()
  return client
}

beforeAll(async () => {
  database = await testDatabase()
  direct = await connectTo(database.url)
  await direct.query('CREATE TABLE rows (n int PRIMARY KEY)')
})
afterAll(async () => {
  await direct.end()
  await database.drop()
})

beforeEach(async () => {
  proxy = await PostgresProxy.listen(Number(new URL(database.url).port))
})
afterEach(async () => {
  await proxy.close()
  await Promise.all(clients.splice(0).map((client) => client.end()))
  // A connection that was cut may still commit: its row would be there in the next test.
  while ((await backends()) > 0);
  await direct.query('DELETE FROM rows')
})

async function through(): Promise<pg.Client> {
  const client = await connectTo(proxy.urlOf(database.url))
  clients.push(client)
  return client
}

async function rows(): Promise<number[]> {
  const found = await direct.query<{ n: number }>('SELECT n FROM rows ORDER BY n')
  return found.rows.map(({ n }) => n)
}

async function backends(): Promise<number> {
  const sql =
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
  return (await direct.query<{ n: number }>(sql)).rows[0]?.n ?? 0
}

type Commit = (client: pg.Client, n: number) => Promise<unknown>

/** The ways in which something is made durable. */
const COMMITS: Readonly<Record<string, Commit>> = {
  'a transaction': async (client, n) => {
    await client.query('BEGIN')
    await client.query('INSERT INTO rows VALUES ($1)', [n])
    await client.query('COMMIT')
  },
  'a statement of its own': (client, n) => client.query('INSERT INTO rows VALUES ($1)', [n]),
  'a prepared statement': (client, n) =>
    client.query({ name: 'add', text: 'INSERT INTO rows VALUES ($1)', values: [n] }),
  'a transaction that is sent at once': async (client, n) => {
    const parts = ['BEGIN', `INSERT INTO rows VALUES (${n})`, 'COMMIT'].map((text) => client.query(text))
    for (const result of await Promise.allSettled(parts)) if (result.status === 'rejected') throw result.reason
  },
  'several at once': (client, n) => client.query(`BEGIN; INSERT INTO rows VALUES (${n}); COMMIT`),
}

describe.each(Object.entries(COMMITS))('a connection that is cut at the commit of %s', (_, commit) => {
  async function cut(moment: CutMoment): Promise<number[]> {
    const client = await through()
    await commit(client, 1)
    const done = proxy.cutAtCommit(moment, 2)
    await commit(client, 2)
    await expect(commit(client, 3)).rejects.toThrow(/ECONNRESET|terminated/)
    expect(await done).toMatch(/COMMIT|INSERT/)
    expect(proxy.commits).toBe(3)
    return rows()
  }

  it('has not happened if it was cut before', async () => {
    expect(await cut('before')).toEqual([1, 2])
  })

  it('has happened if it was cut after the answer', async () => {
    expect(await cut('after')).toEqual([1, 2, 3])
  })

  it('happens later, long after the client was told, if it was on its way', async () => {
    expect(await cut('on the way of')).toEqual([1, 2, 3])
  })

  it('has happened if it was cut after the answer over a slow network', async () => {
    proxy.delayMs = 1.5
    expect(await cut('after')).toEqual([1, 2, 3])
  })

  it('has happened wholly or not at all if it was cut in between', async () => {
    expect((await cut('during')).slice(0, 2)).toEqual([1, 2])
    await waitFor(() => proxy.connections === 0, 'both ends are closed')
  })
})

describe('a network that is silent', () => {
  it('delivers late what was sent meanwhile', async () => {
    const client = await through()
    proxy.silenceAll()
    let isAnswered = false
    const inserted = client.query('INSERT INTO rows VALUES (1)').then(() => (isAnswered = true))
    expect(await rows()).toEqual([])
    expect(isAnswered).toBe(false)
    proxy.heal('late')
    await inserted
    expect(await rows()).toEqual([1])
  })

  it('may be so for answers alone', async () => {
    const client = await through()
    proxy.silenceAll('answers')
    const inserted = client.query('INSERT INTO rows VALUES (1)')
    inserted.catch(() => undefined)
    while ((await rows()).length === 0);
    proxy.heal('reset')
    await expect(inserted).rejects.toThrow(/ECONNRESET|terminated/)
  })

  it('does not tell the server that the client has hung up', async () => {
    const client = await through()
    await client.query('BEGIN')
    await client.query('INSERT INTO rows VALUES (1)')
    proxy.silenceAll()
    await client.end()
    expect(await backends()).toBe(1)
    proxy.heal('late')
    while ((await backends()) > 0);
    expect(await rows()).toEqual([])
  })

  it('may be only slow', async () => {
    const client = await through()
    proxy.delayMs = 30
    const startMs = performance.now()
    await client.query('INSERT INTO rows VALUES (1)')
    expect(performance.now() - startMs).toBeGreaterThan(55)
    proxy.delayMs = 0
    await client.query('INSERT INTO rows VALUES (2)')
    expect(await rows()).toEqual([1, 2])
  })
})

describe('a unit of messages', () => {
  const query = (text: string): Buffer => {
    const body = Buffer.from(`${text}\0`)
    const head = Buffer.alloc(5)
    head.write('Q')
    head.writeInt32BE(body.length + 4, 1)
    return Buffer.concat([head, body])
  }
  const start = Buffer.from([0, 0, 0, 9, 0, 3, 0, 0, 0])

  it('is found however its bytes come', () => {
    const stream = new ClientStream(() => undefined)
    const bytes = Buffer.concat([start, query('BEGIN'), query('COMMIT')])
    const units = [...bytes].flatMap((byte) => stream.read(Buffer.from([byte])))
    expect(units.map(({ texts }) => texts)).toEqual([[], ['BEGIN'], ['COMMIT']])
    expect(Buffer.concat(units.map((unit) => unit.bytes))).toEqual(bytes)
  })

  it('commits if it ends a transaction, or writes without one', () => {
    const unit = (text: string) => ({ texts: [text] })
    expect(doesCommit(unit('COMMIT'), 'T')).toBe(true)
    expect(doesCommit(unit('COMMIT'), 'E')).toBe(false)
    expect(doesCommit(unit('UPDATE a SET b = 1'), 'T')).toBe(false)
    expect(doesCommit(unit('WITH x AS (UPDATE a SET b = 1 RETURNING b) SELECT b FROM x'), 'I')).toBe(true)
    expect(doesCommit(unit('SELECT 1'), 'I')).toBe(false)
    expect(doesCommit(unit('BEGIN'), 'I')).toBe(false)
    expect(statusAfter(unit('BEGIN'), 'I')).toBe('T')
    expect(statusAfter(unit('ROLLBACK TO here'), 'T')).toBe('T')
    expect(statusAfter(unit('ROLLBACK'), 'E')).toBe('I')
  })
})
