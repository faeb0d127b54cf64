/** Durable tasks that are started in a transaction of the program: both or neither. */
import { createRequire } from 'node:module'
import { openDurable, type Durable, type TaskHandle } from 'reprise/durable'
import type { Client, Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testDatabase } from './shared-server.js'

const pg = createRequire(new URL('../../packages/reprise/', import.meta.url))('pg') as {
  Client: new (config: object) => Client
  Pool: new (config: object) => Pool
}

const database = await testDatabase()
const other = await testDatabase()
const SCHEMA = 'within'
const address = `${database.url}?schema=${SCHEMA}`

let client: Client
let durable: Durable
let worker: Durable
let charge: TaskHandle<{ order: number }, string>
const ran: number[] = []

const define = (on: Durable): TaskHandle<{ order: number }, string> =>
  on.task('charge', { attempts: 2 }, ({ order }: { order: number }) => {
    ran.push(order)
    return `charged ${order}`
  })

async function connected(url = database.url): Promise<Client> {
  const one = new pg.Client({ connectionString: url })
  one.on('error', () => undefined)
  await one.connect()
  return one
}

beforeAll(async () => {
  durable = await openDurable(address, { concurrency: 1 })
  charge = define(durable)
  client = await connected()
  await client.query('CREATE TABLE orders (id int PRIMARY KEY)')
})
beforeEach(async () => {
  ran.length = 0
  worker = await openDurable(address)
  define(worker)
})
afterEach(async () => {
  await client.query('ROLLBACK')
  await worker.close()
})
afterAll(async () => {
  await client.end()
  await durable.close()
  await database.drop()
  await other.drop()
})

const isOrdered = async (id: number): Promise<boolean> =>
  (await client.query('SELECT 1 FROM orders WHERE id = $1', [id])).rows.length === 1

