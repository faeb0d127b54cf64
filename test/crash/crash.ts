/**
 * `npm run crash`: real processes killed many times, and the promises checked. `--kills 2000` of them, from `--seed N` or
 * a fresh one, which is printed; `--write` puts the figures into RESULTS.md. Exit code 1 if a promise was broken; then
 * the files are kept. `--quick` is fewer of them; `--driver NAME` is a SQLite driver other than the library's
 * choice; `--postgres` is another campaign, on servers. Imports both.
 */
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { runCampaign } from '../postgres/run-campaign.js'
import { chooseDriver, driverInUse } from '../chosen-driver.js'
import { Campaign, type Tally } from './campaign.js'
import { bundleLoad } from './processes.js'
import { figuresOf, headingOf, section, withSection } from './results-page.js'

const { values } = parseArgs({
  options: {
    kills: { type: 'string' },
    seed: { type: 'string' },
    write: { type: 'boolean' },
    postgres: { type: 'boolean' },
    quick: { type: 'boolean' },
    only: { type: 'string' },
    driver: { type: 'string' },
  },
})
const usual = values.postgres === true ? [500, 20] : [2000, 200]
const kills = Number(values.kills ?? usual[values.quick === true ? 1 : 0])
const seed = values.seed === undefined ? randomInt(1_000_000) : Number(values.seed)
const page = values.write === true ? new URL('RESULTS.md', import.meta.url) : undefined
console.log(`seed ${seed}`)
if (values.driver !== undefined) chooseDriver(values.driver)
await (values.postgres === true ? runCampaign({ seed, kills, only: values.only, page }) : run())

async function run(): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-crash-'))
  const startMs = performance.now()
  const program = await bundleLoad()
  const driver = await driverInUse()
  console.log(`driver ${driver}`)
  // They wait more than they work.
  const lanes = availableParallelism() + 1
  let shown = 0
  const onScenario = (tally: Tally): void => {
    if (tally.kills - shown < kills / 20) return
    shown = tally.kills
    console.log(`${tally.kills} kills, ${tally.scenarios} scenarios, ${tally.faults.length} faults`)
  }
  const campaign = new Campaign({ program, directory, seed, kills, lanes, namedKills: 3, onScenario })
  const tally = await campaign.run()
  program.remove()
  const done = { tally, seed, seconds: (performance.now() - startMs) / 1000, node: process.version, driver }
  console.log(figuresOf(done))
  if (page !== undefined) writeFileSync(page, withSection(readFileSync(page, 'utf8'), headingOf(done), section(done)))
  if (tally.faults.length === 0) {
    rmSync(directory, { recursive: true })
  } else {
    console.log(`${tally.faults.slice(0, 100).join('\n')}\nThe files are in ${directory}`)
    process.exitCode = 1
  }
}
