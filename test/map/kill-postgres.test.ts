/** The same kills on PostgreSQL: see `kill.test.ts`. Needs a build. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../postgres/shared-server.js'
import { keepIn } from '../workflow/scene.js'
import { RandomKillRun } from './random-kill-run.js'

const SEED = Number(process.env['SEED'] ?? 7)
const KILLS = Number(process.env['KILLS'] ?? 8)

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  keepIn(database.url)
})
afterAll(() => database.drop())

test(`a map on PostgreSQL keeps every promise over ${KILLS} kills`, { timeout: 120_000 + KILLS * 10_000 }, async () => {
  let kills = 0
  for (let seed = SEED * 1000; kills < KILLS; seed++) {
    const run = await new RandomKillRun(seed).play(Math.min(8, KILLS - kills))
    expect(run.faults.map((fault) => `seed ${seed}: ${fault}`)).toEqual([])
    kills += Math.max(1, run.kills)
  }
})
