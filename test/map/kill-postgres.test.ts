/** The same kills on PostgreSQL: see `kill.test.ts`. Needs a build. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../postgres/shared-server.js'
import { keepIn } from '../workflow/cli-fixture.js'
import { killRuns } from '../workflow/random-kill-run.js'
import { KilledMap } from './killed-map.js'

const seed = Number(process.env['SEED'] ?? 7)
const kills = Number(process.env['KILLS'] ?? 5)

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  keepIn(database.url)
})
afterAll(() => database.drop())

test(`a map on PostgreSQL keeps every promise over ${kills} kills`, { timeout: 120_000 + kills * 10_000 }, async () => {
  const { faults } = await killRuns((own) => new KilledMap(own), { seed, kills, lanes: 1 })
  expect(faults).toEqual([])
})
