/**
 * Two versions at once, of which the later migrates the store: gates and workers of the earlier one go on, are not started
 * again, and lose nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { bundleProgram, type BundledProgram } from '../bundled-program.js'
import { bundledFor } from '../gates/shared-place.js'
import { until } from '../gates/until.js'
import { faultsOfJob } from '../jobs/job-history.js'
import { jobsPlaces, named, STORES } from '../jobs/jobs-fixture.js'
import { ask, jsonIn, pathHere, post } from './gate-fixture.js'
import { LATER_VERSION } from './later-version.js'

const GATE = new URL('gate-program.ts', import.meta.url)
const WORKER = new URL('../jobs/job-worker.ts', import.meta.url)

interface Started {
  readonly child: ChildProcess
  /** Its first line. */
  readonly said: string
  readonly exit: Promise<number | null>
  /** What it wrote to stderr. */
  errors(): string
}

describe.each(STORES)('an upgrade on $name while gates and workers run', (store) => {
  const place = jobsPlaces(store)
  const earlier = { gate: bundledFor(() => bundleProgram(GATE)), worker: bundledFor(() => bundleProgram(WORKER)) }
  const later = {
    gate: bundledFor(() => bundleProgram(GATE, [LATER_VERSION])),
    worker: bundledFor(() => bundleProgram(WORKER, [LATER_VERSION])),
  }
  const living = new Set<ChildProcess>()
  afterEach(() => {
    for (const child of living) child.kill('SIGKILL')
    living.clear()
  })

  const start = async ({ file }: BundledProgram, ...args: readonly string[]): Promise<Started> => {
    const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    living.add(child)
    const written = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text))
    const exit = new Promise<number | null>((resolve) =>
      child.once('close', (code) => {
        living.delete(child)
        resolve(code)
      }),
    )
    await until(async () => written.stdout.includes('\n') || child.exitCode !== null, `the start of ${file}`)
    return { child, said: written.stdout.trim(), exit, errors: () => written.stderr }
  }
  const kill = async ({ child, exit }: Started): Promise<void> => {
    child.kill('SIGKILL')
    await exit
  }

  it('loses no job, and keeps the earlier version from starting again', { timeout: 120_000 }, async () => {
    const { address, ledger: opened } = await place().then(async (shared) => ({
      address: shared.address,
      ledger: await shared.ledger(),
    }))
    const [oldGate, oldWorker] = [
      await start(earlier.gate(), address, '2s'),
      await start(earlier.worker(), address, 'eu'),
    ]
    const go = pathHere(`go-${Math.random()}`)
    const submit = async (gate: Started, id: string, params: object = {}): Promise<void> => {
      const job = { job_id: id, datacenters: ['eu'], workflows: named(2, () => params) }
      const answer = await post({ url: gate.said }, '/api/v1/jobs', job, { token: null })
      expect(answer.status, answer.text).toBe(200)
    }
    const resultOf = async (gate: Started, id: string): Promise<string> => {
      const { status, text } = await ask({ url: gate.said }, `/api/v1/jobs/${id}/result?wait_seconds=25`, {
        token: null,
      })
      expect(status, text).toBe(200)
      return text
    }
    await submit(oldGate, 'before')
    await resultOf(oldGate, 'before')
    await submit(oldGate, 'through', { until: go })
    const isHeld = async (): Promise<boolean> =>
      (await opened.list({ scopeKind: 'run', scope: 'through/eu' })).every(({ status }) => status === 'running')
    await until(isHeld, 'the start of both workflows')
    const newGate = await start(later.gate(), address, '2s')
    expect(newGate.said, newGate.errors()).toMatch(/^http/)
    // The earlier version goes on: it accepts, executes, and reads what the other writes.
    await submit(oldGate, 'after-by-old', { fails: 1 })
    await submit(newGate, 'after-by-new', { fails: 1 })
    for (const id of ['after-by-old', 'after-by-new'])
      expect(await resultOf(oldGate, id)).toBe(await resultOf(newGate, id))
    const newWorker = await start(later.worker(), address, 'eu')
    expect(newWorker.said, newWorker.errors()).toBe('ready')
    await kill(oldWorker)
    await kill(oldGate)
    for (const [program, ...args] of [
      [earlier.gate(), '2s'],
      [earlier.worker(), 'eu'],
    ] as const) {
      const again = await start(program, address, ...args)
      expect(await again.exit).not.toBe(0)
      expect(again.errors()).toMatch(/newer Reprise|newer version/)
    }
    writeFileSync(go, '')
    // What the worker of the earlier version held is taken over by one of the later.
    expect(JSON.parse(await resultOf(newGate, 'through'))).toMatchObject({
      outcome: 'complete',
      totals: { retries: 2 },
    })
    const { jobs } = jsonIn(await ask({ url: newGate.said }, '/api/v1/jobs', { token: null })) as { jobs: unknown[] }
    expect(jobs).toHaveLength(4)
    for (const id of ['before', 'through', 'after-by-old', 'after-by-new'])
      expect(await faultsOfJob(opened, id)).toEqual([])
  })
})
