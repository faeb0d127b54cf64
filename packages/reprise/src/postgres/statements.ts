/** Every statement of the PostgreSQL ledger that reads, locks or keeps one row, for one schema. Imports its own layer. */
import { FRESH_RANK, RANK_NUMBERS } from '../ledger/claim-order.js'
import type { QueueRef } from '../ledger/ledger.js'
import { nameOf, type TaskKey } from '../ledger/records.js'
import { CREATED_PROGRESS } from '../ledger/sql/sql-waiting.js'
import { TASK_CLASSES } from '../ledger/tally.js'
import { RUN_COLUMNS, TASK_COLUMNS } from '../ledger/rows.js'
import { CLOCK, NOW, type Statement, statementsFor } from './connections.js'
import { startedSql } from './usual-start.js'
import { PARTS } from './write-shape.js'
import { IS_TURN } from './write-statement.js'
import { removedWriters } from './writer-rows.js'

// Each by its name: a column that a later version adds must not change what a prepared statement answers.
const GATE_COLUMNS = Object.keys(PARTS.gates).join(', ')
const ATTEMPT_COLUMNS = Object.keys(PARTS.tried).join(', ')
const ROW_COLUMNS = `${TASK_COLUMNS}, version, payload_hash`
/** Keys of tasks as rows: three arrays, from this parameter on. */
const keysAt = (first: number): string => `unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::text[])`
const sameKey = (a: string, b: string): string =>
  `${a}.scope_kind = ${b}.scope_kind AND ${a}.scope = ${b}.scope AND ${a}.id = ${b}.id`
const notExcept = (first: number): string =>
  `AND NOT EXISTS (SELECT 1 FROM ${keysAt(first)} AS e(scope_kind, scope, id) WHERE ${sameKey('e', 't')})`
const TALLY_SUMS = TASK_CLASSES.map((column) => `coalesce(sum(${column}), 0)::int8 AS ${column}`).join(', ')
const IS_TASK = 'scope_kind = $1 AND scope = $2 AND id = $3'
const of = (alias: string, columns: string): string =>
  columns
    .split(',')
    .map((column) => `${alias}.${column.trim()}`)
    .join(', ')

/** In the order of the claim, as a table. */
const IN_RANKS = `(VALUES ${RANK_NUMBERS.map((rank) => `(${rank})`).join(', ')}) AS r(rank)`

/** Whether a rank is asked for: its bit of the queue's `ranks` is set. */
const IS_ASKED = '(q.ranks >> r.rank) & 1 = 1'

/** Tasks with an owner that take a place: of a queue with batches not those that ride in the batch of another. */
const OWNED = 'o.owner IS NOT NULL AND o.queue = q.queue'
const PLACED = `${OWNED} AND coalesce(o.progress::jsonb #>> '{current,batch}', o.id) = o.id`

/** How many more places a limited queue has; null for a queue without a limit. */
const freePlaces = (owned: string): string => `CASE WHEN q.most IS NOT NULL THEN greatest(0, (SELECT
    CASE WHEN g.state IS NULL THEN q.most
      WHEN (g.state::jsonb ->> 'paused')::boolean OR (g.state::jsonb ->> 'closed')::boolean THEN 0
      ELSE coalesce((g.state::jsonb ->> 'most')::int8, 2147483647) END
    - (SELECT count(*) FROM $.tasks o WHERE ${owned})
    FROM $.gates g WHERE g.key = 'queue:' || q.queue)) END`

