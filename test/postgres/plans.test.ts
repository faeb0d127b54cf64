/**
 * Every statement of a PostgreSQL ledger finds what it needs by an index, with no rows and with many, planned as the
 * ledger's own sessions plan. Whole tables are only read where the answer is all of them.
 */
import * as driver from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import type { RunFilter, TaskFilter } from '../../packages/reprise/src/ledger/ledger.js'
import {
  countTasks,
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
import type { SqlRow } from '../../packages/reprise/src/ledger/rows.js'
import { addressOf } from '../../packages/reprise/src/postgres/address.js'
import { Connections } from '../../packages/reprise/src/postgres/connections.js'
import { housekeepingStatements } from '../../packages/reprise/src/postgres/housekeeping-statements.js'
import { migrate } from '../../packages/reprise/src/postgres/migrations.js'
import { ServerTime } from '../../packages/reprise/src/postgres/server-time.js'
import { statementsOf } from '../../packages/reprise/src/postgres/statements.js'
import { listTallies } from '../../packages/reprise/src/ledger/sql/sql-tallies.js'
import type { TallyFilter } from '../../packages/reprise/src/ledger/tally.js'
import { PARTS, type PartName, type Parts, shapeOf } from '../../packages/reprise/src/postgres/write-shape.js'
import { writeStatement } from '../../packages/reprise/src/postgres/write-statement.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
const connections = new Connections(driver, addressOf(database.url), new ServerTime(), true)
afterAll(async () => {
  await connections.end()
  await database.drop()
})
const TASKS = 20_000

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

const LARGE = new Set(['tasks', 'attempts', 'events', 'dead'])

interface Plan {
  /** Of the large tables: which indexes are searched, and which are read from end to end. */
  readonly accesses: readonly string[]
  readonly indexes: readonly string[]
  readonly sorts: boolean
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

function accessOf(node: PlanNode): string[] {
  const [index, relation = ''] = [node['Index Name'], node['Relation Name']]
  if (node['Node Type'] === 'Seq Scan') return LARGE.has(relation) ? [`all of ${relation}`] : []
  if (index === undefined || !isOfLarge(index)) return []
  return [node['Index Cond'] === undefined ? `all of ${index}` : index]
}

const isOfLarge = (index: string): boolean => LARGE.has(index.slice(0, index.indexOf('_')))

let prepared = 0

/** Of the plan that is kept for whatever values come. */
async function planOf(text: string): Promise<Plan> {
  const name = `plan_${prepared++}`
  const values = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
  const given = values === 0 ? '' : `(${Array.from({ length: values }, () => 'NULL').join(', ')})`
  return connections.with(async (connection) => {
    await connection.query(`PREPARE ${name} AS ${text}`)
    const [row] = await connection.query(`EXPLAIN (FORMAT JSON) EXECUTE ${name}${given}`)
    await connection.query(`DEALLOCATE ${name}`)
    const [plan] = JSON.parse(row?.['QUERY PLAN'] as string) as [{ Plan: PlanNode }]
    const nodes = nodesOf(plan.Plan)
    const distinct = (names: readonly string[]): string[] => [...new Set(names)].toSorted()
    return {
      accesses: distinct(nodes.flatMap(accessOf)),
      indexes: distinct(nodes.flatMap((node) => node['Index Name'] ?? [])),
      sorts: nodes.some((node) => node['Node Type'] === 'Sort'),
    }
  })
}

const EMPTY = 'with_none'
const FULL = 'with_many'

await connections.with(async (connection) => {
  for (const schema of [EMPTY, FULL]) await migrate(connection, schema, 'plans')
  await fill(connection, FULL)
})

async function fill(connection: { query(sql: string): Promise<unknown> }, schema: string): Promise<void> {
  const numbers = `generate_series(1, ${TASKS}) AS i`
  await connection.query(`INSERT INTO ${schema}.tasks (pk, scope_kind, scope, id, queue, generation, status, claim_rank,
      due_at, owner, fence,      progress, policy_hash, payload_hash, input, correlation_id, created_at, updated_at, attempts_kept)
    SELECT i, 'run', 'run' || i % 100, 't' || i, 'q' || i % 10, 1, s.status, i / 20 % 3,
      CASE s.status WHEN 'waiting' THEN i END,
      CASE s.status WHEN 'running' THEN 'o' || i % 5 END, 2, '{}', 'p' || i % 10, 'h', '{}', 'c', i, i, i % 12
    FROM ${numbers}, LATERAL (SELECT CASE WHEN i % 20 = 0 THEN 'waiting' WHEN i % 200 = 1 THEN 'running'
      WHEN i % 500 = 2 THEN 'undecided' WHEN i % 7 = 0 THEN 'failed' ELSE 'succeeded' END AS status) s`)
  await connection.query(`INSERT INTO ${schema}.attempts SELECT i, 1, n, 1, i, i, 'failure', 0, '{}', 'E' || i % 30, 'o'
    FROM ${numbers}, generate_series(1, 2) AS n`)
  await connection.query(`INSERT INTO ${schema}.events SELECT i, 'resumed', 'run', 'run' || i % 100, 't' || i, i, 'c', '{}'
    FROM ${numbers}`)
  await connection.query(`INSERT INTO ${schema}.dead SELECT 'run', 'run' || i % 100, 't' || i, 1, i, 'E', 'x', NULL, NULL, NULL
    FROM ${numbers} WHERE i % 7 = 0`)
  await connection.query(`INSERT INTO ${schema}.policies SELECT 'p' || i, '{}', i FROM generate_series(0, 9) AS i`)
  for (const table of ['tasks', 'attempts', 'events', 'dead', 'policies']) {
    await connection.query(`ANALYZE ${schema}.${table}`)
  }
}

/** Those that are not named touch no large table. */
const READING: Readonly<Record<string, readonly string[]>> = {
  lockTasks: ['tasks_scope_kind_scope_id_key'],
  claimOne: ['tasks_due'],
  claimOneExcept: ['tasks_due'],
  claimAtOnce: ['tasks_due', 'tasks_pkey'],
  giveBack: ['tasks_pkey'],
  claim: ['tasks_due'],
  claimExcept: ['tasks_due'],
  claimLimited: ['tasks_due', 'tasks_owned'],
  claimLimitedExcept: ['tasks_due', 'tasks_owned'],
  claimBatched: ['tasks_due', 'tasks_owned'],
  claimBatchedExcept: ['tasks_due', 'tasks_owned'],
  // As many as run, in all queues.
  freePlaces: ['tasks_owned'],
  freeBatches: ['tasks_owned'],
  nextDue: ['tasks_due'],
  nextDueExcept: ['tasks_due'],
  tasks: ['tasks_scope_kind_scope_id_key'],
  checkpoint: ['tasks_scope_kind_scope_id_key'],
  attempts: ['attempts_pkey', 'tasks_scope_kind_scope_id_key'],
  attemptCounts: ['attempts_pkey', 'tasks_scope_kind_scope_id_key'],
  // As many as run.
  taskOwners: ['all of tasks_owned'],
}

const KEEPING: Readonly<Record<string, readonly string[]>> = {
  lockFinished: ['tasks_finished'],
  removeTasks: ['attempts_pkey', 'dead_pkey', 'events_task', 'tasks_pkey'],
  lockTasksOfRun: ['tasks_pkey', 'tasks_scope_kind_scope_id_key'],
  hasTasks: ['tasks_scope_kind_scope_id_key'],
  removeRun: ['events_task'],
  lockLong: ['tasks_history'],
  shorten: ['attempts_pkey', 'dead_pkey', 'events_pkey', 'events_task', 'tasks_pkey'],
  // The oldest of it, up to a limit.
  removeEventsBefore: ['all of events_pkey', 'events_pkey'],
  removeDeadBefore: ['dead_at', 'dead_pkey'],
  removeOwners: ['tasks_owned'],
  doubtfulPolicies: ['tasks_pkey'],
  // Once, for those that are in doubt; with the planner's own choice.
  usedPolicies: ['all of tasks'],
}

/** What comes in the order of its index is taken from there until it is enough. */
const UNSORTED = new Set([
  'claimOne',
  'claimOneExcept',
  'claim',
  'claimExcept',
  'claimLimited',
  'claimLimitedExcept',
  'nextDue',
  'nextDueExcept',
  'lockFinished',
])

const after = { scopeKind: 'run', scope: 'run1', id: 'a' } as const
const LISTS: readonly (readonly [TaskFilter, string])[] = [
  [{ statuses: ['running', 'parked'], limit: 500 }, 'tasks_owned'],
  [{ statuses: ['running', 'parked'], limit: 500, after }, 'tasks_owned'],
  [{ owner: 'me', limit: 500 }, 'tasks_owned'],
  [{ owner: 'me', statuses: ['running', 'parked'] }, 'tasks_owned'],
  [{ queue: 'job', statuses: ['undecided'] }, 'tasks_undecided'],
  [{ scopeKind: 'run', scope: 'run1' }, 'tasks_scope_kind_scope_id_key'],
  [{ scopeKind: 'run', scope: 'run1', limit: 100, after }, 'tasks_scope_kind_scope_id_key'],
  [{ limit: 100, after }, 'tasks_scope_kind_scope_id_key'],
]

/** The last query of a reading whose first one is answered with these rows. */
function textOf(schema: string, reading: Reading<unknown>, first: readonly SqlRow[] = []): string {
  const texts: string[] = []
  for (let step = reading.next(); step.done !== true; step = reading.next(texts.length === 1 ? first : []))
    texts.push(
      writtenFor(
        step.value,
        (table) => `${schema}.${table}`,
        (position) => `$${position}`,
      ),
    )
  return texts.at(-1) ?? ''
}

const GROUP = { queue: 'q1', policyHash: 'p1', rank: 1 }
const SURVEY = { ...GROUP, nowMs: 1, attempts: 3, limit: 9 }
const LAST = { dueAtMs: 1, id: 'a', scopeKind: 'run', scope: 'run1' } as const
const IN_RUN = { scopeKind: 'run', scope: 'run1' } as const
const NONE: readonly SqlRow[] = []
const ONE: readonly SqlRow[] = [{ queue: 'q1', policy_hash: 'p1', due_at: 5, id: 'b' }]

/** Lists beside those of tasks and runs: which indexes they read, and whether they sort. */
const READINGS: readonly (readonly [string, () => Reading<unknown>, readonly string[], readonly SqlRow[]])[] = [
  [
    'attempts of a run',
    () => listAttempts('run1', { limit: 9, after: { id: 'a', generation: 1, attempt: 1, execution: 1 } }),
    ['attempts_pkey', 'tasks_scope_kind_scope_id_key'],
    NONE,
  ],
  ['results of a run', () => listResults('run1', { limit: 9, after: 'a' }), ['tasks_scope_kind_scope_id_key'], NONE],
  ['counts of a run', () => countTasks('run1'), ['tasks_scope_kind_scope_id_key'], NONE],
  ['letters', () => listLetters({ limit: 9, after: { ...LAST, atMs: 1, generation: 1 } }), ['dead_at'], NONE],
  ['events', () => listEvents(1, 9), ['events_pkey'], NONE],
  ['events of a scope', () => listEvents(1, 9, IN_RUN), ['events_scope'], NONE],
  ['waiting tasks', () => listWaiting({ ...GROUP, limit: 9, after: LAST }), ['tasks_due'], NONE],
  ['counts of waiting tasks', () => countWaiting('q1'), ['tasks_due'], NONE],
  ['counted tasks', () => surveyWaiting({ ...SURVEY, after: LAST }), ['tasks_due'], ONE],
  ['counted fresh tasks', () => surveyWaiting({ ...SURVEY, rank: 2, after: LAST }), ['tasks_due'], ONE],
  ['retried tasks', () => listRetrying({ limit: 9, after: LAST }), ['tasks_due', 'tasks_owned'], ONE],
]

/** Many may wait: a page of them costs no look at all. */
const WAITING: TaskFilter = { queue: 'job', statuses: ['waiting'], limit: 1000, after }

/** Parts that are written together. */
const WRITTEN: readonly (readonly PartName[])[] = [
  ...(Object.keys(PARTS) as PartName[]).map((name) => [name]),
  ['made', 'policies'],
  ['made', 'changed', 'tried', 'dead', 'events'],
  ['changed', 'tried'],
  ['changed', 'tried', 'dead'],
  ['changed', 'gates'],
  ['changed', 'tried', 'gates', 'events'],
  ['made', 'begun', 'policies', 'events'],
  ['changed', 'runs', 'events'],
  Object.keys(PARTS) as PartName[],
]

/** Values of the rows of each part, and the columns that have them; all other columns have the first. */
interface Form {
  readonly values: readonly number[]
  readonly columns?: readonly string[]
}

/** One row is written otherwise than several, and what is the same in all rows otherwise than what differs. */
const FORMS: readonly Form[] = [
  { values: [1] },
  { values: [1, 2, 3], columns: [] },
  { values: [1, 2, 3], columns: ['status', 'failure', 'due_at'] },
  { values: [1, 2, 3] },
]

function partsOf(names: readonly PartName[], { values, columns }: Form): Parts {
  const valueOf = (column: string, value: number): unknown => (columns?.includes(column) === false ? values[0] : value)
  const rowsOf = (name: PartName): object[] =>
    values.map((value) =>
      Object.fromEntries(Object.keys(PARTS[name]).map((column) => [column, valueOf(column, value)])),
    )
  const entries = (Object.keys(PARTS) as PartName[]).map((name) => [name, names.includes(name) ? rowsOf(name) : []])
  return Object.fromEntries(entries) as Parts
}

describe.each([
  ['without a row', EMPTY],
  [`with ${TASKS} tasks`, FULL],
])('%s', (_name, schema) => {
  it.each(Object.entries(statementsOf(schema)))('%s reads by index', async (name, { text }) => {
    expect((await planOf(text)).accesses).toEqual(READING[name] ?? [])
  })

  it.each(Object.entries(housekeepingStatements(schema)))(
    '%s, of housekeeping, reads by index',
    async (name, { text }) => {
      expect((await planOf(text)).accesses).toEqual(KEEPING[name] ?? [])
    },
  )

  it('what is wanted in order is not sorted first', async () => {
    const statements = Object.entries({ ...statementsOf(schema), ...housekeepingStatements(schema) })
    for (const [name, { text }] of statements) {
      if (UNSORTED.has(name)) expect((await planOf(text)).sorts, name).toBe(false)
    }
  })

  it.each(LISTS)('tasks are listed for %j by %s', async (filter, index) => {
    const { accesses } = await planOf(textOf(schema, listTasks(filter)))
    expect(accesses.map((access) => access.replace('all of ', ''))).toEqual([index])
  })

  it.each(READINGS)('%s are listed by index', async (_list, reading, indexes, first) => {
    const { accesses } = await planOf(textOf(schema, reading(), first))
    expect([...new Set(accesses.map((access) => access.replace('all of ', '')))].toSorted()).toEqual(indexes)
  })

  it('letters of a scope are listed in order of time, or found by key if there are few', async () => {
    const { accesses } = await planOf(textOf(schema, listLetters({ ...IN_RUN, limit: 9 })))
    expect(accesses.join().replace('all of ', '')).toMatch(/^dead_(at|pkey)$/)
  })

  it.each<[RunFilter]>([
    [{ limit: 20 }],
    [{ limit: 20, after: { id: 'a', createdAtMs: 5 } }],
    [{ sinceMs: 1, limit: 20 }],
    [{ kind: 'job', statuses: ['running'], limit: 20 }],
  ])('runs are listed for %j in the order of their index', async (filter) => {
    expect((await planOf(textOf(schema, listRuns(filter)))).indexes).toEqual(['runs_begun'])
  })

  it.each<[string, RunFilter]>([
    ['runs_pkey', { idPrefix: 'night-', limit: 11 }],
    ['runs_named', { name: 'night', statuses: ['running', 'failed'], limit: 1 }],
  ])('runs are found by %s for %j', async (index, filter) => {
    expect((await planOf(textOf(schema, listRuns(filter)))).indexes).toEqual([index])
  })

  it.each<[TallyFilter]>([[{ limit: 20 }], [{ prefix: 'import-', after: 'import-7', limit: 20 }]])(
    'tallies are listed for %j in the order of their index',
    async (filter) => {
      const { indexes, sorts } = await planOf(textOf(schema, listTallies(filter)))
      expect({ indexes, sorts }).toEqual({ indexes: ['tallies_pkey'], sorts: false })
    },
  )

  it('a tally is read by its key, and the rows of an owner by its index', async () => {
    expect((await planOf(statementsOf(schema).tally.text)).indexes).toEqual(['tallies_pkey'])
    const { removeOwner } = housekeepingStatements(schema)
    expect((await planOf(removeOwner.text)).indexes).toContain('tallies_owned')
  })

  it.each(WRITTEN.map((names) => [names.join(', '), names] as const))('writes %s by key', async (_names, names) => {
    for (const form of FORMS) {
      for (const sure of [true, false]) {
        const { accesses } = await planOf(writeStatement(schema, shapeOf(partsOf(names, form)), sure).text)
        const keys = [names.includes('closed') ? ['dead_pkey'] : [], names.includes('changed') ? ['tasks_pkey'] : []]
        expect(accesses).toEqual(keys.flat())
      }
    }
  })
})

it('those that wait are listed in order of their keys, if they are many', async () => {
  const { accesses, sorts } = await planOf(textOf(FULL, listTasks(WAITING)))
  expect([accesses, sorts]).toEqual([['tasks_scope_kind_scope_id_key'], false])
})

it('a table that is read from end to end is seen', async () => {
  const { accesses } = await planOf(`SELECT 1 FROM ${FULL}.tasks WHERE policy_hash = $1`)
  expect(accesses).toEqual([expect.stringMatching(/^all of tasks/)])
})
