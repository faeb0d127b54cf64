/**
 * The command `npm run bench:postgres:compare`: two builds of the library and the floor in alternating turns, in processes
 * that stay warm. Prints, for each row, rates, CPU of the program and of its server, and what is written to the server's
 * log. Imports its own directory.
 */
import { execFileSync, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { bundle, OUT } from './build.mjs'
import type { Question } from './compare-child.js'
import { Place } from './place.js'
import { number, table } from '../ledger/report.js'
import { median, shuffled } from '../ledger/statistics.js'
import { WORKLOADS } from './turn.mjs'

const directory = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../../', import.meta.url))
const ROWS = ['worked', 'failing100', 'sequential', 'fifty', 'enqueue']
const HELP = `npm run bench:postgres:compare -- [options]

  --base <commit>    the build to compare with; HEAD unless said
  --only <row>       may be repeated: ${Object.keys(WORKLOADS).join(', ')}
  --rounds <n>       7 unless said
  --seconds <n>      of a batch; 0.5 unless said
  --alone            only this build, for profiles
  --keep             does not bundle again
`

const { values: options } = parseArgs({
  options: {
    base: { type: 'string', default: 'HEAD' },
    only: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '0.5' },
    alone: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

interface Turn {
  readonly rate: number
  readonly cpuUs: number
  readonly serverUs: number
  readonly walBytes: number
}

interface Build {
  readonly title: string
  readonly child: ChildProcess
  readonly client: pg.Client
  readonly turns: Turn[]
  readonly tables: string
}

const BASE = `${root}node_modules/.cache/reprise-bench-compare/`

/** The library as it was at the commit, with the programs of now: the bundle is beside this one's. */
async function bundleBase(): Promise<string> {
  rmSync(BASE, { recursive: true, force: true })
  for (const one of ['bench/postgres', 'bench/ledger', 'test/postgres']) {
    mkdirSync(`${BASE}${one}`, { recursive: true })
    cpSync(`${root}${one}`, `${BASE}${one}`, {
      recursive: true,
      filter: (source) => !source.includes('node_modules'),
    })
  }
  const archive = execFileSync('git', ['archive', options.base, 'packages/reprise'], { cwd: root, maxBuffer: 1e9 })
  execFileSync('tar', ['-x', '-C', BASE], { input: archive })
  const out = `${BASE}out/`
  await bundle(`${BASE}bench/postgres/`, out)
  return out
}

async function asked(child: ChildProcess, question: Question): Promise<unknown> {
  child.send(question)
  const [{ said, failure }] = (await once(child, 'message')) as [{ said?: unknown; failure?: string }]
  if (failure !== undefined) throw new Error(failure)
  return said
}

async function open(title: string, bundled: string, url: string): Promise<Build> {
  const who = title === 'floor' ? 'floor' : 'library'
  const child = fork(`${bundled}compare-child.js`, [who, url], { execArgv: ['--no-deprecation'], cwd: directory })
  await once(child, 'message')
  const client = new pg.Client(url)
  await client.connect()
  const schema = who === 'floor' ? 'floor' : 'reprise'
  return { title, child, client, turns: [], tables: `${schema}.tasks, ${schema}.attempts, ${schema}.dead` }
}

const TICK_US = 10_000

/** Of the postmaster's children, with those that have ended; not a number where the system does not say. */
function serverUs(postmaster: number): number {
  try {
    const times = (pid: string): number[] =>
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').map(Number) ?? []
    // By proc(5): ppid 4, utime 14, stime 15, cutime 16, cstime 17, from 1, of which the first two are cut off.
    const living = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          return [times(pid)]
        } catch {
          return []
        }
      })
      .filter((fields) => fields[1] === postmaster)
    const ended = times(String(postmaster))
    const sum = living.reduce((all, fields) => all + (fields[11] ?? 0) + (fields[12] ?? 0), 0)
    return (sum + (ended[13] ?? 0) + (ended[14] ?? 0)) * TICK_US
  } catch {
    return NaN
  }
}

async function walOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ at: string }>(`SELECT pg_current_wal_lsn() - '0/0' AS at`)
  return Number(rows[0]?.at)
}

async function turnOf(build: Build, place: Place, workload: string, count: number): Promise<Turn> {
  const perTask = WORKLOADS[workload]?.perTask ?? 1
  await asked(build.child, { act: 'prepare', workload, size: count })
  const before = [serverUs(place.serverPid), await walOf(build.client)] as const
  const { seconds, cpuUs } = (await asked(build.child, { act: 'take', workload, size: count })) as {
    seconds: number
    cpuUs: number
  }
  const all = count * perTask
  const turn = {
    rate: all / seconds,
    cpuUs: cpuUs / all,
    serverUs: (serverUs(place.serverPid) - before[0]) / all,
    walBytes: ((await walOf(build.client)) - before[1]) / all,
  }
  // Every turn begins with as many rows.
  await build.client.query(`TRUNCATE ${build.tables}`)
  return turn
}

function reportOf(workload: string, builds: readonly Build[]): string {
  const base = builds.at(-1) as Build
  const of = (one: Build, field: keyof Turn): number => median(one.turns.map((turn) => turn[field]))
  const ratio = (one: Build, field: keyof Turn): string =>
    one === base
      ? ''
      : `${number(median(one.turns.map((turn, round) => (turn[field] ?? NaN) / (base.turns[round]?.[field] ?? NaN))))} ×`
  const lines = builds.map((one) => [
    one.title,
    ...(['rate', 'cpuUs', 'serverUs', 'walBytes'] as const).flatMap((field) => [
      number(of(one, field)),
      ratio(one, field),
    ]),
  ])
  const by = `÷ ${base.title}`
  const head = ['', 'per second', by, 'CPU µs each', by, 'server µs', by, 'WAL bytes', by]
  return `${WORKLOADS[workload]?.title}\n${table([head, ...lines])}\n`
}

async function main(): Promise<void> {
  if (options.help) return console.log(HELP)
  if (!options.keep) await bundle()
  const base = options.alone ? undefined : options.keep ? `${BASE}out/` : await bundleBase()
  const place = await Place.open()
  const children: ChildProcess[] = []
  try {
    for (const workload of options.only.length === 0 ? ROWS : options.only) {
      const builds: Build[] = []
      const bundles = [
        ['this', OUT],
        ...(base === undefined ? [] : [['base', base]]),
        ...(options.alone ? [] : [['floor', OUT]]),
      ] as [string, string][]
      const names: string[] = []
      for (const [title, bundled] of bundles) {
        const { url, name } = await place.addDatabase()
        names.push(name)
        const build = await open(title, bundled, url)
        children.push(build.child)
        builds.push(build)
      }
      const counts = new Map<Build, number>()
      const seconds = Number(options.seconds)
      for (const build of builds) {
        counts.set(build, (await asked(build.child, { act: 'warm', workload, size: seconds })) as number)
        await build.client.query(`TRUNCATE ${build.tables}`)
      }
      for (let round = 0; round < Number(options.rounds); round++) {
        for (const build of shuffled(builds))
          build.turns.push(await turnOf(build, place, workload, counts.get(build) ?? 1))
      }
      console.log(reportOf(workload, builds))
      for (const { child, client } of builds) {
        await client.end()
        child.disconnect()
      }
      for (const name of names) await place.dropDatabase(name)
    }
  } finally {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL')
    await place.close()
  }
}

await main()
