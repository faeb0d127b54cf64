/**
 * The process that conducts a run and its agents, killed with SIGKILL, asked to stop and suspended at random moments; others
 * with SEED=2. The whole campaign is `npm run crash:maps`. Needs a build.
 */
import { expect, test } from 'vitest'
import { killAgents, SHORT_CAMPAIGN } from './agents-campaign.js'

const seed = Number(process.env['SEED'] ?? 3)

test(`agents that are killed keep every promise, seed ${seed}`, { timeout: 180_000 }, async () => {
  const sums = await killAgents({ ...SHORT_CAMPAIGN, seed })
  expect(sums.faults).toEqual([])
  expect(sums.byAgents).toBeGreaterThan(0)
})

test(`of the work of killed agents in worktrees nothing is lost or merged twice, seed ${seed}`, {
  timeout: 180_000,
}, async () => {
  const sums = await killAgents({ ...SHORT_CAMPAIGN, items: 16, seed, isolation: 'worktree' })
  expect(sums.faults).toEqual([])
  expect([sums.byAgents, sums.merged].every((count) => count > 0)).toBe(true)
})
