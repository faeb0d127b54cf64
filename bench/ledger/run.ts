/**
 * The command `npm run bench:ledger`: durable tasks on SQLite against a loop written by hand over the same driver, and
 * what a kill, a restart and several processes cost. Prints tables; `--write` keeps them. Imports its own directory and
 * the choice of driver.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chooseDriver, driverInUse, isAvailable } from '../../test/chosen-driver.js'
import { bundle } from './build.mjs'
import { driverFacts } from './facts.js'
import { answerOf } from './processes.js'
import { type Rates, type Workload, WORKLOADS } from './rates.js'
import { linesTable, ratesTable } from './report.js'
import { type Effort, measureKill, measureMemory, measureRestart, measureShared, measureStart } from './rows.js'
import { keepSections, textOf } from './sections.js'

const ROWS = {
  kill: measureKill,
  restart: measureRestart,
  memory: measureMemory,
  start: measureStart,
  shared: measureShared,
}
const TITLES: Readonly<Record<keyof typeof ROWS, string>> = {
  kill: 'A kill',
  restart: 'A restart',
  memory: 'Memory of what waits',
  start: 'Start of a process',
  shared: 'Several processes on one file',
}
const NAMES = ['rates', ...Object.keys(ROWS)]
const HELP = `npm run bench:ledger -- [options]

  --quick         a short run: fewer rounds and smaller files
  --only <row>    one row, may be repeated: ${NAMES.join(', ')}
  --driver <name> another SQLite driver than the library's choice; better-sqlite3 is installed where it is missing
  --write         also write bench/ledger/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    driver: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url))
const isAsked = (name: string): boolean => options.only.length === 0 || options.only.includes(name)
const effort: Effort = { quick: options.quick, rounds: options.quick ? 1 : 3 }

const HOW = '`--driver` names the driver; a figure is compared with others of its own table.'

/** Where a sync costs nothing: what the library itself takes cannot hide behind the disk. */
const IN_MEMORY = '/dev/shm'

async function measuredRates(directory: string): Promise<string> {
  const all: { workload: Workload; rates: Rates }[] = []
  for (const [id, workload] of Object.entries(WORKLOADS)) {
    const args = [id, ...(options.quick ? ['3', '0.3'] : ['7', '1'])]
    all.push({ workload, rates: (await answerOf('rates-child', args, [], { TMPDIR: directory })) as Rates })
    console.error(`${workload.title}, in ${directory}: measured`)
  }
  return ratesTable(all)
}

/** Compiled, where there is no build for this Node: so it is no part of `npm ci`. */
async function installBetter(): Promise<void> {
  if ((await driverInUse()) !== 'better-sqlite3' || (await isAvailable('better-sqlite3'))) return
  execFileSync('npm', ['run', 'driver:better-sqlite3'], { stdio: 'inherit' })
}

async function main(): Promise<void> {
  if (options.help) return console.log(HELP)
  const unknown = options.only.filter((name) => !NAMES.includes(name))
  if (unknown.length > 0) throw new Error(`No such row: ${unknown.join(', ')}. Rows: ${NAMES.join(', ')}`)
  if (options.driver !== undefined) chooseDriver(options.driver)
  await installBetter()
  await bundle()
  const said = await driverFacts()
  const sections = new Map<string, string>()
  if (isAsked('rates')) {
    sections.set('On this disk', await measuredRates(tmpdir()))
    if (existsSync(IN_MEMORY)) sections.set('Where a sync costs nothing', await measuredRates(IN_MEMORY))
  }
  for (const [name, measure] of Object.entries(ROWS)) {
    if (!isAsked(name)) continue
    sections.set(TITLES[name as keyof typeof ROWS], linesTable(await measure(effort)))
    console.error(`${name}: measured`)
  }
  // Tables of another driver stand beside these.
  const driver = await driverInUse()
  const titled = new Map([...sections].map(([title, text]) => [`${title}, ${driver}`, `${said}\n\n${text}`]))
  console.log(`\n${textOf(titled)}`)
  if (options.write) keepSections(RESULTS, 'bench:ledger', HOW, titled)
}

await main()
