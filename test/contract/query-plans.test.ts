/** What a SQLite ledger looks for again and again is found by an index, however many tasks have finished. */
import { expect, it } from 'vitest'
import type { TaskFilter } from '../../packages/reprise/src/ledger/ledger.js'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { migrate } from '../../packages/reprise/src/sqlite/migrations.js'
import { listQuery } from '../../packages/reprise/src/sqlite/statements.js'

const database = await openDatabase(':memory:')
migrate(database, 'plans')

function planOf(filter: TaskFilter): string {
  const { sql, values } = listQuery(filter)
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[]
  return steps.map(({ detail }) => detail).join('; ')
}

const after = { run: 'job', id: 'a' }

it.each<[string, TaskFilter]>([
  ['tasks_owned', { statuses: ['running', 'parked'], limit: 500 }],
  ['tasks_owned', { statuses: ['running', 'parked'], limit: 500, after }],
  ['tasks_owned', { owner: 'me', limit: 500 }],
  ['tasks_undecided', { queue: 'job', statuses: ['undecided'] }],
])('uses the index %s for %j', (index, filter) => {
  expect(planOf(filter)).toContain(`INDEX ${index}`)
})

it('reads those that wait in order of their keys, so that a page costs no sort of all', () => {
  expect(planOf({ queue: 'job', statuses: ['waiting'], limit: 1000, after })).not.toContain('ORDER BY')
  expect(planOf({ statuses: ['running'], limit: 1000 })).toContain('ORDER BY')
})
