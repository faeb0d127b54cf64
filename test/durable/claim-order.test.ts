/** What a process starts next: a retry before a backlog, and a task of another queue soon, whatever room there is. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { environmentOf } from '../../packages/reprise/src/runtime/executor-options.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { testDatabase } from '../postgres/shared-server.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-order-'))
const database = await testDatabase()
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await database.drop()
})

let stores = 0
const STORES: Readonly<Record<string, () => Promise<Ledger>>> = {
  memory: async () => new MemoryLedger(),
  SQLite: () => openSqlite(path.join(directory, `${stores++}.db`)),
  PostgreSQL: () => openPostgres(`${database.url}?schema=order_${stores++}`),
}

const open = async (ledger: Ledger, concurrency: number): Promise<Durable> =>
  Durable.open(ledger, environmentOf({}), { concurrency, leaseMs: 30_000, policyChange: 'refuse' })

const ids = (prefix: string, count: number): { id: string; input: string }[] =>
  Array.from({ length: count }, (_, index) => {
    const id = `${prefix}${String(index).padStart(5, '0')}`
    return { id, input: id }
  })

/** Takes a turn of the event loop, as an operation does that waits for something. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe.each(Object.entries(STORES))('a process with a ledger in %s', (_name, store) => {
  it('starts a retry among the next few, not behind 3,000 fresh tasks', async () => {
    const durable = await open(await store(), 4)
    const started: string[] = []
    let endAll: () => void = () => undefined
    const isRetried = new Promise<void>((resolve) => (endAll = resolve))
    const policy = { attempts: 2, backoff: 'fixed', initialDelay: '50ms', jitter: false } as const
    let dueAfter = Infinity
    const task = durable.task<string, null>('work', policy, async (id, { attempt }) => {
      started.push(id)
      await turn()
      if (id !== 'w00000') return null
      if (attempt === 2) {
        endAll()
        return null
      }
      // What starts before the delay is over does not count.
      setTimeout(() => (dueAfter = started.length), 50)
      throw new Error('not yet')
    })
    await task.startAll(ids('w', 3000))
    await isRetried
    const position = started.lastIndexOf('w00000')
    expect(position).toBeLessThan(3000)
    expect(position - dueAfter).toBeLessThan(200)
    expect(started.slice(0, 3)).toEqual(['w00000', 'w00001', 'w00002'])
    await durable.close()
  })

  it.each([1, 4, 50])('starts a task of another queue among the next few, with room for %i', async (concurrency) => {
    const durable = await open(await store(), concurrency)
    const started: string[] = []
    const run = async (id: string): Promise<null> => {
      started.push(id)
      await turn()
      return null
    }
    const backlog = durable.task<string, null>('backlog', {}, run)
    const other = durable.task<string, null>('other', {}, run)
    await backlog.startAll(ids('b', 800))
    while (started.length < 100) await turn()
    await other.start('o', { id: 'o' })
    const recorded = started.length
    while (!started.includes('o')) await turn()
    // Behind a claim that had begun before it was recorded, and those that are claimed together with it.
    expect(started.indexOf('o') - recorded).toBeLessThan(3 * concurrency + 3)
    expect(started.length).toBeLessThan(800)
    await durable.close()
  })
})
