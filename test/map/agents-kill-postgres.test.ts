/** The same kills on PostgreSQL: see `agents-kill.test.ts`. Needs a build. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../postgres/shared-server.js'
import { keepIn } from '../workflow/cli-fixture.js'
import { agentsSettings, writeAgentsResults } from './agents-results.js'
import { killAgents } from './killed-agents.js'

const settings = agentsSettings({ seed: 11 })

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  keepIn(database.url)
})
afterAll(() => database.drop())

test(`agents on PostgreSQL keep every promise over ${settings.kills} kills`, {
  timeout: settings.timeoutMs,
}, async () => {
  const sums = await killAgents(settings)
  expect(sums.faults).toEqual([])
  expect(sums.byAgents).toBeGreaterThan(0)
  writeAgentsResults('PostgreSQL', settings, sums)
})
