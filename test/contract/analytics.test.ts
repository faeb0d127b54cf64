/** Whatever has happened, SQLite counts what plain code counts, and forgets exactly what was asked. */
import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { CompactRequest, Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import { FINISHED_STATUSES, type StoredEvent, type TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { type SampleHistory, writeHistory } from '../../packages/reprise/src/testing/sample-history.js'
import { sampleTask } from '../../packages/reprise/src/testing/sample-task.js'
import { faultsOfForgetting, filters, histories, holdingOf } from './random-history.js'
import { clockReading } from '../clock-reading.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-analytics-'))
afterAll(() => rmSync(directory, { recursive: true }))

const OWNER = { host: 'h', pid: 1, processStart: '5', bootId: 'b', startedAtMs: 1 }

/** The same history in a ledger of each kind. */
async function written(told: readonly SampleHistory[]): Promise<{ memory: Ledger; sqlite: Ledger }> {
  const memory = new MemoryLedger({ clock: clockReading(() => 50) })
  const sqlite = await openSqlite(':memory:', { clock: clockReading(() => 50) })
  for (const ledger of [memory, sqlite]) {
    await ledger.heartbeat({ ...OWNER, id: 'o1', leaseUntilMs: 10 })
    await ledger.heartbeat({ ...OWNER, id: 'o2', leaseUntilMs: 20 })
    for (const hash of ['p2', 'p3']) await ledger.keepPolicy({ hash, policy: {} })
    await writeHistory(ledger, told)
  }
  return { memory, sqlite }
}

async function answers({ analytics }: Ledger, filter: object): Promise<unknown> {
  return {
    totals: await analytics.totals(filter),
    patterns: await analytics.failurePatterns({ ...filter, examples: 2 }),
    few: await analytics.failurePatterns({ ...filter, limit: 2 }),
    all: await analytics.recovery(filter),
    last: await analytics.recovery({ ...filter, generations: 'last' }),
    delays: await analytics.delays(filter),
    resumes: await analytics.resumes(filter),
  }
}

