/**
 * Very many tasks from one that the library recorded: its copies after an attempt, made by the database, since a million by
 * themselves would take minutes. Imports pg.
 */
import type pg from 'pg'

const SAME = 'scope_kind, scope, queue, payload_hash, policy_hash, generation, input, correlation_id, created_at'
/** Keys are given out in blocks of this size. */
const BLOCK = 1000
const FAILURE = JSON.stringify({ name: 'Error', message: 'no' })

/**
 * `waiting` copies that wait for an hour after a failed attempt, and `done` ones that succeeded at the first. The task that
 * they are copies of is named by its id.
 */
export async function addCopies(client: pg.Client, id: string, waiting: number, done: number): Promise<void> {
  const first = await takeKeys(client, waiting + done)
  const values = [id, first, waiting, waiting + done]
  await client.query(
    `INSERT INTO reprise.tasks (pk, id, status, claim_rank, due_at, fence, progress, result, updated_at, attempts_kept, ${SAME})
    SELECT $2::int8 + i, 'copy-' || $2::int8 + i, CASE WHEN i <= $3::int8 THEN 'waiting' ELSE 'succeeded' END, 1,
      CASE WHEN i <= $3::int8 THEN due_at + 3600000 + i END, 1,
      CASE WHEN i <= $3::int8
        THEN replace(replace(progress, '"failures":0,"launched":0', '"failures":1,"launched":1'),
          '"lastFailure":null', '"lastFailure":${FAILURE}')
        ELSE replace(progress, '"launched":0', '"launched":1') END,
      CASE WHEN i <= $3::int8 THEN NULL ELSE input END, updated_at, 1, ${SAME}
    FROM reprise.tasks, generate_series(1, $4::int8) AS i WHERE id = $1::text`,
    values,
  )
  await client.query(
    `INSERT INTO reprise.attempts (task, generation, attempt, execution, started_at, ended_at, outcome, delay_before,
      failure, signature, owner)
    SELECT pk, 1, 1, 1, created_at, created_at, CASE status WHEN 'waiting' THEN 'failure' ELSE 'success' END, 0,
      CASE status WHEN 'waiting' THEN '${FAILURE}' END,
      CASE status WHEN 'waiting' THEN 'Error: no' END, 'somebody'
    FROM reprise.tasks WHERE pk > $1::int8 AND pk <= $1::int8 + $2::int8 AND attempts_kept = 1`,
    [first, waiting + done],
  )
}

/** As many copies that wait for an hour and have made no attempt. */
export async function addFreshCopies(client: pg.Client, id: string, count: number): Promise<void> {
  await client.query(
    `INSERT INTO reprise.tasks (pk, id, status, due_at, fence, progress, updated_at, ${SAME})
    SELECT $2::int8 + i, 'copy-' || $2::int8 + i, status, due_at + 3600000 + i, fence, progress, updated_at, ${SAME}
    FROM reprise.tasks, generate_series(1, $3::int8) AS i WHERE id = $1::text`,
    [id, await takeKeys(client, count), count],
  )
}

/** The key before the first of as many that nobody else takes. */
async function takeKeys(client: pg.Client, count: number): Promise<number> {
  const { rows } = await client.query<{ first: number }>(
    `SELECT setval('reprise.task_keys', nextval('reprise.task_keys') + $1)::float8 - $1 AS first`,
    [(Math.ceil(count / BLOCK) + 1) * BLOCK],
  )
  return rows[0]?.first ?? 0
}
