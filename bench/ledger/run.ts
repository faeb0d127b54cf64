/**
 * The command `npm run bench:ledger`: durable tasks on SQLite against a loop written by hand over the same driver, and
 * what a kill, a restart and several processes cost. Prints tables; `--write` keeps them. Imports its own directory.
 */
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
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
  --write         also write bench/ledger/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url))
const isAsked = (name: string): boolean => options.only.length === 0 || options.only.includes(name)
const effort: Effort = { quick: options.quick, rounds: options.quick ? 1 : 3 }

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

async function main(): Promise<void> {
  if (options.help) return console.log(HELP)
  const unknown = options.only.filter((name) => !NAMES.includes(name))
  if (unknown.length > 0) throw new Error(`No such row: ${unknown.join(', ')}. Rows: ${NAMES.join(', ')}`)
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
  console.log(`\n${said}\n\n${textOf(sections)}`)
  if (options.write) keepSections(RESULTS, 'bench:ledger', said, sections)
}

await main()
