/** Point 19: what is wrong with the directory of a worker is said before it costs anybody a retry, or at once when it happens. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { LedgerError } from 'reprise/durable'
import type { Jobs, JobWorker } from '@reprise/jobs'
import { LocalLedger } from '../../packages/jobs/src/work/local-ledger.js'
import { isRoot } from '../faults/other-user.js'
import { works } from '../faults/rig.js'
import { until } from '../gates/until.js'
import { jobsPlaces, STORES } from './jobs-fixture.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-worker-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
let directories = 0
const newDirectory = (): string => path.join(directory, `w${directories++}`)
const place = jobsPlaces(STORES[0])

const document = { steps: [{ shell: 'echo 1', capture: 'n' }], outputs: { n: '${n}' } }
const request = { job_id: 'j', datacenters: ['eu'], workflows: [{ name: 'probe', document }], retries: 'none' }
const open = async (): Promise<Jobs> => (await place()).open()

it('a second worker on the directory of one is refused, until that one has gone', async () => {
  const [jobs, dir] = [await open(), newDirectory()]
  const first = await jobs.work({ datacenter: 'eu', dir })
  const second = (): Promise<JobWorker> => jobs.work({ datacenter: 'eu', dir })
  await expect(second()).rejects.toThrow(/is used by another worker \(process \d+ on .*\): .*--dir/)
  await first.close()
  await second()
  await jobs.submit(request)
  expect(await jobs.wait('j')).toMatchObject({ success: true })
})

it('workers of two datacenters may share a directory', async () => {
  const [jobs, dir] = [await open(), newDirectory()]
  for (const datacenter of ['eu', 'us']) await jobs.work({ datacenter, dir })
  await jobs.submit({ ...request, datacenters: ['eu', 'us'] })
  expect(await jobs.wait('j')).toMatchObject({ completed: ['eu', 'us'] })
})

it('a directory that keeps results for another store of jobs is refused, and one that keeps none is taken', async () => {
  const [one, other, dir] = [await open(), await open(), newDirectory()]
  const worker = await one.work({ datacenter: 'eu', dir })
  await worker.close()
  await (await other.work({ datacenter: 'eu', dir })).close()
  const address = `sqlite:${path.join(dir, '.reprise', 'jobs-worker-eu.db')}`
  const kept = await LocalLedger.open({ address, store: 'a third one', leaseMs: 2000 })
  const task = { scopeKind: 'run', scope: 'j/eu', id: 'probe', queue: 'jobs/eu', generation: 1 } as const
  await kept.hold({ runId: 'r', jobId: 'j', datacenter: 'eu', attempt: 1, owner: 'o', fence: 1, ...task })
  await kept.close()
  await expect(one.work({ datacenter: 'eu', dir })).rejects.toThrow(
    /keeps the result of 1 workflow for another store of jobs \(a third one, not .*--dir/,
  )
  // Nothing of it was forgotten by the attempt.
  const again = await LocalLedger.open({ address, store: 'a third one', leaseMs: 2000 })
  expect((await again.held()).map(({ runId }) => runId)).toEqual(['r'])
  await again.close()
})

it('a directory that cannot be made, or that has no ledger in its place, is refused at the start', async () => {
  const [jobs, dir, file] = [await open(), newDirectory(), newDirectory()]
  writeFileSync(file, '')
  await expect(jobs.work({ datacenter: 'eu', dir: file })).rejects.toThrow(/directory .* of a worker cannot be made/)
  mkdirSync(path.join(dir, '.reprise'), { recursive: true })
  writeFileSync(
    path.join(dir, '.reprise', 'jobs-worker-eu.db'),
    'no database at all, but long enough to be one'.repeat(99),
  )
  await expect(jobs.work({ datacenter: 'eu', dir })).rejects.toThrow(LedgerError)
})

const canMount = isRoot && works('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/tmp'])
it.skipIf(!canMount)('a worker whose disk is full claims nothing more, and says so', async () => {
  const [jobs, dir] = [await open(), newDirectory()]
  mkdirSync(dir)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=600k', 'none', dir])
  try {
    const failures: LedgerError[] = []
    await jobs.work({ datacenter: 'eu', dir, onFailure: (error) => failures.push(error) })
    execFileSync('sh', ['-c', `cat /dev/zero >${dir}/junk 2>/dev/null || true`])
    await jobs.submit(request)
    await until(async () => failures.length > 0, 'the failure')
    expect(failures[0]).toMatchObject({ problem: 'unusable', message: expect.stringContaining('disk is full') })
    // The workflow that met it is refused, which costs a retry; this job has none.
    const result = await jobs.wait('j')
    expect(result).toMatchObject({ totals: { attempts: 1 } })
    const [attempt] = (await jobs.status('j')).datacenters[0]?.workflows[0]?.history ?? []
    expect(attempt).toMatchObject({ class: 'refused' })
    await jobs.submit({ ...request, job_id: 'k', timeout: '2s' })
    expect((await jobs.wait('k')).totals).toMatchObject({ attempts: 0 })
  } finally {
    await jobs.close()
    execFileSync('umount', ['-l', dir])
  }
})
