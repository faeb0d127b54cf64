/**
 * The command `npm run bench:workflow`: what the command line adds to what it runs, steps against a loop by hand, runs of
 * very many steps, and the process runner. Prints tables; `--write` keeps them. Imports its own directory.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { linesTable } from '../ledger/report.js'
import { driverFacts } from '../ledger/facts.js'
import { keepSections, textOf } from '../ledger/sections.js'
import { bundle, OUT } from './build.mjs'
import { measureCommands } from './commands.js'
import { commandsTable, spawnsTable, stepsTable } from './report.js'
import { measureResumes } from './resumes.js'
import type { SpawnCosts } from './spawns.js'
import { STEP_KINDS, type StepRates } from './steps.js'

const run = promisify(execFile)

/** By the name that `--only` takes: the title, and what gives the table. */
const ROWS: Readonly<Record<string, readonly [title: string, measure: () => Promise<string>]>> = {
  commands: ['What a command costs', async () => commandsTable(await measureCommands(effort(25, 5)))],
  steps: ['A thousand steps, one after the other', measuredSteps],
  spawns: [
    'The process runner',
    async () => spawnsTable((await answerOf('spawns-child', effort(300, 50))) as SpawnCosts),
  ],
  resumes: [
    'Runs of very many steps',
    async () => linesTable(await measureResumes(effort(100_000, 20_000), effort(7, 2))),
  ],
}
const NAMES = Object.keys(ROWS)
const HELP = `npm run bench:workflow -- [options]

  --quick         a short run: fewer rounds and steps
  --only <row>    one row, may be repeated: ${NAMES.join(', ')}
  --write         also write bench/workflow/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const HOW = 'Each table says what it was measured with, on a machine that others used at the same time.'
const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url))

function effort(whole: number, quick: number): number {
  return options.quick ? quick : whole
}

/** What the program of this directory prints, as JSON. */
async function answerOf(program: string, ...args: (string | number)[]): Promise<unknown> {
  const { stdout } = await run(process.execPath, [`${OUT}${program}.js`, ...args.map(String)])
  return JSON.parse(stdout)
}

async function measuredSteps(): Promise<string> {
  const all: { kind: (typeof STEP_KINDS)[string]; rates: StepRates }[] = []
  for (const [id, kind] of Object.entries(STEP_KINDS)) {
    const rates = (await answerOf('steps-child', id, effort(7, 2), effort(1000, 200))) as StepRates
    all.push({ kind, rates })
  }
  return stepsTable(all)
}

async function main(): Promise<void> {
  if (options.help) return console.log(HELP)
  const unknown = options.only.filter((name) => !NAMES.includes(name))
  if (unknown.length > 0) throw new Error(`No such row: ${unknown.join(', ')}. Rows: ${NAMES.join(', ')}`)
  await bundle()
  const said = await driverFacts()
  const [major] = process.versions.node.split('.')
  const sections = new Map<string, string>()
  for (const [name, [title, measure]] of Object.entries(ROWS)) {
    if (options.only.length > 0 && !options.only.includes(name)) continue
    // Tables of another Node stand beside these.
    sections.set(`${title}, Node ${major}`, `${said}\n\n${await measure()}`)
    console.error(`${name}: measured`)
  }
  console.log(`\n${textOf(sections)}`)
  if (options.write) keepSections(RESULTS, 'bench:workflow', HOW, sections)
}

await main()
