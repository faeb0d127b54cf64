/** Tasks are made in the order of their keys: two who make the same ones wait for each other, and for nothing else. */
import pg from 'pg'
import { afterAll, expect, it, vi } from 'vitest'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
/** Holds one of the tasks; who makes it waits. */
const holder = new pg.Client(database.url)
await holder.connect()
const observer = new pg.Client(database.url)
await observer.connect()
afterAll(async () => {
  await holder.end()
  await observer.end()
  await database.drop()
})

async function count(sql: string): Promise<number> {
  return Number((await observer.query<{ n: string }>(sql)).rows[0]?.n)
}

const OTHERS = `SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'reprise'`

it('the same ids in opposite order never deadlock', async () => {
  const [one, other] = [await openPostgres(database.url), await openPostgres(database.url)]
  const tasks = Array.from({ length: 21 }, (_, index) => newTask({ id: `x${String(index).padStart(2, '0')}` }))
  // Both stop in the middle: each has made half of what the other wants, unless they go the same way.
  await one.create(tasks.slice(10, 11))
  await holder.query(`BEGIN; DELETE FROM reprise.tasks WHERE id = 'x10'`)
  const both = Promise.all([one.create(tasks), other.create(tasks.toReversed())])
  await vi.waitFor(async () => expect(await count(`${OTHERS} AND wait_event_type = 'Lock'`)).toBe(2), {
    timeout: 20_000,
    interval: 10,
  })
  await holder.query('COMMIT')
  const [told, toldOther] = await both
  // Each was made by one of them.
  const made = [...told, ...toldOther].filter(({ type }) => type === 'created').map(({ task }) => task.id)
  expect(made.toSorted()).toEqual(tasks.map(({ task }) => task.id))
  await one.close()
  await other.close()
  // A connection tells what it has seen at its end.
  await vi.waitFor(async () => expect(await count(OTHERS)).toBe(0), { timeout: 20_000, interval: 10 })
  expect(await count('SELECT deadlocks AS n FROM pg_stat_database WHERE datname = current_database()')).toBe(0)
})
