/**
 * The answers of ledgers in SQL, counted by the database: of attempts only the examples come to JavaScript. Imports rows
 * and the port.
 *
 * Only failures have an index, for their patterns: without it 300,000 attempts have to be sorted twice, which takes
 * seconds. Everything else reads all attempts of the filter once, since every success would pay for an index.
 */
import {
  type AnalyticsFilter,
  DEFAULT_EXAMPLES,
  DEFAULT_PATTERNS,
  type DelaySpent,
  type FailureExample,
  type FailurePattern,
  type LedgerAnalytics,
  type PatternFilter,
  type RecoveryFilter,
  type RecoveryRate,
  type ResumeStats,
  type TaskHistory,
  type Totals,
} from '../analytics.js'
import type { TaskKey } from '../records.js'
import { attemptOf, compactionOf, eventOf, exampleOf, numberOf, resumesOf, scopeOf } from '../rows.js'
import { letterPatterns, letterTotals } from './sql-letters.js'
import { lastSigns, runHistory, tasksOfRun, waitedMs } from './sql-run-figures.js'
import { Conditions, type Reading, readRows, type SqlArgument } from './sql-reading.js'

const JOINED = '{attempts} a JOIN {tasks} t ON t.pk = a.task'
const ENDED = `(a.outcome NOT IN ('interrupted', 'denied') OR a.outcome = 'interrupted' AND a.signature IS NOT NULL)`
const INTERRUPTED = `a.outcome = 'interrupted'`
const IS_TASK = 'scope_kind = ? AND scope = ? AND id = ?'

/** `read`: runs a reading on the store. It may begin it anew when the store is busy or its connection is lost. */
export function sqlAnalytics(read: <T>(begin: () => Reading<T>) => Promise<T>): LedgerAnalytics {
  return {
    totals: (filter = {}) => read(() => totals(filter)),
    failurePatterns: (filter = {}) => read(() => failurePatterns(filter)),
    recovery: (filter = {}) => read(() => recovery(filter)),
    delays: (filter = {}) => read(() => delays(filter)),
    resumes: (filter = {}) => read(() => resumes(filter)),
    history: (key) => read(() => history(key)),
    tasksOfRun: (run, exceptEnding) => read(() => tasksOfRun(run, exceptEnding)),
    lastSigns: (run, startsMs) => read(() => lastSigns(run, startsMs)),
    runHistory: (run, page) => read(() => runHistory(run, page)),
    waitedMs: (run, request) => read(() => waitedMs(run, request)),
    letterTotals: (filter = {}) => read(() => letterTotals(filter)),
    letterPatterns: (filter = {}) => read(() => letterPatterns(filter)),
  }
}

function* totals(filter: AnalyticsFilter): Reading<Totals> {
  const { sinceMs, untilMs: _untilMs, ...which } = filter
  const tasks = conditionsOf(which)
  const since = sinceMs === undefined ? '' : 'AND t.compacted_until >= ?'
  const rows = yield* readRows(
    `SELECT t.status, count(*) AS tasks,
      sum(t.compacted_attempts) FILTER (WHERE t.compacted_until IS NOT NULL ${since}) AS compacted
      FROM {tasks} t ${tasks.where} GROUP BY t.status`,
    [...(sinceMs === undefined ? [] : [sinceMs]), ...tasks.values],
  )
  const attempts = conditionsOf(filter)
  const [counted] = yield* readRows(
    `SELECT count(*) AS attempts FROM ${attemptsOf(filter)} ${attempts.where}`,
    attempts.values,
  )
  return {
    tasks: rows.reduce((sum, row) => sum + numberOf(row['tasks']), 0),
    byStatus: Object.fromEntries(rows.map((row) => [row['status'] as string, numberOf(row['tasks'])])),
    attempts: numberOf(counted?.['attempts']),
    compactedAttempts: rows.reduce((sum, row) => sum + numberOf(row['compacted']), 0),
  }
}

