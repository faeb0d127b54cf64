/**
 * Every statement of the SQLite ledger, prepared once, at its first use. Imports its own layer.
 */
import type { RunFilter, TaskFilter } from '../ledger/ledger.js'
import { RUN_STATUSES, TASK_STATUSES, type TaskStatus } from '../ledger/records.js'
import type { SqliteDatabase, SqliteStatement } from './driver.js'
import { AFTER_PREFIX, RUN_COLUMNS, type SqlValue, TASK_COLUMNS, UPDATED_COLUMNS } from '../ledger/rows.js'

const INSERTED = ['run', 'id', 'payload_hash', 'input', 'correlation_id', 'created_at', ...UPDATED_COLUMNS]
const marks = (count: number): string => Array.from({ length: count }, () => '?').join(', ')

const SQL = {
  task: `SELECT ${TASK_COLUMNS} FROM tasks WHERE run = ? AND id = ?`,
  payload: 'SELECT payload_hash FROM tasks WHERE run = ? AND id = ?',
  insertTask: `INSERT INTO tasks (${INSERTED.join(', ')}) VALUES (${marks(INSERTED.length)})
    ON CONFLICT (run, id) DO NOTHING`,
  updateTask: `UPDATE tasks SET ${UPDATED_COLUMNS.map((column) => `${column} = ?`).join(', ')},
    attempts_kept = attempts_kept + ? WHERE pk = ?`,
  due: `SELECT ${TASK_COLUMNS} FROM tasks WHERE status = 'waiting' AND queue = ?
    AND policy_hash = ? AND due_at <= ? ORDER BY due_at LIMIT ?`,
  nextDue: `SELECT due_at, run, id FROM tasks WHERE status = 'waiting' AND queue = ? AND policy_hash = ?
    ORDER BY due_at LIMIT ?`,
  run: `SELECT ${RUN_COLUMNS} FROM runs WHERE id = ?`,
  putRun: `INSERT INTO runs (${RUN_COLUMNS}, definition) VALUES (${marks(14)}) ON CONFLICT (id) DO UPDATE
    SET status = excluded.status, owner = excluded.owner, fence = excluded.fence, resumes = excluded.resumes,
    fingerprint = excluded.fingerprint, detail = excluded.detail, updated_at = excluded.updated_at, ended_at = excluded.ended_at,
    definition = excluded.definition`,
  updateRun: `UPDATE runs SET status = ?, owner = ?, fence = ?, resumes = ?, fingerprint = ?, detail = ?, updated_at = ?,
    ended_at = ? WHERE id = ?`,
  definition: 'SELECT definition FROM runs WHERE id = ?',
  tasksOfRun: 'SELECT pk, run, id, policy_hash FROM tasks WHERE run = ? ORDER BY id LIMIT ?',
  removeRun: 'DELETE FROM runs WHERE id = ?',
  removeEventsOfRun: 'DELETE FROM events WHERE run = ?',
  dataVersion: 'PRAGMA data_version',
  // The list is what the index is of; which of it is meant is bound.
  finishedBefore: `SELECT pk, run, id, policy_hash FROM tasks WHERE status IN ('succeeded', 'failed', 'cancelled')
    AND status = ? AND updated_at < ? AND run NOT IN (SELECT id FROM runs) ORDER BY updated_at LIMIT ?`,
  longHistories: `SELECT pk, run, id, correlation_id, attempts_kept FROM tasks
    WHERE attempts_kept >= 10 AND attempts_kept > ? LIMIT ?`,
  countHistory: 'UPDATE tasks SET attempts_kept = attempts_kept + ? WHERE pk = ?',
  shortened: `UPDATE tasks SET attempts_kept = attempts_kept - ?, compacted_attempts = compacted_attempts + ?,
    compacted_until = MAX(COALESCE(compacted_until, -1e300), ?) WHERE pk = ?`,
  owns: 'SELECT 1 FROM tasks WHERE owner = ? LIMIT 1',
  removeTask: 'DELETE FROM tasks WHERE pk = ?',
  // So that finding those that no task has needs no look at the tasks.
  putPolicy: `INSERT INTO policies (hash, policy, tasks, kept_at) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE
    SET tasks = tasks + excluded.tasks, kept_at = MAX(kept_at, excluded.kept_at)`,
  countPolicy: 'UPDATE policies SET tasks = tasks + ? WHERE hash = ?',
  removePolicies: `DELETE FROM policies WHERE hash IN
    (SELECT hash FROM policies WHERE tasks <= 0 AND kept_at < ? LIMIT ?)`,
  policy: 'SELECT policy FROM policies WHERE hash = ?',
  insertAttempt: `INSERT INTO attempts (task, generation, number, execution, started_at, ended_at, outcome, delay_before,
    failure, signature, owner) VALUES (${marks(11)})`,
  attempts: `SELECT a.* FROM attempts a JOIN tasks t ON t.pk = a.task WHERE t.run = ? AND t.id = ?
    ORDER BY a.generation, a.number, a.execution`,
  attemptsOfRun: `SELECT t.id, a.* FROM tasks t JOIN attempts a ON a.task = t.pk WHERE t.run = ?
    ORDER BY t.id, a.generation, a.number, a.execution`,
  // A third of what whole tasks would take. Progress that is damaged is given as it is, to be told of.
  results: `SELECT id, result, iif(json_valid(progress), progress ->> '$.retry.failures', NULL) AS failures,
    iif(json_valid(progress), '{}', progress) AS progress
    FROM tasks WHERE run = ? AND status = 'succeeded' ORDER BY id`,
  countTasks: 'SELECT status, COUNT(*) AS tasks FROM tasks WHERE run = ? GROUP BY status',
  // The keys come as one list: a statement for each takes twice as long.
  tallies: `SELECT COALESCE(MAX(a.number), 0) AS last,
    COALESCE(SUM(a.outcome <> 'interrupted' OR a.failure IS NOT NULL), 0) AS ended
    FROM json_each(?) k LEFT JOIN tasks t ON t.run = k.value ->> 0 AND t.id = k.value ->> 1
    LEFT JOIN attempts a ON a.task = t.pk AND a.generation = t.generation GROUP BY k.key ORDER BY k.key`,
  removeAttempts: 'DELETE FROM attempts WHERE task = ?',
  oldAttempts: `SELECT generation, number, execution, ended_at FROM attempts WHERE task = ?
    ORDER BY generation, number, execution LIMIT ?`,
  removeAttemptsUpTo: 'DELETE FROM attempts WHERE task = ? AND (generation, number, execution) <= (?, ?, ?)',
  gate: 'SELECT * FROM gates WHERE key = ?',
  gates: 'SELECT * FROM gates ORDER BY key',
  removeGate: 'DELETE FROM gates WHERE key = ?',
  putGate: `INSERT INTO gates (key, kind, state, settings, decree) VALUES (${marks(5)}) ON CONFLICT (key) DO UPDATE
    SET kind = excluded.kind, state = excluded.state, settings = excluded.settings, decree = excluded.decree`,
  owners: 'SELECT record FROM owners ORDER BY id',
  putOwner: 'INSERT INTO owners (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
  taskOwners: 'SELECT DISTINCT owner FROM tasks WHERE owner IS NOT NULL',
  removeOwner: 'DELETE FROM owners WHERE id = ?',
  insertDead: `INSERT INTO dead (run, id, generation, at, signature, stop_reason, failure) VALUES (${marks(7)})`,
  allDead: 'SELECT * FROM dead ORDER BY at, run, id',
  deadOfRun: 'SELECT * FROM dead WHERE run = ? ORDER BY at, id',
  removeDead: 'DELETE FROM dead WHERE run = ? AND id = ?',
  removeOldDead: `DELETE FROM dead WHERE run = ? AND id = ? AND generation <=
    (SELECT generation FROM dead WHERE run = ? AND id = ? ORDER BY generation DESC LIMIT 1 OFFSET ?)`,
  insertEvent: `INSERT INTO events (type, run, id, at, correlation_id, detail) VALUES (${marks(6)})`,
  events: 'SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?',
  eventsOfRun: 'SELECT * FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?',
  eventsOfTask: 'SELECT * FROM events WHERE run = ? AND id = ? ORDER BY seq',
  removeEvents: 'DELETE FROM events WHERE run = ? AND id = ?',
  removeOldEvents: `DELETE FROM events WHERE run = ? AND id = ? AND seq <=
    (SELECT seq FROM events WHERE run = ? AND id = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
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

export function listQuery(filter: TaskFilter): { readonly sql: string; readonly values: SqlValue[] } {
  const { run, queue, statuses, owner, after, limit } = filter
  const conditions: string[] = []
  const values: SqlValue[] = []
  const where = (condition: string, ...given: SqlValue[]): void => {
    conditions.push(condition)
    values.push(...given)
  }
  if (run !== undefined) where('run = ?', run)
  if (queue !== undefined) where('queue = ?', queue)
  if (statuses !== undefined) where(statusIs(statuses))
  // An owner is what those have: so the index of owners finds them, however many have finished.
  const areOwned = statuses?.every((status) => status === 'running' || status === 'parked') ?? false
  if (areOwned) where('owner IS NOT NULL')
  if (owner !== undefined) where('owner = ?', owner)
  // Sorted afterwards where they are few: to read those in order of their keys would be to read all tasks.
  const key = areOwned ? '+run, +id' : 'run, id'
  if (after !== undefined) where(`(${key}) > (?, ?)`, after.run, after.id)
  const condition = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const sql = `SELECT ${TASK_COLUMNS} FROM tasks${condition} ORDER BY ${key} LIMIT ?`
  return { sql, values: [...values, limit ?? -1] }
}

/** In words and by `=`, as a partial index wants it; but many may wait, and those are read in order of their keys. */
function statusIs(statuses: readonly TaskStatus[]): string {
  const [first] = statuses
  const quoted = statuses.map((status) => `'${TASK_STATUSES.find((known) => known === status)}'`)
  return statuses.length === 1 && first !== 'waiting' ? `status = ${quoted[0]}` : `status IN (${quoted.join(', ')})`
}

export function runsQuery(filter: RunFilter): { sql: string; values: SqlValue[] } {
  const { idPrefix, name, kind, statuses, sinceMs, limit } = filter
  const conditions: string[] = []
  const values: SqlValue[] = []
  const where = (condition: string, value: SqlValue): void => {
    conditions.push(condition)
    values.push(value)
  }
  if (idPrefix !== undefined) {
    where('id >= ?', idPrefix)
    where('id < ?', idPrefix + AFTER_PREFIX)
  }
  if (name !== undefined) where('name = ?', name)
  if (kind !== undefined) where('kind = ?', kind)
  if (sinceMs !== undefined) where('created_at >= ?', sinceMs)
  if (statuses !== undefined) {
    const quoted = statuses.map((status) => `'${RUN_STATUSES.find((known) => known === status)}'`)
    conditions.push(`status IN (${quoted.join(', ')})`)
  }
  const condition = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const order = idPrefix === undefined ? 'created_at DESC, id DESC' : 'id DESC'
  const sql = `SELECT ${RUN_COLUMNS} FROM runs${condition} ORDER BY ${order} LIMIT ?`
  return { sql, values: [...values, limit ?? -1] }
}
