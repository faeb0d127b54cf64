/** The same kills on PostgreSQL: see `agents-kill.test.ts`. Needs a build. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../postgres/shared-server.js'
import { keepIn } from '../workflow/cli-fixture.js'
import { killAgents, SHORT_CAMPAIGN } from './agents-campaign.js'

const seed = Number(process.env['SEED'] ?? 11)

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  keepIn(database.url)
})
afterAll(() => database.drop())

test(`agents on PostgreSQL that are killed keep every promise, seed ${seed}`, { timeout: 180_000 }, async () => {
  const sums = await killAgents({ ...SHORT_CAMPAIGN, seed })
  expect(sums.faults).toEqual([])
  expect(sums.byAgents).toBeGreaterThan(0)
})
