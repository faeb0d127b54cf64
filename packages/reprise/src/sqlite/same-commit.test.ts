/** Several changes of one task, and several units of one transaction: what comes later is a change of what came before. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { TaskRecord } from '../ledger/records.js'
import { newTask } from '../testing/sample-task.js'
import { openDatabase } from './driver.js'
import { openSqlite } from './open-sqlite.js'

const KEY = { scopeKind: 'task', scope: 'mail', id: 'a' } as const
let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'reprise-same-commit-'))
  file = path.join(directory, 'ledger.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

it('a task that is changed twice in one commit is what the second change says', async () => {
  const ledger = await openSqlite(file)
  await ledger.create([newTask({ id: 'a' })])
  const running = await ledger.transact({ tasks: [KEY] }, (view) => {
    const task = view.task(KEY) as TaskRecord
    const current = { attempt: 1, startedAtMs: 1, execution: 1 }
    const first: TaskRecord = { ...task, queue: 'other', generation: 2, stopReason: 'timeout' }
    const begun = { ...task, status: 'running', owner: 'me', fence: 1, dueAtMs: null } as const
    const second: TaskRecord = { ...begun, progress: { ...task.progress, current } }
    return { result: second, tasks: [first, second] }
  })
  await ledger.close()
  const reopened = await openSqlite(file)
  expect(await reopened.get(KEY)).toEqual(running)
  await reopened.close()
})

it('the tasks of a policy are counted, whatever else a transaction creates and moves to it', async () => {
  const ledger = await openSqlite(file)
  await ledger.create([newTask({ id: 'a' })])
  const policy = { hash: 'p2', policy: { attempts: 5 } }
  // Within one turn, which is one transaction.
  await Promise.all([
    ledger.create([{ ...newTask({ id: 'b', policyHash: 'p2' }), policy }]),
    ledger.transact({ tasks: [KEY] }, (view) => {
      const task = view.task(KEY) as TaskRecord
      return { result: 0, tasks: [{ ...task, policyHash: 'p2' }] }
    }),
  ])
  await ledger.close()
  const database = await openDatabase(file)
  const rows = database.prepare('SELECT hash, tasks FROM policies ORDER BY hash').all() as object[]
  database.close()
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { hash: 'p1', tasks: 0 },
    { hash: 'p2', tasks: 2 },
  ])
})
