/**
 * Tasks that wait, in SQL: by policy and place in the order of claims, as the index of due tasks has them. Imports core's
 * state, rows and the port.
 *
 * Very many tasks may wait, so they are counted by the database. What it recognises is the state that tasks are created
 * with, and the one that failed attempts leave; whatever differs comes to JavaScript, so that an unknown state is never
 * taken for a sound one.
 */
import { initialState, snapshot } from '../../core/state.js'
import { compareWaiting, FRESH_RANK, RANK_NUMBERS, RETRY_RANK } from '../claim-order.js'
import type { SurveyFilter, SurveyPage, RetryingFilter, WaitingCount, WaitingFilter } from '../ledger.js'
import type { TaskRecord } from '../records.js'
import { numberOf, type SqlRow, TASK_COLUMNS, taskOf, text } from '../rows.js'
import { Conditions, limited, type Reading, readRows, type SqlArgument } from './sql-reading.js'

const IN_GROUP = `status = 'waiting' AND queue = ? AND policy_hash = ? AND claim_rank = ?`
/** The order of claims, and what tells apart tasks of two scopes in one queue. */
const ORDER = 'due_at, id, scope_kind, scope'
/** PostgreSQL and SQLite allow several hundred parts of a union. */
const GROUPS_AT_ONCE = 100
/** The largest number that the column of attempts holds. */
const MOST_ATTEMPTS = 2_147_483_647

export function* countWaiting(queue: string): Reading<readonly WaitingCount[]> {
  const rows = yield* readRows(
    `SELECT policy_hash, claim_rank, count(*) AS tasks FROM {tasks} WHERE status = 'waiting' AND queue = ?
      GROUP BY policy_hash, claim_rank ORDER BY policy_hash, claim_rank`,
    [queue],
  )
  return rows.map((row) => ({
    policyHash: row['policy_hash'] as string,
    rank: numberOf(row['claim_rank']),
    tasks: numberOf(row['tasks']),
  }))
}

/** Tasks without a due time, which should have one, come first: a cursor of due times would pass over them. */
export function* listWaiting(filter: WaitingFilter): Reading<readonly TaskRecord[]> {
  const { queue, policyHash, rank, after, limit } = filter
  const isDated = after !== undefined && after.dueAtMs !== null
  const undated = isDated ? [] : yield* undatedTasks(filter)
  if (undated.length === limit) return undated
  const where = new Conditions().add(IN_GROUP, queue, policyHash, rank).add('due_at IS NOT NULL')
  if (isDated) where.add(`(${ORDER}) > (?, ?, ?, ?)`, after.dueAtMs, after.id, after.scopeKind, after.scope)
  const query = `SELECT ${TASK_COLUMNS} FROM {tasks} ${where.where} ORDER BY ${ORDER}`
  const rows = yield* readRows(...limited(query, where, limit === undefined ? undefined : limit - undated.length))
  return [...undated, ...rows.map((row) => taskOf(row).task)]
}

function* undatedTasks({ queue, policyHash, rank, after, limit }: WaitingFilter): Reading<readonly TaskRecord[]> {
  const where = new Conditions().add(IN_GROUP, queue, policyHash, rank).add('due_at IS NULL')
  if (after !== undefined) where.add('(id, scope_kind, scope) > (?, ?, ?)', after.id, after.scopeKind, after.scope)
  const query = `SELECT ${TASK_COLUMNS} FROM {tasks} ${where.where} ORDER BY id, scope_kind, scope`
  return (yield* readRows(...limited(query, where, limit))).map((row) => taskOf(row).task)
}

const CREATED = text({
  retry: snapshot(initialState(null), 0),
  current: null,
  interruptions: 0,
  lastFailure: null,
})
/** The progress of a task as it was created, as a pattern of `LIKE`; with any seed: the claim looks at it. */
export const CREATED_PROGRESS = CREATED.replace('"seed":0', '"seed":%')
/**
 * Between two attempts, each of which failed and has its row. Delays and times may be any numbers that are not negative: the
 * claim looks at the whole state before anything runs. A quote within a text is escaped, so that no message has the form of a
 * key.
 */
const RETRY_PROGRESS = CREATED_PROGRESS.replace('"failures":0', `"failures":' || attempts_kept || '`)
  .replace('"launched":0', `"launched":' || attempts_kept || '`)
  .replace('"totalDelayMs":0,"lastDelayMs":0', '"totalDelayMs":%,"lastDelayMs":%')
  .replace('"expiresAtMs":null,"deadlineAtMs":null', '"expiresAtMs":%,"deadlineAtMs":%')
  .replace('"resumed":false', '"resumed":%')
  .replace('"lastFailure":null}', '"lastFailure":{%')
/** The last moment that JavaScript can name. */
const LAST_MS = 8.64e15
const KNOWN_TIMES = `updated_at BETWEEN 0 AND ? AND created_at BETWEEN 0 AND ? AND due_at BETWEEN 0 AND ?
  AND compacted_until IS NULL`
const AS_CREATED = `progress LIKE '${CREATED_PROGRESS}' AND attempts_kept = 0`
const AS_FAILED = `progress LIKE '${RETRY_PROGRESS}' AND progress NOT LIKE '%Ms":-%' AND progress NOT LIKE '%Ms":"%'
  AND generation = 1 AND attempts_kept BETWEEN 1 AND ?`

