/**
 * With retention no table of a PostgreSQL ledger grows without bound. VACUUM is run here as the server does by itself in
 * its own time, so that the answer does not depend on when that is.
 */
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { Retention, retentionOf } from '../../packages/reprise/src/durable/retention.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { passThrough } from './flow.js'
import { testDatabase } from './shared-server.js'
import { clockReading } from '../clock-reading.js'

const database = await testDatabase()
const admin = new pg.Client({ connectionString: database.url })
await admin.connect()
afterAll(async () => {
  await admin.end()
  await database.drop()
})

const MINUTE = 60_000
const ROUND = 400
const ROUNDS = 18

type Sizes = Readonly<Record<string, number>>

/** With their indexes, in bytes. */
async function sizesOf(schema: string): Promise<Sizes> {
  const { rows } = await admin.query(
    `SELECT relname AS name, pg_total_relation_size(oid)::int AS bytes FROM pg_class
     WHERE relnamespace = $1::regnamespace AND relkind = 'r'`,
    [schema],
  )
  return Object.fromEntries(rows.map(({ name, bytes }: { name: string; bytes: number }) => [name, bytes]))
}

async function vacuum(schema: string): Promise<void> {
  for (const name of Object.keys(await sizesOf(schema))) await admin.query(`VACUUM ${schema}.${name}`)
}

const sum = (sizes: Sizes): number => Object.values(sizes).reduce((total, bytes) => total + bytes, 0)
const most = (all: readonly Sizes[], name: string): number => Math.max(...all.map((sizes) => sizes[name] ?? 0))

describe('a ledger with retention', () => {
  it(`is as large after ${ROUNDS * ROUND} tasks as after the first of them`, async () => {
    let now = 0
    const ledger = await openPostgres(`${database.url}?schema=flat`, { clock: clockReading(() => now) })
    const settings = { succeeded: '1m', failed: '2m', events: '1m' }
    const retention = new Retention(ledger, retentionOf(settings))
    const sizes: Sizes[] = []
    for (let round = 0; round < ROUNDS; round++) {
      now += MINUTE
      await passThrough(ledger, round, ROUND, now)
      expect((await retention.sweep()).more).toBe(false)
      await vacuum('flat')
      sizes.push(await sizesOf('flat'))
    }
    expect((await ledger.analytics.totals()).tasks).toBeLessThan(3 * ROUND)
    await ledger.close()
    // Three rounds are there at a time, from the fourth on.
    const settled = sizes.slice(3)
    const third = settled.length / 3
    const [early, late] = [settled.slice(0, third), settled.slice(-third)]
    for (const name of Object.keys(early[0] ?? {})) {
      // A few pages more or less are chance.
      expect(most(late, name), name).toBeLessThan(1.2 * most(early, name) + 5 * 8192)
    }
    const kib = (one: Sizes): string => (sum(one) / 1024).toFixed(0)
    console.log(`${ROUNDS * ROUND} tasks: ${sizes.map(kib).join(' ')} KiB`)
  })

  it('grows without it, so the test above can fail', async () => {
    const ledger = await openPostgres(`${database.url}?schema=growing`, { clock: clockReading(() => 0) })
    const sizes: number[] = []
    for (let round = 0; round < 6; round++) {
      await passThrough(ledger, round, ROUND, 0)
      await vacuum('growing')
      sizes.push(sum(await sizesOf('growing')))
    }
    // The first rounds give every index its pages.
    const early = sizes[1] ?? Infinity
    expect(sizes.at(-1)).toBeGreaterThan(1.4 * early)
    await ledger.close()
  })
})
