/**
 * Sums over the tasks and attempts of a run in SQL: how they stand, and what the time went into. The database reads the rows,
 * and one answer comes to JavaScript. Imports rows and the port.
 */
import type { RunTask, RunTaskPage, TaskCount, TimeSpan, WaitedRequest } from '../figures.js'
import { type AttemptRow, keyIn, scopeOfRun, TASK_STATUSES, type TaskStatus } from '../records.js'
import { attemptOf, numberOf, TASK_COLUMNS, taskOf } from '../rows.js'
import { ATTEMPT_COLUMNS, HAS_FAILED, withoutInput } from './sql-lists.js'
import { Conditions, type Reading, readRows } from './sql-reading.js'

const OF_RUN = `t.scope_kind = 'run' AND t.scope = ?`
const ATTEMPTS = '{tasks} t JOIN {attempts} a ON a.task = t.pk'
/** The last moment that JavaScript can name. */
const LAST_MS = 8.64e15

const HAS_BEGUN = `progress LIKE '%"launched":%' AND progress NOT LIKE '%"launched":0,%'`
const IS_IN_FLIGHT = `progress LIKE '%"current":{%'`
/** A condition as a number, which both stores group by. */
const asNumber = (condition: string): string => `CASE WHEN ${condition} THEN 1 ELSE 0 END`

export function* tasksOfRun(run: string, exceptEnding: string | undefined): Reading<readonly TaskCount[]> {
  const where = new Conditions().add(OF_RUN, run)
  if (exceptEnding !== undefined)
    where.add(`t.id NOT LIKE ? ESCAPE '!'`, `%${exceptEnding.replaceAll(/[!%_]/g, '!$&')}`)
  const rows = yield* readRows(
    `SELECT status, has_failed, has_begun, is_in_flight, count(*) AS tasks FROM (SELECT t.status,
        ${asNumber(HAS_FAILED)} AS has_failed, ${asNumber(HAS_BEGUN)} AS has_begun,
        ${asNumber(IS_IN_FLIGHT)} AS is_in_flight
        FROM {tasks} t ${where.where}) c
      GROUP BY status, has_failed, has_begun, is_in_flight ORDER BY status, has_failed, has_begun, is_in_flight`,
    where.values,
  )
  return rows.map((row) => ({
    status: TASK_STATUSES.find((status) => status === row['status']) as TaskStatus,
    hasFailed: numberOf(row['has_failed']) === 1,
    hasBegun: numberOf(row['has_begun']) === 1,
    isInFlight: numberOf(row['is_in_flight']) === 1,
    tasks: numberOf(row['tasks']),
  }))
}

/** A row of numbers as a table; the cast tells PostgreSQL what they are. */
function valuesOf(rows: number, columns: string): string {
  return Array.from({ length: rows }, () => `(${columns})`).join(', ')
}

const MS = 'CAST(? AS float8)'

export function* lastSigns(run: string, startsMs: readonly number[]): Reading<readonly (number | null)[]> {
  if (startsMs.length === 0) return []
  const periods = startsMs.flatMap((fromMs, index) => [index, fromMs, startsMs[index + 1] ?? LAST_MS])
  const rows = yield* readRows(
    `WITH periods (nth, from_at, to_at) AS (VALUES ${valuesOf(startsMs.length, `${MS}, ${MS}, ${MS}`)})
      SELECT p.nth, max(CASE WHEN a.ended_at < p.to_at THEN a.ended_at ELSE a.started_at END) AS last_at
        FROM periods p, ${ATTEMPTS} WHERE ${OF_RUN} AND a.started_at >= p.from_at AND a.started_at < p.to_at
        GROUP BY p.nth`,
    [...periods, run],
  )
  const last = new Map(rows.map((row) => [numberOf(row['nth']), numberOf(row['last_at'])]))
  return startsMs.map((_, index) => last.get(index) ?? null)
}

/**
 * Spans of waits and of attempts, cut to the periods, become marks at which something begins or ends. Swept in order of time,
 * what lies between two marks is counted where something waits and nothing runs.
 */
