/**
 * Lists of ledgers in SQL: tasks, runs, attempts, results, dead letters and events. Every list is read in the order of an
 * index wherever there is one, and a cursor begins in that index, so that a page costs no look at the rows before it.
 * Imports rows and the port.
 */
import type {
  AttemptPage,
  LetterFilter,
  ResultPage,
  RunFilter,
  StatusCounts,
  TaskFilter,
  TaskResult,
} from '../ledger.js'
import {
  type AttemptRow,
  type DeadLetter,
  type EventScope,
  keyIn,
  RUN_STATUSES,
  type RunRecord,
  scopeOfRun,
  type StoredEvent,
  TASK_STATUSES,
  type TaskRecord,
  type TaskStatus,
} from '../records.js'
import {
  AFTER_PREFIX,
  attemptOf,
  deadLetterOf,
  eventOf,
  numberOf,
  resultOf,
  RUN_COLUMNS,
  runOf,
  TASK_COLUMNS,
  taskOf,
} from '../rows.js'
import { Conditions, limited, type Reading, readRows } from './sql-reading.js'

// Each by its name: a column that a later version adds must not change what a prepared statement answers.
export const ATTEMPT_COLUMNS = `a.generation, a.attempt, a.execution, a.started_at, a.ended_at, a.outcome, a.delay_before,
  a.failure, a.signature, a.owner`
export const LETTER_COLUMNS =
  'scope_kind, scope, id, generation, at, signature, stop_reason, failure, closed_at, closed_by'
const EVENT_COLUMNS = 'seq, type, scope_kind, scope, id, at, correlation_id, detail'
/**
 * An attempt has failed. The driver writes the fields of a state in one order and form (`snapshot`), and a quote within a
 * text is escaped. A record of before there was a state has no such field.
 */
export const HAS_FAILED = `(progress LIKE '%"failures":%' AND progress NOT LIKE '%"failures":0,%')`
const IN_RUN = `scope_kind = 'run' AND scope = ?`

export function* listTasks(filter: TaskFilter): Reading<readonly TaskRecord[]> {
  const { scopeKind, scope, queue, statuses, hasFailed, sinceMs, owner, after, limit, withInput = true } = filter
  const where = new Conditions().when('scope_kind = ?', scopeKind).when('scope = ?', scope).when('queue = ?', queue)
  if (statuses !== undefined) where.add(statusIs(statuses))
  if (hasFailed !== undefined) where.add(hasFailed ? HAS_FAILED : `NOT ${HAS_FAILED}`)
  // Such tasks have an owner: so the index of owners finds them, however many have finished.
  const areOwned = statuses?.every((status) => status === 'running' || status === 'parked') ?? false
  if (areOwned) where.add('owner IS NOT NULL')
  where.when('owner = ?', owner).when('updated_at >= ?', sinceMs)
  // Sorted afterwards where they are few: to read those in order of their keys would be to read all tasks.
  const isSorted = areOwned || owner !== undefined
  const key = isSorted ? `scope_kind || '', scope || '', id || ''` : 'scope_kind, scope, id'
  if (after !== undefined) where.add(`(${key}) > (?, ?, ?)`, after.scopeKind, after.scope, after.id)
  const columns = withInput ? TASK_COLUMNS : withoutInput(TASK_COLUMNS)
  const rows = yield* readRows(
    ...limited(`SELECT ${columns} FROM {tasks} ${where.where} ORDER BY ${key}`, where, limit),
  )
  return rows.map((row) => taskOf(row).task)
}

export function withoutInput(columns: string): string {
  return columns.replace(/\binput\b/, `'null' AS input`)
}

/** In words and by `=`, as a partial index wants it; but many may wait, and those are read in order of their keys. */
function statusIs(statuses: readonly TaskStatus[]): string {
  const [first] = statuses
  const quoted = statuses.map((status) => `'${TASK_STATUSES.find((known) => known === status)}'`)
  const isOne = statuses.length === 1 && first !== 'waiting'
  return isOne ? `status = ${quoted[0]}` : `status IN (${quoted.join(', ') || 'NULL'})`
}

