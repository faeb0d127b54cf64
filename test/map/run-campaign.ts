/**
 * `npm run crash:maps`: a map whose conductor and agents are killed many times, on SQLite. `--kills 200 --agents 8`, from
 * `--seed N` or a fresh one, which is printed; `--worktrees` for items in git worktrees, `--postgres` for a server of its own;
 * `--write` puts the figures into RESULTS.md of `test/crash`. Exit code 1 if a promise was broken. Needs a build. Imports
 * the campaign and the server.
 */
import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { withSection } from '../crash/results-page.js'
import { PostgresServer } from '../postgres/server.js'
import { keepIn } from '../workflow/cli-fixture.js'
import { figuresOf, headingOf, sectionOf } from './campaign-page.js'
import { killAgents } from './agents-campaign.js'

const PAGE = new URL('../crash/RESULTS.md', import.meta.url)

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    agents: { type: 'string', default: '8' },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    worktrees: { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
if (values.worktrees && values.postgres)
  throw new Error('Maps in worktrees need a store of one machine: see --postgres')
const agents = Number(values.agents)
const campaign = {
  seed: Number(values.seed),
  kills: Number(values.kills),
  agents,
  items: 40 * agents,
  isolation: values.worktrees ? 'worktree' : 'none',
  killsOfOne: Math.max(6, 4 * agents),
} as const

console.log(`seed ${campaign.seed}`)
const server = values.postgres ? await PostgresServer.start({ maxConnections: 200 }) : undefined
const startMs = performance.now()
try {
  keepIn(server?.url)
  const sums = await killAgents(campaign)
  const seconds = (performance.now() - startMs) / 1000
  const measured = { store: values.postgres ? 'PostgreSQL' : 'SQLite', campaign, sums, seconds } as const
  console.log(figuresOf(measured))
  if (values.write)
    writeFileSync(PAGE, withSection(readFileSync(PAGE, 'utf8'), headingOf(measured), sectionOf(measured)))
  if (sums.faults.length > 0) {
    console.log(sums.faults.slice(0, 100).join('\n'))
    process.exitCode = 1
  }
} finally {
  await server?.remove()
}
