/**
 * Every statement of the SQLite ledger, prepared once, at its first use. Imports its own layer.
 */
import { FRESH_RANK } from '../ledger/claim-order.js'
import type { SqliteDatabase, SqliteStatement } from './driver.js'
import { TASK_CLASSES } from '../ledger/tally.js'
import { RUN_COLUMNS, TASK_COLUMNS, UPDATED_COLUMNS } from '../ledger/rows.js'

const INSERTED = [
  'scope_kind',
  'scope',
  'id',
  'payload_hash',
  'input',
  'tally',
  'correlation_id',
  'created_at',
  ...UPDATED_COLUMNS,
]
/** The task with this key, or what belongs to it. */
const IS_TASK = 'scope_kind = ? AND scope = ? AND id = ?'
const IN_RUN = `scope_kind = 'run' AND scope = ?`
/** What is removed with a task; its progress only where it says how the task is counted. */
const REMOVED = 'pk, scope_kind, scope, id, policy_hash, tally, status, iif(tally IS NULL, NULL, progress) AS progress'
const CLASSES = TASK_CLASSES.join(', ')
const marks = (count: number): string => Array.from({ length: count }, () => '?').join(', ')

export const SQL = {
  task: `SELECT ${TASK_COLUMNS} FROM tasks WHERE ${IS_TASK}`,
  payload: `SELECT payload_hash FROM tasks WHERE ${IS_TASK}`,
  insertTask: `INSERT INTO tasks (${INSERTED.join(', ')}) VALUES (${marks(INSERTED.length)})
    ON CONFLICT (scope_kind, scope, id) DO NOTHING`,
  updateTask: `UPDATE tasks SET ${UPDATED_COLUMNS.map((column) => `${column} = ?`).join(', ')},
    attempts_kept = attempts_kept + ? WHERE pk = ?`,
  // As `insertTask` and `updateTask` would write them: see `narrow-writes.ts`.
  insertFresh: `INSERT INTO tasks (scope_kind, scope, id, payload_hash, input, correlation_id, created_at, queue, due_at,
    progress, policy_hash, updated_at, generation, status, claim_rank, fence)
    VALUES (${marks(12)}, 1, 'waiting', ${FRESH_RANK}, 0) ON CONFLICT (scope_kind, scope, id) DO NOTHING`,
  beginTask: `UPDATE tasks SET status = 'running', claim_rank = 0, due_at = NULL, owner = ?, fence = ?, progress = ?,
    updated_at = ? WHERE pk = ?`,
  endTask: `UPDATE tasks SET status = 'succeeded', claim_rank = ?, owner = NULL, progress = ?, result = ?, updated_at = ?,
    attempts_kept = attempts_kept + ? WHERE pk = ?`,
  setInput: 'UPDATE tasks SET input = ? WHERE pk = ?',
  due: `SELECT ${TASK_COLUMNS} FROM tasks WHERE status = 'waiting' AND queue = ?
    AND policy_hash = ? AND claim_rank = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?`,
  nextDue: `SELECT due_at, scope_kind, scope, id FROM tasks WHERE status = 'waiting' AND queue = ? AND policy_hash = ?
    AND claim_rank = ? ORDER BY due_at LIMIT ?`,
  run: `SELECT ${RUN_COLUMNS} FROM runs WHERE id = ?`,
  putRun: `INSERT INTO runs (${RUN_COLUMNS}, definition) VALUES (${marks(14)}) ON CONFLICT (id) DO UPDATE
    SET status = excluded.status, owner = excluded.owner, fence = excluded.fence, resumes = excluded.resumes,
    fingerprint = excluded.fingerprint, detail = excluded.detail, updated_at = excluded.updated_at, ended_at = excluded.ended_at,
    definition = excluded.definition`,
  updateRun: `UPDATE runs SET status = ?, owner = ?, fence = ?, resumes = ?, fingerprint = ?, detail = ?, updated_at = ?,
    ended_at = ? WHERE id = ?`,
  definition: 'SELECT definition FROM runs WHERE id = ?',
  tasksOfRun: `SELECT ${REMOVED} FROM tasks WHERE ${IN_RUN} ORDER BY id LIMIT ?`,
  removeRun: 'DELETE FROM runs WHERE id = ?',
  removeEventsOfRun: `DELETE FROM events WHERE ${IN_RUN}`,
  dataVersion: 'PRAGMA data_version',
  // The list is what the index is of; which of it is meant is bound.
  finishedBefore: `SELECT ${REMOVED} FROM tasks
    WHERE status IN ('succeeded', 'failed', 'cancelled') AND status = ? AND updated_at < ?
    AND (scope_kind <> 'run' OR scope NOT IN (SELECT id FROM runs)) ORDER BY updated_at LIMIT ?`,
  longHistories: `SELECT pk, scope_kind, scope, id, correlation_id, attempts_kept FROM tasks
    WHERE attempts_kept >= 10 AND attempts_kept > ? LIMIT ?`,
  countHistory: 'UPDATE tasks SET attempts_kept = attempts_kept + ? WHERE pk = ?',
  shortened: `UPDATE tasks SET attempts_kept = attempts_kept - ?, compacted_attempts = compacted_attempts + ?,
    compacted_until = MAX(COALESCE(compacted_until, -1e300), ?) WHERE pk = ?`,
  countOwned: 'SELECT COUNT(*) AS tasks FROM tasks WHERE owner IS NOT NULL AND queue = ?',
  // Those that ride in the batch of another task take no place.
  countPlaces: `SELECT COUNT(*) AS tasks FROM tasks WHERE owner IS NOT NULL AND queue = ?
    AND COALESCE(json_extract(progress, '$.current.batch'), id) = id`,
  owns: 'SELECT 1 FROM tasks WHERE owner = ? LIMIT 1',
  removeTask: 'DELETE FROM tasks WHERE pk = ?',
  // So that finding those that no task has needs no look at the tasks.
  putPolicy: `INSERT INTO policies (hash, policy, tasks, kept_at) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE
    SET tasks = tasks + excluded.tasks, kept_at = MAX(kept_at, excluded.kept_at)`,
  countPolicy: 'UPDATE policies SET tasks = tasks + ? WHERE hash = ?',
  removePolicies: `DELETE FROM policies WHERE hash IN
    (SELECT hash FROM policies WHERE tasks <= 0 AND kept_at < ? LIMIT ?)`,
  policy: 'SELECT policy FROM policies WHERE hash = ?',
  insertAttempt: `INSERT INTO attempts (task, generation, attempt, execution, started_at, ended_at, outcome, delay_before,
    failure, signature, owner) VALUES (${marks(11)})`,
  // Of a task that the same transaction creates: its number is not known before.
  insertAttemptOfNew: `INSERT INTO attempts (task, generation, attempt, execution, started_at, ended_at, outcome,
    delay_before, failure, signature, owner) SELECT pk, ${marks(10)} FROM tasks WHERE ${IS_TASK}`,
  countHistoryOfNew: `UPDATE tasks SET attempts_kept = attempts_kept + 1 WHERE ${IS_TASK}`,
  attempts: `SELECT a.* FROM attempts a JOIN tasks t ON t.pk = a.task WHERE ${IS_TASK}
    ORDER BY a.generation, a.attempt, a.execution`,
  // The keys come as one list: a statement for each takes twice as long.
  attemptCounts: `SELECT COALESCE(MAX(a.attempt), 0) AS last,
    COALESCE(SUM(a.outcome <> 'interrupted' OR a.failure IS NOT NULL), 0) AS ended
    FROM json_each(?) k LEFT JOIN tasks t
    ON t.scope_kind = k.value ->> 0 AND t.scope = k.value ->> 1 AND t.id = k.value ->> 2
    LEFT JOIN attempts a ON a.task = t.pk AND a.generation = t.generation GROUP BY k.key ORDER BY k.key`,
  tally: `SELECT ${CLASSES} FROM tallies WHERE name = ?`,
  addToTally: `INSERT INTO tallies (name, ${CLASSES}) VALUES (${marks(TASK_CLASSES.length + 1)}) ON CONFLICT (name) DO UPDATE
    SET ${TASK_CLASSES.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`,
  removeTally: `DELETE FROM tallies WHERE name = ? AND ${TASK_CLASSES.map((column) => `${column} = 0`).join(' AND ')}`,
  removeAttempts: 'DELETE FROM attempts WHERE task = ?',
  oldAttempts: `SELECT generation, attempt, execution, ended_at FROM attempts WHERE task = ?
    ORDER BY generation, attempt, execution LIMIT ?`,
  removeAttemptsUpTo: 'DELETE FROM attempts WHERE task = ? AND (generation, attempt, execution) <= (?, ?, ?)',
  checkpoint: `SELECT c.value FROM tasks t JOIN checkpoints c ON c.task = t.pk WHERE ${IS_TASK}`,
  putCheckpoint: `INSERT INTO checkpoints (task, value) VALUES (?, ?) ON CONFLICT (task) DO UPDATE
    SET value = excluded.value`,
  removeCheckpoint: 'DELETE FROM checkpoints WHERE task = ?',
  gate: 'SELECT * FROM gates WHERE key = ?',
  gates: 'SELECT * FROM gates ORDER BY key',
  removeGate: 'DELETE FROM gates WHERE key = ?',
  putGate: `INSERT INTO gates (key, kind, state, settings, manual_revision) VALUES (${marks(5)}) ON CONFLICT (key) DO UPDATE
    SET kind = excluded.kind, state = excluded.state, settings = excluded.settings,
    manual_revision = excluded.manual_revision`,
  owners: 'SELECT id, record FROM owners ORDER BY id',
  putOwner: 'INSERT INTO owners (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
  taskOwners: 'SELECT DISTINCT owner FROM tasks WHERE owner IS NOT NULL',
  removeOwner: 'DELETE FROM owners WHERE id = ?',
  putDead: `INSERT INTO dead (scope_kind, scope, id, generation, at, signature, stop_reason, failure, closed_at, closed_by)
    VALUES (${marks(10)}) ON CONFLICT (scope_kind, scope, id, generation) DO UPDATE SET at = excluded.at,
    signature = excluded.signature, stop_reason = excluded.stop_reason, failure = excluded.failure,
    closed_at = excluded.closed_at, closed_by = excluded.closed_by`,
  closeDead: `UPDATE dead SET closed_at = ?, closed_by = ? WHERE ${IS_TASK} AND generation = ? AND closed_at IS NULL`,
  removeDead: `DELETE FROM dead WHERE ${IS_TASK}`,
  removeOldDead: `DELETE FROM dead WHERE ${IS_TASK} AND generation <=
    (SELECT generation FROM dead WHERE ${IS_TASK} ORDER BY generation DESC LIMIT 1 OFFSET ?)`,
  // A letter is closed after it was written: the index by time bounds the search.
  removeDeadBefore: `DELETE FROM dead WHERE (scope_kind, scope, id, generation) IN
    (SELECT scope_kind, scope, id, generation FROM dead WHERE at < ?1 AND closed_at < ?1 ORDER BY at LIMIT ?2)`,
  insertEvent: `INSERT INTO events (type, scope_kind, scope, id, at, correlation_id, detail)
    VALUES (${marks(7)})`,
  removeEvents: `DELETE FROM events WHERE ${IS_TASK}`,
  removeOldEvents: `DELETE FROM events WHERE ${IS_TASK} AND seq <=
    (SELECT seq FROM events WHERE ${IS_TASK} ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
  // Of the oldest by number, those that are old by time: no index, and no search through all.
  removeEventsBefore: `DELETE FROM events WHERE seq IN
    (SELECT seq FROM (SELECT seq, at FROM events ORDER BY seq LIMIT ?) WHERE at < ?)`,
} as const

export type Statements = Readonly<Record<keyof typeof SQL, SqliteStatement>>

/**
 * Each is prepared when it is first used: a short program uses a few of them, and all take as long as two commits. One
 * is prepared at once, so that a file without our tables is found out when it is opened.
 */
export function prepareStatements(database: SqliteDatabase): Statements {
  const statements = {} as Record<keyof typeof SQL, SqliteStatement>
  for (const name of Object.keys(SQL) as (keyof typeof SQL)[]) {
    const prepare = (): SqliteStatement => {
      const statement = database.prepare(SQL[name])
      Object.defineProperty(statements, name, { value: statement })
      return statement
    }
    Object.defineProperty(statements, name, { get: prepare, configurable: true })
  }
  void statements.task
  return statements
}
