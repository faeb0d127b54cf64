/**
 * Very many tasks from one that the library recorded: its copies after an attempt, made by the database, since a million by
 * themselves would take minutes. Imports pg.
 */
import type pg from 'pg'

const SAME = 'scope_kind, scope, queue, payload_hash, policy_hash, generation, input, correlation_id, created_at'
/** Keys are given out in blocks of this size. */
const BLOCK = 1000

/**
 * `waiting` copies that wait for an hour after a failed attempt, and `done` ones that succeeded at the first. The task that
 * they are copies of is named by its id.
 */
export async function addCopies(client: pg.Client, id: string, waiting: number, done: number): Promise<void> {
  const blocks = Math.ceil((waiting + done) / BLOCK) + 1
  const { rows } = await client.query<{ first: number }>(
    `SELECT setval('reprise.task_keys', nextval('reprise.task_keys') + $1)::float8 - $1 AS first`,
    [blocks * BLOCK],
  )
  const values = [id, rows[0]?.first ?? 0, waiting, waiting + done]
  await client.query(
    `INSERT INTO reprise.tasks (pk, id, status, claim_rank, due_at, fence, progress, result, updated_at, attempts_kept, ${SAME})
    SELECT $2::int8 + i, 'copy-' || $2::int8 + i, CASE WHEN i <= $3::int8 THEN 'waiting' ELSE 'succeeded' END, 1,
      CASE WHEN i <= $3::int8 THEN due_at + 3600000 + i END, 1,
      jsonb_set(jsonb_set(progress::jsonb, '{retry,launched}', '1'), '{retry,failures}',
        CASE WHEN i <= $3::int8 THEN '1'::jsonb ELSE '0'::jsonb END)::text,
      CASE WHEN i <= $3::int8 THEN NULL ELSE input END, updated_at, 1, ${SAME}
    FROM reprise.tasks, generate_series(1, $4::int8) AS i WHERE id = $1::text`,
    values,
  )
  await client.query(
    `INSERT INTO reprise.attempts (task, generation, attempt, execution, started_at, ended_at, outcome, delay_before,
      failure, signature, owner)
    SELECT pk, 1, 1, 1, created_at, created_at, CASE status WHEN 'waiting' THEN 'failure' ELSE 'success' END, 0,
      CASE status WHEN 'waiting' THEN '{"name":"Error","message":"no"}' END,
      CASE status WHEN 'waiting' THEN 'Error: no' END, 'somebody'
    FROM reprise.tasks WHERE pk > $1::int8 AND pk <= $1::int8 + $2::int8 AND attempts_kept = 1`,
    [rows[0]?.first ?? 0, waiting + done],
  )
}
