/**
 * The command `npm run bench:map`: what a map costs for each item, beside what people use instead. Prints tables;
 * `--write` keeps them. Imports its own directory, the servers of the PostgreSQL benchmarks and the ledger's tables.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { driverFacts } from '../ledger/facts.js'
import { linesTable, number, table } from '../ledger/report.js'
import { keepSections, textOf } from '../ledger/sections.js'
import { Place } from '../postgres/place.js'
import type { Cost } from '../workflow/costs.js'
import { bundle } from './build.mjs'
import { type Contender, inProcess, inTurns, knowsBatch, processes, type Servers, workedBy } from './contenders.js'
import { measureResumes } from './resumes.js'

const WIDTH = 64
/** Processes at once. */
const PROCESSES = 8

const ROWS: Readonly<Record<string, readonly [title: string, measure: () => Promise<string>]>> = {
  script: ['Items in the process, 64 at once', scriptTable],
  growth: ['As maps grow', growthTable],
  processes: ['A process for each item, 8 at once', processTable],
  resumes: ['Resume', async () => linesTable(await measureResumes(effort(100_000, 10_000), effort(5, 2)))],
}
const NAMES = Object.keys(ROWS)
const HELP = `npm run bench:map -- [options]

  --quick         a short run: fewer rounds and items
  --only <row>    one row, may be repeated: ${NAMES.join(', ')}
  --write         also write bench/map/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const HOW = 'Each table says what it was measured with, and the load of the machine before and after.'
const directory = fileURLToPath(new URL('.', import.meta.url))

function effort(whole: number, quick: number): number {
  return options.quick ? quick : whole
}

/** With servers of its own for the peers. */
async function withServers<T>(act: (servers: Servers) => Promise<T>): Promise<T> {
  if (!existsSync(`${directory}node_modules/.package-lock.json`)) {
    console.error('Installing the peers …')
    execFileSync('npm', ['ci', '--no-fund', '--no-audit'], { cwd: directory, stdio: 'inherit' })
  }
  const place = await Place.open()
  try {
    const redis = await place.service('redis')
    const redisPort = 'place' in redis ? Number(redis.place['redisPort']) : null
    return await place.inDatabase((postgresUrl) => act({ redisPort, postgresUrl }))
  } finally {
    await place.close()
  }
}

async function scriptTable(): Promise<string> {
  const count = effort(10_000, 2000)
  const costs = await withServers((servers) => inTurns(inProcess(WIDTH, servers), effort(5, 1), count))
  return costsTable(costs, count, ['the library, a durable task each', 'the ledger by hand'])
}

async function processTable(): Promise<string> {
  const count = effort(2000, 200)
  const hasParallel = spawnSync('parallel', ['--version']).status === 0
  const hasBatch = await knowsBatch()
  const costs = await withServers((servers) => {
    const all: Record<string, Contender> = processes(PROCESSES, servers, hasParallel, hasBatch)
    return inTurns(all, effort(3, 1), count)
  })
  const missing = [!hasParallel && 'GNU parallel is not installed.', !hasBatch && 'This build has no `batch`.']
  return [costsTable(costs, count, ['a bare spawn from Node']), ...missing.filter((one) => one !== false)].join('\n\n')
}

/** Each contender beside others by name. */
function costsTable(costs: ReadonlyMap<string, Cost>, count: number, beside: readonly string[]): string {
  const head = ['', 'items/s', 'CPU µs each', ...beside.flatMap((name) => [`CPU ÷ ${name}`, `time ÷ ${name}`])]
  const lines = [...costs].map(([name, { wallMs, cpuMs }]) => {
    const ratios = beside.flatMap((other) => {
      const { wallMs: otherWallMs = NaN, cpuMs: otherCpuMs = NaN } = costs.get(other) ?? {}
      return [`${number(cpuMs / otherCpuMs)} ×`, `${number(wallMs / otherWallMs)} ×`]
    })
    return [name, number((count * 1000) / wallMs), number((cpuMs * 1000) / count), ...ratios]
  })
  return table([head, ...lines])
}

async function growthTable(): Promise<string> {
  const lines: string[][] = []
  for (const count of [1000, 10_000, effort(100_000, 20_000)]) {
    const { seconds, cpuUs, ledgerBytes, stateBytes } = await workedBy('map', count, WIDTH)
    const each = [count / seconds, cpuUs / count, ledgerBytes / count, stateBytes / count]
    lines.push([String(count), ...each.map(number)])
  }
  return table([['items', 'items/s', 'CPU µs each', 'ledger, bytes each', 'results, bytes each'], ...lines])
}

const load = (): string => loadavg().map(number).join(', ')

async function main(): Promise<void> {
  if (options.help) return console.log(HELP)
  const unknown = options.only.filter((name) => !NAMES.includes(name))
  if (unknown.length > 0) throw new Error(`No such row: ${unknown.join(', ')}. Rows: ${NAMES.join(', ')}`)
  await bundle()
  const facts = await driverFacts()
  const [major] = process.versions.node.split('.')
  for (const [name, [title, measure]] of Object.entries(ROWS)) {
    if (options.only.length > 0 && !options.only.includes(name)) continue
    const before = load()
    const measured = await measure()
    const said = `${facts} Load (1, 5, 15 minutes) ${before} before and ${load()} after.`
    const section = new Map([[`${title}, Node ${major}`, `${said}\n\n${measured}`]])
    console.log(`\n${textOf(section)}`)
    // Row by row, so that an interruption loses one.
    if (options.write) keepSections(`${directory}RESULTS.md`, 'bench:map', HOW, section)
  }
}

await main()
