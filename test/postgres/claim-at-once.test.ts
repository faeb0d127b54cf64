/**
 * A claim that is written before it is decided: it comes out as one that is decided first, also where the decision is
 * another one, a row is damaged or the answer is lost.
 */
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Decided, Ledger, View } from '../../packages/reprise/src/ledger/ledger.js'
import type { TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'
import { CUT_MOMENTS, PostgresProxy } from './proxy.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
const proxy = await PostgresProxy.listen(Number(new URL(database.url).port))
const admin = new pg.Client({ connectionString: database.url })
await admin.connect()
afterAll(async () => {
  await proxy.close()
  await admin.end()
  await database.drop()
})

const QUEUE = { queue: 'mail', policyHash: 'p1' }

/** The first attempt begins. */
function begun(task: TaskRecord, view: View): Decided<string> {
  const { retry } = task.progress
  const current = { attempt: 1, startedAtMs: view.now, execution: 1 }
  const progress = { ...task.progress, current, retry: { ...retry, launched: 1 } }
  const owned = { ...task, status: 'running', owner: 'me', fence: task.fence + 1, dueAtMs: null } as const
  return { result: task.id, tasks: [{ ...owned, progress, updatedAtMs: view.now }] }
}

let ledger: Ledger
let schemas = 0
let schema = ''
/** Of the statements that were sent. */
const names: string[] = []
const { query } = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }

beforeEach(async () => {
  schema = `at_once_${schemas++}`
  const url = new URL(proxy.urlOf(database.url))
  url.searchParams.set('schema', schema)
  ledger = await openPostgres(url.href)
  names.length = 0
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: unknown, ...args: unknown[]): void {
    const [{ name = '' } = {}] = args as { name?: string }[]
    if (name !== '' && name !== 'reprise_notify') names.push(name)
    return query.apply(this, args) as never
  })
})

afterEach(async () => {
  vi.restoreAllMocks()
  await ledger.close()
})

async function add(first: number, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) => `t${String(first + index).padStart(3, '0')}`)
  await ledger.create(ids.map((id, index) => newTask({ id, dueAtMs: 1000 + first + index })))
}

const claim = (
  limit = 5,
  decide: (task: TaskRecord, view: View) => Decided<string> = begun,
): Promise<readonly string[]> => ledger.claim({ queues: [QUEUE], limit, isUngated: true }, decide)

async function rows(status: string): Promise<Record<string, unknown>[]> {
  const { rows: found } = await admin.query<Record<string, unknown>>(
    `SELECT * FROM ${schema}.tasks WHERE status = $1 ORDER BY id`,
    [status],
  )
  return found
}

const idsOf = (all: readonly Record<string, unknown>[]): unknown[] => all.map(({ id }) => id)

/** A first claim, from which is known what claims decide here. */
async function learn(): Promise<void> {
  await add(0, 2)
  expect(await claim(2)).toEqual(['t000', 't001'])
}

describe('a claim of fresh tasks that decides as the one before', () => {
  it('is one statement, and leaves the same rows', async () => {
    await learn()
    expect(names).not.toContain('reprise_claimAtOnce')
    await add(2, 2)
    names.length = 0
    expect(await claim(2)).toEqual(['t002', 't003'])
    expect(names).toEqual(['reprise_claimAtOnce'])
    const [first, , third] = await rows('running')
    const { pk, id, created_at, updated_at, ...rest } = first ?? {}
    const startedAt = (text: unknown): string => String(text).replace(/"startedAtMs":[\d.]+/, '')
    expect({ ...third, progress: startedAt(third?.['progress']) }).toMatchObject({
      ...rest,
      progress: startedAt(rest['progress']),
    })
    expect([pk, id, created_at, updated_at]).not.toContain(undefined)
    // What is known of the rows is right: the next change of one is written upon it.
    names.length = 0
    const key = { scopeKind: 'task', scope: 'mail', id: 't003' } as const
    await ledger.transact({ tasks: [key] }, (view) => {
      const task = view.task(key) as TaskRecord
      return { result: 0, tasks: [{ ...task, status: 'succeeded', owner: null }] }
    })
    expect(names).not.toContain('reprise_lockTasks')
    expect(idsOf(await rows('succeeded'))).toEqual(['t003'])
  })

  it('leaves the order to a claim that locks first where a retry is due', async () => {
    await learn()
    await add(2, 3)
    await admin.query(
      `UPDATE ${schema}.tasks SET claim_rank = 1, due_at = 5000, attempts_kept = 1,
       progress = replace(replace(progress, '"launched":0', '"launched":1'), '"failures":0', '"failures":1') WHERE id = 't004'`,
    )
    const ids: string[] = []
    const once = (task: TaskRecord, view: View): Decided<string> => {
      ids.push(task.id)
      return begun(task, view)
    }
    await claim(2, once)
    expect(ids).toEqual(['t004', 't002'])
  })
})

it('a claim that may ask a budget is decided first, whatever was decided before', async () => {
  await learn()
  await add(2, 2)
  names.length = 0
  await ledger.claim({ queues: [QUEUE], limit: 2 }, begun)
  expect(names).not.toContain('reprise_claimAtOnce')
})

