/**
 * Point 10 on a virtual clock, with the ledger in memory: how long parked workflows wait, which worker retries, and that
 * jobs with `park` and `wasted` come through an outage and through errors that stay. `JOBS=300` for more.
 */
import { afterEach, describe, expect, it } from 'vitest'
import type { Job, JobHandler, JobStatus } from '@reprise/jobs'
import { faultsOfJob } from './job-history.js'
import { named } from './jobs-fixture.js'
import { KINDS, playErrors, playOutage } from './job-storm.js'
import { VirtualJobs } from './virtual-jobs.js'

const JOBS = Number(process.env['JOBS'] ?? 10)
const PARKING = { on_budget_exhausted: 'park', retry_budget_counts: 'wasted' }

const scenes: VirtualJobs[] = []
afterEach(async () => {
  for (const fixture of scenes.splice(0)) await fixture.close()
})

const open = async (handler: (fixture: VirtualJobs) => JobHandler, slots = 50): Promise<VirtualJobs> => {
  const fixture = await VirtualJobs.open(handler, slots)
  scenes.push(fixture)
  return fixture
}
const play = (fixture: VirtualJobs, job: Job, untilSeconds: number): Promise<JobStatus> =>
  fixture.play(job, untilSeconds)

const workflowsOf = (status: JobStatus): JobStatus['datacenters'][number]['workflows'] =>
  status.datacenters.flatMap(({ workflows }) => workflows)

describe('a job that parks workflows', () => {
  it('(10) waits 5 to 60 s for the budget, spread, and never beyond its timeout', async () => {
    const fixture = await open(() => async () => Promise.reject(new Error('down')))
    const job = await fixture.jobs.submit({
      ...{ job_id: 'j', datacenters: ['eu'], workflows: named(40), timeout: '30s' },
      ...{ retry_budget: 1, retry_budget_per_workflow: 1, ...PARKING },
    })
    const ends = new Set<string>()
    const waits: number[] = []
    while (waits.length < 38) {
      const parked = workflowsOf(await job.status()).filter(({ state, name }) => state === 'parked' && !ends.has(name))
      for (const { name, nextAttemptAtMs } of parked) {
        ends.add(name)
        waits.push(((nextAttemptAtMs ?? 0) - fixture.clock.wallMs()) / 1000)
      }
      await fixture.clock.advance('100ms')
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(4.9)
    expect(Math.max(...waits)).toBeLessThanOrEqual(30)
    // Of waits from 5 to 60 s, the middle one is not near either end.
    const middle = waits.filter((wait) => wait > 10 && wait < 29)
    expect(middle.length).toBeGreaterThan(5)
    const status = await play(fixture, job, 40)
    expect(status).toMatchObject({ reason: 'timeout', success: false })
    expect(await faultsOfJob(fixture.ledger, 'j')).toEqual([])
  })

  it('(10) probes one workflow at a time while nothing runs, after intervals that double from 5 s to 60 s', async () => {
    const starts: number[] = []
    const fixture = await open((own) => async () => {
      starts.push(own.seconds())
      throw new Error('down')
    })
    const request = { job_id: 'j', datacenters: ['eu'], workflows: named(20), timeout: '1h' }
    const job = await fixture.jobs.submit({ ...request, retry_budget: 2, ...PARKING })
    await play(fixture, job, 900)
    // 20 first attempts and 2 retries come before the first probe.
    const probes = starts.toSorted((a, b) => a - b).slice(22)
    const intervals = probes.slice(1).map((at, index) => at - (probes[index] ?? 0))
    expect(intervals.length).toBeGreaterThan(8)
    // Half of the interval at least, and up to a wait of a parked workflow more.
    const least = intervals.map((_, index) => Math.min(60, 5 * 2 ** index) / 2)
    intervals.forEach((interval, index) => expect(interval).toBeGreaterThanOrEqual(least[index] ?? 0))
    expect(Math.max(...intervals)).toBeLessThanOrEqual(120)
    expect((await job.status()).budgets).toMatchObject([{ used: 2, grants: 2 }])
    expect(await faultsOfJob(fixture.ledger, 'j')).toEqual([])
  })

  it('(10, E6) completes every workflow after an outage of 30 s', { timeout: 60_000 }, async () => {
    const { workflows, faults } = await playOutage(KINDS.recommended, { jobs: 1, seed: 7 })
    expect([workflows.succeeded, workflows.total, faults]).toEqual([100, 100, []])
  })

  it(`(10, E6) completes 99 % of ${JOBS} jobs at 20 % errors`, { timeout: 60_000 + JOBS * 2000 }, async () => {
    const { complete, faults } = await playErrors(KINDS.recommended, { jobs: JOBS, seed: 7 })
    expect(faults).toEqual([])
    expect(complete / JOBS).toBeGreaterThanOrEqual(0.99)
  })
})

describe('a retry of a job', () => {
  it('(10) is made by a worker that has not failed the workflow, where there is one', async () => {
    const fixture = await open(() => async () => ({}), 8)
    const broken = await fixture.openMore()
    const failed: string[] = []
    const fail: JobHandler = async (_params, { workflow }) => {
      failed.push(workflow)
      throw new Error('this machine is broken')
    }
    await broken.work({ datacenter: 'eu', slots: 8, handlers: { some: fail } })
    const job = await fixture.jobs.submit({ datacenters: ['eu'], workflows: named(16), retry_budget: 16 })
    const status = await play(fixture, job, 60)
    expect(status).toMatchObject({ state: 'completed', outcome: 'complete' })
    expect(failed.length).toBeGreaterThan(0)
    expect(new Set(failed).size).toBe(failed.length)
    expect(await faultsOfJob(fixture.ledger, job.id)).toEqual([])
  })
})