const SQL = {
  now: `SELECT ${NOW}`,
  newWriter: `INSERT INTO $.writers (id, decision, since) VALUES ($1, 0, ${CLOCK})`,
  // It waits for who still writes, and whoever comes later finds it closed: so the answer stays true.
  lastDecision: `UPDATE $.writers SET closed = true, since = ${CLOCK} WHERE id = $1 RETURNING decision, made, changed`,
  removeWriters: removedWriters('id = ANY($1::text[])'),
  // Of all processes but the one whose rows begin with this text.
  decisions: `SELECT coalesce(sum(decision), 0)::float8 AS decisions FROM $.writers WHERE NOT starts_with(id, $1)`,
  taskKeys: `SELECT nextval('$.task_keys') AS first FROM generate_series(1, $1::int)`,

  // What is locked is locked in the order of its keys: two who want the same wait for each other, and for nothing else.
  // Of tasks that is the key that never changes, by which the other way writes them too.
  lockGates: `SELECT ${GATE_COLUMNS} FROM $.gates WHERE key = ANY($1::text[]) ORDER BY key FOR UPDATE`,
  addGates: `INSERT INTO $.gates (key, kind) SELECT key, 'budget' FROM unnest($1::text[]) AS key ORDER BY key
    ON CONFLICT DO NOTHING`,
  lockRuns: `SELECT ${RUN_COLUMNS} FROM $.runs WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE`,
  lockTasks: `SELECT ${of('t', ROW_COLUMNS)} FROM ${keysAt(1)} AS k(scope_kind, scope, id)
    JOIN $.tasks t ON ${sameKey('t', 'k')} ORDER BY t.pk FOR UPDATE OF t`,
  claimOne: claimOneText(''),
  claimOneExcept: claimOneText(notExcept(6)),
  claimAtOnce: claimAtOnceText(),
  // Of a claim that turned out to be decided otherwise, or whose answer was lost: by the mark that it has left.
  giveBack: `UPDATE $.tasks t SET status = 'waiting', claim_rank = ${FRESH_RANK}, due_at = g.due_at, owner = NULL,
    fence = t.fence + 1, version = t.version + 1, progress = replace(replace(t.progress, '"current":' || $4::text,
    '"current":null'), '"launched":1', '"launched":0') FROM unnest($1::int8[], $2::float8[]) AS g(pk, due_at)
    WHERE t.pk = g.pk AND t.status = 'running' AND t.owner IS NOT DISTINCT FROM $3::text
    AND strpos(t.progress, '"current":' || $4::text) > 0`,
  claim: claimText('', 'plain'),
  claimExcept: claimText(notExcept(5), 'plain'),
  claimLimited: claimText('', 'limited'),
  claimLimitedExcept: claimText(notExcept(7), 'limited'),
  claimBatched: claimText('', 'batched'),
  claimBatchedExcept: claimText(notExcept(8), 'batched'),
  // After the statement that locks the gates, so that it sees what others have committed before.
  freePlaces: `SELECT q.queue, ${freePlaces(OWNED)} AS places FROM unnest($1::text[], $2::int8[]) AS q(queue, most)`,
  freeBatches: `SELECT q.queue, ${freePlaces(PLACED)} AS places FROM unnest($1::text[], $2::int8[]) AS q(queue, most)`,
  nextDue: nextDueText(''),
  nextDueExcept: nextDueText(notExcept(4)),

  tasks: `SELECT ${of('t', TASK_COLUMNS)} FROM ${keysAt(1)} AS k(scope_kind, scope, id)
    JOIN $.tasks t ON ${sameKey('t', 'k')}`,
  checkpoint: `SELECT c.value FROM $.tasks t JOIN $.checkpoints c ON c.task = t.pk WHERE ${IS_TASK}`,
  run: `SELECT ${RUN_COLUMNS} FROM $.runs WHERE id = $1`,
  definition: 'SELECT definition FROM $.runs WHERE id = $1',
  policy: 'SELECT policy FROM $.policies WHERE hash = $1',
  putPolicy: `INSERT INTO $.policies (hash, policy, kept_at) VALUES ($1, $2, $3) ON CONFLICT (hash) DO UPDATE
    SET kept_at = greatest($.policies.kept_at, excluded.kept_at)`,
  attempts: `SELECT ${of('a', ATTEMPT_COLUMNS)} FROM $.tasks t JOIN $.attempts a ON a.task = t.pk WHERE ${IS_TASK}
    ORDER BY a.generation, a.attempt, a.execution`,
  attemptCounts: `SELECT coalesce(max(a.attempt), 0)::int8 AS last,
    count(a.attempt) FILTER (WHERE a.outcome <> 'interrupted' OR a.failure IS NOT NULL) AS ended
    FROM ${keysAt(1)} WITH ORDINALITY AS k(scope_kind, scope, id, nth)
    LEFT JOIN $.tasks t ON ${sameKey('t', 'k')}
    LEFT JOIN $.attempts a ON a.task = t.pk AND a.generation = t.generation GROUP BY k.nth ORDER BY k.nth`,
  tally: `SELECT ${TALLY_SUMS} FROM $.tallies WHERE name = $1`,
  gates: `SELECT ${GATE_COLUMNS} FROM $.gates WHERE state IS NOT NULL ORDER BY key`,
  owners: 'SELECT record FROM $.owners ORDER BY id',
  putOwner: 'INSERT INTO $.owners (id, record) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
  taskOwners: 'SELECT DISTINCT owner FROM $.tasks WHERE owner IS NOT NULL',
  notify: 'SELECT pg_notify($1, $2)',
} as const

