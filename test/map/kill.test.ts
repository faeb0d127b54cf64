/**
 * Maps of the command line that are killed with SIGKILL or asked to stop at random moments in every phase; more with
 * KILLS=200, others with SEED=2. Needs a build.
 */
import { expect, test } from 'vitest'
import { killRuns } from '../workflow/random-kill-run.js'
import { KilledMap } from './killed-map.js'

const seed = Number(process.env['SEED'] ?? 1)
const kills = Number(process.env['KILLS'] ?? 8)

test(`a map keeps every promise over ${kills} kills`, { timeout: 120_000 + kills * 10_000 }, async () => {
  const sums = await killRuns((own) => new KilledMap(own), { seed, kills, lanes: 2 })
  expect(sums.faults).toEqual([])
  expect(sums.kills).toBeGreaterThan(kills / 2)
  expect(sums.again).toBeGreaterThan(0)
})

test(`a map with batches keeps every promise over ${kills} kills`, { timeout: 120_000 + kills * 10_000 }, async () => {
  const sums = await killRuns((own) => new KilledMap(own, true), { seed, kills, lanes: 2 })
  expect(sums.faults).toEqual([])
  expect(sums.kills).toBeGreaterThan(kills / 2)
  expect(sums.again).toBeGreaterThan(0)
})
