/** Statements with few columns make the rows that the statements with all columns make. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TaskRecord } from '../ledger/records.js'
import { type SqlValue, text, updatedValues } from '../ledger/rows.js'
import { openDatabase } from './driver.js'
import { migrate } from './migrations.js'
import { freshValues, isFresh, updateOf } from './narrow-writes.js'
import { prepareStatements } from './statements.js'

const RETRY = { version: 1, seed: 7, totalDelayMs: 0, lastDelayMs: 0, expiresAtMs: null, deadlineAtMs: null } as const

/** Most fields have the values that narrow statements are for, and now and then another one. */
const TASKS: fc.Arbitrary<TaskRecord> = fc.record({
  scopeKind: fc.constant('task'),
  scope: fc.constant('t'),
  id: fc.constant('a'),
  queue: usually('q', 'other'),
  generation: usually(1, 2),
  status: fc.constantFrom('waiting', 'running', 'succeeded', 'failed'),
  dueAtMs: fc.constantFrom(null, 5.5),
  owner: fc.constantFrom(null, 'me'),
  fence: usually(0, 1),
  progress: fc.record({
    retry: usually(0, 1).map((failures) => ({ ...RETRY, failures, launched: failures, resumed: false })),
    current: fc.constantFrom(null, { attempt: 1, startedAtMs: 3, execution: 1 }),
    interruptions: fc.constant(0),
    lastFailure: fc.constant(null),
  }),
  policyHash: usually('p', 'other'),
  input: fc.constant(1),
  result: fc.constantFrom(undefined, 'done', null),
  stopReason: usually(null, 'timeout'),
  correlationId: fc.constant('c'),
  createdAtMs: fc.constant(1),
  updatedAtMs: fc.constantFrom(1, 2.25),
}) as fc.Arbitrary<TaskRecord>

function usually<T, U>(value: T, other: U): fc.Arbitrary<T | U> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.constant(other) })
}

/** Fields without `undefined`, which JSON leaves out too. */
function recordOf({ result, ...task }: TaskRecord): TaskRecord {
  return result === undefined ? task : { ...task, result }
}

describe('a narrow write', async () => {
  const database = await openDatabase(':memory:')
  migrate(database, 'memory')
  const sql = prepareStatements(database)
  const keyOf = (id: string, task: TaskRecord): SqlValue[] => ['task', 't', id, 'hash', text(task.input)]
  const insert = (id: string, task: TaskRecord): number => {
    const values = [...keyOf(id, task), null, task.correlationId, task.createdAtMs, ...updatedValues(task)]
    return Number(sql.insertTask.run(...values).lastInsertRowid)
  }
  const rows = (): unknown[] =>
    (database.prepare('SELECT * FROM tasks ORDER BY id').all() as object[]).map((row) => ({ ...row, pk: 0, id: '' }))

  it('of a new task makes the row of the wide one', () => {
    let narrow = 0
    fc.assert(
      fc.property(TASKS, (given) => {
        const task = recordOf(given)
        if (!isFresh(task)) return
        narrow++
        database.exec('DELETE FROM tasks')
        insert('a', task)
        sql.insertFresh.run(...keyOf('b', task), task.correlationId, task.createdAtMs, ...freshValues(task))
        const [wide, other] = rows()
        expect(other).toEqual(wide)
      }),
      { seed: 1, numRuns: 1500 },
    )
    expect(narrow).toBeGreaterThan(20)
  })

  it('of a change makes the row of the wide one', () => {
    const used = new Set<unknown>()
    fc.assert(
      fc.property(TASKS, TASKS, fc.nat({ max: 1 }), (from, to, added) => {
        const [before, after] = [recordOf(from), recordOf(to)]
        database.exec('DELETE FROM tasks')
        sql.updateTask.run(...updatedValues(after), added, insert('a', before))
        const [statement, values] = updateOf(sql, insert('b', before), before, after, added)
        used.add(statement)
        statement.run(...values)
        const [wide, other] = rows()
        expect(other).toEqual(wide)
      }),
      { seed: 1, numRuns: 1000 },
    )
    expect(used).toEqual(new Set([sql.updateTask, sql.beginTask, sql.endTask]))
  })
})
