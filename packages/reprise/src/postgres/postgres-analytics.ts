/**
 * The answers of the PostgreSQL ledger, counted by the server: no row of an attempt comes to JavaScript but the examples.
 * Each answer is of one moment, and the planner chooses how to find it: other statements may not read whole tables, and
 * these have to. Imports its own layer and the port.
 */
import {
  type AnalyticsFilter,
  DEFAULT_EXAMPLES,
  DEFAULT_PATTERNS,
  type DelaySpent,
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
} from '../ledger/rows.js'
import type { Connection } from './connections.js'
import type { Reader } from './reader.js'

const ENDED = `(a.outcome NOT IN ('interrupted', 'denied') OR a.outcome = 'interrupted' AND a.signature IS NOT NULL)`

export class PostgresAnalytics implements LedgerAnalytics {
  private readonly schema: string
  private readonly reader: Reader
  private readonly joined: string

  constructor(schema: string, reader: Reader) {
    this.schema = schema
    this.reader = reader
    this.joined = `${schema}.attempts a JOIN ${schema}.tasks t ON t.pk = a.task`
  }

  async totals(filter: AnalyticsFilter = {}): Promise<Totals> {
    const { sinceMs, untilMs: _untilMs, ...which } = filter
    const tasks = conditions(which, 'a.ended_at')
    const since = sinceMs === undefined ? '' : `AND t.compacted_until >= ${tasks.bind(sinceMs)}`
    const attempts = conditions(filter, 'a.ended_at')
    const [rows, [counted]] = await this.reader.within(async (connection) => [
      await ask(
        connection,
        `SELECT t.status, count(*) AS tasks, sum(t.compacted_attempts) FILTER (WHERE t.compacted_until IS NOT NULL ${since})
          AS compacted FROM ${this.schema}.tasks t ${tasks.where()} GROUP BY t.status`,
        tasks.values,
      ),
      await ask(
        connection,
        `SELECT count(*) AS attempts FROM ${this.from(filter)} ${attempts.where()}`,
        attempts.values,
      ),
    ])
    return {
      tasks: rows.reduce((sum, row) => sum + numberOf(row['tasks']), 0),
      byStatus: Object.fromEntries(rows.map((row) => [row['status'] as string, numberOf(row['tasks'])])),
      attempts: numberOf(counted?.['attempts']),
      compactedAttempts: rows.reduce((sum, row) => sum + numberOf(row['compacted']), 0),
    }
  }

  async failurePatterns(filter: PatternFilter = {}): Promise<readonly FailurePattern[]> {
    const { limit = DEFAULT_PATTERNS, examples: most = DEFAULT_EXAMPLES } = filter
    const { where, values, bind } = conditions(filter, 'a.ended_at')
    const [rows, examples] = await this.reader.within(async (connection) => {
      // By task first: so tasks are counted as they come, and none twice.
      const patterns = await ask(
        connection,
        `SELECT signature, sum(failures) AS count, min(first_at) AS first_at, max(last_at) AS last_at,
          count(*) AS tasks, count(*) FILTER (WHERE status = 'succeeded') AS recovered,
          count(*) FILTER (WHERE status = 'failed') AS failed
          FROM (SELECT a.signature, count(*) AS failures, min(a.ended_at) AS first_at, max(a.ended_at) AS last_at,
              min(t.status) AS status FROM ${this.joined} ${where('a.signature IS NOT NULL')}
            GROUP BY a.signature, a.task) by_task
          GROUP BY signature ORDER BY count DESC, signature LIMIT ${bind(Math.max(0, limit))}`,
        values,
      )
      const signatures = patterns.map((row) => row['signature'] as string)
      return [patterns, await this.examples(connection, filter, signatures, most)] as const
    })
    return rows.map((row, index) => ({
      signature: row['signature'] as string,
      count: numberOf(row['count']),
      firstAtMs: numberOf(row['first_at']),
      lastAtMs: numberOf(row['last_at']),
      tasks: numberOf(row['tasks']),
      recovered: numberOf(row['recovered']),
      failed: numberOf(row['failed']),
      examples: this.reader.told(() => examples.filter(({ nth }) => nth === index + 1).map(exampleOf)),
    }))
  }

  async recovery(filter: RecoveryFilter = {}): Promise<readonly RecoveryRate[]> {
    const { where, values } = conditions(filter, 'a.ended_at')
    const isLast = filter.generations === 'last'
    const last = isLast ? ['a.generation = t.generation'] : []
    const rows = await this.ask(
      `SELECT a.attempt, count(*) AS reached, count(*) FILTER (WHERE a.outcome = 'success') AS succeeded
        FROM ${isLast ? this.joined : this.from(filter)} ${where(ENDED, ...last)} GROUP BY a.attempt ORDER BY a.attempt`,
      values,
    )
    return rows.map((row) => {
      const [reached, succeeded] = [numberOf(row['reached']), numberOf(row['succeeded'])]
      return { attempt: numberOf(row['attempt']), reached, succeeded, rate: succeeded / reached }
    })
  }

