/**
 * Every statement of the SQLite ledger, prepared once. Imports its own layer.
 */
import type { TaskFilter } from '../ledger/ledger.js'
import { TASK_STATUSES, type TaskStatus } from '../ledger/records.js'
import type { SqliteDatabase, SqliteStatement, SqlValue } from './driver.js'
import { TASK_COLUMNS, UPDATED_COLUMNS } from './rows.js'

const INSERTED = ['run', 'id', 'payload_hash', 'input', 'correlation_id', 'created_at', ...UPDATED_COLUMNS]
const marks = (count: number): string => Array.from({ length: count }, () => '?').join(', ')

const SQL = {
  task: `SELECT ${TASK_COLUMNS} FROM tasks WHERE run = ? AND id = ?`,
  payload: 'SELECT payload_hash FROM tasks WHERE run = ? AND id = ?',
  insertTask: `INSERT INTO tasks (${INSERTED.join(', ')}) VALUES (${marks(INSERTED.length)})
    ON CONFLICT (run, id) DO NOTHING`,
  updateTask: `UPDATE tasks SET ${UPDATED_COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE pk = ?`,
  due: `SELECT ${TASK_COLUMNS} FROM tasks WHERE status = 'waiting' AND queue = ?
    AND policy_hash = ? AND due_at <= ? ORDER BY due_at LIMIT ?`,
  nextDue: `SELECT due_at FROM tasks WHERE status = 'waiting' AND queue = ? AND policy_hash = ?
    ORDER BY due_at LIMIT 1`,
  finishedBefore: `SELECT pk, run, id FROM tasks WHERE status IN ('succeeded', 'failed', 'cancelled') AND updated_at < ? LIMIT ?`,
  removeTask: 'DELETE FROM tasks WHERE pk = ?',
  putPolicy: 'INSERT OR IGNORE INTO policies (hash, policy) VALUES (?, ?)',
  policy: 'SELECT policy FROM policies WHERE hash = ?',
  insertAttempt: `INSERT INTO attempts (task, generation, number, execution, started_at, ended_at, outcome, delay_before,
    failure, owner) VALUES (${marks(10)})`,
  attempts: `SELECT a.* FROM attempts a JOIN tasks t ON t.pk = a.task WHERE t.run = ? AND t.id = ?
    ORDER BY a.generation, a.number, a.execution`,
  removeAttempts: 'DELETE FROM attempts WHERE task = ?',
  gate: 'SELECT * FROM gates WHERE key = ?',
  gates: 'SELECT * FROM gates ORDER BY key',
  putGate: `INSERT INTO gates (key, kind, state) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, state = excluded.state`,
  owners: 'SELECT record FROM owners ORDER BY id',
  putOwner: 'INSERT INTO owners (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
  removeOwner: 'DELETE FROM owners WHERE id = ?',
  insertDead: `INSERT INTO dead (run, id, generation, at, signature, stop_reason, failure) VALUES (${marks(7)})`,
  allDead: 'SELECT * FROM dead ORDER BY at, run, id',
  deadOfRun: 'SELECT * FROM dead WHERE run = ? ORDER BY at, id',
  insertEvent: `INSERT INTO events (type, run, id, at, correlation_id, detail) VALUES (${marks(6)})`,
  events: 'SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?',
  removeEvents: 'DELETE FROM events WHERE run = ? AND id = ?',
} as const

export type Statements = Readonly<Record<keyof typeof SQL, SqliteStatement>>

export function prepareStatements(database: SqliteDatabase): Statements {
  const entries = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)] as const)
  return Object.fromEntries(entries) as Statements
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