function* failurePatterns(filter: PatternFilter): Reading<readonly FailurePattern[]> {
  const { limit = DEFAULT_PATTERNS, examples: most = DEFAULT_EXAMPLES } = filter
  const { where, values } = conditionsOf(filter).add('a.signature IS NOT NULL')
  // Grouped by task first, in the order of the index: nothing is sorted, and no task is counted twice.
  const rows = yield* readRows(
    `SELECT signature, sum(failures) AS count, min(first_at) AS first_at, max(last_at) AS last_at, count(*) AS tasks,
      count(*) FILTER (WHERE status = 'succeeded') AS recovered, count(*) FILTER (WHERE status = 'failed') AS failed
      FROM (SELECT a.signature, count(*) AS failures, min(a.ended_at) AS first_at, max(a.ended_at) AS last_at,
          min(t.status) AS status FROM ${JOINED} ${where} GROUP BY a.signature, a.task) by_task
      GROUP BY signature ORDER BY count DESC, signature LIMIT ?`,
    [...values, Math.max(0, limit)],
  )
  const signatures = rows.map((row) => row['signature'] as string)
  const examples = yield* examplesOf(filter, signatures, most)
  return rows.map((row, index) => ({
    signature: signatures[index] as string,
    count: numberOf(row['count']),
    firstAtMs: numberOf(row['first_at']),
    lastAtMs: numberOf(row['last_at']),
    tasks: numberOf(row['tasks']),
    recovered: numberOf(row['recovered']),
    failed: numberOf(row['failed']),
    examples: examples[index] as readonly FailureExample[],
  }))
}

const ORDER = ['ended_at', 'task', 'generation', 'attempt', 'execution']
const latest = (table: string): string => ORDER.map((column) => `${table}.${column} DESC`).join(', ')

/** Of each signature the latest; of examples at one time, those of the task that was created last. */
function* examplesOf(
  filter: AnalyticsFilter,
  signatures: readonly string[],
  most: number,
): Reading<readonly (readonly FailureExample[])[]> {
  if (most <= 0 || signatures.length === 0) return signatures.map(() => [])
  const values: SqlArgument[] = []
  // The keys of examples come from the index; their texts are read for these alone.
  const found = signatures.map((signature, index) => {
    const conditions = conditionsOf(filter).add('a.signature = ?', signature)
    values.push(...conditions.values, most)
    return `SELECT * FROM (SELECT ${index} AS nth, a.task, a.generation, a.attempt, a.execution, a.ended_at
      FROM ${attemptsOf(filter)} ${conditions.where} ORDER BY ${latest('a')} LIMIT ?) s${index}`
  })
  const rows = yield* readRows(
    `SELECT x.nth, t.scope_kind, t.scope, t.id, t.correlation_id, a.generation, a.attempt, a.execution, a.ended_at, a.failure
      FROM (${found.join(' UNION ALL ')}) x JOIN {attempts} a ON a.task = x.task AND a.generation = x.generation
        AND a.attempt = x.attempt AND a.execution = x.execution
      JOIN {tasks} t ON t.pk = a.task ORDER BY x.nth, ${latest('x')}`,
    values,
  )
  const groups = signatures.map((): FailureExample[] => [])
  for (const row of rows) groups[numberOf(row['nth'])]?.push(exampleOf(row))
  return groups
}

function* recovery(filter: RecoveryFilter): Reading<readonly RecoveryRate[]> {
  const isLast = filter.generations === 'last'
  const conditions = conditionsOf(filter).add(ENDED)
  if (isLast) conditions.add('a.generation = t.generation')
  const rows = yield* readRows(
    `SELECT a.attempt, count(*) AS reached, count(*) FILTER (WHERE a.outcome = 'success') AS succeeded
      FROM ${isLast ? JOINED : attemptsOf(filter)} ${conditions.where} GROUP BY a.attempt ORDER BY a.attempt`,
    conditions.values,
  )
  return rows.map((row) => {
    const [reached, succeeded] = [numberOf(row['reached']), numberOf(row['succeeded'])]
    return { attempt: numberOf(row['attempt']), reached, succeeded, rate: succeeded / reached }
  })
}

