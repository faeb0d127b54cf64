/**
 * The floor: the same rows, committed as often and as durably, written by hand over the same driver, and nothing else.
 * No fences, leases, decisions, history of owners or waking of others: what a good programmer would write who needs just
 * this one loop. Imports the schema and the driver of the library, so that tables and indexes are the same.
 */
import { randomUUID } from 'node:crypto'
import type { SqliteDatabase, SqliteStatement } from '../../packages/reprise/src/sqlite/driver.js'
import { migrate } from '../../packages/reprise/src/sqlite/migrations.js'
import { openChosenDatabase } from '../../test/chosen-driver.js'
import type { Operation, Program } from './program.js'

const POLICY_HASH = '0'.repeat(32)
const PAYLOAD_HASH = '1'.repeat(32)
const OWNER = randomUUID()

interface FloorTask {
  readonly id: string
  readonly input: number
  readonly startedAtMs: number
  attempt: number
  pk: number | bigint
}

interface DueRow {
  readonly pk: number
  readonly id: string
  readonly input: string
}

/** What the library keeps of a task between its attempts, as short as it can be. */
function progress(attempt: number, startedAtMs: number | null): string {
  const retry = { seed: 123456789, launched: attempt, failures: attempt - 1, lastDelayMs: 0, totalDelayMs: 0 }
  const current = startedAtMs === null ? null : { attempt, startedAtMs, execution: 1 }
  return JSON.stringify({ retry: { ...retry, deadlineAtMs: null, resumed: false }, current, interruptions: 0 })
}

export class Floor implements Program {
  private readonly database: SqliteDatabase
  private readonly sql: Readonly<Record<keyof ReturnType<typeof statements>, SqliteStatement>>
  private work: (() => void)[] = []
  private done: (() => void)[] = []

  private constructor(database: SqliteDatabase) {
    this.database = database
    this.sql = statements(database)
  }

  static async open(file: string): Promise<Floor> {
    const database = await openChosenDatabase(file)
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = FULL')
    migrate(database, file)
    return new Floor(database)
  }

  /** One transaction with its intent, one with its outcome; `width` at once share them. */
  async steps(count: number, width: number, operation: Operation): Promise<void> {
    let next = 0
    const loop = async (): Promise<void> => {
      while (next < count) await this.step(next++, operation)
    }
    await Promise.all(Array.from({ length: width }, loop))
  }

  private async step(input: number, operation: Operation): Promise<void> {
    const task: FloorTask = { id: randomUUID(), input, startedAtMs: Date.now(), attempt: 1, pk: 0 }
    await this.commit(() => this.insertRunning(task))
    for (;;) {
      try {
        const result = await operation(input, task.attempt)
        await this.commit(() => this.succeed(task.pk, task.attempt, task.startedAtMs, result))
        return
      } catch (error) {
        const over = task.attempt === 4
        await this.commit(() => this.failOnce(task, over, error as Error))
        if (over) return
        task.attempt++
      }
    }
  }

  /** Recorded first, `width` to a transaction; then run, the outcomes of one batch committed with the claim of the next. */
  async queued(count: number, width: number, operation: Operation): Promise<void> {
    for (let first = 0; first < count; first += width) {
      await this.commit(() => {
        for (let i = first; i < Math.min(count, first + width); i++) this.insertWaiting(i)
      })
    }
    let batch = await this.claimed(width, () => undefined)
    while (batch.length > 0) {
      const startedAtMs = Date.now()
      const results = await Promise.all(batch.map(async ({ input }) => operation(JSON.parse(input) as number, 1)))
      const ended = batch
      batch = await this.claimed(width, () => {
        ended.forEach(({ pk }, i) => this.succeed(pk, 1, startedAtMs, results[i]))
      })
    }
  }

  private async claimed(width: number, before: () => void): Promise<DueRow[]> {
    let rows: DueRow[] = []
    await this.commit(() => {
      before()
      const now = Date.now()
      rows = this.sql.due.all('step', POLICY_HASH, now, width) as DueRow[]
      for (const { pk } of rows) this.sql.begin.run(OWNER, progress(1, now), now, pk)
    })
    return rows
  }

