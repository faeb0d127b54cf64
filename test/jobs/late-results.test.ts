/** Points 17 and 18: what becomes of datacenters that have not reported when the job completes. */
import { describe, expect, it } from 'vitest'
import type { Job, Jobs } from '@reprise/jobs'
import { until } from '../gates/until.js'
import { faultsOfJob } from './job-history.js'
import { failSome, jobsPlaces, named, STORES } from './jobs-fixture.js'

describe.each(STORES)('a datacenter that reports after the completion on $name', (store) => {
  const place = jobsPlaces(store)

  /** Two datacenters, of which `ap` goes on when it is told to; the job completes with the other. */
  const late = async (
    request: object,
  ): Promise<{
    jobs: Jobs
    job: Job
    release: () => void
    signals: AbortSignal[]
    ledger: Awaited<ReturnType<Awaited<ReturnType<typeof place>>['ledger']>>
  }> => {
    const shared = await place()
    const jobs = await shared.open()
    const signals: AbortSignal[] = []
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    await jobs.work({ datacenter: 'eu', handlers: { some: failSome } })
    const slow = async (_params: object, { signal }: { signal: AbortSignal }): Promise<{ attempts: number }> => {
      signals.push(signal)
      await held
      return { attempts: 40 }
    }
    await jobs.work({ datacenter: 'ap', handlers: { some: slow } })
    const base = { datacenters: ['eu', 'ap'], workflows: named(1), best_effort: { min_dcs: 1, deadline: '5m' } }
    const job = await jobs.submit({ ...base, aggregate: { attempts: 'sum' }, ...request })
    await until(async () => signals.length > 0, 'the slow datacenter to begin')
    await job.result()
    return { jobs, job, release, signals, ledger: await shared.ledger() }
  }

  it('(18, J5) changes not a byte of the result with log_only, and is retrievable', async () => {
    const { jobs, job, release, ledger } = await late({ late_result_policy: 'log_only' })
    const before = JSON.stringify(await jobs.result(job.id))
    release()
    const report = await until(() => jobs.report(job.id, 'ap'), 'the late report')
    expect(JSON.stringify(await jobs.result(job.id))).toBe(before)
    expect(report).toMatchObject({ end: 'completed', isLate: true, isCounted: false })
    expect(report.workflows[0]).toMatchObject({ outputs: { attempts: 40 } })
    const { events } = await jobs.events(0, { job: job.id })
    expect(events.filter(({ event }) => event === 'LateDatacenterResult')).toHaveLength(1)
    expect(await faultsOfJob(ledger, job.id)).toEqual([])
  })

  it('(18) changes its slot, the aggregates and the version with update_result, and not the completion', async () => {
    const { jobs, job, release } = await late({ late_result_policy: 'update_result' })
    const before = await job.result()
    expect(before).toMatchObject({ outcome: 'partial', version: 1, aggregates: { attempts: { value: 1 } } })
    release()
    await until(async () => (await jobs.result(job.id))?.version === 2, 'the update')
    const after = await job.result()
    const { reason, completedAtMs } = before
    expect(after).toMatchObject({ outcome: 'complete', success: true, reason, completedAtMs, missing: [] })
    expect(after.aggregates['attempts']?.value).toBe(41)
    expect(after.datacenters.find(({ name }) => name === 'ap')).toMatchObject({ isLate: true })
    const { events } = await jobs.events(0, { job: job.id })
    expect(events.map(({ event }) => event).filter((event) => event === 'JobCompleted')).toHaveLength(1)
  })

  it('(17) is stopped where stragglers are cancelled, and costs nothing', async () => {
    const { jobs, job, signals, ledger } = await late({ stragglers: 'cancel' })
    await until(async () => signals[0]?.aborted, 'the stop of the straggler')
    await until(() => jobs.report(job.id, 'ap'), 'the end of the straggler')
    expect(await job.result()).toMatchObject({ stragglers: 'cancelled_after_completion', missing: ['ap'], version: 1 })
    expect((await job.status()).budgets[0]).toMatchObject({ used: 0 })
    const { events } = await jobs.events(0, { job: job.id })
    expect(events.some(({ event }) => event === 'LateDatacenterResult')).toBe(false)
    expect(await faultsOfJob(ledger, job.id)).toEqual([])
  })
})
