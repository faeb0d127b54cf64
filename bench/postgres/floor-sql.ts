/** Tables and statements of the floor: one statement for a group, its values one array for each column. Imports the library's schema. */
import { MIGRATIONS } from '../../packages/reprise/src/postgres/migrations.js'

export type Column = readonly [name: string, type: 'bigint' | 'text' | 'double precision' | 'int']

export const SCHEMA = 'floor'

/** The library's own tables and indexes. */
export const TABLES = [`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`, ...MIGRATIONS].join(';\n').replaceAll('$schema', SCHEMA)

/** Plans that use the indexes and are made once, as the library has them: a table that just grew has no statistics. */
export const SETTINGS = `SET search_path = ${SCHEMA}; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
  SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off`

const POLICY_HASH = '0'.repeat(32)
const PAYLOAD_HASH = '1'.repeat(32)

const PK = ['pk', 'bigint'] as const
const ENDED: readonly Column[] = [
  PK,
  ['progress', 'text'],
  ['result', 'text'],
  ['at', 'double precision'],
  ['attempt', 'int'],
  ['started', 'double precision'],
  ['owner', 'text'],
]
const FAILED: readonly Column[] = [
  ['progress', 'text'],
  ['at', 'double precision'],
  PK,
  ['attempt', 'int'],
  ['started', 'double precision'],
  ['ended', 'double precision'],
  ['failure', 'text'],
  ['signature', 'text'],
  ['owner', 'text'],
]
const NEW: readonly Column[] = [
  PK,
  ['id', 'text'],
  ['input', 'text'],
  ['correlation', 'text'],
  ['at', 'double precision'],
  ['status', 'text'],
  ['due', 'double precision'],
  ['owner', 'text'],
  ['fence', 'int'],
  ['progress', 'text'],
]
const DEAD: readonly Column[] = [['id', 'text'], ...FAILED]

/** The rows of a group as a table `g`, from parameter `first` on. */
function group(columns: readonly Column[], first = 1): string {
  const arrays = columns.map(([, type], i) => `$${first + i}::${type}[]`).join(', ')
  return `unnest(${arrays}) AS g (${columns.map(([name]) => `"${name}"`).join(', ')})`
}

/** The rows of the group with their tasks locked, in the order of their keys. */
const locked = (columns: readonly Column[], first = 1): string =>
  `l AS MATERIALIZED (SELECT g.* FROM ${group(columns, first)} JOIN tasks t ON t.pk = g.pk ORDER BY g.pk FOR UPDATE OF t)`

const SUCCEED = `
  u AS (UPDATE tasks t SET status = 'succeeded', owner = NULL, progress = l.progress, result = l.result,
    updated_at = l.at, attempts_kept = attempts_kept + 1 FROM l WHERE t.pk = l.pk),
  a AS (INSERT INTO attempts (task, generation, attempt, execution, started_at, ended_at, outcome, delay_before, owner)
    SELECT pk, 1, attempt, 1, started, at, 'success', 0, owner FROM l)`

const FAILED_ATTEMPT = `
  a AS (INSERT INTO attempts (task, generation, attempt, execution, started_at, ended_at, outcome, delay_before, failure,
    signature, owner) SELECT pk, 1, attempt, 1, started, ended, 'failure', 0, failure, signature, owner FROM l)`

export const STATEMENTS = {
  insert: {
    columns: NEW,
    text: `INSERT INTO tasks (pk, scope_kind, scope, id, queue, payload_hash, policy_hash, generation, input,
      correlation_id, created_at, status, due_at, owner, fence, progress, updated_at)
      SELECT pk, 'task', 'step', id, 'step', '${PAYLOAD_HASH}', '${POLICY_HASH}', 1, input, correlation, at, status, due, owner,
      fence, progress, at FROM ${group(NEW)}`,
  },
  succeed: { columns: ENDED, text: `WITH ${locked(ENDED)}, ${SUCCEED} SELECT` },
  again: {
    columns: FAILED,
    text: `WITH ${locked(FAILED)}, ${FAILED_ATTEMPT}, u AS (UPDATE tasks t SET fence = fence + 1, progress = l.progress,
      updated_at = l.at, attempts_kept = attempts_kept + 1 FROM l WHERE t.pk = l.pk) SELECT`,
  },
  fail: {
    columns: DEAD,
    text: `WITH ${locked(DEAD)}, ${FAILED_ATTEMPT},
      d AS (INSERT INTO dead (scope_kind, scope, id, generation, at, signature, stop_reason, failure)
        SELECT 'task', 'step', id, 1, at, signature, 'attempts_exhausted', failure FROM l),
      u AS (UPDATE tasks t SET status = 'failed', owner = NULL, progress = l.progress, stop_reason = 'attempts_exhausted',
        updated_at = l.at, attempts_kept = attempts_kept + 1 FROM l WHERE t.pk = l.pk)
      SELECT`,
  },
  /** After four parameters of its own. */
  due: {
    columns: ENDED,
    text: `WITH ${locked(ENDED, 5)}, ${SUCCEED},
      d AS MATERIALIZED (SELECT pk FROM tasks WHERE status = 'waiting' AND queue = 'step' AND policy_hash = '${POLICY_HASH}'
        AND claim_rank = 2 AND due_at <= $3::double precision ORDER BY due_at LIMIT $4::int FOR UPDATE SKIP LOCKED)
      UPDATE tasks t SET status = 'running', owner = $1::text, due_at = NULL, fence = fence + 1, progress = $2::text,
        updated_at = $3::double precision FROM d WHERE t.pk = d.pk RETURNING t.pk, t.input`,
  },
} as const
