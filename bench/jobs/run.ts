/**
 * The command `npm run bench:jobs`: what jobs cost on a PostgreSQL server with full durability. Prints tables; `--write`
 * keeps them. Imports its own directory and what the benchmarks share.
 */
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Line, linesTable, number } from '../ledger/report.js'
import { keepSections, textOf } from '../ledger/sections.js'
import { commitMs } from '../postgres/facts.js'
import { PostgresServer } from '../../test/postgres/server.js'
import { measureFairness, measureMany, measureRoundTrip, measureSubmission } from './measure.js'

const ROUND_TRIPS_MS = [0, 20, 80]

/** By the name that `--only` takes: the title, and what measures it. Each measurement has a schema of its own. */
const ROWS: Readonly<Record<string, readonly [title: string, measure: (at: () => string) => Promise<Line[]>]>> = {
  distance: ['One job over a slow network', measureDistances],
  submission: ['A large submission', (at) => measureSubmission(at(), effort(300, 60), 30)],
  many: ['Very many jobs', (at) => measureMany(at(), effort(Number(options.jobs), 300))],
  fair: ['Small jobs beside a large one', (at) => measureFairness(at(), effort(2000, 300), effort(20, 5))],
}
const NAMES = Object.keys(ROWS)
const HELP = `npm run bench:jobs -- [options]

  --quick         a short run: fewer jobs and workflows
  --only <row>    one row, may be repeated: ${NAMES.join(', ')}
  --jobs <count>  how many jobs are very many; 10000 unless said
  --write         also write bench/jobs/RESULTS.md
`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    jobs: { type: 'string', default: '10000' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const HOW = 'Each table says what it was measured with, on a machine that others used at the same time.'
const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url))

function effort(whole: number, quick: number): number {
  return options.quick ? quick : whole
}

async function measureDistances(at: () => string): Promise<Line[]> {
  const lines: Line[] = []
  for (const roundTripMs of ROUND_TRIPS_MS) lines.push(await measureRoundTrip(at(), effort(300, 30), roundTripMs))
  return lines
}

async function main(): Promise<void> {
  if (options.help) return console.log(HELP)
  const strange = options.only.filter((name) => !NAMES.includes(name))
  if (strange.length > 0) throw new Error(`No such row: ${strange.join(', ')}. Rows: ${NAMES.join(', ')}`)
  const server = await PostgresServer.start({
    maxConnections: 200,
    settings: { shared_buffers: '256MB', max_wal_size: '4GB' },
  })
  let schemas = 0
  const at = (): string => `${server.url}?schema=bench_${schemas++}`
  const sections = new Map<string, string>()
  try {
    const cpu = `${cpus().length} × ${cpus()[0]?.model.trim()}`
    const said = `Node ${process.versions.node}, ${cpu}, ${number(await commitMs(server.url))} ms a commit of one row.`
    for (const [name, [title, measure]] of Object.entries(ROWS)) {
      if (options.only.length > 0 && !options.only.includes(name)) continue
      sections.set(title, `${said}\n\n${linesTable(await measure(at))}`)
      console.error(`${name}: measured`)
    }
  } finally {
    await server.remove()
  }
  console.log(`\n${textOf(sections)}`)
  if (options.write) keepSections(RESULTS, 'bench:jobs', HOW, sections)
}

await main()
