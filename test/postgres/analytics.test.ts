/** Whatever has happened, PostgreSQL counts what plain code counts, and forgets exactly what was asked. */
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import type { CompactRequest, Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import { FINISHED_STATUSES } from '../../packages/reprise/src/ledger/records.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { type SampleHistory, writeHistory } from '../../packages/reprise/src/testing/sample-history.js'
import { faultsOfForgetting, filters, histories, holdingOf } from '../contract/random-history.js'
import { testDatabase } from './shared-server.js'
import { clockReading } from '../clock-reading.js'

const database = await testDatabase()
const admin = new pg.Client({ connectionString: database.url })
await admin.connect()
afterAll(async () => {
  await admin.end()
  await database.drop()
})

const OWNER = { host: 'h', pid: 1, processStart: '5', bootId: 'b', startedAtMs: 1 }
const TABLES = ['tasks', 'attempts', 'events', 'dead', 'policies', 'owners', 'runs', 'gates']

/** The same history in a ledger of each kind. */
async function withBoth(
  told: readonly SampleHistory[],
  check: (memory: Ledger, postgres: Ledger) => Promise<void>,
): Promise<void> {
  const memory = new MemoryLedger({ clock: clockReading(() => 50) })
  const postgres = await openPostgres(database.url, { clock: clockReading(() => 50) })
  try {
    await admin.query(`TRUNCATE ${TABLES.map((table) => `reprise.${table}`).join(', ')};
      UPDATE reprise.event_numbers SET last = 0`)
    for (const ledger of [memory, postgres]) {
      await ledger.heartbeat({ ...OWNER, id: 'o1', leaseUntilMs: 10 })
      await ledger.heartbeat({ ...OWNER, id: 'o2', leaseUntilMs: 20 })
      for (const hash of ['p2', 'p3']) await ledger.keepPolicy({ hash, policy: {} })
      // One after the other, so that events come in the same order.
      for (const history of told) await writeHistory(ledger, [withoutNull(history)])
    }
    await check(memory, postgres)
  } finally {
    await postgres.close()
  }
}

/** PostgreSQL keeps no U+0000 in a signature. */
function withoutNull(history: SampleHistory): SampleHistory {
  const attempts = history.attempts?.map((row) => ({
    ...row,
    signature: row.signature?.replaceAll('\0', '\uFFFD') ?? null,
  }))
  return { ...history, ...(attempts !== undefined && { attempts }) }
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
  const events = await ledger.events(0, 1e6)
  return {
    tasks,
    histories: await Promise.all(tasks.map((task) => ledger.analytics.history(task))),
    letters: (await ledger.deadLetters()).map(({ scope, id, generation }) => `${scope}/${id} ${generation}`).toSorted(),
    events: events.map(({ seq, scope, id, type }) => ({ seq, scope, id, type })),
    policies: await Promise.all(['p1', 'p2', 'p3'].map((hash) => ledger.policy(hash))),
    owners: (await ledger.owners()).map(({ id }) => id),
  }
}

describe('analytics', () => {
  it('are the same in PostgreSQL and in memory, whatever has happened', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.array(filters, { maxLength: 3 }), (told, some) =>
        withBoth(told, async (memory, postgres) => {
          for (const filter of [{}, ...some]) {
            expect(await answers(postgres, filter)).toEqual(await answers(memory, filter))
          }
        }),
      ),
      { numRuns: 20 },
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
      fc.asyncProperty(histories, fc.array(fc.oneof(compaction, forgetting), { maxLength: 4 }), (told, requests) =>
        withBoth(told, async (memory, postgres) => {
          for (const request of requests) {
            const [a, b] = await Promise.all(
              [memory, postgres].map((ledger) =>
                'status' in request ? ledger.forget({ ...request, limit: 100 }) : ledger.compact(request),
              ),
            )
            expect(b).toEqual(a)
            expect(await contents(postgres)).toEqual(await contents(memory))
          }
          expect(await answers(postgres, {})).toEqual(await answers(memory, {}))
        }),
      ),
      { numRuns: 20 },
    )
  })
})

it('forgetting removes exactly what is finished and old, with all that belongs to it', async () => {
  const request = fc.record({
    status: fc.constantFrom(...FINISHED_STATUSES),
    beforeMs: fc.integer({ min: 0, max: 41 }),
    limit: fc.constantFrom(1, 2, 100),
  })
  await fc.assert(
    fc.asyncProperty(histories, request, (told, asked) =>
      withBoth(told, async (_memory, postgres) => {
        const before = await holdingOf(postgres)
        await postgres.forget(asked)
        expect(faultsOfForgetting(before, await holdingOf(postgres), asked)).toEqual([])
      }),
    ),
    { numRuns: 12 },
  )
})
