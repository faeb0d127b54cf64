/**
 * `npm run storm:jobs`: jobs through an outage and through errors that stay, with the recommended settings and with others
 * beside them, on a virtual clock and once with real processes. `JOBS=200 SEED=7`; `--write` puts the figures into
 * RESULTS.md. Exit code 1 if a goal is missed. Imports the storm, the programs and jobs.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openJobs } from '@reprise/jobs'
import { openLedger } from 'reprise/durable'
import { withSection } from '../crash/results-page.js'
import { bundleProgram } from '../bundled-program.js'
import { faultsOfJob } from './job-history.js'
import {
  ERROR_RATE,
  type JobKind,
  KINDS,
  OUTAGE_SECONDS,
  playErrors,
  playOutage,
  type StormFigures,
  WORKFLOWS,
} from './job-storm.js'

const jobs = Number(process.env['JOBS'] ?? 200)
const seed = Number(process.env['SEED'] ?? 7)
const OUTAGES = 10
const GOAL = 0.99
const HEADING = '## Jobs in storms'

interface Row {
  readonly kind: JobKind
  readonly outage: StormFigures
  readonly errors: StormFigures
}

/** One job of real processes, in real time. */
interface RealRun {
  readonly what: string
  readonly kind: JobKind
  readonly succeeded: number
  readonly attempts: number
  readonly seconds: number
  readonly faults: readonly string[]
}

const rows: Row[] = []
for (const kind of Object.values(KINDS)) {
  const outage = await playOutage(kind, { jobs: OUTAGES, seed })
  const errors = await playErrors(kind, { jobs, seed })
  rows.push({ kind, outage, errors })
  console.log(rowOf({ kind, outage, errors }))
}
const real: RealRun[] = []
for (const kind of [KINDS.recommended, KINDS.defaults]) real.push(...(await playReal(kind)))
const faults = [
  ...rows.flatMap(({ outage, errors }) => [...outage.faults, ...errors.faults]),
  ...real.flatMap((run) => run.faults),
]
const text = sectionOf()
console.log(text)
if (process.argv.includes('--write')) {
  const page = new URL('RESULTS.md', import.meta.url)
  writeFileSync(page, withSection(readFileSync(page, 'utf8'), HEADING, text))
}
const [recommended] = rows
const isMet =
  recommended !== undefined &&
  recommended.outage.workflows.succeeded === recommended.outage.workflows.total &&
  recommended.errors.complete / recommended.errors.jobs >= GOAL &&
  real[0]?.succeeded === WORKFLOWS &&
  faults.length === 0
if (!isMet) process.exitCode = 1

/** Two workers and a submitter share a SQLite file; what they call is down for 30 s, and then fails one time in five. */
async function playReal(kind: JobKind): Promise<RealRun[]> {
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-job-storm-'))
  const program = await bundleProgram(new URL('document-worker.ts', import.meta.url))
  const address = `sqlite:${path.join(directory, 'jobs.db')}`
  const down = path.join(directory, 'down')
  const workers: ChildProcess[] = []
  const store = await openJobs(address, { env: {} })
  const ledger = await openLedger(address)
  try {
    for (const name of ['a', 'b']) {
      const settings = { datacenter: 'eu', dir: path.join(directory, name), slots: 10, retries: 'usual', lease: '15s' }
      workers.push(spawn(process.execPath, [program.file, address, JSON.stringify(settings)], { stdio: 'ignore' }))
    }
    while ((await store.datacenters()).length === 0) await delay(50)
    const run = async (id: string, what: string, params: object): Promise<RealRun> => {
      const workflows = Array.from({ length: WORKFLOWS }, (_, index) => ({
        name: `w${index}`,
        handler: 'some',
        params,
      }))
      const job = await store.submit({ job_id: id, datacenters: ['eu'], workflows, timeout: '30m', ...kind.request })
      const { totals, completedAtMs, submittedAtMs } = await job.result()
      const seconds = (completedAtMs - submittedAtMs) / 1000
      const { succeeded, attempts } = totals
      return { what, kind, succeeded, attempts, seconds, faults: await faultsOfJob(ledger, id) }
    }
    writeFileSync(down, '')
    const mended = delay(OUTAGE_SECONDS * 1000).then(() => rmSync(down))
    const outage = await run('outage', `an outage of ${OUTAGE_SECONDS} s`, { ms: 200, down })
    await mended
    const errors = await run('errors', `${ERROR_RATE * 100} % errors`, { ms: 50, errors: ERROR_RATE })
    return [outage, errors]
  } finally {
    for (const worker of workers) worker.kill('SIGKILL')
    await ledger.close()
    await store.close()
    program.remove()
    rmSync(directory, { recursive: true, force: true })
  }
}

function sectionOf(): string {
  return `${HEADING}

Written by \`JOBS=${jobs} SEED=${seed} npm run storm:jobs -- --write\` on Node ${process.versions.node}. Jobs of ${WORKFLOWS} workflows with 20
slots, a timeout of 30 minutes and the delays of the product: through an outage of ${OUTAGE_SECONDS} s that begins with the
job (${OUTAGES} jobs), and with ${ERROR_RATE * 100} % errors all the time (${jobs} jobs). The first row has the recommended settings: everything
completes after the outage, and at least 99 % of the jobs despite the errors. On a virtual clock:

| settings | outage: workflows that succeed | retries into the outage, per job | job takes at most | errors: jobs complete | attempts per workflow |
|---|---|---|---|---|---|
${rows.map(rowOf).join('\n')}

One job each with real processes, two workers of 10 slots on a SQLite file:

| settings | through | workflows that succeed | attempts | seconds |
|---|---|---|---|---|
${real.map(({ kind, what, succeeded, attempts, seconds }) => `| ${kind.name} | ${what} | ${succeeded} of ${WORKFLOWS} | ${attempts} | ${seconds.toFixed(0)} |`).join('\n')}

Promises broken (J1 to J5): ${faults.length}.
`
}

function rowOf({ kind, outage, errors }: Row): string {
  const share = (part: number, all: number): string => `${((100 * part) / all).toFixed(1)} %`
  const cells = [
    kind.name,
    share(outage.workflows.succeeded, outage.workflows.total),
    (outage.retriesInOutage / outage.jobs).toFixed(1),
    `${outage.seconds} s`,
    share(errors.complete, errors.jobs),
    (errors.attempts / errors.workflows.total).toFixed(3),
  ]
  return `| ${cells.join(' | ')} |`
}
