/**
 * The process that conducts a run and its agents, killed with SIGKILL, asked to stop and suspended at random moments. More
 * with KILLS=200, more processes with AGENTS=8, others with SEED=2, the figures into `test/crash/RESULTS.md` with WRITE=1.
 * Needs a build.
 */
import { expect, test } from 'vitest'
import { agentsSettings, writeAgentsResults } from './agents-results.js'
import { killAgents } from './killed-agents.js'

const settings = agentsSettings({ seed: 3 })

test(`agents keep every promise over ${settings.kills} kills`, { timeout: settings.timeoutMs }, async () => {
  const sums = await killAgents(settings)
  expect(sums.faults).toEqual([])
  expect(sums.byAgents).toBeGreaterThan(0)
  writeAgentsResults('SQLite', settings, sums)
})
