/**
 * Decisions are made once, whatever happens to the connection at their commit: every one that was acknowledged is there,
 * and none twice. Each is a count of one in a gate or in a task, so that both would show.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { seededRandom } from '../../packages/reprise/src/core/seeded-random.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { Json, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openLedger } from '../../packages/reprise/src/open/open-durable.js'
import { Writers } from '../../packages/reprise/src/postgres/writers.js'
import { whole } from '../crash/sample-record.js'
import { CUT_MOMENTS, PostgresProxy } from './proxy.js'
import { type TestDatabase, testDatabase } from './shared-server.js'

let database: TestDatabase
let proxy: PostgresProxy
let ledger: Ledger
beforeAll(async () => {
  database = await testDatabase()
  proxy = await PostgresProxy.listen(Number(new URL(database.url).port))
  ledger = await openLedger(proxy.urlOf(database.url))
})
afterAll(async () => {
  await ledger.close()
  await proxy.close()
  await database.drop()
})

const countIn = (value: Json | undefined): number => (value as { count?: number } | undefined)?.count ?? 0

/** Locks what it changes, and then writes. */
function countInGate(key: string): Promise<number> {
  return ledger.transact({ tasks: [], gates: [key] }, (view) => {
    const count = countIn(view.gate(key)?.state) + 1
    const concerned = { type: 'gate_changed', scopeKind: '', scope: '', id: '', correlationId: 'c' } as const
    const event = { ...concerned, atMs: view.now, detail: { key, count } }
    return { gates: [{ key, kind: 'budget', state: { count } }], events: [event], result: count }
  })
}

/** Upon what is known of a running task: one statement. */
function countInTask(task: TaskRecord): Promise<number> {
  return ledger.transact({ tasks: [task] }, (view) => {
    const now = view.task(task) as TaskRecord
    const count = countIn(now.result) + 1
    return { tasks: [{ ...now, result: { count }, updatedAtMs: view.now }], result: count }
  })
}

async function createTask(id: string): Promise<TaskRecord> {
  const { result: _result, ...given } = whole().task
  const task: TaskRecord = { ...given, id, status: 'running', owner: 'me', fence: 1 }
  const policy = { hash: 'p', policy: null }
  const [made] = await ledger.create([{ task, policy, payloadHash: 'h' }])
  expect(made?.type).toBe('created')
  return task
}

/** Counts up, with a cut somewhere on the way; several at a time share a commit. */
async function countUp(
  count: () => Promise<number>,
  moment: (typeof CUT_MOMENTS)[number],
  seed: number,
): Promise<void> {
  const random = seededRandom(seed)
  let expected = 0
  for (let round = 0; round < 4; round++) {
    const done = proxy.cutAtCommit(moment, 1 + Math.floor(random() * 3))
    const progress = { isCut: false }
    void done.then(() => (progress.isCut = true))
    while (!progress.isCut) {
      const together = 1 + Math.floor(random() * 3)
      const answers = await Promise.all(Array.from({ length: together }, count))
      expect(answers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: together }, (_, at) => expected + at + 1))
      expected += together
    }
  }
  expect(await count()).toBe(expected + 1)
}

describe.each(CUT_MOMENTS)('a connection cut %s the commit', (moment) => {
  it('counts once what was decided upon locked rows', async () => {
    const key = `budget:${moment}`
    await countUp(() => countInGate(key), moment, 1)
    const gate = (await ledger.gates()).find((one) => one.key === key)
    const events = await ledger.events(0, 10_000, { scopeKind: '', scope: '' })
    const counts = events.flatMap(({ detail }) => ((detail as { key: string }).key === key ? [countIn(detail)] : []))
    expect(counts).toEqual(Array.from({ length: countIn(gate?.state) }, (_, at) => at + 1))
  })

  it('counts once what was decided upon a known row', async () => {
    const task = await createTask(`known ${moment}`)
    await countUp(() => countInTask(task), moment, 2)
  })

  it('creates once', async () => {
    for (let nth = 0; nth < 4; nth++) {
      const done = proxy.cutAtCommit(moment)
      await createTask(`new ${moment} ${nth}`)
      await done
    }
    expect(await ledger.list({ scopeKind: 'task', scope: 'work', statuses: ['running'] })).not.toEqual([])
  })
})

it('would be found out if nobody asked what became of a commit', async () => {
  const asked = vi.spyOn(Writers.prototype, 'outcomeOf').mockResolvedValue(undefined)
  try {
    await expect(countUp(() => countInGate('budget:naive'), 'after', 3)).rejects.toThrow('deeply equal')
    expect(asked).toHaveBeenCalled()
  } finally {
    asked.mockRestore()
  }
})