function* delays(filter: AnalyticsFilter): Reading<readonly DelaySpent[]> {
  const { where, values } = conditionsOf(filter).add('a.execution = 1').add(`a.outcome <> 'denied'`)
  const rows = yield* readRows(
    `SELECT t.scope_kind, t.scope, count(*) AS attempts, count(*) FILTER (WHERE a.delay_before > 0) AS waits,
      sum(a.delay_before) AS total, max(a.delay_before) AS longest
      FROM ${JOINED} ${where} GROUP BY t.scope_kind, t.scope ORDER BY t.scope_kind, t.scope`,
    values,
  )
  return rows.map((row) => {
    const [waits, totalMs] = [numberOf(row['waits']), numberOf(row['total'])]
    const meanMs = waits === 0 ? 0 : totalMs / waits
    const [attempts, maxMs] = [numberOf(row['attempts']), numberOf(row['longest'])]
    return { ...scopeOf(row), attempts, waits, totalMs, meanMs, maxMs }
  })
}

function* resumes(filter: AnalyticsFilter): Reading<ResumeStats> {
  const attempts = conditionsOf(filter).add(`(${INTERRUPTED} OR a.execution > 1)`)
  const [rows] = yield* readRows(
    `SELECT count(DISTINCT a.task) FILTER (WHERE ${INTERRUPTED}) AS tasks,
      count(*) FILTER (WHERE ${INTERRUPTED}) AS times,
      count(*) FILTER (WHERE ${INTERRUPTED} AND a.signature IS NOT NULL) AS counted,
      count(DISTINCT a.task) FILTER (WHERE ${INTERRUPTED} AND t.status = 'succeeded') AS recovered,
      count(*) FILTER (WHERE a.execution > 1) AS again FROM ${JOINED} ${attempts.where}`,
    attempts.values,
  )
  const events = conditionsOf(filter, 'e.at').add(`e.type = 'resumed'`)
  const [resumed] = yield* readRows(
    `SELECT count(DISTINCT t.pk) AS tasks, count(*) AS times FROM {events} e
      JOIN {tasks} t ON t.scope_kind = e.scope_kind AND t.scope = e.scope AND t.id = e.id ${events.where}`,
    events.values,
  )
  const { scopeKind, scope, queue, sinceMs, untilMs } = filter
  const ofRuns = new Conditions()
    .add(`e.type = 'run_resumed'`)
    .when('e.scope_kind = ?', scopeKind)
    .when('e.scope = ?', scope)
    .when('e.at >= ?', sinceMs)
    .when('e.at < ?', untilMs)
  const counted = `SELECT count(DISTINCT e.scope) AS tasks, count(*) AS times FROM {events} e ${ofRuns.where}`
  const [runs] = queue === undefined ? yield* readRows(counted, ofRuns.values) : []
  return resumesOf(rows, resumed, runs)
}

function* history(key: TaskKey): Reading<TaskHistory | undefined> {
  const { scopeKind, scope, id } = key
  const values = [scopeKind, scope, id]
  const [task] = yield* readRows(
    `SELECT pk, correlation_id, compacted_attempts, compacted_until FROM {tasks} WHERE ${IS_TASK}`,
    values,
  )
  if (task === undefined) return undefined
  const attempts = yield* readRows('SELECT * FROM {attempts} WHERE task = ? ORDER BY generation, attempt, execution', [
    task['pk'] as number,
  ])
  const events = yield* readRows(`SELECT * FROM {events} WHERE ${IS_TASK} ORDER BY seq`, values)
  return {
    scopeKind,
    scope,
    id,
    correlationId: task['correlation_id'] as string,
    attempts: attempts.map((row) => attemptOf(row, key)),
    events: events.map(eventOf),
    compacted: task['compacted_until'] === null ? null : compactionOf(task),
  }
}

function conditionsOf(filter: AnalyticsFilter, time = 'a.ended_at'): Conditions {
  const { scopeKind, scope, queue, sinceMs, untilMs } = filter
  return new Conditions()
    .when('t.scope_kind = ?', scopeKind)
    .when('t.scope = ?', scope)
    .when('t.queue = ?', queue)
    .when(`${time} >= ?`, sinceMs)
    .when(`${time} < ?`, untilMs)
}

/** Attempts; with their tasks if the filter asks for these. */
function attemptsOf({ scopeKind, scope, queue }: AnalyticsFilter): string {
  return scopeKind === undefined && scope === undefined && queue === undefined ? '{attempts} a' : JOINED
}