/** Of a single queue: there is nobody to share the room with. Fresh tasks are looked for from a due time on. */
function claimOneText(except: string): string {
  const isDue = `t.status = 'waiting' AND t.queue = $1::text AND t.policy_hash = $2::text AND t.claim_rank = r.rank
          AND t.due_at <= $3::float8 AND t.due_at >= CASE WHEN r.rank = ${FRESH_RANK} THEN $5::float8 ELSE '-Infinity' END`
  return `SELECT c.* FROM ${IN_RANKS} CROSS JOIN LATERAL (
        SELECT ${of('t', ROW_COLUMNS)} FROM $.tasks t WHERE ${isDue} ${except} ORDER BY t.due_at, t.id
        LIMIT $4::int8 FOR UPDATE SKIP LOCKED) c
      LIMIT $4::int8`
}

/**
 * Finds fresh tasks of a single queue and lets their first attempts begin, with the writer's turn: nothing is claimed if
 * anything else is due, which goes first. Only tasks that are just as they were created are changed, so that
 * `giveBack` needs no more than their due times. Answers with the rows as they were, but for the version, and with how many were found. The writer's row keeps which
 * tasks they are, and since when they were due.
 */
function claimAtOnceText(): string {
  const isDue = `t.status = 'waiting' AND t.queue = $3::text AND t.policy_hash = $4::text AND t.due_at <= $5::float8`
  const others = RANK_NUMBERS.filter((rank) => rank !== FRESH_RANK).map(
    (rank) => `NOT EXISTS (SELECT 1 FROM $.tasks t WHERE ${isDue} AND t.claim_rank = ${rank})`,
  )
  return `WITH turn AS MATERIALIZED (SELECT 1 FROM $.writers WHERE ${IS_TURN} FOR UPDATE),
    found AS MATERIALIZED (SELECT ${of('t', ROW_COLUMNS)} FROM $.tasks t
      WHERE (SELECT count(*) FROM turn) = 1 AND ${others.join(' AND ')} AND ${isDue} AND t.claim_rank = ${FRESH_RANK}
      AND t.due_at >= $6::float8 ORDER BY t.due_at, t.id LIMIT $7::int8 FOR UPDATE SKIP LOCKED),
    claimed AS (UPDATE $.tasks t SET status = 'running', claim_rank = 0, due_at = NULL, owner = $8::text,
      fence = t.fence + 1, version = t.version + 1, updated_at = $5::float8, progress = ${startedSql('t.progress', '$9')}
      FROM found f WHERE t.pk = f.pk AND f.progress LIKE '${CREATED_PROGRESS}'
      RETURNING ${of('f', ROW_COLUMNS).replace('f.version', 't.version')}),
    noted AS (UPDATE $.writers SET decision = $2, since = ${CLOCK}, changed = ARRAY(SELECT pk FROM claimed),
      made = ARRAY(SELECT floor(due_at)::int8 FROM claimed) FROM turn WHERE id = $1 RETURNING decision)
    SELECT ${NOW}, (SELECT count(*) FROM found) AS found, c.* FROM noted LEFT JOIN claimed c ON true ORDER BY c.due_at, c.id`
}

/**
 * Every queue that has something gets its share of the room, so that no row is locked for others without need. With room
 * for fewer tasks than queues each gives one, in the order in which they are named, until there are enough: one whose
 * tasks are all locked by others is passed over. Both joins are nested loops, which go on only until their limit. With
 * batches a queue gives as many tasks as fit into its share of places: which of them are taken, the caller says.
 */