/** Everything there is, in an order that does not depend on the store. */
async function contents(ledger: Ledger): Promise<unknown> {
  const tasks = await ledger.list({})
  const sorted = <T extends object>(rows: readonly T[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted()
  return {
    tasks,
    histories: await Promise.all(tasks.map((task) => ledger.analytics.history(task))),
    letters: sorted((await ledger.deadLetters()).map(({ scope, id, generation }) => ({ scope, id, generation }))),
    events: (await ledger.events(0, 1e6)).map(({ seq, scope, id, type }: StoredEvent) => ({ seq, scope, id, type })),
    policies: await Promise.all(['p1', 'p2', 'p3'].map((hash) => ledger.policy(hash))),
    owners: (await ledger.owners()).map(({ id }) => id),
  }
}

describe('analytics', () => {
  it('are the same in SQLite and in memory, whatever has happened', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.array(filters, { maxLength: 3 }), async (told, some) => {
        const { memory, sqlite } = await written(told)
        for (const filter of [{}, ...some]) expect(await answers(sqlite, filter)).toEqual(await answers(memory, filter))
        await sqlite.close()
      }),
      { numRuns: 150 },
    )
  })

  it('are the same after the same was forgotten and shortened', async () => {
    const compaction = fc.record(
      {
        maxHistoryPerTask: fc.constantFrom(10, 11, 20),
        eventsBeforeMs: fc.integer({ min: 0, max: 40 }),
        policiesBeforeMs: fc.constantFrom(50, 51),
        ownersBeforeMs: fc.constantFrom(10, 15, 30),
        // Which of many go first is the store's affair.
        limit: fc.constant(100),
      },
      { requiredKeys: ['limit'] },
    ) as fc.Arbitrary<CompactRequest>
    const forgetting = fc.record({
      status: fc.constantFrom(...FINISHED_STATUSES),
      beforeMs: fc.integer({ min: 0, max: 41 }),
    })
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.array(fc.oneof(compaction, forgetting), { maxLength: 4 }),
        async (told, requests) => {
          const { memory, sqlite } = await written(told)
          for (const request of requests) {
            const [a, b] = await Promise.all(
              [memory, sqlite].map((ledger) =>
                'status' in request ? ledger.forget({ ...request, limit: 100 }) : ledger.compact(request),
              ),
            )
            expect(b).toEqual(a)
            expect(await contents(sqlite)).toEqual(await contents(memory))
          }
          expect(await answers(sqlite, {})).toEqual(await answers(memory, {}))
          await sqlite.close()
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('forgetting', () => {
  it('removes exactly what is finished and old, with all that belongs to it', async () => {
    const request = fc.record({
      status: fc.constantFrom(...FINISHED_STATUSES),
      beforeMs: fc.integer({ min: 0, max: 41 }),
      limit: fc.constantFrom(1, 2, 100),
    })
    await fc.assert(
      fc.asyncProperty(histories, request, async (told, asked) => {
        const { memory, sqlite } = await written(told)
        for (const ledger of [memory, sqlite]) {
          const before = await holdingOf(ledger)
          await ledger.forget(asked)
          expect(faultsOfForgetting(before, await holdingOf(ledger), asked)).toEqual([])
        }
        await sqlite.close()
      }),
      { numRuns: 100 },
    )
  })

  it('is seen to go wrong when it does', () => {
    const asked = { status: 'succeeded', beforeMs: 20, limit: 9 } as const
    const old = sampleTask({ status: 'succeeded', updatedAtMs: 10 })
    const holding = (...tasks: TaskRecord[]) => ({ tasks, rows: { 'mail/a': 2 } })
    const gone = { tasks: [], rows: {} }
    expect(faultsOfForgetting(holding(old), gone, asked)).toEqual([])
    expect(faultsOfForgetting(holding(old), holding(old), asked)).toEqual(['0 are gone of 1 that are old'])
    expect(faultsOfForgetting(holding(old), { tasks: [], rows: { 'mail/a': 1 } }, asked)).toEqual([
      'mail/a is gone, and left rows behind',
    ])
    const running = sampleTask({ status: 'running', updatedAtMs: 10 })
    expect(faultsOfForgetting(holding(running), gone, asked)).toContain('mail/a is gone, and was running')
    expect(faultsOfForgetting(holding(running), { tasks: [running], rows: {} }, asked)).toEqual([
      'mail/a is there, and something of it is not',
    ])
  })
})

describe('a large ledger', () => {
  const TASKS = 100_000

  it(`of ${TASKS} tasks is analysed by the database`, async () => {
    const file = path.join(directory, 'large.db')
    await (await openSqlite(file, { clock: clockReading(() => 0) })).close()
    await fill(file)
    const ledger = await openSqlite(file, { clock: clockReading(() => 0) })
    const { analytics } = ledger
    const took: Record<string, number> = {}
    const timed = async <T>(name: string, question: () => Promise<T>): Promise<T> => {
      const startMs = performance.now()
      const answer = await question()
      took[name] = Math.round(performance.now() - startMs)
      return answer
    }
    expect(await timed('totals', () => analytics.totals())).toMatchObject({ tasks: TASKS, attempts: 2 * TASKS })
    const patterns = await timed('failurePatterns', () => analytics.failurePatterns())
    expect(patterns.length).toBe(31)
    expect(patterns[0]).toMatchObject({ signature: 'Error: again', count: TASKS / 4, recovered: 0, failed: TASKS / 4 })
    expect(patterns[0]?.examples.length).toBe(3)
    expect(await timed('recovery', () => analytics.recovery())).toEqual([
      { attempt: 1, reached: TASKS, succeeded: 0, rate: 0 },
      { attempt: 2, reached: TASKS, succeeded: 0.75 * TASKS, rate: 0.75 },
    ])
    const delays = await timed('delays', () => analytics.delays())
    expect(delays.map(({ totalMs }) => totalMs)).toEqual(Array.from({ length: 10 }, () => 250 * (TASKS / 10)))
    await timed('resumes', () => analytics.resumes())
    await ledger.close()
    console.log(`${TASKS} tasks, ${2 * TASKS} attempts analysed, ms:`, took)
  })

  /** As a driver would have left it after an outage; by the database itself, since a driver needs half a minute. */
  async function fill(file: string): Promise<void> {
    const database = await openDatabase(file)
    const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${TASKS})`
    database.exec(`BEGIN; INSERT INTO tasks (pk, scope_kind, scope, id, queue, generation, status, fence, progress,
        policy_hash, payload_hash, input, correlation_id, created_at, updated_at)
      ${numbers} SELECT i, 'run', 'run' || (i % 10), 't' || i, 'run' || (i % 10), 1, iif(i % 4, 'succeeded', 'failed'), 2,
        '{"retry":{},"current":null,"interruptions":0,"lastFailure":null}', 'p', 'h', '{"order":1}', 'c' || i, i, i FROM n`)
    const columns = `task, generation, attempt, execution, started_at, ended_at, outcome, delay_before, failure, signature,
      owner`
    const failure = `'{"name":"Error","message":"somebody had no luck with number ' || i || '"}'`
    database.exec(`INSERT INTO attempts (${columns}) ${numbers}
      SELECT i, 1, 1, 1, i, i, 'failure', 0, ${failure}, 'Error: somebody had no luck ' || (i % 30), 'o' FROM n`)
    database.exec(`INSERT INTO attempts (${columns}) ${numbers} SELECT i, 1, 2, 1, i, i, iif(i % 4, 'success', 'failure'),
      250, iif(i % 4, NULL, ${failure}), iif(i % 4, NULL, 'Error: again'), 'o' FROM n; COMMIT`)
    database.close()
  }
})
