/** Claims that take all that they have room for do not look at the tasks again that are done. */
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { NO_FLOOR } from '../../packages/reprise/src/postgres/due-floor.js'
import { statementsOf } from '../../packages/reprise/src/postgres/statements.js'
import { testDatabase } from './shared-server.js'
import { clockReading } from '../clock-reading.js'

const database = await testDatabase()
const admin = new pg.Client({ connectionString: database.url })
await admin.connect()
afterAll(async () => {
  await admin.end()
  await database.drop()
})

const QUEUE = { queue: 'job', policyHash: 'p' }

/** Fresh tasks that are due at their numbers, which are in the table in another order: what is looked at counts as a page. */
async function fill(schema: string, first: number, last: number): Promise<void> {
  const progress = JSON.stringify({
    retry: { version: 1, seed: 1, launched: 0, failures: 0, lastDelayMs: 0, totalDelayMs: 0, deadlineAtMs: null },
    current: null,
    interruptions: 0,
    lastFailure: null,
  })
  await admin.query(
    `INSERT INTO ${schema}.tasks (pk, scope_kind, scope, id, queue, generation, status, due_at, fence, progress,
       policy_hash, payload_hash, input, correlation_id, created_at, updated_at)
     SELECT i, 'task', 'job', 't' || i, 'job', 1, 'waiting', i, 0, $3, 'p', 'h', 'null', 'c', i, i
     FROM generate_series($1::int, $2::int) AS i ORDER BY md5(i::text)`,
    [first, last, progress],
  )
}

it('a claim passes over done tasks that somebody may still see waiting, and the next one begins after them', async () => {
  const schema = 'old_snapshot'
  await (await openPostgres(`${database.url}?schema=${schema}`)).close()
  await fill(schema, 1, 3000)
  const reader = new pg.Client({ connectionString: database.url })
  await reader.connect()
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await reader.query(`SELECT 1 FROM ${schema}.tasks LIMIT 1`)
  await admin.query(`UPDATE ${schema}.tasks SET status = 'succeeded', due_at = NULL WHERE pk <= 2900`)
  const pagesFrom = async (dueAtMs: number): Promise<number> => {
    const { text } = statementsOf(schema).claimOne
    const { rows } = await admin.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
      [QUEUE.queue, QUEUE.policyHash, 5000, 50, dueAtMs],
    )
    const plan = rows[0]?.['QUERY PLAN'][0].Plan
    return (plan?.['Shared Hit Blocks'] ?? NaN) + (plan?.['Shared Read Blocks'] ?? NaN)
  }
  const [fromTheBeginning, after] = [await pagesFrom(NO_FLOOR), await pagesFrom(2900)]
  await reader.end()
  expect(fromTheBeginning).toBeGreaterThan(2000)
  expect(after).toBeLessThan(fromTheBeginning / 5)
})

it('a task that another process records with an earlier time is claimed as soon as there is room for it', async () => {
  const schema = 'late_commit'
  const ledger = await openPostgres(`${database.url}?schema=${schema}`, { clock: clockReading(() => 5000) })
  await fill(schema, 11, 15)
  const claim = async (limit: number): Promise<readonly string[]> =>
    ledger.claim({ queues: [QUEUE], limit }, (task) => ({
      result: task.id,
      tasks: [{ ...task, status: 'running', owner: 'me', fence: 1, dueAtMs: null }],
    }))
  expect(await claim(2)).toEqual(['t11', 't12'])
  await fill(schema, 1, 1)
  expect(await claim(2)).toEqual(['t13', 't14'])
  expect(await claim(2)).toEqual(['t1', 't15'])
  await ledger.close()
})
