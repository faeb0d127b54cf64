/** The worked scenarios of job budgets and best effort, with real ledgers and workers. */
import { describe, expect, it } from 'vitest'
import type { JobResult } from '@reprise/jobs'
import { failSome, jobsPlaces, named, STORES } from './jobs-fixture.js'

const handlers = { some: failSome }

describe.each(STORES)('a job on $name', (store) => {
  const place = jobsPlaces(store)

  const run = async (request: object): Promise<{ result: JobResult; used: number | undefined }> => {
    const jobs = await (await place()).open()
    await jobs.work({ datacenter: 'eu', slots: 4, handlers })
    const job = await jobs.submit({ datacenters: ['eu'], ...request })
    const result = await job.result()
    return { result, used: (await job.status()).budgets[0]?.used }
  }

  const denials = ({ datacenters }: JobResult): (string | null)[] =>
    datacenters.flatMap(({ workflows }) => workflows.map(({ denied }) => denied)).filter((one) => one !== null)

  it('(a) uses no retry where nothing fails', async () => {
    const { result, used } = await run({ workflows: named(10), retry_budget: 15 })
    expect(result).toMatchObject({ outcome: 'complete', success: true, reason: 'all_dcs_reported' })
    expect([used, result.totals.attempts]).toEqual([0, 10])
  })

  it('(b) pays for the retries of two workflows that fail 2 and 3 times', async () => {
    const workflows = named(10, (index) => ({ fails: index < 2 ? index + 2 : 0 }))
    const { result, used } = await run({ workflows, retry_budget: 15 })
    expect([result.outcome, used, result.totals.retries]).toEqual(['complete', 5, 5])
  })

  it('(c) fails a workflow at its own cap, and completes the others', async () => {
    const workflows = named(10, (index) => ({ fails: index === 0 ? 99 : 0 }))
    const { result, used } = await run({ workflows, retry_budget: 15, retry_budget_per_workflow: 3 })
    expect([result.outcome, result.success, used]).toEqual(['partial', false, 3])
    expect(result.totals).toMatchObject({ succeeded: 9, failed: 1, attempts: 13 })
    expect(denials(result)).toEqual(['workflow_budget_exhausted'])
    expect(result.datacenters[0]?.workflows[0]).toMatchObject({ name: 'w0', attempts: 4, error: 'no 4' })
  })

  it('(d) denies every failure after the budget of the job is used up', async () => {
    const jobs = await (await place()).open()
    await jobs.work({ datacenter: 'eu', slots: 4, handlers })
    const first = named(5, () => ({ fails: 1 }))
    const later = ['x', 'y', 'z'].map((name) => {
      return { name, handler: 'some', params: { fails: 1 }, needs: first.map((one) => (one as { name: string }).name) }
    })
    const job = await jobs.submit({ datacenters: ['eu'], workflows: [...first, ...later], retry_budget: 5 })
    const result = await job.result()
    expect(result.totals).toMatchObject({ succeeded: 5, failed: 3, attempts: 13 })
    expect(denials(result)).toEqual(Array.from({ length: 3 }, () => 'job_budget_exhausted'))
    expect((await job.status()).budgets).toMatchObject([{ used: 5, total: 5, remaining: 0, grants: 5 }])
  })

  it('(e) completes at the report that reaches the minimum, though one datacenter is silent', async () => {
    const jobs = await (await place()).open()
    const silent = new Promise<never>(() => undefined)
    await Promise.all([
      jobs.work({ datacenter: 'eu', handlers }),
      jobs.work({ datacenter: 'us', handlers }),
      jobs.work({ datacenter: 'ap', handlers: { some: () => silent } }),
    ])
    const request = {
      datacenters: ['eu', 'us', 'ap'],
      workflows: named(3),
      best_effort: { min_dcs: 2, deadline: '5m' },
    }
    const result = await (await jobs.submit(request)).result()
    expect(result).toMatchObject({ reason: 'min_dcs_reached', success: true, outcome: 'partial', missing: ['ap'] })
    expect(result).toMatchObject({ stragglers: 'running', ratio: 2 / 3, minDcsMet: true })
  })

  it('(f) completes at the deadline with what is there', async () => {
    const jobs = await (await place()).open({ env: { BEST_EFFORT_CHECK_INTERVAL_SECONDS: '0.1' } })
    const silent = new Promise<never>(() => undefined)
    await jobs.work({ datacenter: 'eu', handlers })
    await jobs.work({ datacenter: 'us', handlers: { some: () => silent } })
    await jobs.work({ datacenter: 'ap', handlers: { some: () => silent } })
    const request = {
      datacenters: ['eu', 'us', 'ap'],
      workflows: named(1),
      best_effort: { min_dcs: 2, deadline: '2s' },
    }
    const result = await (await jobs.submit(request)).result()
    expect(result).toMatchObject({ reason: 'deadline_expired', success: false, outcome: 'below_minimum' })
    expect(result).toMatchObject({ completed: ['eu'], missing: ['us', 'ap'], minDcsMet: false })
    expect(result.durationMs).toBeGreaterThanOrEqual(2000)
  })
})