function claimText(except: string, kind: 'plain' | 'limited' | 'batched'): string {
  const [limited, batched] = [kind !== 'plain', kind === 'batched']
  const due = (rank: string): string =>
    `status = 'waiting' AND t.queue = q.queue AND t.policy_hash = q.hash AND t.claim_rank ${rank} AND t.due_at <= $3 ${except}`
  // Without a fence the planner would count once for the condition and once for the answer.
  const queues = limited
    ? `(SELECT q.queue, q.hash, q.ranks, ${batched ? 'q.batch, ' : ''}${freePlaces(batched ? PLACED : OWNED)} AS places
        FROM unnest($1::text[], $2::text[], $5::int8[], $6::int4[]${batched ? ', $7::int8[]' : ''})
        AS q(queue, hash, most, ranks${batched ? ', batch' : ''}) OFFSET 0)`
    : '(SELECT * FROM unnest($1::text[], $2::text[]) AS q(queue, hash))'
  const isAsked = limited ? `WHERE ${IS_ASKED}` : ''
  const hasDue = limited
    ? `SELECT 1 FROM ${IN_RANKS} CROSS JOIN LATERAL (SELECT 1 FROM $.tasks t WHERE ${due('= r.rank')} LIMIT 1) t ${isAsked}`
    : `SELECT 1 FROM $.tasks t WHERE ${due(`IN (${RANK_NUMBERS.join(', ')})`)}`
  const room = 'greatest(1, room + CASE WHEN q.nth <= rest THEN 1 ELSE 0 END)'
  const most = batched ? '$4::int8 * (SELECT max(b) FROM unnest($7::int8[]) AS b)' : '$4::int8'
  const share = limited ? `least(q.places, ${room})` : room
  return `WITH busy AS MATERIALIZED (
      SELECT q.queue, q.hash, ${limited ? 'q.ranks, q.places, ' : ''}${batched ? 'q.batch, ' : ''}row_number() OVER () AS nth FROM ${queues} q
      WHERE ${limited ? '(q.places IS NULL OR q.places > 0) AND ' : ''}EXISTS (${hasDue})),
    share AS MATERIALIZED (SELECT $4::int8 / greatest(1, count(*)) AS room, $4::int8 % greatest(1, count(*)) AS rest
      FROM busy)
    SELECT c.* FROM busy q CROSS JOIN LATERAL (
      SELECT c.* FROM ${IN_RANKS} CROSS JOIN LATERAL (
        SELECT ${of('t', ROW_COLUMNS)} FROM $.tasks t WHERE ${due('= r.rank')} ORDER BY t.due_at, t.id
        LIMIT ${most} FOR UPDATE SKIP LOCKED) c ${isAsked}
      LIMIT (SELECT ${share}${batched ? ' * q.batch' : ''} FROM share)) c
    LIMIT ${most}`
}

function nextDueText(except: string): string {
  return `SELECT min(n.due_at) AS due_at FROM unnest($1::text[], $2::text[], $3::int4[]) AS q(queue, hash, ranks)
    CROSS JOIN ${IN_RANKS} CROSS JOIN LATERAL (
    SELECT t.due_at FROM $.tasks t WHERE t.status = 'waiting' AND t.queue = q.queue AND t.policy_hash = q.hash
    AND t.claim_rank = r.rank ${except} ORDER BY t.due_at LIMIT 1) n WHERE ${IS_ASKED}`
}

/** Ranks as the bits of a number: arrays of arrays cannot be a parameter. */
export function ranksOf({ ranks = RANK_NUMBERS }: QueueRef): number {
  return ranks.reduce((bits, rank) => bits | (1 << rank), 0)
}

/** Keys of tasks as the arrays that statements take them in. */
export function keyColumns(keys: readonly TaskKey[]): [string[], string[], string[]] {
  return [keys.map(({ scopeKind }) => scopeKind), keys.map(({ scope }) => scope), keys.map(({ id }) => id)]
}

export type Statements = Readonly<Record<keyof typeof SQL, Statement>>

export function statementsOf(schema: string): Statements {
  return statementsFor(SQL, schema, 'reprise_')
}

/** Each once. */
export function distinctKeys(keys: readonly TaskKey[]): TaskKey[] {
  if (keys.length === 1) return [...keys]
  return [...new Map(keys.map((key) => [nameOf(key), key])).values()]
}
