/**
 * The answers of the SQLite ledger, counted by the database: no row of an attempt comes to JavaScript but the examples.
 * Only failures have an index, for their patterns: without it 300 000 attempts have to be sorted twice, which takes
 * seconds. Everything else reads all attempts of the filter once, since every success would pay for an index.
 * Imports its own layer and the port.
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
} from '../ledger/analytics.js'
import type { TaskKey } from '../ledger/records.js'
import {
  attemptOf,
  compactionOf,
  eventOf,
  exampleOf,
  numberOf,
  resumesOf,
  scopeOf,
  type SqlRow,
  type SqlValue,
} from '../ledger/rows.js'
import type { SqliteDatabase } from './driver.js'
import type { Statements } from './statements.js'

const ENDED = `(a.outcome NOT IN ('interrupted', 'denied') OR a.outcome = 'interrupted' AND a.signature IS NOT NULL)`
const ATTEMPTS = 'attempts a'
const JOINED = 'attempts a JOIN tasks t ON t.pk = a.task'

export class SqliteAnalytics implements LedgerAnalytics {
  private readonly database: SqliteDatabase
  private readonly sql: Statements

  constructor(database: SqliteDatabase, sql: Statements) {
    this.database = database
    this.sql = sql
  }

  async totals(filter: AnalyticsFilter = {}): Promise<Totals> {
    const { sinceMs, untilMs: _untilMs, ...which } = filter
    const tasks = conditions(which, 'a.ended_at')
    const since = sinceMs === undefined ? '' : 'AND t.compacted_until >= ?'
    const rows = this.all(
      `SELECT t.status, COUNT(*) AS tasks,
        SUM(CASE WHEN t.compacted_until IS NOT NULL ${since} THEN t.compacted_attempts ELSE 0 END) AS compacted
        FROM tasks t ${tasks.where()} GROUP BY t.status`,
      [...(sinceMs === undefined ? [] : [sinceMs]), ...tasks.values],
    )
    const attempts = conditions(filter, 'a.ended_at')
    const [counted] = this.all(`SELECT COUNT(*) AS attempts FROM ${attempts.from} ${attempts.where()}`, attempts.values)
    return {
      tasks: rows.reduce((sum, row) => sum + numberOf(row['tasks']), 0),
      byStatus: Object.fromEntries(rows.map((row) => [row['status'] as string, numberOf(row['tasks'])])),
      attempts: numberOf(counted?.['attempts']),
      compactedAttempts: rows.reduce((sum, row) => sum + numberOf(row['compacted']), 0),
    }
  }

  async failurePatterns(filter: PatternFilter = {}): Promise<readonly FailurePattern[]> {
    const { limit = DEFAULT_PATTERNS, examples = DEFAULT_EXAMPLES } = filter
    const { where, values } = conditions(filter, 'a.ended_at')
    // By task first, in the order of the index: nothing is sorted, and tasks are counted as they come.
    const rows = this.all(
      `SELECT signature, SUM(failures) AS count, MIN(first_at) AS first_at, MAX(last_at) AS last_at, COUNT(*) AS tasks,
        SUM(status = 'succeeded') AS recovered, SUM(status = 'failed') AS failed
        FROM (SELECT a.signature, COUNT(*) AS failures, MIN(a.ended_at) AS first_at, MAX(a.ended_at) AS last_at, t.status
          FROM ${JOINED} ${where('a.signature IS NOT NULL')} GROUP BY a.signature, a.task)
        GROUP BY signature ORDER BY count DESC, signature LIMIT ?`,
      [...values, Math.max(0, limit)],
    )
    return rows.map((row) => {
      const signature = row['signature'] as string
      return {
        signature,
        count: numberOf(row['count']),
        firstAtMs: numberOf(row['first_at']),
        lastAtMs: numberOf(row['last_at']),
        tasks: numberOf(row['tasks']),
        recovered: numberOf(row['recovered']),
        failed: numberOf(row['failed']),
        examples: this.examples(filter, signature, examples),
      }
    })
  }

  async recovery(filter: RecoveryFilter = {}): Promise<readonly RecoveryRate[]> {
    const { from, where, values } = conditions(filter, 'a.ended_at')
    const isLast = filter.generations === 'last'
    const last = isLast ? ['a.generation = t.generation'] : []
    const rows = this.all(
      `SELECT a.attempt, COUNT(*) AS reached, SUM(a.outcome = 'success') AS succeeded
        FROM ${isLast ? JOINED : from} ${where(ENDED, ...last)} GROUP BY a.attempt ORDER BY a.attempt`,
      values,
    )
    return rows.map((row) => {
      const [reached, succeeded] = [numberOf(row['reached']), numberOf(row['succeeded'])]
      return { attempt: numberOf(row['attempt']), reached, succeeded, rate: succeeded / reached }
    })
  }

  async delays(filter: AnalyticsFilter = {}): Promise<readonly DelaySpent[]> {
    const { where, values } = conditions(filter, 'a.ended_at')
    const rows = this.all(
      `SELECT t.scope_kind, t.scope, COUNT(*) AS attempts, SUM(a.delay_before > 0) AS waits,
        TOTAL(a.delay_before) AS total, MAX(a.delay_before) AS longest
        FROM ${JOINED} ${where('a.execution = 1', `a.outcome <> 'denied'`)} 
        GROUP BY t.scope_kind, t.scope ORDER BY t.scope_kind, t.scope`,
      values,
    )
    return rows.map((row) => {
      const [waits, totalMs] = [numberOf(row['waits']), numberOf(row['total'])]
      const meanMs = waits === 0 ? 0 : totalMs / waits
      const [attempts, maxMs] = [numberOf(row['attempts']), numberOf(row['longest'])]
      return { ...scopeOf(row), attempts, waits, totalMs, meanMs, maxMs }
    })
  }

  async resumes(filter: AnalyticsFilter = {}): Promise<ResumeStats> {
    const attempts = conditions(filter, 'a.ended_at')
    const [rows] = this.all(
      `SELECT COUNT(DISTINCT CASE WHEN outcome = 'interrupted' THEN task END) AS tasks,
        SUM(outcome = 'interrupted') AS times, SUM(outcome = 'interrupted' AND signature IS NOT NULL) AS counted,
        COUNT(DISTINCT CASE WHEN outcome = 'interrupted' AND status = 'succeeded' THEN task END) AS recovered,
        SUM(execution > 1) AS again
        FROM (SELECT a.task, a.outcome, a.signature, a.execution, t.status
          FROM ${JOINED} ${attempts.where(`(a.outcome = 'interrupted' OR a.execution > 1)`)})`,
      attempts.values,
    )
    const events = conditions(filter, 'e.at')
    const [resumed] = this.all(
      `SELECT COUNT(DISTINCT t.pk) AS tasks, COUNT(*) AS times FROM events e
        JOIN tasks t ON t.scope_kind = e.scope_kind AND t.scope = e.scope AND t.id = e.id
        ${events.where(`e.type = 'resumed'`)}`,
      events.values,
    )
    return resumesOf(rows, resumed)
  }

  async history(key: TaskKey): Promise<TaskHistory | undefined> {
    const { scopeKind, scope, id } = key
    const task = this.sql.task.get(scopeKind, scope, id) as SqlRow | undefined
    if (task === undefined) return undefined
    return {
      scopeKind,
      scope,
      id,
      correlationId: task['correlation_id'] as string,
      attempts: (this.sql.attempts.all(scopeKind, scope, id) as SqlRow[]).map((row) => attemptOf(row, key)),
      events: (this.sql.eventsOfTask.all(scopeKind, scope, id) as SqlRow[]).map(eventOf),
      compacted: task['compacted_until'] === null ? null : compactionOf(task),
    }
  }

  /** The latest first; of those at one time, those of the task that was created last. */
  private examples(filter: AnalyticsFilter, signature: string, count: number): FailureExample[] {
    const { from, where, values } = conditions(filter, 'a.ended_at')
    // Which they are is in the index; what they say is read for these alone.
    const rows = this.all(
      `SELECT t.scope_kind, t.scope, t.id, t.correlation_id, a.generation, a.attempt, a.execution, a.ended_at, a.failure
        FROM (SELECT a.task, a.generation, a.attempt, a.execution, a.ended_at FROM ${from} ${where('a.signature = ?')}
          ORDER BY a.ended_at DESC, a.task DESC, a.generation DESC, a.attempt DESC, a.execution DESC LIMIT ?) x
        JOIN attempts a USING (task, generation, attempt, execution) JOIN tasks t ON t.pk = a.task
        ORDER BY x.ended_at DESC, x.task DESC, x.generation DESC, x.attempt DESC, x.execution DESC`,
      [...values, signature, Math.max(0, count)],
    )
    return rows.map(exampleOf)
  }

  private all(sql: string, values: readonly SqlValue[]): SqlRow[] {
    return this.database.prepare(sql).all(...values) as SqlRow[]
  }
}

interface Conditions {
  /** Attempts; with their tasks if the filter asks for these. */
  readonly from: string
  readonly values: readonly SqlValue[]
  /** The clause for the filter and these; values of these come behind the filter's. */
  readonly where: (...others: string[]) => string
}

function conditions({ scopeKind, scope, queue, sinceMs, untilMs }: AnalyticsFilter, time: string): Conditions {
  const parts = [
    ['t.scope_kind = ?', scopeKind],
    ['t.scope = ?', scope],
    ['t.queue = ?', queue],
    [`${time} >= ?`, sinceMs],
    [`${time} < ?`, untilMs],
  ] as const
  const given = parts.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]))
  return {
    from: scopeKind === undefined && scope === undefined && queue === undefined ? ATTEMPTS : JOINED,
    values: given.map(({ value }) => value),
    where: (...others) => {
      const all = [...given.map(({ sql }) => sql), ...others]
      return all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`
    },
  }
}
