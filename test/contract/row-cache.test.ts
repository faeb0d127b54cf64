/** What a SQLite ledger remembers of running tasks is what the file holds, whoever wrote it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { freshProgress } from '../../packages/reprise/src/durable/transitions.js'
import type { AttemptRow, Json, TaskKey, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import type { SqliteLedger } from '../../packages/reprise/src/sqlite/sqlite-ledger.js'
import { clockReading } from '../clock-reading.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-known-'))
afterAll(() => rmSync(directory, { recursive: true }))
let files = 0

const newFile = (): string => path.join(directory, `${files++}.db`)
const open = (file: string): Promise<SqliteLedger> => openSqlite(file, { clock: clockReading(() => 1000) })

function running(id: string, input: Json): TaskRecord {
  return {
    scopeKind: 'task',
    scope: 'job',
    id,
    queue: 'job',
    generation: 1,
    status: 'running',
    dueAtMs: null,
    owner: 'me',
    fence: 1,
    progress: { ...freshProgress(7), current: { attempt: 1, startedAtMs: 1000, execution: 1 } },
    policyHash: 'h',
    input,
    stopReason: null,
    correlationId: 'c',
    createdAtMs: 1000,
    updatedAtMs: 1000,
  }
}

const create = (ledger: SqliteLedger, task: TaskRecord): Promise<unknown> =>
  ledger.create([{ task, policy: { hash: 'h', policy: {} }, payloadHash: 'p' }])

const seenBy = (ledger: SqliteLedger, key: TaskKey): Promise<TaskRecord | undefined> =>
  ledger.transact({ tasks: [key] }, (view) => ({ result: view.task(key) }))

const change = (ledger: SqliteLedger, key: TaskKey, how: (task: TaskRecord) => TaskRecord): Promise<unknown> =>
  ledger.transact({ tasks: [key] }, (view) => ({ tasks: [how(view.task(key) as TaskRecord)], result: undefined }))

describe('a transaction', () => {
  it('sees what another connection has written meanwhile', async () => {
    const file = newFile()
    const [here, there] = [await open(file), await open(file)]
    const task = running('t', 1)
    await create(here, task)
    await change(there, task, (known) => ({ ...known, fence: 2, owner: 'you' }))
    expect(await seenBy(here, task)).toMatchObject({ fence: 2, owner: 'you' })
    await change(here, task, (known) => ({ ...known, fence: known.fence + 1 }))
    expect(await seenBy(there, task)).toMatchObject({ fence: 3, owner: 'you' })
    await Promise.all([here.close(), there.close()])
  })

  it('sees a task as it is in the file, however often it was changed here', async () => {
    const file = newFile()
    const ledger = await open(file)
    const task = running('t', { deep: [1, 'two'] })
    await create(ledger, task)
    expect(await seenBy(ledger, task)).toEqual(await ledger.get(task))
    await change(ledger, task, (known) => ({ ...known, progress: { ...known.progress, interruptions: 2 } }))
    expect(await seenBy(ledger, task)).toEqual(await ledger.get(task))
    await change(ledger, task, (known) => ({ ...known, status: 'succeeded', owner: null, result: { ok: true } }))
    expect(await seenBy(ledger, task)).toEqual(await ledger.get(task))
    await ledger.close()
  })

  it('hands out an input that nobody has changed', async () => {
    const ledger = await open(newFile())
    const input = { items: [1] }
    await create(ledger, running('t', input))
    input.items.push(2)
    const seen = (await seenBy(ledger, { scopeKind: 'task', scope: 'job', id: 't' })) as TaskRecord
    expect(seen.input).toEqual({ items: [1] })
    ;(seen.input as { items: number[] }).items.push(3)
    expect((await seenBy(ledger, { scopeKind: 'task', scope: 'job', id: 't' }))?.input).toEqual({ items: [1] })
    await ledger.close()
  })

  it('sees nothing of what was undone with another one', async () => {
    const ledger = await open(newFile())
    const [good, bad] = [running('good', 1), running('bad', 2)]
    await Promise.all([create(ledger, good), create(ledger, bad)])
    const row: AttemptRow = {
      ...{ scopeKind: 'task', scope: 'job', id: 'bad', generation: 1, attempt: 1, execution: 1 },
      ...{ startedAtMs: 0, endedAtMs: 1 },
      ...{ outcome: 'failure', delayBeforeMs: 0, failure: null, signature: null, owner: 'me' },
    }
    // In the transaction that is undone, and then in the one without the culprit.
    const counted = change(ledger, good, (known) => ({ ...known, fence: known.fence + 1 }))
    const twice = ledger.transact({ tasks: [bad] }, (view) => {
      const task = { ...(view.task(bad) as TaskRecord), fence: 9 }
      return { tasks: [task], attempts: [row, row], result: undefined }
    })
    await expect(twice).rejects.toThrow(/UNIQUE/)
    await counted
    expect(await seenBy(ledger, bad)).toMatchObject({ fence: 1 })
    expect(await seenBy(ledger, good)).toMatchObject({ fence: 2 })
    await ledger.close()
  })
})