/** What has not to be looked at one by one. */
function soundTasks({ rank, nowMs, attempts }: SurveyFilter): Conditions {
  const sound = new Conditions().add(KNOWN_TIMES, Math.min(nowMs, LAST_MS), LAST_MS, LAST_MS)
  if (rank === FRESH_RANK) return sound.add(AS_CREATED)
  return rank === RETRY_RANK ? sound.add(AS_FAILED, Math.min(attempts, MOST_ATTEMPTS)) : sound.add('1 = 0')
}

/**
 * Page by page: SQLite holds up the process while it counts. `isAtOnce`: the whole group is counted first, and if all of it
 * is sound, that is all.
 */
export function* surveyWaiting(filter: SurveyFilter, isAtOnce = false): Reading<SurveyPage> {
  const { queue, policyHash, rank, after, limit } = filter
  const where = new Conditions().add(IN_GROUP, queue, policyHash, rank).add('due_at IS NOT NULL')
  if (after !== undefined) where.add('(due_at, id) > (?, ?)', after.dueAtMs, after.id)
  const sound = soundTasks(filter)
  const undated = after === undefined ? yield* undatedTasks({ queue, policyHash, rank }) : []
  if (isAtOnce && after === undefined) {
    const { tasks, sound: count } = yield* countSound(where, sound)
    if (tasks === count) return { sound: count, others: undated, end: undefined }
  }
  const [last] = yield* readRows(`SELECT due_at, id FROM {tasks} ${where.where} ORDER BY due_at, id LIMIT 1 OFFSET ?`, [
    ...where.values,
    limit - 1,
  ])
  const end = last && { dueAtMs: last['due_at'] as number, id: last['id'] as string }
  if (end !== undefined) where.add('(due_at, id) <= (?, ?)', end.dueAtMs, end.id)
  const { tasks, sound: count } = yield* countSound(where, sound)
  if (tasks === count) return { sound: count, others: undated, end }
  const rows = yield* readRows(
    `SELECT ${TASK_COLUMNS} FROM {tasks} ${where.where} AND NOT (${sound.all}) ORDER BY ${ORDER}`,
    [...where.values, ...sound.values],
  )
  return { sound: count, others: [...undated, ...rows.map((row) => taskOf(row).task)], end }
}

function* countSound(where: Conditions, sound: Conditions): Reading<{ tasks: number; sound: number }> {
  const [counted] = yield* readRows(
    `SELECT count(*) AS tasks, count(*) FILTER (WHERE ${sound.all}) AS sound FROM {tasks} ${where.where}`,
    [...sound.values, ...where.values],
  )
  return { tasks: numberOf(counted?.['tasks']), sound: numberOf(counted?.['sound']) }
}

/**
 * The groups of the index of due tasks, each found from the one before: a look at every group, and at no other row. There
 * is no index of all due times: every retry would pay for it.
 */
const GROUPS = `WITH RECURSIVE queues (queue) AS (
    SELECT min(queue) FROM {tasks} WHERE status = 'waiting'
    UNION ALL SELECT (SELECT min(t.queue) FROM {tasks} t WHERE t.status = 'waiting' AND t.queue > q.queue)
      FROM queues q WHERE q.queue IS NOT NULL),
  pairs (queue, policy_hash) AS (
    SELECT q.queue, (SELECT min(t.policy_hash) FROM {tasks} t WHERE t.status = 'waiting' AND t.queue = q.queue)
      FROM queues q WHERE q.queue IS NOT NULL
    UNION ALL SELECT p.queue, (SELECT min(t.policy_hash) FROM {tasks} t WHERE t.status = 'waiting' AND t.queue = p.queue
      AND t.policy_hash > p.policy_hash) FROM pairs p WHERE p.policy_hash IS NOT NULL)
  SELECT queue, policy_hash FROM pairs WHERE policy_hash IS NOT NULL`

/** The first of every group and of those that are parked, then the first of these. */
export function* listRetrying({ after, limit }: RetryingFilter = {}): Reading<readonly TaskRecord[]> {
  const groups = yield* readRows(GROUPS)
  const sources = groups.flatMap((row) =>
    RANK_NUMBERS.filter((rank) => rank !== FRESH_RANK).map((rank) =>
      new Conditions().add(IN_GROUP, row['queue'] as string, row['policy_hash'] as string, rank),
    ),
  )
  sources.push(new Conditions().add(`status = 'parked' AND owner IS NOT NULL`))
  let found: SqlRow[] = []
  for (let first = 0; first < sources.length; first += GROUPS_AT_ONCE) {
    const values: SqlArgument[] = []
    const parts = sources.slice(first, first + GROUPS_AT_ONCE).map((where, index) => {
      where.add('due_at IS NOT NULL')
      if (after !== undefined)
        where.add(`(${ORDER}) > (?, ?, ?, ?)`, after.dueAtMs, after.id, after.scopeKind, after.scope)
      const [query, given] = limited(
        `SELECT ${TASK_COLUMNS} FROM {tasks} ${where.where} ORDER BY ${ORDER}`,
        where,
        limit,
      )
      values.push(...given)
      return `SELECT * FROM (${query}) s${index}`
    })
    const rows = yield* readRows(...limited(`${parts.join(' UNION ALL ')} ORDER BY ${ORDER}`, { values }, limit))
    found = [...found, ...rows]
  }
  const tasks = found.map((row) => taskOf(row).task)
  return tasks.toSorted(compareWaiting).slice(0, limit)
}
