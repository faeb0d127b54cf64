/** LISTEN and NOTIFY between two ledgers: a hint for others, none for oneself, and again after a lost connection. */
import pg from 'pg'
import { afterAll, expect, test, vi } from 'vitest'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
afterAll(() => database.drop())
let ids = 0
const due = (): ReturnType<typeof newTask> => newTask({ id: `t${ids++}`, dueAtMs: 1 })

test('who listens hears that another process has made a task due, and nothing of what is not due yet', async () => {
  const [listening, writing] = [await openPostgres(database.url), await openPostgres(database.url)]
  const [heard, own] = [vi.fn(), vi.fn()]
  await listening.listen(heard)
  await writing.listen(own)
  await writing.create([newTask({ id: 'later', dueAtMs: Date.now() + 3_600_000 })])
  await writing.create([newTask({ id: 'runs', status: 'running', owner: 'x', dueAtMs: null })])
  expect(heard).not.toHaveBeenCalled()
  await writing.create([due()])
  await vi.waitFor(() => expect(heard).toHaveBeenCalled(), { timeout: 20_000 })
  // The other one's word comes after its own, if there had been any.
  await listening.create([due()])
  await vi.waitFor(() => expect(own).toHaveBeenCalledTimes(1), { timeout: 20_000 })
  await listening.close()
  await writing.close()
})

test('a connection that is lost is made again, and what was missed is looked for', async () => {
  const [listening, writing] = [await openPostgres(database.url), await openPostgres(database.url)]
  const heard = vi.fn()
  await listening.listen(heard)
  const client = new pg.Client(database.url)
  await client.connect()
  const { rowCount } = await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE query LIKE 'LISTEN%' AND datname = current_database()`)
  expect(rowCount).toBe(1)
  // Without anybody's word: something may have been said meanwhile.
  await vi.waitFor(() => expect(heard).toHaveBeenCalledTimes(1), { timeout: 20_000 })
  await vi.waitFor(
    async () => {
      await writing.create([due()])
      expect(heard.mock.calls.length).toBeGreaterThan(1)
    },
    { timeout: 20_000, interval: 100 },
  )
  await client.end()
  await listening.close()
  await writing.close()
})

test('who has stopped listening hears nothing, and holds no connection for it', async () => {
  const [listening, writing] = [await openPostgres(database.url), await openPostgres(database.url)]
  const heard = vi.fn()
  const stop = await listening.listen(heard)
  stop()
  await writing.create([due()])
  const client = new pg.Client(database.url)
  await client.connect()
  const listeners = async (): Promise<number | null> => {
    const { rowCount } = await client.query(`SELECT 1 FROM pg_stat_activity
      WHERE query LIKE 'LISTEN%' AND datname = current_database()`)
    return rowCount
  }
  await vi.waitFor(async () => expect(await listeners()).toBe(0), { timeout: 20_000 })
  expect(heard).not.toHaveBeenCalled()
  await client.end()
  await listening.close()
  await writing.close()
})
