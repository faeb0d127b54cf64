/** What a SQLite ledger looks for again and again is found by an index, however many tasks have finished. */
import { expect, it } from 'vitest'
import type { RunFilter, TaskFilter } from '../../packages/reprise/src/ledger/ledger.js'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { migrate } from '../../packages/reprise/src/sqlite/migrations.js'
import { listQuery, runsQuery, SQL } from '../../packages/reprise/src/sqlite/statements.js'

const database = await openDatabase(':memory:')
migrate(database, 'plans')

type Query = ReturnType<typeof listQuery>

function planOf(filter: TaskFilter): string {
  return planOfQuery(listQuery(filter))
}

function planOfQuery({ sql, values }: Query): string {
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[]
  return steps.map(({ detail }) => detail).join('; ')
}

const after = { scopeKind: 'task', scope: 'job', id: 'a' } as const

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

it.each<[string, RunFilter]>([
  ['sqlite_autoindex_runs_1 (id>? AND id<?)', { idPrefix: 'night-', limit: 11 }],
  ['runs_named (name=?)', { name: 'night', statuses: ['running', 'failed'], limit: 1 }],
])('uses the index %s for runs by %j, and sorts none but those of one time', (index, filter) => {
  const plan = planOfQuery(runsQuery(filter))
  expect(plan).toContain(`INDEX ${index}`)
  expect(plan).not.toContain('USE TEMP B-TREE FOR ORDER BY')
})

it.each<[keyof typeof SQL, RegExp]>([
  ['due', /^SEARCH tasks USING INDEX tasks_due \(queue=\? AND policy_hash=\? AND claim_rank=\? AND due_at<\?\)$/],
  ['nextDue', /^SEARCH tasks USING INDEX tasks_due \(queue=\? AND policy_hash=\? AND claim_rank=\?\)$/],
  // As many as run, in all queues. Whether SQLite calls that a search depends on its version.
  ['countOwned', /^(SCAN|SEARCH) tasks USING COVERING INDEX tasks_owned( \(owner>\?\))?$/],
])('finds %s by one range of an index, in its order', (name, plan) => {
  const values = Array.from(SQL[name].matchAll(/\?/g), () => 1)
  expect(planOfQuery({ sql: SQL[name], values })).toMatch(plan)
})