  async close(): Promise<void> {
    this.database.close()
  }

  /** What is asked for in one turn of the event loop shares a transaction. */
  private commit(work: () => void): Promise<void> {
    return new Promise((resolve) => {
      if (this.work.length === 0) setImmediate(() => this.flush())
      this.work.push(work)
      this.done.push(resolve)
    })
  }

  private flush(): void {
    const { work, done } = this
    this.work = []
    this.done = []
    this.sql.open.run()
    for (const one of work) one()
    this.sql.commit.run()
    for (const one of done) one()
  }

  private insertRunning(task: FloorTask): void {
    const { id, input, startedAtMs: now } = task
    const started = progress(1, now)
    const { lastInsertRowid } = this.sql.insert.run(
      id,
      JSON.stringify(input),
      randomUUID(),
      now,
      'running',
      null,
      OWNER,
      1,
      started,
      now,
    )
    task.pk = lastInsertRowid
  }

  private insertWaiting(input: number): void {
    const now = Date.now()
    this.sql.insert.run(
      randomUUID(),
      JSON.stringify(input),
      randomUUID(),
      now,
      'waiting',
      now,
      null,
      0,
      progress(0, null),
      now,
    )
  }

  private succeed(pk: number | bigint, attempt: number, startedAtMs: number, result: unknown): void {
    const now = Date.now()
    this.sql.succeed.run(progress(attempt, null), JSON.stringify(result), now, pk as number)
    this.sql.attempt.run(pk as number, attempt, startedAtMs, now, 'success', null, OWNER)
  }

  private failOnce(task: FloorTask, over: boolean, error: Error): void {
    const { pk, attempt, startedAtMs, id } = task
    const now = Date.now()
    const failure = JSON.stringify({ name: error.name, message: error.message })
    if (over) {
      this.sql.fail.run(progress(attempt, null), now, pk as number)
      this.sql.dead.run(id, now, `${error.name}: ${error.message}`, failure)
    } else {
      this.sql.begin.run(OWNER, progress(attempt + 1, now), now, pk as number)
    }
    this.sql.attempt.run(pk as number, attempt, startedAtMs, now, 'failure', failure, OWNER)
  }
}

function statements(database: SqliteDatabase) {
  return {
    open: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    insert:
      database.prepare(`INSERT INTO tasks (scope_kind, scope, id, queue, payload_hash, policy_hash, generation, input,
      correlation_id, created_at, status, due_at, owner, fence, progress, updated_at)
      VALUES ('task', 'step', ?, 'step', '${PAYLOAD_HASH}', '${POLICY_HASH}', 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    due: database.prepare(`SELECT pk, id, input FROM tasks WHERE status = 'waiting' AND queue = ? AND policy_hash = ?
      AND claim_rank = 2 AND due_at <= ? ORDER BY due_at LIMIT ?`),
    begin:
      database.prepare(`UPDATE tasks SET status = 'running', owner = ?, due_at = NULL, fence = fence + 1, progress = ?,
      updated_at = ? WHERE pk = ?`),
    succeed:
      database.prepare(`UPDATE tasks SET status = 'succeeded', owner = NULL, progress = ?, result = ?, updated_at = ?
      WHERE pk = ?`),
    fail: database.prepare(`UPDATE tasks SET status = 'failed', owner = NULL, progress = ?, stop_reason = 'attempts_exhausted',
      updated_at = ? WHERE pk = ?`),
    attempt:
      database.prepare(`INSERT INTO attempts (task, generation, attempt, execution, started_at, ended_at, outcome,
      delay_before, failure, owner) VALUES (?, 1, ?, 1, ?, ?, ?, 0, ?, ?)`),
    dead: database.prepare(`INSERT INTO dead (scope_kind, scope, id, generation, at, signature, stop_reason, failure)
      VALUES ('task', 'step', ?, 1, ?, ?, 'attempts_exhausted', ?)`),
  }
}