export function* listRuns(filter: RunFilter): Reading<readonly RunRecord[]> {
  const { idPrefix, name, kind, statuses, sinceMs, after, limit } = filter
  const where = new Conditions()
  // A range instead of LIKE: PostgreSQL plans it by the primary key without knowing the prefix.
  if (idPrefix !== undefined) where.add('id >= ? AND id < ?', idPrefix, idPrefix + AFTER_PREFIX)
  where.when('name = ?', name).when('kind = ?', kind).when('created_at >= ?', sinceMs)
  if (statuses !== undefined) {
    const quoted = statuses.map((status) => `'${RUN_STATUSES.find((known) => known === status)}'`)
    where.add(`status IN (${quoted.join(', ') || 'NULL'})`)
  }
  if (after !== undefined && idPrefix !== undefined) where.add('id < ?', after.id)
  else if (after !== undefined) where.add('(created_at, id) < (?, ?)', after.createdAtMs, after.id)
  const order = idPrefix === undefined ? 'created_at DESC, id DESC' : 'id DESC'
  const text = `SELECT ${RUN_COLUMNS} FROM {runs} ${where.where} ORDER BY ${order}`
  return (yield* readRows(...limited(text, where, limit))).map(runOf)
}

export function* listAttempts(run: string, { after, limit }: AttemptPage = {}): Reading<readonly AttemptRow[]> {
  const where = new Conditions().add(`t.${IN_RUN.replace(' AND ', ' AND t.')}`, run)
  if (after !== undefined) {
    const { id, generation, attempt, execution } = after
    where
      .add('t.id >= ?', id)
      .add('(t.id, a.generation, a.attempt, a.execution) > (?, ?, ?, ?)', id, generation, attempt, execution)
  }
  const text = `SELECT t.id, ${ATTEMPT_COLUMNS} FROM {tasks} t JOIN {attempts} a ON a.task = t.pk ${where.where}
    ORDER BY t.id, a.generation, a.attempt, a.execution`
  const rows = yield* readRows(...limited(text, where, limit))
  const scope = scopeOfRun(run)
  return rows.map((row) => attemptOf(row, keyIn(scope, row['id'] as string)))
}

/** A third of what whole tasks would take. */
export function* listResults(run: string, { after, limit }: ResultPage = {}): Reading<readonly TaskResult[]> {
  const where = new Conditions().add(IN_RUN, run).when('id > ?', after).add(`status = 'succeeded'`)
  const text = `SELECT id, result, progress FROM {tasks} ${where.where} ORDER BY id`
  return (yield* readRows(...limited(text, where, limit))).map((row) => resultOf(row, run))
}

export function* countTasks(run: string): Reading<StatusCounts> {
  const rows = yield* readRows(`SELECT status, count(*) AS tasks FROM {tasks} WHERE ${IN_RUN} GROUP BY status`, [run])
  return Object.fromEntries(rows.map((row) => [row['status'] as string, numberOf(row['tasks'])]))
}

export function* listLetters(filter: LetterFilter = {}): Reading<readonly DeadLetter[]> {
  const { scopeKind, scope, id, signature, isOpen, after, limit } = filter
  const where = new Conditions()
    .when('scope_kind = ?', scopeKind)
    .when('scope = ?', scope)
    .when('id = ?', id)
    .when('signature = ?', signature)
  if (isOpen !== undefined) where.add(`closed_at IS ${isOpen ? '' : 'NOT '}NULL`)
  const key = 'at, scope_kind, scope, id, generation'
  if (after !== undefined) {
    const { atMs, generation } = after
    where.add(`(${key}) > (?, ?, ?, ?, ?)`, atMs, after.scopeKind, after.scope, after.id, generation)
  }
  const text = `SELECT ${LETTER_COLUMNS} FROM {dead} ${where.where} ORDER BY ${key}`
  return (yield* readRows(...limited(text, where, limit))).map(deadLetterOf)
}

export function* listEvents(afterSeq: number, limit: number, scope?: EventScope): Reading<readonly StoredEvent[]> {
  const where = new Conditions()
    .when('scope_kind = ?', scope?.scopeKind)
    .when('scope = ?', scope?.scope)
    .when('id = ?', scope?.id)
    .add('seq > ?', afterSeq)
  const text = `SELECT ${EVENT_COLUMNS} FROM {events} ${where.where} ORDER BY seq`
  return (yield* readRows(...limited(text, where, limit))).map(eventOf)
}
