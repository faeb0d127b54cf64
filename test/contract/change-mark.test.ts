/** What another process writes changes the mark of a ledger that is shared, and nothing else does. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { keyOf, type TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { newTask, sampleTask } from '../../packages/reprise/src/testing/sample-task.js'
import { testDatabase } from '../postgres/shared-server.js'

const database = await testDatabase()
afterAll(() => database.drop())
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-mark-'))
afterAll(() => rmSync(directory, { recursive: true }))
let stores = 0

const STORES: Readonly<Record<string, () => () => Promise<Ledger>>> = {
  SQLite: () => {
    const file = path.join(directory, `${stores++}.db`)
    return () => openSqlite(file)
  },
  PostgreSQL: () => {
    const url = `${database.url}?schema=mark_${stores++}`
    return () => openPostgres(url)
  },
}

const KEY = keyOf(sampleTask())
const OWN = { scopeKind: 'task', scope: 'mail', id: 'own' } as const

const end = (ledger: Ledger): Promise<void> =>
  ledger.transact({ tasks: [KEY] }, (view) => ({
    tasks: [{ ...(view.task(KEY) as TaskRecord), status: 'succeeded', dueAtMs: null, result: 1 }],
    result: undefined,
  }))

/** What another process does, each with a handle of its own that is closed before the mark is read again. */
const ACTS: Readonly<Record<string, (other: Ledger) => Promise<unknown>>> = {
  'creates a task': (other) => other.create([newTask({ id: 'b' })]),
  'ends a task': end,
  'removes a finished task': (other) => other.forget({ status: 'succeeded', beforeMs: 1e15, limit: 10 }),
  'removes a run': (other) => other.removeRun('night-1', 10),
}

describe.each(Object.entries(STORES))('the change mark of %s', (_store, place) => {
  it('changes with what another process has written, also if that process is gone since', async () => {
    const open = place()
    const ledger = await open()
    await ledger.create([newTask(), newTask(OWN)])
    for (const act of Object.values(ACTS)) {
      const mark = await ledger.changeMark()
      const other = await open()
      await act(other)
      const living = await ledger.changeMark()
      expect(living).not.toBe(mark)
      await other.close()
      expect(await ledger.changeMark()).not.toBe(mark)
    }
    await ledger.close()
  })

  it('stays while this process writes, and others only read', async () => {
    const open = place()
    const [ledger, other] = [await open(), await open()]
    await ledger.create([newTask()])
    const mark = await ledger.changeMark()
    await end(ledger)
    await other.list({ limit: 10 })
    await other.transact({ tasks: [KEY] }, () => ({ result: undefined }))
    expect(await ledger.changeMark()).toBe(mark)
    await other.close()
    await ledger.close()
  })
})
