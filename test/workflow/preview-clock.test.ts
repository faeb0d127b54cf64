/** What a resume says it will do after the clock of the machine was set back. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { CliFixture } from './cli-fixture.js'

const DAY_MS = 86_400_000

let cli: CliFixture
afterEach(() => cli.remove())

test('a wait that was recorded a day ahead is previewed as its resume takes it up: with the rest that was left', async () => {
  cli = new CliFixture(`
steps: [{ id: work, shell: exit 1, retry: { attempts: 9, backoff: fixed, initial_delay: 1h, max_delay: 1h } }]
`)
  await cli.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => cli.waits('work', 1))
  const database = await openDatabase(cli.path('.reprise/ledger.db'))
  const [task] = database.prepare('SELECT due_at FROM tasks').all() as { due_at: number | null }[]
  expect(task?.due_at).not.toBeNull()
  database.prepare(`UPDATE tasks SET updated_at = updated_at + ${DAY_MS}, due_at = due_at + ${DAY_MS}`).run()
  database.close()
  const { stdout } = await cli.reprise('resume', 'r1', '--dry-run', '--json')
  const { preview } = JSON.parse(stdout) as { preview: { waiting: { nextAttemptAtMs: number }[] } }
  expect(preview.waiting).toHaveLength(1)
  expect((preview.waiting[0]?.nextAttemptAtMs ?? Infinity) - Date.now()).toBeLessThanOrEqual(3_600_000)
})
