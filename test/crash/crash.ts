/**
 * `npm run crash`: real processes killed many times, and the promises checked. `--kills 2000` of them, from `--seed N` or
 * a fresh one, which is printed; `--write` puts the figures into RESULTS.md. Exit code 1 if a promise was broken; then
 * the files are kept. Imports the campaign.
 */
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Campaign } from './campaign.js'
import { bundleLoad } from './processes.js'
import { figuresOf, resultsPage } from './results-page.js'

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '2000' }, seed: { type: 'string' }, write: { type: 'boolean' } },
})
const kills = Number(values.kills)
const seed = values.seed === undefined ? randomInt(1_000_000) : Number(values.seed)
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-crash-'))
const startMs = performance.now()
console.log(`seed ${seed}`)

const program = await bundleLoad()
// They wait more than they work.
const lanes = availableParallelism() + 1
let shown = 0
const campaign = new Campaign({
  program,
  directory,
  seed,
  kills,
  lanes,
  namedKills: 3,
  onScenario: (tally) => {
    if (tally.kills - shown < kills / 20) return
    shown = tally.kills
    console.log(`${tally.kills} kills, ${tally.scenarios} scenarios, ${tally.faults.length} faults`)
  },
})
const tally = await campaign.run()
program.remove()
const run = { tally, seed, seconds: (performance.now() - startMs) / 1000, node: process.version }
console.log(figuresOf(run))
if (values.write === true) writeFileSync(new URL('RESULTS.md', import.meta.url), resultsPage(run))
if (tally.faults.length === 0) {
  rmSync(directory, { recursive: true })
} else {
  console.log(`${tally.faults.slice(0, 100).join('\n')}\nThe files are in ${directory}`)
  process.exitCode = 1
}
