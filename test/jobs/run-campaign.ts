/**
 * `npm run crash:jobs`: jobs whose processes are killed and cut off many times on a real PostgreSQL server. `KILLS=300
 * PARTITIONS=200 SEED=1`; `--write` puts the figures into RESULTS.md. Exit code 1 if a promise was broken; then the files
 * are kept. Imports the campaign and the server.
 */
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { withSection } from '../crash/results-page.js'
import { PostgresServer } from '../postgres/server.js'
import { type CampaignTally, runJobCampaign } from './campaign.js'
import { bundlePrograms, LEASE_MS } from './campaign-fleet.js'

const kills = Number(process.env['KILLS'] ?? 300)
const partitions = Number(process.env['PARTITIONS'] ?? 200)
const seed = Number(process.env['SEED'] ?? randomInt(1_000_000))
const HEADING = '## Workers and submitters, killed and cut off'

console.log(`seed ${seed}`)
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-job-campaign-'))
const programs = await bundlePrograms()
const server = await PostgresServer.start({ fsync: false, maxConnections: 200 })
const startMs = performance.now()
try {
  let told = 0
  const onRound = ({ rounds, killed, partitions: cut, faults }: CampaignTally): void => {
    console.log(`${rounds} rounds, ${killed} kills, ${cut} partitions, ${faults.length} faults`)
    for (const fault of faults.slice(told)) console.log(`  ${fault}`)
    told = faults.length
  }
  const tally = await runJobCampaign({ programs, url: server.url, directory, seed, kills, partitions, onRound })
  const seconds = (performance.now() - startMs) / 1000
  console.log(figuresOf(tally, seconds))
  if (process.argv.includes('--write')) {
    const page = new URL('RESULTS.md', import.meta.url)
    writeFileSync(page, withSection(readFileSync(page, 'utf8'), HEADING, sectionOf(tally, seconds)))
  }
  if (tally.faults.length > 0) {
    console.log(`${tally.faults.slice(0, 100).join('\n')}\nThe files are in ${directory}`)
    process.exitCode = 1
  }
  if (tally.faults.length === 0) rmSync(directory, { recursive: true })
} finally {
  await server.remove()
  for (const { remove } of Object.values(programs)) remove()
}

function sectionOf(tally: CampaignTally, seconds: number): string {
  return `${HEADING}

Written by \`KILLS=${kills} PARTITIONS=${partitions} SEED=${seed} npm run crash:jobs -- --write\` on Node ${process.versions.node}.
Three datacenters, two workers at one of them, two submitters, and jobs with documents and functions on a PostgreSQL server.
Each worker has a network and a directory of its own, and a lease of ${LEASE_MS / 1000} s. After each round everything runs again: every
job must complete, every datacenter report, and J1 to J5 hold.

${figuresOf(tally, seconds)}
`
}

function figuresOf(tally: CampaignTally, seconds: number): string {
  const { notes, made } = tally
  const rows: [string, number][] = [
    ['rounds', tally.rounds],
    ['processes started', tally.started],
    ['killed with SIGKILL', tally.killed],
    ['partitions of a datacenter or a worker', tally.partitions],
    ['processes that gave up, since the store was away, and were started again', tally.gaveUp],
    ['jobs', tally.jobs],
    ['… with success', tally.successes],
    ['workflows at a datacenter', tally.workflows],
    ['attempts', tally.attempts],
    ['datacenters that reported after the completion', tally.lateReports],
    ['results delivered by the next process in the directory', notes.get('delivered') ?? 0],
    ['… after the attempt had been charged as lost', notes.get('delivered_late') ?? 0],
    ['results that came too late', notes.get('refused') ?? 0],
    ['workflows that a killed worker had not finished', notes.get('abandoned') ?? 0],
    ['lost', tally.lost],
    ['doubled', tally.doubled],
    ['promises broken (J1 to J5)', tally.faults.length],
    ['seconds', Math.round(seconds)],
  ]
  const faults = [...made].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return [...table('what', rows), '', ...table('fault', faults)].join('\n')
}

function table(what: string, rows: readonly (readonly [string, number])[]): string[] {
  return [`| ${what} | count |`, '|---|---|', ...rows.map(([name, count]) => `| ${name} | ${count} |`)]
}
