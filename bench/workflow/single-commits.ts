/** The floor of a step that is recorded and not run: one row, one commit. Imports the choice of driver and the schema. */
import type { SqliteDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { migrate } from '../../packages/reprise/src/sqlite/migrations.js'
import { openChosenDatabase } from '../../test/chosen-driver.js'

const PROGRESS = JSON.stringify({ retry: { seed: 0, launched: 0, failures: 0 }, current: null, interruptions: 0 })

export class SingleCommits {
  private readonly database: SqliteDatabase

  private constructor(database: SqliteDatabase) {
    this.database = database
  }

  static async open(file: string): Promise<SingleCommits> {
    const database = await openChosenDatabase(file)
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = FULL')
    migrate(database, file)
    return new SingleCommits(database)
  }

  /** One after the other, each in a turn of the event loop of its own. */
  async insert(count: number): Promise<void> {
    const insert =
      this.database.prepare(`INSERT INTO tasks (scope_kind, scope, id, queue, payload_hash, policy_hash, generation, input,
      correlation_id, created_at, status, fence, progress, result, updated_at)
      VALUES ('run', 'run', ?, ?, '', '0', 1, 'null', ?, ?, 'succeeded', 0, ?, ?, ?)`)
    for (let i = 0; i < count; i++) {
      await new Promise((resolve) => setImmediate(resolve))
      const now = Date.now()
      const result = JSON.stringify({ exit_code: 0, attempts: 0, skipped: 'when: false' })
      this.database.exec('BEGIN IMMEDIATE')
      insert.run(`step-${i}`, `run/step-${i}`, `${i}`, now, PROGRESS, result, now)
      this.database.exec('COMMIT')
    }
  }

  close(): void {
    this.database.close()
  }
}
