/** Retries that are charged to a count in the ledger, at the failure and in its commit, on every kind of ledger. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Allotment } from '../../packages/reprise/src/durable/allotment.js'
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import { grantBudget, listGates } from '../../packages/reprise/src/durable/gate-control.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import { openDurable, openLedger } from '../../packages/reprise/src/open/open-durable.js'
import { testDatabase } from '../postgres/shared-server.js'
import { rejection } from './process-model.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-allotment-'))
const database = await testDatabase()
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await database.drop()
})
let places = 0

const POLICY = { attempts: 6, initialDelay: '1ms', backoff: 'fixed', jitter: false } as const

describe.each<[string, () => Promise<Ledger>]>([
  ['memory', async () => new MemoryLedger()],
  ['SQLite', () => openLedger(`sqlite:${path.join(directory, `${places++}.db`)}`)],
  ['PostgreSQL', () => openLedger(`${database.url}?schema=allotment_${places++}`)],
])('an allotment on %s', (_name, open) => {
  let ledger: Ledger
  let durable: Durable
  beforeEach(async () => {
    ledger = await open()
    durable = await openDurable(ledger)
  })
  afterEach(() => durable.close())

  const used = async (): Promise<unknown> => (await listGates(ledger)).budgets.find(({ name }) => name === 'all')
  /** Fails so many times, then succeeds. */
  const task = (allot: Allotment): TaskHandle<number, string> =>
    durable.task(
      'task',
      POLICY,
      async (fails: number, { attempt }) => {
        if (attempt <= fails) throw new Error(`no ${attempt}`)
        return 'done'
      },
      { allot },
    )

  it('is charged for every retry and for no first attempt', async () => {
    const handle = task({ budget: 'all', total: 10 })
    expect(await Promise.all([0, 1, 2].map((fails) => handle.run(fails, { id: `t${fails}` })))).toHaveLength(3)
    expect(await used()).toMatchObject({ type: 'count', settings: { total: 10 }, state: { used: 3 } })
  })

  it('that is used up ends a task at once, with its word and the last error', async () => {
    const handle = task({ budget: 'all', total: 2, reasons: { total: 'job_budget_exhausted' } })
    const error = await rejection(handle.run(9, { id: 'a' }))
    expect(error).toMatchObject({ stopReason: 'budget_denied', budgetReason: 'job_budget_exhausted', attempts: 3 })
    expect(error).toMatchObject({ failure: { message: 'no 3' } })
    expect(await rejection(handle.run(9, { id: 'b' }))).toMatchObject({ attempts: 1 })
    expect(await handle.run(0, { id: 'c' })).toBe('done')
    const state = { state: 'failed', stopReason: 'budget_denied', budgetReason: 'job_budget_exhausted' }
    expect(await handle.status('b')).toMatchObject(state)
    expect(await used()).toMatchObject({ state: { used: 2 } })
    await grantBudget(ledger, 'all', { amount: 1, reason: 'one more' })
    expect(await handle.run(1, { id: 'd' })).toBe('done')
  })

  it('is not charged for a task that stops for another reason', async () => {
    const handle = durable.task(
      'task',
      { attempts: 2, initialDelay: '1ms', retryOn: ['timeout'] },
      async (code: string) => {
        throw Object.assign(new Error('no'), { code })
      },
      { allot: { budget: 'all', total: 10 } },
    )
    expect(await rejection(handle.run('EFATAL', { id: 'a' }))).toMatchObject({ stopReason: 'not_retryable' })
    expect(await used()).toBeUndefined()
    expect(await rejection(handle.run('ETIMEDOUT', { id: 'b' }))).toMatchObject({ stopReason: 'attempts_exhausted' })
    expect(await used()).toMatchObject({ state: { used: 1 } })
  })

  it('has a share for each task, which a reset does not give back', async () => {
    const handle = task({ budget: 'all', total: 10, perTask: 2 })
    const denied = { stopReason: 'budget_denied', budgetReason: 'key_count_exhausted' }
    expect(await rejection(handle.run(9, { id: 'a' }))).toMatchObject({ ...denied, attempts: 3 })
    await handle.reset('a')
    expect(await rejection(handle.run(9, { id: 'a' }))).toMatchObject({ ...denied, attempts: 1 })
    expect(await used()).toMatchObject({ state: { used: 2 } })
  })

  it('that nobody has made denies every retry', async () => {
    const handle = task({ budget: 'all', reasons: { missing: 'retry_budget_missing' } })
    const denied = { stopReason: 'budget_denied', budgetReason: 'retry_budget_missing', attempts: 1 }
    expect(await rejection(handle.run(1, { id: 'a' }))).toMatchObject(denied)
    expect(await handle.run(0, { id: 'b' })).toBe('done')
  })
})

describe('the options of an allotment', () => {
  it('are checked by name', async () => {
    const durable = await openDurable('memory:')
    const make =
      (allot: object, policy: object = {}) =>
      (): unknown =>
        durable.task('t', policy, async () => 1, { allot: allot as Allotment })
    expect(make({})).toThrow(/budget/)
    expect(make({ budget: 'a', total: -1 })).toThrow(/total/)
    expect(make({ budget: 'a', perTask: 0.5 })).toThrow(/perTask/)
    expect(make({ budget: 'a', reasons: { sum: 'x' } })).toThrow(/sum/)
    expect(make({ budget: 'api', total: 1 }, { budget: 'api' })).toThrow(/must not be the budget of the policy/)
    await durable.close()
  })
})
