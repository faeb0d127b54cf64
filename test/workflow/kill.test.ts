/**
 * Runs of the command line that are killed with SIGKILL or asked to stop at random moments, until they have ended; more with
 * KILLS=1000, others with SEED=2. Needs a build.
 */
import { expect, test } from 'vitest'
import { KilledSteps } from './killed-steps.js'
import { killRuns } from './random-kill-run.js'

const seed = Number(process.env['SEED'] ?? 1)
const kills = Number(process.env['KILLS'] ?? 30)

test(`a run keeps every promise over ${kills} kills`, { timeout: 120_000 + kills * 5000 }, async () => {
  const sums = await killRuns((own) => new KilledSteps(own), { seed, kills, lanes: 3 })
  expect(sums.faults).toEqual([])
  expect(sums.kills).toBeGreaterThan(kills / 2)
  expect(sums.again).toBeGreaterThan(0)
})