export function* waitedMs(run: string, { periods, waits, runs }: WaitedRequest): Reading<number> {
  if (periods.length === 0) return 0
  // Most runs have no retry: looking for one costs a tenth of the sweep.
  const retried = yield* readRows(`SELECT 1 AS one FROM ${ATTEMPTS} WHERE ${OF_RUN} AND a.attempt > 1 LIMIT 1`, [run])
  if (retried.length === 0 && waits.length === 0) return 0
  const open = [...waits.map((span) => [span, 1, 0] as const), ...runs.map((span) => [span, 0, 1] as const)]
  const more = open.length === 0 ? '' : `UNION ALL VALUES ${valuesOf(open.length, `${MS}, ${MS}, ${MS}, ${MS}`)}`
  const timesOf = ({ fromMs, toMs }: TimeSpan): number[] => [Math.min(fromMs, LAST_MS), Math.min(toMs, LAST_MS)]
  const rows = yield* readRows(
    `WITH periods (from_at, to_at) AS (VALUES ${valuesOf(periods.length, `${MS}, ${MS}`)}),
      rows_of_run AS (SELECT a.started_at, a.ended_at, a.attempt, lag(a.ended_at) OVER w AS before_at,
        lag(a.attempt) OVER w AS before_attempt FROM ${ATTEMPTS} WHERE ${OF_RUN}
        WINDOW w AS (PARTITION BY a.task, a.generation ORDER BY a.attempt, a.execution)),
      spans (from_at, to_at, waits, runs) AS (
        SELECT before_at, started_at, CAST(1 AS float8), CAST(0 AS float8) FROM rows_of_run WHERE before_attempt < attempt
        UNION ALL SELECT started_at, ended_at, 0, 1 FROM rows_of_run ${more}),
      cut AS (SELECT CASE WHEN s.from_at > p.from_at THEN s.from_at ELSE p.from_at END AS from_at,
        CASE WHEN s.to_at < p.to_at THEN s.to_at ELSE p.to_at END AS to_at, s.waits, s.runs
        FROM spans s JOIN periods p ON s.from_at < p.to_at AND s.to_at > p.from_at),
      marks AS (SELECT at, sum(waits) AS waits, sum(runs) AS runs FROM (SELECT from_at AS at, waits, runs FROM cut
        UNION ALL SELECT to_at, -waits, -runs FROM cut) m GROUP BY at),
      swept AS (SELECT at, lead(at) OVER (ORDER BY at) AS next_at, sum(waits) OVER (ORDER BY at) AS waiting,
        sum(runs) OVER (ORDER BY at) AS running FROM marks)
      SELECT sum(next_at - at) AS waited FROM swept WHERE waiting > 0 AND running = 0`,
    [
      ...periods.flatMap(timesOf),
      run,
      ...open.flatMap(([span, waiting, running]) => [...timesOf(span), waiting, running]),
    ],
  )
  return numberOf(rows[0]?.['waited'])
}

/** No index has this order: a page costs a look at the run's tasks, and a bounded sort of them. */
export function* runHistory(run: string, { after, limit }: RunTaskPage): Reading<readonly RunTask[]> {
  const where = new Conditions().add(OF_RUN, run)
  if (after !== undefined) where.add('(t.created_at, t.id) > (?, ?)', after.createdAtMs, after.id)
  const rows = yield* readRows(
    `SELECT ${withoutInput(TASK_COLUMNS)} FROM {tasks} t ${where.where} ORDER BY t.created_at, t.id LIMIT ?`,
    [...where.values, limit],
  )
  const tasks = rows.map((row) => taskOf(row).task)
  const last = tasks.at(-1)
  if (last === undefined) return []
  where.add('(t.created_at, t.id) <= (?, ?)', last.createdAtMs, last.id)
  const found = yield* readRows(
    `SELECT t.id, ${ATTEMPT_COLUMNS} FROM ${ATTEMPTS} ${where.where} ORDER BY t.id, a.generation, a.attempt, a.execution`,
    where.values,
  )
  const attempts = new Map<string, AttemptRow[]>(tasks.map(({ id }) => [id, []]))
  for (const row of found) {
    const id = row['id'] as string
    attempts.get(id)?.push(attemptOf(row, keyIn(scopeOfRun(run), id)))
  }
  return tasks.map((task) => ({ task, attempts: attempts.get(task.id) ?? [] }))
}
