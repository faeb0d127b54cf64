/** Whatever becomes of tasks, in whatever order and by however many handles at once: the tallies count them. */
import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  cancel,
  dueNow,
  ended,
  reset,
  undecided,
  withProgress,
} from '../../packages/reprise/src/durable/transitions.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { FINISHED_STATUSES, keyIn, type TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { countedTallies } from '../../packages/reprise/src/ledger/tally.js'
import { openLedger } from '../../packages/reprise/src/open/open-durable.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'
import { testDatabase } from '../postgres/shared-server.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-tallies-'))
const database = await testDatabase()
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await database.drop()
})

const SCOPE = { scopeKind: 'task', scope: 'mail' } as const
const OWNER = { host: 'h', pid: 1, processStart: '5', bootId: 'b', startedAtMs: 1, leaseUntilMs: 2 }

/** What a task becomes; undefined where it cannot. */
const CHANGES = {
  claim: (task: TaskRecord) =>
    task.status === 'waiting' ? { ...task, status: 'running' as const, owner: 'me', dueAtMs: null } : undefined,
  failAttempt: (task: TaskRecord) => {
    if (task.status !== 'running') return undefined
    const { retry } = task.progress
    return dueNow(withProgress(task, { retry: { ...retry, failures: retry.failures + 1 } }), 1)
  },
  succeed: (task: TaskRecord) => (task.status === 'running' ? ended(task, 'succeeded', null, 1).task : undefined),
  fail: (task: TaskRecord) => (task.status === 'running' ? ended(task, 'failed', 'timeout', 1).task : undefined),
  lose: (task: TaskRecord) => (task.status === 'running' ? undecided(task, 1).task : undefined),
  cancel: (task: TaskRecord) => cancel(task, 1).task,
  reset: (task: TaskRecord) => reset(task, task.policyHash, 7, 1).task,
} as const

const id = fc.nat({ max: 5 }).map((number) => `t${number}`)
const handle = fc.nat({ max: 1 })
const act = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('create' as const),
      handle,
      ids: fc.array(id, { minLength: 1, maxLength: 4 }),
      tally: fc.constantFrom('a', 'b', undefined),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant('change' as const),
      handle,
      id,
      change: fc.constantFrom(...(Object.keys(CHANGES) as (keyof typeof CHANGES)[])),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('forget' as const),
      handle,
      status: fc.constantFrom(...FINISHED_STATUSES),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constantFrom('beat' as const, 'leave' as const, 'compact' as const),
      handle,
      owner: fc.constantFrom('o1', 'o2'),
    }),
  },
)
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never

async function perform(ledgers: readonly [Ledger, Ledger], one: Act): Promise<unknown> {
  const ledger = one.handle === 0 ? ledgers[0] : ledgers[1]
  switch (one.type) {
    case 'create':
      return ledger.create(one.ids.map((task) => newTask({ id: task, ...(one.tally && { tally: one.tally }) })))
    case 'change': {
      const key = keyIn(SCOPE, one.id)
      return ledger.transact({ tasks: [key] }, (view) => {
        const task = view.task(key)
        const next = task && CHANGES[one.change](task)
        return { tasks: next === undefined ? [] : [next], result: undefined }
      })
    }
    case 'forget':
      return ledger.forget({ status: one.status, beforeMs: 1e15, limit: one.limit })
    case 'beat':
      return ledger.heartbeat({ ...OWNER, id: one.owner })
    case 'leave':
      return ledger.removeOwner(one.owner)
    case 'compact':
      return ledger.compact({ ownersBeforeMs: 1e15, limit: 10 })
  }
}

async function expectExact(ledger: Ledger): Promise<void> {
  expect(await ledger.tallies({})).toEqual(countedTallies(await ledger.list({}), () => true))
}

let places = 0

describe.each<[string, () => string, number]>([
  ['SQLite', () => `sqlite:${path.join(directory, `${places++}.db`)}`, 60],
  ['PostgreSQL', () => `${database.url}?schema=tallies_${places++}`, 25],
])('tallies in %s', (_name, place, numRuns) => {
  it('count the tasks after every history, of two handles at once', { timeout: 120_000 }, async () => {
    // What is done at once, then the next.
    const turns = fc.array(fc.array(act, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(turns, async (given) => {
        const address = place()
        const ledgers = [await openLedger(address), await openLedger(address)] as const
        try {
          for (const turn of given) {
            await Promise.all(turn.map((one) => perform(ledgers, one)))
            await expectExact(ledgers[0])
          }
        } finally {
          for (const ledger of ledgers) await ledger.close()
        }
      }),
      { numRuns },
    )
  })
})
