/** What a process knows of a task may be old: others end and forget it, and then its id is free for everybody. */
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { TaskKey, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
const here = await openPostgres(database.url)
const there = await openPostgres(database.url)
afterAll(async () => {
  await here.close()
  await there.close()
  await database.drop()
})

let ids = 0
let key: TaskKey
beforeEach(() => {
  key = { scopeKind: 'task', scope: 'mail', id: `t${ids++}` }
})

const RUNNING = { status: 'running', owner: 'me', dueAtMs: null } as const
const CANCELLED = { status: 'cancelled', owner: null, dueAtMs: null, stopReason: 'aborted', updatedAtMs: 1 } as const

function change(ledger: Ledger, changes: Partial<TaskRecord>, gates: readonly string[] = []): Promise<void> {
  return ledger.transact({ tasks: [key], gates }, (view) => ({
    tasks: [{ ...(view.task(key) as TaskRecord), ...changes }],
    result: undefined,
  }))
}

async function cancelAndForget(): Promise<void> {
  await change(there, CANCELLED)
  expect(await there.forget({ status: 'cancelled', beforeMs: 2, limit: 10 })).toMatchObject({ tasks: 1 })
}

describe('an id that another process has ended and forgotten', () => {
  it('is free for a process that had begun it', async () => {
    await here.create([newTask({ ...key, ...RUNNING })])
    await cancelAndForget()
    expect(await here.create([newTask(key, 'another')])).toMatchObject([{ type: 'created' }])
    expect(await here.create([newTask(key, 'another')])).toMatchObject([{ type: 'existing' }])
    expect(await there.get(key)).toMatchObject({ status: 'waiting' })
  })

  it('is free for a process that had begun it behind a gate, and found it cancelled', async () => {
    await here.create([newTask(key)])
    await change(here, { ...RUNNING, fence: 1 }, ['budget:x'])
    await change(there, CANCELLED)
    const seen = await here.transact({ tasks: [key], gates: ['budget:x'] }, (view) => ({ result: view.task(key) }))
    expect(seen).toMatchObject({ status: 'cancelled' })
    expect(await there.forget({ status: 'cancelled', beforeMs: 2, limit: 10 })).toMatchObject({ tasks: 1 })
    expect(await here.create([newTask({ ...key, ...RUNNING })])).toMatchObject([{ type: 'created' }])
    await change(here, { status: 'succeeded', owner: null })
    expect(await there.get(key)).toMatchObject({ status: 'succeeded', fence: 0 })
  })

  it('is free within a transaction that begins it anew', async () => {
    await here.create([newTask({ ...key, ...RUNNING })])
    await cancelAndForget()
    const seen = await here.transact({ tasks: [key], gates: ['budget:x'] }, (view) => ({
      created: [newTask({ ...key, ...RUNNING })],
      result: view.task(key),
    }))
    expect(seen).toBeUndefined()
    expect(await there.get(key)).toMatchObject(RUNNING)
  })
})

describe('many tasks that are created at once, some of which are there', () => {
  it('are told apart: created, the same as before, or another under that id', async () => {
    const scope = 'bulk'
    const numbers = Array.from({ length: 2000 }, (_, number) => number)
    const typeOf = (number: number): string =>
      number % 7 === 0 ? 'existing' : number % 11 === 0 ? 'conflict' : 'created'
    const idOf = (number: number): string => `x${number}`
    const taken = numbers.filter((number) => typeOf(number) !== 'created')
    await there.create(
      taken.map((number) =>
        newTask({ scope, id: idOf(number) }, typeOf(number) === 'existing' ? 'payload' : 'another payload'),
      ),
    )
    const told = await here.create(numbers.map((number) => newTask({ scope, id: idOf(number), correlationId: 'here' })))
    expect(told.map(({ type }) => type)).toEqual(numbers.map(typeOf))
    expect(told.map(({ task }) => task.id)).toEqual(numbers.map(idOf))
    const written = (await there.list({ scopeKind: 'task', scope })).filter(
      ({ correlationId }) => correlationId === 'here',
    )
    const created = numbers.filter((number) => typeOf(number) === 'created')
    expect(written.map(({ id }) => id).toSorted()).toEqual(created.map(idOf).toSorted())
  })
})
