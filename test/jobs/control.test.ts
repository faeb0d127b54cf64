/** Points 11 to 16 and 21 to 26: completion, cancellation, retries by hand, datacenters without workers, what is shown and kept. */
import { describe, expect, it } from 'vitest'
import { rejection } from '../durable/process-model.js'
import { until } from '../gates/until.js'
import { faultsOfJob } from './job-history.js'
import { failSome, jobsPlaces, named, STORES } from './jobs-fixture.js'

const handlers = { some: failSome }
const never = (): Promise<never> => new Promise(() => undefined)

describe.each(STORES)('a job on $name', (store) => {
  const place = jobsPlaces(store)

  it('(11) waits for its settling time while others may still report, and not when nobody is left', async () => {
    const jobs = await (await place()).open({ env: { BEST_EFFORT_CHECK_INTERVAL_SECONDS: '0.1' } })
    await jobs.work({ datacenter: 'eu', handlers })
    const slow = await jobs.work({ datacenter: 'us', handlers: { some: never } })
    const best = { min_dcs: 1, deadline: '5m', settle: '4m' }
    const job = await jobs.submit({ datacenters: ['eu', 'us'], workflows: named(1), best_effort: best })
    await until(async () => (await job.status()).reported === 1, 'the first report')
    expect((await job.status()).waitsFor).toMatch(
      /waits for us; 1 of 2 datacenters reported; completes with what is there in/,
    )
    await slow.close()
    expect(await job.result()).toMatchObject({ reason: 'min_dcs_reached', missing: ['us'] })
  })

  it('(12) that cannot complete anywhere fails at once, with exit by what was reported', async () => {
    const jobs = await (await place()).open()
    await jobs.work({ datacenter: 'eu', handlers })
    const workflows = named(1, () => ({ fails: 99 }))
    const job = await jobs.submit({ datacenters: ['eu'], workflows, retries: 'none', best_effort: true })
    expect(await job.result()).toMatchObject({
      outcome: 'failed',
      success: false,
      reason: 'all_dcs_reported',
      minDcsMet: false,
    })
  })

  it('(12) that is out of time is stopped, with what was reported', async () => {
    const jobs = await (await place()).open()
    await jobs.work({ datacenter: 'eu', handlers: { some: never } })
    const job = await jobs.submit({ datacenters: ['eu'], workflows: named(1), timeout: '1s' })
    const result = await job.result()
    expect(result).toMatchObject({
      reason: 'timeout',
      success: false,
      outcome: 'failed',
    })
    // Its workflow ends at the same moment, and may have reported before the timer of the job was executed.
    expect(result.stragglers).toBe(result.missing.length === 0 ? 'none' : 'cancelled_after_completion')
  })

  it('(15) waits for a datacenter without workers until an operator disables it', async () => {
    const shared = await place()
    const jobs = await shared.open()
    await jobs.work({ datacenter: 'eu', handlers })
    const gone = await jobs.work({ datacenter: 'ap', handlers })
    await gone.close()
    const job = await jobs.submit({ datacenters: ['eu', 'ap'], workflows: named(2) })
    await until(async () => (await job.status()).reported === 1, 'the report of eu')
    expect((await job.status()).waitsFor).toMatch(/ap \(no worker\)/)
    await jobs.disable('ap', 'fibre cut')
    const result = await job.result()
    expect(result).toMatchObject({ outcome: 'partial', failed: ['ap'], totals: { failed: 2, succeeded: 2 } })
    expect(result.datacenters.find(({ name }) => name === 'ap')?.workflows[0]?.error).toBe('fibre cut')
    expect(String(await rejection(jobs.submit({ datacenters: ['ap'], workflows: named(1) })))).toMatch(
      /disabled.*fibre cut/,
    )
    await jobs.disable('ap', null)
    expect((await jobs.submit({ datacenters: ['ap'], workflows: named(1) })).isNew).toBe(true)
    expect(await faultsOfJob(await shared.ledger(), job.id)).toEqual([])
  })

  it('(15) records a datacenter failed of which nothing was claimed within dispatch_timeout', async () => {
    const shared = await place()
    const jobs = await shared.open()
    const request = { datacenters: ['ap'], workflows: named(2), dispatch_timeout: '300ms' }
    const job = await jobs.submit(request, { isEmbedded: true })
    expect(await job.result()).toMatchObject({ outcome: 'failed', failed: ['ap'] })
    expect(await faultsOfJob(await shared.ledger(), job.id)).toEqual([])
  })

  it('(21) is cancelled once: what waits never starts, what runs is told, and afterwards it is over', async () => {
    const shared = await place()
    const jobs = await shared.open()
    const signals: AbortSignal[] = []
    const hang = (_params: object, { signal }: { signal: AbortSignal }): Promise<never> => {
      signals.push(signal)
      return never()
    }
    await jobs.work({ datacenter: 'eu', slots: 2, handlers: { some: hang } })
    const job = await jobs.submit({ datacenters: ['eu'], workflows: named(20) })
    await until(async () => signals.length === 2, 'two to run')
    expect(await job.cancel()).toBe('cancelled')
    await until(async () => signals.every(({ aborted }) => aborted), 'the end of those that run')
    expect(await job.cancel()).toBe('cancelled')
    expect(await job.result()).toMatchObject({ reason: 'cancelled', success: false })
    const ledger = await shared.ledger()
    await until(async () => (await ledger.countTasks(`${job.id}/eu`)).cancelled === 20, 'the end of all')
    expect(signals).toHaveLength(2)
    expect((await job.status()).budgets[0]).toMatchObject({ used: 0 })
    const done = await jobs.submit({ datacenters: ['eu'], workflows: named(1), timeout: '1s' })
    await done.result()
    expect(await done.cancel()).toBe('completed')
    expect(await faultsOfJob(ledger, job.id)).toEqual([])
  })

  it('(21) is retried by hand with a new generation and the same budget', async () => {
    const shared = await place()
    const jobs = await shared.open()
    let isBroken = true
    const broken = async (_params: object, { workflow }: { workflow: string }): Promise<object> => {
      if (isBroken && workflow === 'w0') throw new Error('broken')
      return {}
    }
    await jobs.work({ datacenter: 'eu', handlers: { some: broken as never } })
    const workflows = [...named(2), { name: 'last', handler: 'some', needs: ['w0'] }]
    const job = await jobs.submit({ datacenters: ['eu'], workflows, retry_budget: 2 })
    expect(await job.result()).toMatchObject({ outcome: 'partial', totals: { failed: 1, skipped: 1 } })
    isBroken = false
    await job.retry({ onlyFailed: true })
    const result = await job.result()
    expect(result).toMatchObject({ outcome: 'complete', success: true, totals: { succeeded: 3 } })
    const [eu] = (await job.status()).datacenters
    expect(eu?.workflows.find(({ name }) => name === 'w1')?.attempts).toBe(1)
    expect((await job.status()).budgets[0]).toMatchObject({ used: 2, grants: 2 })
    expect(await rejection(job.retry())).toMatchObject({ kind: 'finished' })
    expect(await faultsOfJob(await shared.ledger(), job.id)).toEqual([])
  })

  it('(21) that has its minimum already waits for what is retried, also where no worker lives yet', async () => {
    const shared = await place()
    const jobs = await shared.open()
    let isBroken = true
    const some = async (): Promise<void> => {
      if (isBroken) throw new Error('broken')
    }
    await jobs.work({ datacenter: 'eu', handlers })
    await jobs.work({ datacenter: 'us', handlers: { some } })
    const ap = await jobs.work({ datacenter: 'ap', handlers: { some } })
    const best = { min_dcs: 1, deadline: '5m', settle: '4m' }
    const request = { datacenters: ['eu', 'us', 'ap'], workflows: named(1), retries: 'none', best_effort: best }
    const job = await jobs.submit(request)
    expect(await job.result()).toMatchObject({ reason: 'all_dcs_reported', failed: ['us', 'ap'] })
    await ap.close()
    isBroken = false
    await job.retry()
    await until(async () => (await job.status()).reported === 2, 'the report of us')
    expect((await job.status()).waitsFor).toMatch(
      /waits for ap \(no worker\); 2 of 3 datacenters reported; deadline in/,
    )
    await jobs.work({ datacenter: 'ap', handlers: { some } })
    expect(await job.result()).toMatchObject({ reason: 'all_dcs_reported', outcome: 'complete', missing: [] })
    expect(await faultsOfJob(await shared.ledger(), job.id)).toEqual([])
  })

  it('(23) of one workflow does not wait for a large one to end', async () => {
    const jobs = await (await place()).open()
    const order: string[] = []
    const note = async (_params: object, { jobId }: { jobId: string }): Promise<void> => void order.push(jobId)
    const request = { datacenters: ['eu'] }
    await jobs.submit({ ...request, job_id: 'large', workflows: named(150) }, { isEmbedded: true })
    const small = await jobs.submit({ ...request, job_id: 'small', workflows: named(3) }, { isEmbedded: true })
    await jobs.work({ datacenter: 'eu', slots: 1, handlers: { some: note } })
    await small.result()
    expect(order.lastIndexOf('small')).toBeLessThan(20)
  })

  it('(24, 25) shows its budget in metrics and events, and its datacenters with their workers', async () => {
    const jobs = await (await place()).open()
    await jobs.work({ datacenter: 'eu', slots: 3, handlers, version: '1.4.2' })
    const workflows = named(3, () => ({ fails: 99 }))
    const job = await jobs.submit({ datacenters: ['eu'], workflows, retry_budget: 2, best_effort: true })
    await job.result()
    const metrics = await jobs.metrics()
    const valueOf = (name: string): number | undefined => metrics.find((one) => one.name === name)?.value
    expect(valueOf('retry_budget_consumed_total')).toBe(2)
    expect(valueOf('retry_budget_exhausted_total')).toBe(3)
    expect(valueOf('best_effort_completions_total')).toBe(1)
    expect(valueOf('best_effort_completion_ratio')).toBe(0)
    expect(metrics.find(({ name }) => name === 'retry_budget_consumed_total')?.labels).toEqual({ job_id: job.id })
    const { events } = await jobs.events(0, { job: job.id })
    const count = (name: string): number => events.filter(({ event }) => event === name).length
    expect([count('JobSubmitted'), count('RetryBudgetExhausted'), count('BestEffortCompletion')]).toEqual([1, 3, 1])
    const [eu] = await jobs.datacenters()
    expect(eu).toMatchObject({ name: 'eu', slots: 3, disabled: null, workers: [{ version: '1.4.2', isLiving: true }] })
  })

  it('(26) leaves nothing behind when it is removed', async () => {
    const shared = await place()
    const jobs = await shared.open({ retention: '1m' })
    await jobs.work({ datacenter: 'eu', handlers })
    const job = await jobs.submit({
      datacenters: ['eu'],
      workflows: named(3),
      job_id: 'a',
      idempotency_key: 'k',
      best_effort: true,
    })
    await job.result()
    const ledger = await shared.ledger()
    expect(await jobs.removeOld()).toEqual([])
    await ledger.transact({ runs: ['a'], tasks: [] }, (view) => {
      const run = view.run('a')
      return { runs: run === undefined ? [] : [{ run: { ...run, endedAtMs: 0 } }], result: undefined }
    })
    expect(await jobs.removeOld()).toEqual(['a'])
    expect(await ledger.runs({})).toEqual([])
    expect(await ledger.list({})).toEqual([])
    const left = (await ledger.gates()).map(({ key }) => key.replace(/\d+$/, ''))
    expect(left.toSorted()).toEqual([
      'record:datacenter/eu',
      'record:job-completions/',
      'record:job-store',
      'record:job-tallies/',
    ])
    expect((await jobs.submit({ datacenters: ['eu'], workflows: named(1), idempotency_key: 'k' })).isNew).toBe(true)
  })
})
