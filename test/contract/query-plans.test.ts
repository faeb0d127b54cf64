/** What a SQLite ledger looks for again and again is found by an index, however many tasks have finished. */
import { expect, it } from 'vitest'
import type { LetterFilter, RunFilter, TaskFilter } from '../../packages/reprise/src/ledger/ledger.js'
import {
  listAttempts,
  listEvents,
  listLetters,
  listResults,
  listRuns,
  listTasks,
} from '../../packages/reprise/src/ledger/sql/sql-lists.js'
import { type Reading, writtenFor } from '../../packages/reprise/src/ledger/sql/sql-reading.js'
import {
  countWaiting,
  surveyWaiting,
  listRetrying,
  listWaiting,
} from '../../packages/reprise/src/ledger/sql/sql-waiting.js'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { migrate } from '../../packages/reprise/src/sqlite/migrations.js'
import { SQL } from '../../packages/reprise/src/sqlite/statements.js'

const database = await openDatabase(':memory:')
migrate(database, 'plans')

interface Query {
  readonly sql: string
  readonly values: readonly (string | number | null)[]
}

function planOf(filter: TaskFilter): string {
  return planOfReading(listTasks(filter))
}

function planOfQuery({ sql, values }: Query): string {
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[]
  return steps.map(({ detail }) => detail).join('; ')
}

/** Of the queries of a reading, each answered with no rows. */
function planOfReading(reading: Reading<unknown>, row: Record<string, string | number>[] = []): string {
  const plans: string[] = []
  for (let step = reading.next(); step.done !== true; step = reading.next(row)) {
    const { value } = step
    const sql = writtenFor(
      value,
      (table) => table,
      () => '?',
    )
    plans.push(planOfQuery({ sql, values: value.values }))
  }
  return plans.join('; ')
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
  const plan = planOfReading(listRuns(filter))
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

const place = { dueAtMs: 1, id: 'a', scopeKind: 'task', scope: 'job' } as const
const group = { queue: 'job', policyHash: 'p', rank: 1 }
const survey = { ...group, nowMs: 5, attempts: 3, limit: 10 }

it.each<[string, Reading<unknown>, Record<string, string | number>[]?]>([
  ['attempts of a run', listAttempts('night', { limit: 10 })],
  [
    'attempts of a run after one',
    listAttempts('night', { limit: 10, after: { id: 'a', generation: 1, attempt: 1, execution: 1 } }),
  ],
  ['results of a run', listResults('night', { limit: 10, after: 'a' })],
  ['events', listEvents(5, 10)],
  ['waiting tasks', listWaiting({ ...group, limit: 10 })],
  ['waiting tasks after one', listWaiting({ ...group, limit: 10, after: place })],
  ['counts of waiting tasks', countWaiting('job')],
  ['counted tasks', surveyWaiting(survey)],
  ['counted fresh tasks', surveyWaiting({ ...survey, rank: 2 })],
  ['counted tasks after some', surveyWaiting({ ...survey, after: place })],
])('reads %s by an index, and sorts none but those of one place', (_name, reading) => {
  const plan = planOfReading(reading)
  expect(plan).not.toMatch(/SCAN tasks(?! USING)/)
  expect(plan).not.toMatch(/SCAN attempts|SCAN events/)
  expect(plan).not.toMatch(/USE TEMP B-TREE FOR (ORDER|GROUP) BY/)
})

it('finds tasks that are retried by the groups of the index of due tasks', () => {
  const plan = planOfReading(
    listRetrying({ limit: 10, after: place }),
    [{ queue: 'job', policy_hash: 'p' }].slice(0, 0),
  )
  expect(plan).toContain('INDEX tasks_due (queue>?)')
  expect(plan).not.toMatch(/SCAN (t|tasks)\b(?! USING)/)
})

it.each<[string, LetterFilter]>([
  ['dead_at', { limit: 10 }],
  ['dead_at', { limit: 10, after: { ...place, atMs: 5, generation: 1 } }],
])('lists dead letters in the order of the index %s', (index, filter) => {
  const plan = planOfReading(listLetters(filter))
  expect(plan).toContain(index)
  expect(plan).not.toContain('USE TEMP B-TREE')
})
