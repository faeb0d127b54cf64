/** Points 4, 5, 7 and 10: what a retry costs, who is denied one, and what parking and refunds do. */
import { describe, expect, it } from 'vitest'
import type { JobContext, JobOutputs } from '@reprise/jobs'
import type { Ledger } from 'reprise/durable'
import { until } from '../gates/until.js'
import { faultsOfJob } from './job-history.js'
import { failSome, jobsPlaces, named, STORES } from './jobs-fixture.js'

const handlers = { some: failSome }

describe.each(STORES)('the retry budget of a job on $name', (store) => {
  const place = jobsPlaces(store)

  it('(4) is not charged for an error that is not retried', async () => {
    const jobs = await (await place()).open()
    const fatal = async (): Promise<never> => {
      throw Object.assign(new Error('wrong password'), { retryable: false })
    }
    await jobs.work({ datacenter: 'eu', handlers: { some: fatal } })
    const job = await jobs.submit({ datacenters: ['eu'], workflows: named(1) })
    const result = await job.result()
    expect(result.datacenters[0]?.workflows[0]).toMatchObject({ attempts: 1, error: 'wrong password', denied: null })
    expect((await job.status()).budgets[0]).toMatchObject({ used: 0 })
  })

  it('(4) is charged for a worker that could not begin, of the class refused', async () => {
    const jobs = await (await place()).open()
    await jobs.work({ datacenter: 'eu', handlers: { other: failSome } })
    const job = await jobs.submit({ datacenters: ['eu'], workflows: named(1), retry_budget: 2 })
    await job.result()
    const [eu] = (await job.status()).datacenters
    expect(eu?.workflows[0]).toMatchObject({ attempts: 3, charged: 2, denied: { reason: 'job_budget_exhausted' } })
    expect(eu?.workflows[0]?.history.map((one) => one.class)).toEqual(['refused', 'refused', 'refused'])
  })

  it('(4) is not charged for a worker that leaves in order, nor for waiting for one', async () => {
    const shared = await place()
    const jobs = await shared.open()
    const first = await shared.open()
    let begun = 0
    const hang = async (_params: object, { signal }: JobContext): Promise<JobOutputs> => {
      begun++
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
      return {}
    }
    await first.work({ datacenter: 'eu', slots: 2, handlers: { some: hang } })
    const job = await jobs.submit({ datacenters: ['eu'], workflows: named(4) })
    await until(async () => begun === 2, 'two workflows to run')
    await first.close()
    expect((await job.status()).datacenters[0]?.counts).toMatchObject({ succeeded: 0, failed: 0 })
    await jobs.work({ datacenter: 'eu', handlers })
    expect(await job.result()).toMatchObject({ outcome: 'complete', totals: { succeeded: 4, retries: 0 } })
    expect((await job.status()).budgets[0]).toMatchObject({ used: 0, grants: 0 })
    expect(await faultsOfJob(await shared.ledger(), job.id)).toEqual([])
  })

  it('(5) names the dispatch ceiling where that says no, and keeps the denial with the workflow', async () => {
    const jobs = await (await place()).open()
    await jobs.work({ datacenter: 'eu', handlers })
    const workflows = named(1, () => ({ fails: 9 }))
    const job = await jobs.submit({ datacenters: ['eu'], workflows, max_dispatch_attempts: 2 })
    await job.result()
    const [eu] = (await job.status()).datacenters
    expect(eu?.workflows[0]).toMatchObject({
      attempts: 2,
      denied: { reason: 'dispatch_attempts_exhausted', used: 2, total: 2 },
      error: 'no 2',
    })
  })

  it('(5) is rebuilt from the tasks where its row is missing', async () => {
    const shared = await place()
    const jobs = await shared.open()
    const ledger = await shared.ledger()
    let isHeld = true
    const hold = async (_params: object, context: { attempt: number }): Promise<JobOutputs> => {
      await until(async () => context.attempt < 2 || !isHeld, 'the removal of the row')
      if (context.attempt < 4) throw new Error('no')
      return {}
    }
    await jobs.work({ datacenter: 'eu', handlers: { some: hold } })
    const job = await jobs.submit({ datacenters: ['eu'], workflows: named(1) })
    const attempts = async (): Promise<number> => (await job.status()).datacenters[0]?.workflows[0]?.attempts ?? 0
    await until(async () => (await attempts()) === 2, 'the second attempt')
    const key = `budget:job/${job.id}`
    // Only the removal of a run removes gates.
    while (!(await ledger.removeRun('nothing', 1, [key])).isDone);
    expect((await ledger.gates()).some((gate) => gate.key === key)).toBe(false)
    isHeld = false
    expect((await job.result()).outcome).toBe('complete')
    expect((await job.status()).budgets).toMatchObject([{ used: 3, grants: 3 }])
    expect(await faultsOfJob(ledger, job.id)).toEqual([])
  })

  it('(9) is one for each datacenter with `budget_scope: datacenter`, which is rebuilt alone', async () => {
    const shared = await place()
    const jobs = await shared.open()
    const ledger = await shared.ledger()
    let isHeld = true
    const hold = async (_params: object, { attempt, datacenter }: JobContext): Promise<JobOutputs> => {
      await until(async () => attempt < 2 || datacenter === 'ap' || !isHeld, 'the removal of the row')
      if (datacenter === 'ap' && attempt < 2) return {}
      throw new Error('no')
    }
    const datacenters = ['eu', 'us', 'ap']
    for (const datacenter of datacenters) await jobs.work({ datacenter, slots: 2, handlers: { some: hold } })
    const budget = { retry_budget: 3, retry_budget_per_workflow: 3, budget_scope: 'datacenter' }
    const job = await jobs.submit({ datacenters, workflows: named(2), ...budget })
    const charged = async (): Promise<number> =>
      (await job.status()).datacenters[0]?.workflows.reduce((sum, one) => sum + one.charged, 0) ?? 0
    await until(async () => (await charged()) === 2, 'a charge for each workflow of eu')
    const key = `budget:job/${job.id}/eu`
    while (!(await ledger.removeRun('nothing', 1, [key])).isDone);
    isHeld = false
    const result = await job.result()
    expect(result).toMatchObject({ outcome: 'partial', completed: ['ap'], failed: ['eu', 'us'] })
    expect((await job.status()).budgets).toMatchObject([
      { datacenter: 'eu', total: 3, used: 3, grants: 3 },
      { datacenter: 'us', total: 3, used: 3, grants: 3 },
      { datacenter: 'ap', total: 3, used: 0, grants: 0 },
    ])
    expect(result.totals).toMatchObject({ attempts: 6 + 3 + 3 })
    expect(result.datacenters.flatMap(({ workflows }) => workflows.map(({ denied }) => denied))).toEqual(
      // The workflow that was charged twice is denied by the budget of its datacenter, as the other one is.
      expect.arrayContaining(['job_budget_exhausted']),
    )
    expect(await faultsOfJob(ledger, job.id)).toEqual([])
  })

  it('(9) counts on after a restart, and for whoever submits the same job again', async () => {
    const shared = await place()
    const request = { job_id: 'j', datacenters: ['eu'], workflows: named(3, () => ({ fails: 99 })), retry_budget: 3 }
    const first = await shared.open()
    let isLost = false
    const failOnce = async (_params: object, { attempt }: JobContext): Promise<JobOutputs> => {
      if (attempt > 1 && !isLost) await new Promise(() => undefined)
      throw new Error('no')
    }
    await first.work({ datacenter: 'eu', slots: 3, handlers: { some: failOnce } })
    const job = await first.submit(request)
    await until(async () => (await job.status()).budgets[0]?.used === 3, 'a retry of each workflow')
    await first.close()
    isLost = true
    const second = await shared.open()
    const again = await second.submit(request)
    expect(again).toMatchObject({ id: 'j', isNew: false })
    expect((await again.status()).budgets[0]).toMatchObject({ used: 3, remaining: 0 })
    await second.work({ datacenter: 'eu', handlers: { some: failOnce } })
    expect(await again.result()).toMatchObject({ outcome: 'failed', totals: { failed: 3, attempts: 6, retries: 3 } })
    expect((await second.submit(request)).isNew).toBe(false)
    expect((await again.status()).budgets[0]).toMatchObject({ used: 3, grants: 3 })
    expect(await faultsOfJob(await shared.ledger(), 'j')).toEqual([])
  })

  it('(7) denies one workflow, skips what needs it, and lets the others have their first attempts', async () => {
    const shared = await place()
    const jobs = await shared.open()
    await jobs.work({ datacenter: 'eu', handlers })
    const workflows = [
      { name: 'login', handler: 'some', params: { fails: 99 } },
      { name: 'buy', handler: 'some', needs: ['login'] },
      { name: 'pay', handler: 'some', needs: ['buy', 'other'] },
      { name: 'other', handler: 'some' },
      { name: 'last', handler: 'some', needs: ['other'] },
    ]
    const job = await jobs.submit({ datacenters: ['eu'], workflows, retry_budget: 1 })
    const result = await job.result()
    const ends = Object.fromEntries((result.datacenters[0]?.workflows ?? []).map(({ name, state }) => [name, state]))
    expect(ends).toEqual({ login: 'failed', buy: 'skipped', pay: 'skipped', other: 'succeeded', last: 'succeeded' })
    expect(result.datacenters[0]?.workflows.find(({ name }) => name === 'pay')?.error).toMatch(
      /needs login.*job_budget_exhausted/,
    )
    expect(await faultsOfJob(await shared.ledger(), job.id)).toEqual([])
  })

  it('(10) gives retries back with `wasted`: those that succeed, and one for every success', async () => {
    const shared = await place()
    const jobs = await shared.open()
    await jobs.work({ datacenter: 'eu', slots: 1, handlers })
    const workflows = named(6, () => ({ fails: 1 }))
    const job = await jobs.submit({ datacenters: ['eu'], workflows, retry_budget: 2, retry_budget_counts: 'wasted' })
    const result = await job.result()
    expect([result.outcome, result.totals.retries]).toEqual(['complete', 6])
    const [budget] = (await job.status()).budgets
    expect(budget).toMatchObject({ total: 2, grants: 6, used: 0, refunds: 6 })
    expect(await faultsOfJob(await shared.ledger(), job.id)).toEqual([])
  })

  it('(10) parks workflows instead of failing them, and probes while nothing runs', { timeout: 60_000 }, async () => {
    const shared = await place()
    const jobs = await shared.open()
    let isDown = true
    const down = async (): Promise<JobOutputs> => {
      if (isDown) throw new Error('down')
      return {}
    }
    await jobs.work({ datacenter: 'eu', slots: 4, handlers: { some: down } })
    const parks = { on_budget_exhausted: 'park', retry_budget_counts: 'wasted', timeout: '5m' }
    const budget = { retry_budget: 4, retry_budget_per_workflow: 4 }
    const job = await jobs.submit({ datacenters: ['eu'], workflows: named(4), ...budget, ...parks })
    const states = async (): Promise<string[]> =>
      (await job.status()).datacenters.flatMap(({ workflows }) => workflows.map(({ state }) => state))
    // One that was charged all four retries has reached its own cap, which is never parked.
    const isAtRest = (state: string): boolean => state === 'parked' || state === 'failed'
    await until(async () => (await states()).every(isAtRest), 'all to be parked')
    const parked = (await states()).filter((state) => state === 'parked').length
    expect(parked).toBeGreaterThanOrEqual(3)
    isDown = false
    const ledger = await shared.ledger()
    const start = async (): Promise<boolean> => {
      await startParked(ledger, job.id)
      return (await job.status()).state === 'completed'
    }
    await until(start, 'the end of all that were parked')
    expect((await job.result()).totals.succeeded).toBe(parked)
    expect(await faultsOfJob(ledger, job.id)).toEqual([])
  })
})

/** Their waits last from 5 to 60 seconds: they are made due, as a clock would. */
async function startParked(ledger: Ledger, id: string): Promise<void> {
  const tasks = await ledger.list({ scopeKind: 'run', scope: `${id}/eu` })
  await ledger.transact({ tasks }, (view) => ({
    tasks: tasks.flatMap((key) => {
      const task = view.task(key)
      return task?.status === 'waiting' ? [{ ...task, dueAtMs: view.now, updatedAtMs: view.now }] : []
    }),
    result: undefined,
  }))
}