  async delays(filter: AnalyticsFilter = {}): Promise<readonly DelaySpent[]> {
    const { where, values } = conditions(filter, 'a.ended_at')
    const rows = await this.ask(
      `SELECT t.scope_kind, t.scope, count(*) AS attempts, count(*) FILTER (WHERE a.delay_before > 0) AS waits,
        sum(a.delay_before) AS total, max(a.delay_before) AS longest
        FROM ${this.joined} ${where('a.execution = 1', `a.outcome <> 'denied'`)} 
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
    const events = conditions(filter, 'e.at')
    const isInterrupted = `a.outcome = 'interrupted'`
    const [[rows], [resumed]] = await this.reader.within(async (connection) => [
      await ask(
        connection,
        `SELECT count(DISTINCT a.task) FILTER (WHERE ${isInterrupted}) AS tasks,
          count(*) FILTER (WHERE ${isInterrupted}) AS times,
          count(*) FILTER (WHERE ${isInterrupted} AND a.signature IS NOT NULL) AS counted,
          count(DISTINCT a.task) FILTER (WHERE ${isInterrupted} AND t.status = 'succeeded') AS recovered,
          count(*) FILTER (WHERE a.execution > 1) AS again
          FROM ${this.joined} ${attempts.where(`(${isInterrupted} OR a.execution > 1)`)}`,
        attempts.values,
      ),
      await ask(
        connection,
        `SELECT count(DISTINCT t.pk) AS tasks, count(*) AS times
          FROM ${this.schema}.events e JOIN ${this.schema}.tasks t
            ON t.scope_kind = e.scope_kind AND t.scope = e.scope AND t.id = e.id
          ${events.where(`e.type = 'resumed'`)}`,
        events.values,
      ),
    ])
    return resumesOf(rows, resumed)
  }

  async history(key: TaskKey): Promise<TaskHistory | undefined> {
    const { schema } = this
    const { scopeKind, scope, id } = key
    const isTask = 'scope_kind = $1 AND scope = $2 AND id = $3'
    const found = await this.reader.within(async (connection) => {
      const [task] = await ask(
        connection,
        `SELECT pk, correlation_id, compacted_attempts, compacted_until FROM ${schema}.tasks WHERE ${isTask}`,
        [scopeKind, scope, id],
      )
      if (task === undefined) return undefined
      const attempts = `SELECT * FROM ${schema}.attempts WHERE task = $1 ORDER BY generation, attempt, execution`
      const events = `SELECT * FROM ${schema}.events WHERE ${isTask} ORDER BY seq`
      return {
        task,
        attempts: await ask(connection, attempts, [task['pk']]),
        events: await ask(connection, events, [scopeKind, scope, id]),
      }
    })
    if (found === undefined) return undefined
    const { task, attempts, events } = found
    return this.reader.told(() => ({
      scopeKind,
      scope,
      id,
      correlationId: task['correlation_id'] as string,
      attempts: attempts.map((row) => attemptOf(row, key)),
      events: events.map(eventOf),
      compacted: task['compacted_until'] === null ? null : compactionOf(task),
    }))
  }

  /** The latest first; of those at one time, those of the task that was created last. */
  private async examples(
    connection: Connection,
    filter: AnalyticsFilter,
    signatures: readonly string[],
    most: number,
  ): Promise<SqlRow[]> {
    if (signatures.length === 0 || most <= 0) return []
    const { where, values, bind } = conditions(filter, 'a.ended_at')
    const order = (of: string): string =>
      ['ended_at', 'task', 'generation', 'attempt', 'execution'].map((column) => `${of}.${column} DESC`).join(', ')
    // Which they are is known first; what they say is read for these alone.
    return ask(
      connection,
      `SELECT s.nth, t.scope_kind, t.scope, t.id, t.correlation_id, a.generation, a.attempt, a.execution, a.ended_at,
        a.failure
        FROM unnest(${bind(signatures)}::text[]) WITH ORDINALITY AS s(signature, nth)
        CROSS JOIN LATERAL (SELECT a.task, a.generation, a.attempt, a.execution, a.ended_at
          FROM ${this.from(filter)} ${where('a.signature = s.signature')} ORDER BY ${order('a')} LIMIT ${bind(most)}) x
        JOIN ${this.schema}.attempts a USING (task, generation, attempt, execution)
        JOIN ${this.schema}.tasks t ON t.pk = a.task ORDER BY s.nth, ${order('x')}`,
      values,
    )
  }

  /** Attempts; with their tasks if the filter asks for these. */
  private from({ scopeKind, scope, queue }: AnalyticsFilter): string {
    return scopeKind === undefined && scope === undefined && queue === undefined
      ? `${this.schema}.attempts a`
      : this.joined
  }

  private ask(sql: string, values: readonly unknown[]): Promise<SqlRow[]> {
    return this.reader.within((connection) => ask(connection, sql, values))
  }
}

function ask(connection: Connection, sql: string, values: readonly unknown[]): Promise<SqlRow[]> {
  return connection.query(sql, values) as Promise<SqlRow[]>
}

interface Conditions {
  readonly values: readonly unknown[]
  /** Adds a value, and answers with its place. */
  readonly bind: (value: unknown) => string
  /** The clause for the filter and these. */
  readonly where: (...others: string[]) => string
}

function conditions({ scopeKind, scope, queue, sinceMs, untilMs }: AnalyticsFilter, time: string): Conditions {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const parts = [
    ['t.scope_kind =', scopeKind],
    ['t.scope =', scope],
    ['t.queue =', queue],
    [`${time} >=`, sinceMs],
    [`${time} <`, untilMs],
  ] as const
  const given = parts.flatMap(([sql, value]) => (value === undefined ? [] : `${sql} ${bind(value)}`))
  return {
    values,
    bind,
    where: (...others) => {
      const all = [...given, ...others]
      return all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`
    },
  }
}
