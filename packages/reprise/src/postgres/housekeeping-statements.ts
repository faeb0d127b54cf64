/** The statements that forget and compact, for one schema. Imports its own layer. */
import { TASK_CLASSES } from '../ledger/tally.js'
import { CLOCK, type Statement, statementsFor } from './connections.js'
import { NO_WRITER, removedWriters } from './writer-rows.js'

const counted = (removal: string): string =>
  `WITH gone AS (${removal} RETURNING 1) SELECT count(*) AS removed FROM gone`

const IN_RUN = `scope_kind = 'run' AND scope = $1`
/** What belongs to a task of the given ones. */
const sameTask = (alias: string): string =>
  `${alias}.scope_kind = g.scope_kind AND ${alias}.scope = g.scope AND ${alias}.id = g.id`

/** What is removed with a task; its progress only where it says how the task is counted. */
const REMOVED = `t.pk, t.scope_kind, t.scope, t.id, t.tally, t.status,
  CASE WHEN t.tally IS NOT NULL THEN t.progress END AS progress`
const COUNTS = TASK_CLASSES.join(', ')
const IS_ZERO = TASK_CLASSES.map((column) => `${column} = 0`).join(' AND ')

/**
 * Adds rows of tallies up in those without an owner. A row that a lost owner still writes is left for the next time, so
 * that nobody waits in a circle: rows without an owner are locked last, in the order of their names.
 */
function mergedTallies(which: string): string {
  const columns = TASK_CLASSES.join(', ')
  const sums = TASK_CLASSES.map((column) => `sum(${column})`).join(', ')
  const sets = TASK_CLASSES.map((column) => `${column} = t.${column} + excluded.${column}`).join(', ')
  return `left_tallies AS MATERIALIZED (SELECT l.name, l.owner, l.lane FROM $.tallies l
      WHERE l.owner <> '' AND ${which} ORDER BY l.name, l.owner, l.lane FOR UPDATE SKIP LOCKED),
    gone_tallies AS (DELETE FROM $.tallies g USING left_tallies l
      WHERE g.name = l.name AND g.owner = l.owner AND g.lane = l.lane RETURNING g.*),
    merged AS (INSERT INTO $.tallies AS t (name, owner, lane, ${columns})
      SELECT name, '', 0, ${sums} FROM gone_tallies GROUP BY name ORDER BY name
      ON CONFLICT (name, owner, lane) DO UPDATE SET ${sets} RETURNING name)`
}

