/** What a transaction has locked stays locked until it has written: two processes on one gate lose nothing. */
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { queueKey } from '../../packages/reprise/src/ledger/queue-limit.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
const first = await openPostgres(database.url)
const ledgers: readonly Ledger[] = [first, await openPostgres(database.url), await openPostgres(database.url)]
afterAll(async () => {
  for (const ledger of ledgers) await ledger.close()
  await database.drop()
})

const TIMES = 60

/** One after the other, so that each is a transaction of its own. */
async function countUp(ledger: Ledger, name: string): Promise<void> {
  for (let time = 0; time < TIMES; time++) {
    await ledger.transact({ tasks: [], gates: ['counter'] }, (view) => {
      const { count = 0 } = (view.gate('counter')?.state ?? {}) as { count?: number }
      const event = {
        type: 'reset',
        scopeKind: 'task',
        scope: 'count',
        id: name,
        atMs: 0,
        correlationId: 'c',
        detail: time,
      } as const
      return { gates: [{ key: 'counter', kind: 'budget', state: { count: count + 1 } }], events: [event], result: 0 }
    })
  }
}

it('counts every change of a gate, whoever makes it', async () => {
  await Promise.all(ledgers.map((ledger, index) => countUp(ledger, `p${index}`)))
  const [gate] = await first.gates()
  expect(gate?.state).toEqual({ count: TIMES * ledgers.length })
})

it('numbers events without a gap, in the order in which anybody can see them', async () => {
  const seen = await first.events(0, 1000)
  expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: TIMES * ledgers.length }, (_, index) => index + 1))
})

it('gives a due task to one process only', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => `t${index}`)
  await first.create(ids.map((id) => newTask({ id, dueAtMs: 0 })))
  const claims = ledgers.flatMap((ledger, index) =>
    [1, 2, 3].map(() =>
      ledger.claim({ queues: [{ queue: 'mail', policyHash: 'p1' }], limit: 20 }, (task) => ({
        tasks: [{ ...task, status: 'running', dueAtMs: null, owner: `p${index}`, fence: task.fence + 1 }],
        result: task.id,
      })),
    ),
  )
  const taken = (await Promise.all(claims)).flat()
  expect(new Set(taken).size).toBe(taken.length)
  expect((await first.list({ statuses: ['running'] })).map(({ id }) => id).toSorted()).toEqual(taken.toSorted())
})

it('gives the place of a limited queue to the next task while another process has locked the first', async () => {
  await first.create(['a', 'b'].map((id, index) => newTask({ id, queue: 'line', dueAtMs: index })))
  const other = new pg.Client(database.url)
  await other.connect()
  try {
    await other.query('BEGIN')
    await other.query("SELECT id FROM reprise.tasks WHERE queue = 'line' AND id = 'a' FOR UPDATE")
    const line = { queue: 'line', policyHash: 'p1', most: 1 }
    const claimed = await first.claim({ queues: [line], gates: [queueKey('line')], limit: 1 }, (task) => ({
      tasks: [{ ...task, status: 'running', dueAtMs: null, owner: 'p0', fence: task.fence + 1 }],
      result: task.id,
    }))
    expect(claimed).toEqual(['b'])
  } finally {
    await other.end()
  }
})