describe('a task that is started with a client', () => {
  it('is there with the row of the program once that is committed, and runs then', async () => {
    await client.query('BEGIN')
    await client.query('INSERT INTO orders VALUES (1)')
    expect(await charge.start({ order: 1 }, { id: 'order-1', client })).toEqual({ id: 'order-1' })
    expect(await charge.status('order-1')).toBeUndefined()
    expect(ran).toEqual([])
    await client.query('COMMIT')
    await expect(charge.run({ order: 1 }, { id: 'order-1' })).resolves.toBe('charged 1')
    expect(ran).toEqual([1])
    expect(await isOrdered(1)).toBe(true)
  })

  it('is not there, as the row of the program is not, after a rollback', async () => {
    await client.query('BEGIN')
    await client.query('INSERT INTO orders VALUES (2)')
    await charge.start({ order: 2 }, { id: 'order-2', client })
    await client.query('ROLLBACK')
    expect(await charge.status('order-2')).toBeUndefined()
    expect(await isOrdered(2)).toBe(false)
    // The id is free.
    await charge.start({ order: 20 }, { id: 'order-2' })
    await expect(charge.run({ order: 20 }, { id: 'order-2' })).resolves.toBe('charged 20')
  })

  it('is not there when the program crashes before the commit', async () => {
    const crashing = await connected()
    await crashing.query('BEGIN')
    await crashing.query('INSERT INTO orders VALUES (3)')
    await charge.start({ order: 3 }, { id: 'order-3', client: crashing })
    const { rows } = await crashing.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    await client.query('SELECT pg_terminate_backend($1, 10000)', [rows[0]?.pid])
    expect(await charge.status('order-3')).toBeUndefined()
    expect(await isOrdered(3)).toBe(false)
    await crashing.end().catch(() => undefined)
  })

  it('is the same task for two transactions with one id and payload at once', async () => {
    const second = await connected()
    for (const one of [client, second]) await one.query('BEGIN')
    await charge.start({ order: 4 }, { id: 'order-4', client })
    const waiting = charge.start({ order: 4 }, { id: 'order-4', client: second })
    await client.query('COMMIT')
    expect(await waiting).toEqual({ id: 'order-4' })
    await second.query('COMMIT')
    await second.end()
    await expect(charge.run({ order: 4 }, { id: 'order-4' })).resolves.toBe('charged 4')
    expect(ran).toEqual([4])
  })

  it('is started by the second of two transactions when the first is rolled back', async () => {
    const second = await connected()
    for (const one of [client, second]) await one.query('BEGIN')
    await charge.start({ order: 5 }, { id: 'order-5', client })
    const waiting = charge.start({ order: 50 }, { id: 'order-5', client: second })
    await client.query('ROLLBACK')
    expect(await waiting).toEqual({ id: 'order-5' })
    await second.query('COMMIT')
    await second.end()
    await expect(charge.run({ order: 50 }, { id: 'order-5' })).resolves.toBe('charged 50')
  })

  it('is refused with another input, and the transaction goes on', async () => {
    await charge.start({ order: 6 }, { id: 'order-6' })
    await client.query('BEGIN')
    await expect(charge.start({ order: 60 }, { id: 'order-6', client })).rejects.toMatchObject({ kind: 'conflict' })
    expect(await charge.start({ order: 6 }, { id: 'order-6', client })).toEqual({ id: 'order-6' })
    await client.query('INSERT INTO orders VALUES (6)')
    await client.query('COMMIT')
    expect(await isOrdered(6)).toBe(true)
  })

  it('is told to workers by the commit, and not by their next look', async () => {
    const listener = await connected()
    const heard: string[] = []
    listener.on('notification', ({ channel }) => heard.push(channel))
    await listener.query(`LISTEN reprise_${SCHEMA}`)
    await client.query('BEGIN')
    await charge.start({ order: 7 }, { id: 'order-7', client })
    await listener.query('SELECT 1')
    const before = heard.length
    await client.query('COMMIT')
    await expect.poll(() => heard.length).toBeGreaterThan(before)
    await listener.end()
  })

  it('counts in its tally once it is committed', async () => {
    const counted = worker.task('counted', { attempts: 1 }, () => 'done', { tally: () => 'orders' })
    const { sharedLedger } = await import('reprise/internal')
    for (const end of ['ROLLBACK', 'COMMIT']) {
      await client.query('BEGIN')
      await counted.start(null, { id: 'c', client })
      await client.query(end)
    }
    await counted.run(null, { id: 'c' })
    expect(await sharedLedger(worker).tally('orders')).toMatchObject({ total: 1, succeeded: 1, fresh: 0 })
  })
})

describe('a client is refused', () => {
  it('of another database', async () => {
    const stranger = await connected(other.url)
    await stranger.query('BEGIN')
    const started = charge.start({ order: 8 }, { id: 'order-8', client: stranger })
    await expect(started).rejects.toThrow('the client is connected to another database')
    // Its transaction is none the worse.
    expect((await stranger.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await stranger.end()
  })

  it('that is a pool, whose statements are no transaction', async () => {
    const pool = new pg.Pool({ connectionString: database.url })
    await expect(charge.start({ order: 9 }, { id: 'order-9', client: pool })).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining('pool.connect()'),
    })
    await pool.end()
  })

  it.each(['memory:', 'sqlite'])('by %s, which shares no transaction with programs', async (kind) => {
    const { mkdtempSync, rmSync } = await import('node:fs')
    const directory = mkdtempSync('/tmp/reprise-within-')
    const tasks = await openDurable(kind === 'sqlite' ? `sqlite:${directory}/t.db` : kind)
    const task = define(tasks)
    await expect(task.start({ order: 1 }, { id: 'a', client })).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringMatching(/client: the store .* open durable tasks on PostgreSQL, or leave client out/),
    })
    expect(await task.status('a')).toBeUndefined()
    await tasks.close()
    rmSync(directory, { recursive: true })
  })

  it('by run, which would wait for a task that nobody sees', async () => {
    await expect(charge.run({ order: 1 }, { id: 'r', client } as never)).rejects.toMatchObject({
      code: 'invalid_options',
    })
  })
})