const SQL = {
  // The list is what the index is of; which of it is meant is bound. With CASE the planner expects some to be left, and
  // takes them in order of the index; else it would sort all that have finished for every few.
  lockFinished: `SELECT ${REMOVED} FROM $.tasks t WHERE t.status IN ('succeeded', 'failed', 'cancelled')
    AND t.status = $1 AND t.updated_at < $2
    AND CASE WHEN EXISTS (SELECT 1 FROM $.runs r WHERE t.scope_kind = 'run' AND r.id = t.scope) THEN false ELSE true END
    ORDER BY t.updated_at LIMIT $3 FOR UPDATE OF t SKIP LOCKED`,
  // Events may be in the hands of who drops old ones, and waits for nobody: so nobody waits in a circle.
  removeTasks: `WITH given AS (SELECT * FROM unnest($1::int8[], $2::text[], $3::text[], $4::text[])
      AS g(pk, scope_kind, scope, id)),
    gone_tasks AS (DELETE FROM $.tasks WHERE pk = ANY($1::int8[]) RETURNING 1),
    gone_attempts AS (DELETE FROM $.attempts WHERE task = ANY($1::int8[]) RETURNING 1),
    gone_checkpoints AS (DELETE FROM $.checkpoints WHERE task = ANY($1::int8[])),
    gone_events AS (DELETE FROM $.events e USING given g WHERE ${sameTask('e')} RETURNING 1),
    gone_dead AS (DELETE FROM $.dead d USING given g WHERE ${sameTask('d')} RETURNING 1)
    SELECT (SELECT count(*) FROM gone_tasks) AS tasks, (SELECT count(*) FROM gone_attempts) AS attempts,
      (SELECT count(*) FROM gone_events) AS events, (SELECT count(*) FROM gone_dead) AS dead_letters`,

  // In the row without an owner: nobody who holds it waits for a task.
  addToTallies: `INSERT INTO $.tallies AS t (name, owner, lane, ${COUNTS})
    SELECT name, '', 0, ${COUNTS} FROM unnest($1::text[], ${TASK_CLASSES.map((_, index) => `$${index + 2}::int8[]`).join(', ')})
      AS g(name, ${COUNTS}) ORDER BY name ON CONFLICT (name, owner, lane) DO UPDATE
    SET ${TASK_CLASSES.map((column) => `${column} = t.${column} + excluded.${column}`).join(', ')}`,
  mergeTallies: `WITH ${mergedTallies('NOT EXISTS (SELECT 1 FROM $.owners o WHERE o.id = l.owner)')}
    SELECT name FROM merged`,
  // Of those that this transaction has locked: of tasks that are all gone nothing is left.
  removeTallies: `DELETE FROM $.tallies WHERE name = ANY($1::text[]) AND owner = '' AND ${IS_ZERO}`,

  lockGates: 'SELECT key FROM $.gates WHERE key = ANY($1::text[]) ORDER BY key FOR UPDATE',
  lockRun: 'SELECT id FROM $.runs WHERE id = $1 FOR UPDATE',
  lockTasksOfRun: `SELECT ${REMOVED} FROM $.tasks t
    WHERE pk = ANY(ARRAY(SELECT pk FROM $.tasks WHERE ${IN_RUN} ORDER BY id LIMIT $2)) ORDER BY pk FOR UPDATE`,
  hasTasks: `SELECT EXISTS (SELECT 1 FROM $.tasks WHERE ${IN_RUN}) AS is_so`,
  removeRun: `WITH gone_run AS (DELETE FROM $.runs WHERE id = $1),
    gone_gates AS (DELETE FROM $.gates WHERE key = ANY($2::text[])),
    gone AS (DELETE FROM $.events WHERE ${IN_RUN} RETURNING 1) SELECT count(*) AS events FROM gone`,

  // The first condition is what the index is of.
  lockLong: `SELECT pk, scope_kind, scope, id, correlation_id FROM $.tasks WHERE attempts_kept >= 10 AND attempts_kept > $1
    LIMIT $2 FOR UPDATE SKIP LOCKED`,
  // Of each task the newest $6 stay; what went is said by an event, numbered as all events are.
  shorten: `WITH given AS (SELECT * FROM unnest($1::int8[], $2::text[], $3::text[], $4::text[], $5::text[])
      AS g(pk, scope_kind, scope, id, correlation_id)),
    gone_attempts AS (DELETE FROM $.attempts a USING given g CROSS JOIN LATERAL (
        SELECT generation, attempt, execution FROM $.attempts WHERE task = g.pk
        ORDER BY generation DESC, attempt DESC, execution DESC OFFSET $6) o
      WHERE a.task = g.pk AND a.generation = o.generation AND a.attempt = o.attempt AND a.execution = o.execution
      RETURNING g.pk, a.ended_at),
    gone_events AS (DELETE FROM $.events e USING given g CROSS JOIN LATERAL (
        SELECT e.seq FROM $.events e WHERE ${sameTask('e')} ORDER BY e.seq DESC OFFSET $6) o
      WHERE e.seq = o.seq RETURNING g.pk),
    gone_dead AS (DELETE FROM $.dead d USING given g CROSS JOIN LATERAL (
        SELECT l.generation FROM $.dead l WHERE ${sameTask('l')} ORDER BY l.generation DESC OFFSET $6) o
      WHERE ${sameTask('d')} AND d.generation = o.generation RETURNING g.pk),
    gone AS MATERIALIZED (SELECT pk, sum(attempt)::int8 AS attempts, sum(event)::int8 AS events,
        sum(letter)::int8 AS dead_letters, max(ended_at) AS until FROM (
        SELECT pk, 0 AS attempt, 0 AS event, 0 AS letter, NULL::float8 AS ended_at FROM given
        UNION ALL SELECT pk, 1, 0, 0, ended_at FROM gone_attempts
        UNION ALL SELECT pk, 0, 1, 0, NULL FROM gone_events
        UNION ALL SELECT pk, 0, 0, 1, NULL FROM gone_dead) parts GROUP BY pk),
    shortened AS (UPDATE $.tasks t SET version = t.version + 1, attempts_kept = $6,
      compacted_attempts = t.compacted_attempts + o.attempts, compacted_until = greatest(t.compacted_until, o.until)
      FROM gone o WHERE t.pk = o.pk),
    numbers AS (UPDATE $.event_numbers SET last = last + (SELECT count(*) FROM given) RETURNING last),
    told AS (INSERT INTO $.events (seq, type, scope_kind, scope, id, at, correlation_id, detail)
      SELECT n.last - (SELECT count(*) FROM given) + row_number() OVER (ORDER BY g.pk), 'compacted',
        g.scope_kind, g.scope, g.id, $7, g.correlation_id,
        format('{"attempts":%s,"events":%s,"deadLetters":%s}', o.attempts, o.events, o.dead_letters)
      FROM numbers n CROSS JOIN given g JOIN gone o ON o.pk = g.pk)
    SELECT sum(attempts)::int8 AS attempts, sum(events)::int8 AS events, sum(dead_letters)::int8 AS dead_letters
      FROM gone`,

  // Of the oldest by number, those that are old by time: no index, and no search through all.
  removeEventsBefore: counted(`DELETE FROM $.events WHERE seq IN (SELECT seq FROM $.events WHERE seq = ANY(ARRAY(
    SELECT seq FROM (SELECT seq, at FROM $.events ORDER BY seq LIMIT $2) o WHERE at < $1)) FOR UPDATE SKIP LOCKED)`),

  // A letter is closed after it was written: the index by time bounds the search.
  removeDeadBefore: counted(`DELETE FROM $.dead WHERE (scope_kind, scope, id, generation) IN (
    SELECT scope_kind, scope, id, generation FROM $.dead WHERE at < $1 AND closed_at < $1 ORDER BY at LIMIT $2
    FOR UPDATE SKIP LOCKED)`),

  owners: 'SELECT id, record FROM $.owners ORDER BY id',
  removeOwner: `WITH gone_owner AS (DELETE FROM $.owners WHERE id = $1), ${mergedTallies('l.owner = $1')}
    SELECT name FROM merged`,
  removeOwners:
    counted(`DELETE FROM $.owners WHERE id IN (SELECT o.id FROM unnest($1::text[], $2::text[]) AS g(id, record)
    JOIN $.owners o ON o.id = g.id AND o.record = g.record
    WHERE NOT EXISTS (SELECT 1 FROM $.tasks t WHERE t.owner = o.id) LIMIT $3 FOR UPDATE OF o SKIP LOCKED)`),
  // By the server's clock, which wrote the time.
  removeWriters: removedWriters(`id IN (SELECT id FROM $.writers
    WHERE id <> '${NO_WRITER}' AND since < ${CLOCK} - $1::float8 LIMIT $2 FOR UPDATE SKIP LOCKED)`),
  // What is removed is no decision of a connection, and others may look at it. The last statement of its transaction:
  // nobody waits for anything else while the row is locked.
  noteRemoval: `INSERT INTO $.writers AS w (id, decision, since) VALUES ('${NO_WRITER}', 1, ${CLOCK})
    ON CONFLICT (id) DO UPDATE SET decision = w.decision + 1`,

  // Old ones of which no task is known that has it.
  doubtfulPolicies: `SELECT p.hash FROM $.policies p WHERE p.kept_at < $1 AND NOT EXISTS (
      SELECT 1 FROM unnest($3::text[], $4::int8[]) AS w(hash, pk) JOIN $.tasks t ON t.pk = w.pk
      WHERE w.hash = p.hash AND t.policy_hash = p.hash)
    ORDER BY p.kept_at, p.hash LIMIT $2`,
  // The newest has the longest to live.
  usedPolicies: `SELECT policy_hash, max(pk) AS pk FROM $.tasks WHERE policy_hash = ANY($1::text[]) GROUP BY policy_hash`,
  removePolicies: counted(`DELETE FROM $.policies WHERE hash IN (SELECT hash FROM $.policies
    WHERE hash = ANY($1::text[]) AND kept_at < $2 FOR UPDATE SKIP LOCKED)`),
} as const

export type HousekeepingStatements = Readonly<Record<keyof typeof SQL, Statement>>

export function housekeepingStatements(schema: string): HousekeepingStatements {
  return statementsFor(SQL, schema, 'reprise_keep_')
}
