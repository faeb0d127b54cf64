/**
 * The command `npm run bench:postgres`: durable tasks on PostgreSQL against a loop written by hand over the same driver and
 * against other libraries, and what a kill, a restart, growth and several processes cost. Prints tables; `--write` keeps
 * them. Imports its own directory.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle } from './build.mjs'
import { CONTENDERS } from './contenders.js'
import { commitMs } from './facts.js'
import { measureGrowth } from './growth.js'
import { measureKill } from './kill.js'
import { Place } from './place.js'
import { measureRates, SUMMARY_HEAD } from './rates.js'
import { measureRestart } from './restart.js'
import { measureResume } from './resume.js'
import { measureShared } from './shared.js'
import { measureStart } from './start.js'
import { number, table } from '../ledger/report.js'
import { keepSections, textOf } from '../ledger/sections.js'
import { WORKLOADS } from './turn.mjs'

const directory = fileURLToPath(new URL('.', import.meta.url))
const OTHERS = ['kill', 'restart', 'resume', 'start', 'growth', 'shared']
const ROWS = [...Object.keys(WORKLOADS), ...OTHERS]
const IDS = CONTENDERS.map(({ id }) => id)
const HELP = `npm run bench:postgres -- [options]

  --quick          a short run: one round, smaller tables
  --only <row>     one row, may be repeated: ${ROWS.join(', ')}
  --with <who>     one contender, may be repeated: ${IDS.join(', ')}
  --write          also write bench/postgres/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    with: { type: 'string', multiple: true, default: [] },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const { quick } = options
const EFFORT = {
  rates: quick ? { rounds: 1, seconds: 0.4 } : { rounds: 3, seconds: 1 },
  kill: quick ? { jobs: 2000, longestSeconds: 5 } : { jobs: 10_000, longestSeconds: 65 },
  restart: quick ? { count: 10_000, rounds: 1 } : { count: 100_000, rounds: 3 },
  resume: quick ? { counts: [10_000], rounds: 1 } : { counts: [100_000, 1_000_000], rounds: 3 },
  startRounds: quick ? 2 : 9,
  growth: quick ? [1000, 10_000] : [1000, 10_000, 100_000, 1_000_000],
  shared: quick ? { seconds: 0.5, rounds: 1 } : { seconds: 2, rounds: 2 },
}
const contenders = CONTENDERS.filter(({ id }) => options.with.length === 0 || options.with.includes(id))

/** Installs the peers where they are missing. */
function install(): void {
  if (existsSync(`${directory}node_modules/.package-lock.json`)) return
  console.error('Installing the peers …')
  execFileSync('npm', ['install', '--no-save', '--no-fund', '--no-audit'], { cwd: directory, stdio: 'inherit' })
}

function versions(): string {
  const own = JSON.parse(readFileSync(`${directory}package.json`, 'utf8')) as Record<string, Record<string, string>>
  const all = { ...own['devDependencies'], ...own['optionalDependencies'] }
  return Object.entries(all)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')
}

function expectKnown(given: readonly string[], known: readonly string[], what: string): void {
  const unknown = given.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`No such ${what}: ${unknown.join(', ')}. There are: ${known.join(', ')}`)
}

/** Calls `keep` after each row: what was measured is not lost with the rest. */
async function measured(
  place: Place,
  keep: (sections: ReadonlyMap<string, string>) => void,
): Promise<Map<string, string>> {
  const isAsked = (row: string): boolean => options.only.length === 0 || options.only.includes(row)
  const sections = new Map<string, string>()
  const summary: string[][] = []
  for (const id of Object.keys(WORKLOADS).filter(isAsked)) {
    const { title, text, summary: line } = await measureRates(id, contenders, place, EFFORT.rates)
    summary.push(line)
    sections.set('Rates', table([SUMMARY_HEAD, ...summary]))
    sections.set(title, text)
    keep(sections)
    console.error(`${title}: measured`)
  }
  // Of one row it says no more than the row's own table.
  if (summary.length === 1) sections.delete('Rates')
  const others: Readonly<Record<string, readonly [string, () => Promise<string>]>> = {
    kill: ['A kill', () => measureKill(contenders, place, EFFORT.kill)],
    restart: ['A restart', () => measureRestart(contenders, place, EFFORT.restart)],
    resume: ['A resume', () => measureResume(place, EFFORT.resume.counts, EFFORT.resume.rounds)],
    start: ['Start of a process', () => measureStart(contenders, place, EFFORT.startRounds)],
    growth: ['As tasks grow', () => measureGrowth(place, EFFORT.growth)],
    shared: ['Several processes on one database', () => measureShared(place, EFFORT.shared)],
  }
  for (const [row, [title, measure]] of Object.entries(others)) {
    if (!isAsked(row)) continue
    sections.set(title, await measure())
    keep(sections)
    console.error(`${title}: measured`)
  }
  return sections
}

async function main(): Promise<void> {
  if (options.help) return console.log(HELP)
  expectKnown(options.only, ROWS, 'row')
  expectKnown(options.with, IDS, 'contender')
  install()
  await bundle()
  const place = await Place.open()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void place.close().finally(() => process.exit(1)))
  }
  try {
    const commit = `${number(await place.inDatabase(commitMs))} ms a commit of one row`
    const machine = `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim()}`
    const said = `${quick ? 'A quick run. ' : ''}${machine}. ${await place.facts()}, ${commit}. Peers: ${versions()}.`
    const sections = await measured(place, (all) => {
      if (options.write) keepSections(`${directory}RESULTS.md`, 'bench:postgres', said, all)
    })
    console.log(`\n${said}\n\n${textOf(sections)}`)
  } finally {
    await place.close()
  }
}

await main()
