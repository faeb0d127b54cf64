/** Every connection notes what it wrote last. A note that is gone makes nobody believe that something was written. */
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
const admin = new pg.Client({ connectionString: database.url })
await admin.connect()
afterAll(async () => {
  await admin.end()
  await database.drop()
})

const KEY = { scopeKind: 'task', scope: 'mail', id: 'a' } as const
let schemas = 0
const opened: Ledger[] = []
afterEach(async () => {
  for (const ledger of opened.splice(0)) await ledger.close()
})

/** With the fewest connections, so that each is used again. */
async function open(): Promise<{ ledger: Ledger; schema: string }> {
  const schema = `writers_${schemas++}`
  const ledger = await openPostgres(`${database.url}?schema=${schema}&connections=2`)
  opened.push(ledger)
  return { ledger, schema }
}

function change(ledger: Ledger, changes: Partial<TaskRecord>, gates: readonly string[] = []): Promise<number> {
  return ledger.transact({ tasks: [KEY], gates }, (view) => ({
    tasks: [{ ...(view.task(KEY) as TaskRecord), ...changes }],
    result: 0,
  }))
}

const writersOf = async (schema: string): Promise<number> =>
  Number((await admin.query(`SELECT count(*) FROM ${schema}.writers WHERE id <> ''`)).rows[0].count)

describe('a note that is gone', () => {
  it.each([
    ['with locks', ['gate']],
    ['upon what is known', []],
  ])('while its connection lives: what is written %s is written all the same', async (_way, gates) => {
    const { ledger, schema } = await open()
    await ledger.create([newTask({ id: 'a', status: 'running', owner: 'me', dueAtMs: null })])
    for (let fence = 2; fence < 6; fence++) {
      await admin.query(`DELETE FROM ${schema}.writers`)
      await change(ledger, { fence }, gates)
      expect((await ledger.get(KEY))?.fence).toBe(fence)
    }
  })

  it('is not that of a connection whose first transaction was undone', async () => {
    const { ledger } = await open()
    await (await openPostgres(`${database.url}?schema=writers_${schemas - 1}`)).create([newTask({ id: 'a' })])
    for (let fence = 2; fence < 6; fence++) {
      await expect(change(ledger, { queue: 'not \0 a name' }, ['gate'])).rejects.toThrow('U+0000')
      await change(ledger, { fence }, ['gate'])
      expect((await ledger.get(KEY))?.fence).toBe(fence)
    }
  })
})

describe('notes', () => {
  it('are removed with their process, in order', async () => {
    const { ledger, schema } = await open()
    await ledger.create([newTask({ id: 'a' })])
    expect(await writersOf(schema)).toBeGreaterThan(0)
    await ledger.close()
    expect(await writersOf(schema)).toBe(0)
  })

  it('are removed a day after the last decision, and no sooner', async () => {
    const { ledger, schema } = await open()
    await ledger.create([newTask({ id: 'a' })])
    const before = await writersOf(schema)
    await admin.query(`INSERT INTO ${schema}.writers (id, decision, closed, since)
      SELECT 'w' || n, 1, n % 2 = 0, extract(epoch FROM clock_timestamp()) * 1000 - 86400000 + CASE WHEN n < 4 THEN -1 ELSE 60000 END
      FROM generate_series(0, 7) n`)
    await ledger.compact({ limit: 9 })
    expect(await writersOf(schema)).toBe(before + 8)
    expect((await ledger.compact({ ownersBeforeMs: 1, limit: 3 })).owners).toBe(0)
    expect(await writersOf(schema)).toBe(before + 5)
    await ledger.compact({ ownersBeforeMs: 1, limit: 3 })
    expect(await writersOf(schema)).toBe(before + 4)
  })

  it('say when the last decision was, however long ago the first', async () => {
    const { ledger, schema } = await open()
    await ledger.create([newTask({ id: 'a' })])
    await admin.query(`UPDATE ${schema}.writers SET since = 0`)
    await change(ledger, { fence: 2 }, ['gate'])
    await change(ledger, { fence: 3 }, ['gate'])
    const { rows } = await admin.query(`SELECT count(*) FROM ${schema}.writers
      WHERE since BETWEEN extract(epoch FROM clock_timestamp()) * 1000 - 60000 AND extract(epoch FROM clock_timestamp()) * 1000`)
    expect(Number(rows[0].count)).toBeGreaterThan(0)
  })
})
