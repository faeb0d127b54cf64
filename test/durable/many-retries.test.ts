/** A resume where more retries wait than are looked at one by one: the store counts them, and only the odd ones are read. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { openLedger } from '../../packages/reprise/src/open/index.js'
import type { TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { testDatabase } from '../postgres/shared-server.js'
import { withVerbs } from './with-verbs.js'

const MANY = 1200
// Without jitter: full jitter would make some of so many retries due at once.
const POLICY = { attempts: 3, initialDelay: '1h', maxDelay: '1h', jitter: 'none', retryBudget: '5h' } as const
const KEY = { scopeKind: 'task', scope: 't', id: 't7' } as const

const database = await testDatabase()
afterAll(() => database.drop())
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-retries-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Every task has failed once and waits for an hour; the state of one was changed behind everybody's back. */
async function fill(url: string): Promise<void> {
  const durable = await openDurable(url, { concurrency: 100 })
  let ended = 0
  const all = new Promise<void>((resolve) => {
    const task = durable.task('t', POLICY, () => {
      if (++ended === MANY) resolve()
      throw new Error('no')
    })
    void Promise.all(Array.from({ length: MANY }, (_, index) => task.start(null, { id: `t${index}` })))
  })
  await all
  await durable.drain()
  await durable.close()
  const ledger = await openLedger(url)
  await ledger.transact({ tasks: [KEY] }, (view) => {
    const { progress, ...task } = view.task(KEY) as TaskRecord
    return { tasks: [{ ...task, progress: { ...progress, retry: { ...progress.retry, failures: 2 } } }], result: 0 }
  })
  await ledger.close()
}

it.each([
  ['SQLite', `sqlite:${path.join(directory, 'ledger.db')}`],
  ['PostgreSQL', database.url],
])('of %s counts sound retries in the store, and refuses the faulty one', async (_store, url) => {
  await fill(url)
  let looked = 0
  const ledger = await openLedger(url)
  const watched = withVerbs(ledger, {
    attemptCounts: (keys) => {
      looked += keys.length
      return ledger.attemptCounts(keys)
    },
  })
  const durable = await openDurable(watched)
  durable.task('t', POLICY, () => 1)
  const { waiting, refused } = await durable.resume()
  expect(waiting).toBe(MANY - 1)
  expect(refused.map(({ id, faults }) => [id, faults])).toEqual([
    ['t7', ['2 of 1 attempts failed', 'the history has 1 failures, and the state 2']],
  ])
  expect(looked).toBe(1)
  await durable.close()
})