describe('a claim that decides otherwise than the one before', () => {
  it('gives its tasks back before it decides again, and changes only what it decides', async () => {
    await learn()
    await add(2, 3)
    const [before] = await rows('waiting')
    const answer = await claim(3, (task, view) => (task.id === 't003' ? begun(task, view) : { result: 'left' }))
    expect(answer).toEqual(['left', 't003', 'left'])
    expect(names.filter((name) => /claim|giveBack/.test(name)).slice(-3)).toEqual([
      'reprise_claimAtOnce',
      'reprise_giveBack',
      'reprise_claimOne',
    ])
    expect(idsOf(await rows('running'))).toEqual(['t000', 't001', 't003'])
    const waiting = await rows('waiting')
    expect(idsOf(waiting)).toEqual(['t002', 't004'])
    const kept = ['progress', 'claim_rank', 'owner', 'result', 'stop_reason', 'input', 'attempts_kept']
    for (const column of kept) expect([column, waiting[0]?.[column]]).toEqual([column, before?.[column]])
    names.length = 0
    await claim(1)
    expect(names).not.toContain('reprise_claimAtOnce')
  })

  it('gives its tasks back when the decision throws', async () => {
    await learn()
    await add(2, 2)
    const thrown = claim(2, () => {
      throw new Error('no')
    })
    await expect(thrown).rejects.toThrow('no')
    // They are given back by then: a program may end upon the error.
    expect(idsOf(await rows('waiting'))).toEqual(['t002', 't003'])
    expect(await claim(2)).toEqual(['t002', 't003'])
  })

  it('fails if the tasks may not be given back', async () => {
    await learn()
    await onReturn(`RAISE EXCEPTION 'not allowed' USING ERRCODE = '42501'`)
    await add(2, 2)
    await expect(claim(2, (task) => ({ result: task.id }))).rejects.toMatchObject({ code: 'ledger' })
  })

  it('that throws is told when the tasks are given back, however long that takes', async () => {
    await learn()
    await onReturn('PERFORM pg_sleep(0.1)')
    await add(2, 2)
    const thrown = claim(2, () => {
      throw new Error('no')
    })
    const waiting = await thrown.then(
      () => [],
      () => rows('waiting'),
    )
    expect(idsOf(waiting)).toEqual(['t002', 't003'])
  })
})

/** Runs the statement whenever a task that is running becomes one that waits. */
async function onReturn(statement: string): Promise<void> {
  await admin.query(`CREATE FUNCTION ${schema}.returned() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF OLD.status = 'running' AND NEW.status = 'waiting' THEN ${statement}; END IF; RETURN NEW; END $$`)
  await admin.query(
    `CREATE TRIGGER returned BEFORE UPDATE ON ${schema}.tasks FOR EACH ROW EXECUTE FUNCTION ${schema}.returned()`,
  )
}

it('no task is claimed before it is due, also by a claim that looks for more', async () => {
  await learn()
  let early = 0
  const onTime = (task: TaskRecord, view: View): Decided<string> => {
    if (Number(task.dueAtMs) > view.now) early++
    return begun(task, view)
  }
  for (let round = 0; round < 60; round++) {
    const now = await ledger.now()
    const dueAtMs = Array.from({ length: 40 }, (_, index) => (index < 3 ? now - 10 : now + 2 + index * 0.05))
    await ledger.create(dueAtMs.map((at, index) => newTask({ id: `r${round}-${index}`, dueAtMs: at })))
    // With a gate, so that what is due is locked first.
    for (let turn = 0; turn < 12; turn++)
      await ledger.claim({ queues: [QUEUE], limit: turn === 0 ? 2 : 200, gates: ['g'] }, onTime)
  }
  expect(early).toBe(0)
})

it('a damaged row is told by the claim, and keeps no other task from others', async () => {
  await learn()
  await add(2, 2)
  await admin.query(`UPDATE ${schema}.tasks SET input = '{' WHERE id = 't002'`)
  await expect(claim(2)).rejects.toMatchObject({ code: 'ledger', message: expect.stringContaining('holds no JSON') })
  expect(idsOf(await rows('waiting'))).toEqual(['t002', 't003'])
})

it('a task that is not as it was created is claimed by locking first', async () => {
  await learn()
  await add(2, 2)
  await admin.query(
    `UPDATE ${schema}.tasks SET progress = replace(progress, '"lastFailure":null', '"lastFailure":null,"uncharged":true')
     WHERE id = 't002'`,
  )
  expect(await claim(2)).toEqual(['t003'])
  expect(await claim(2)).toEqual(['t002'])
  expect(idsOf(await rows('running'))).toEqual(['t000', 't001', 't002', 't003'])
})

it.each(CUT_MOMENTS)('a claim whose connection is lost %s its commit is made once', async (moment) => {
  await learn()
  await add(2, 4)
  const cut = proxy.cutAtCommit(moment)
  const claimed = claim(3)
  expect(await cut).toContain('claimed AS')
  expect(await claimed).toEqual(['t002', 't003', 't004'])
  expect(await claim(3)).toEqual(['t005'])
  expect(idsOf(await rows('running'))).toEqual(['t000', 't001', 't002', 't003', 't004', 't005'])
  const progress = (await rows('running')).map(
    ({ progress: text }) => JSON.parse(String(text)) as TaskRecord['progress'],
  )
  expect(progress.map(({ current, retry }) => [current?.attempt, current?.execution, retry.launched])).toEqual(
    Array.from({ length: 6 }, () => [1, 1, 1]),
  )
})
