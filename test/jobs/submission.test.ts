/** Points 1 to 3: what is submitted, what becomes of it, and that the same job is submitted once. */
import { describe, expect, it } from 'vitest'
import { failSome, jobsPlaces, named, STORES } from './jobs-fixture.js'
import { rejection } from '../durable/process-model.js'

const handlers = { some: failSome }

describe.each(STORES)('a submission on $name', (store) => {
  const place = jobsPlaces(store)

  it('(1) has its budgets clamped by the operator, and says so', async () => {
    const jobs = await (await place()).open({ env: { RETRY_BUDGET_MAX: '10', RETRY_BUDGET_PER_WORKFLOW_MAX: '4' } })
    await jobs.work({ datacenter: 'eu', handlers })
    const request = { datacenters: ['eu'], workflows: named(1), retry_budget: 40, retry_budget_per_workflow: 9 }
    const job = await jobs.submit(request)
    expect(job.settings).toMatchObject({ retryBudget: 10, retryBudgetPerWorkflow: 4 })
    expect(job.clamps.map(({ field }) => field)).toEqual(['retry_budget', 'retry_budget_per_workflow'])
    const status = await job.status()
    expect(status.requested).toMatchObject({ retryBudget: 40, retryBudgetPerWorkflow: 9 })
    expect(status.effective).toMatchObject({ retryBudget: 10, retryBudgetPerWorkflow: 4 })
    expect(status.clamps).toHaveLength(2)
  })

  it('(1) is limited by the settings in the ledger too, whatever the environment says', async () => {
    const shared = await place()
    const operator = await shared.open({ env: { RETRY_BUDGET_MAX: '5' } })
    expect(await operator.settings()).toBeUndefined()
    await operator.writeSettings()
    const jobs = await shared.open({ env: { RETRY_BUDGET_MAX: '30' } })
    await jobs.work({ datacenter: 'eu', handlers })
    const job = await jobs.submit({ datacenters: ['eu'], workflows: named(1), retry_budget: 30 })
    expect(job.settings.retryBudget).toBe(5)
  })

  it('(2) for a datacenter that no worker has registered is refused, and so is a wrong field: nothing is created', async () => {
    const shared = await place()
    const jobs = await shared.open()
    await jobs.work({ datacenter: 'frankfurt', handlers })
    const unknown = await rejection(jobs.submit({ datacenters: ['frankfrt'], workflows: named(1) }))
    expect(unknown).toMatchObject({ code: 'invalid_options' })
    expect(String(unknown)).toMatch(/frankfrt.*known are frankfurt.*did you mean `frankfurt`/s)
    const wrong = { datacenters: ['frankfurt'], workflows: named(1), retry_budget: -1 }
    expect(String(await rejection(jobs.submit(wrong)))).toMatch(/retry_budget/)
    expect(await jobs.list()).toEqual([])
    const embedded = await jobs.submit({ datacenters: ['local'], workflows: named(1) }, { isEmbedded: true })
    expect(embedded.isNew).toBe(true)
  })

  it('(3) with the same key from 20 submitters at once is one job, and another payload a conflict', {
    timeout: 60_000,
  }, async () => {
    const shared = await place()
    const worker = await shared.open()
    await worker.work({ datacenter: 'eu', handlers })
    const submitters = await Promise.all(Array.from({ length: 20 }, () => shared.open()))
    const request = { datacenters: ['eu'], workflows: named(3), idempotency_key: 'nightly 1' }
    const jobs = await Promise.all(submitters.map((one) => one.submit(request)))
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(1)
    expect(jobs.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(await worker.list()).toHaveLength(1)
    expect((await jobs[0]?.result())?.totals.attempts).toBe(3)
    const other = { ...request, workflows: named(2) }
    expect(await rejection(worker.submit(other))).toMatchObject({ kind: 'conflict' })
    expect((await worker.submit(request)).isNew).toBe(false)
  })

  it('(3) is found again though an operator has disabled one of its datacenters meanwhile', async () => {
    const jobs = await (await place()).open()
    await jobs.work({ datacenter: 'eu', handlers })
    const request = { datacenters: ['eu'], workflows: named(1), job_id: 'one' }
    await (await jobs.submit(request)).result()
    await jobs.disable('eu', 'fibre cut')
    expect(await jobs.submit(request)).toMatchObject({ id: 'one', isNew: false })
    expect(String(await rejection(jobs.submit({ ...request, job_id: 'two' })))).toMatch(/disabled.*fibre cut/)
  })

  it('(3) whose id and key do not belong together is a conflict', async () => {
    const jobs = await (await place()).open()
    await jobs.work({ datacenter: 'eu', handlers })
    const request = { datacenters: ['eu'], workflows: named(1) }
    const first = await jobs.submit({ ...request, job_id: 'one', idempotency_key: 'k' })
    expect(await jobs.submit({ ...request, idempotency_key: 'k' })).toMatchObject({ id: 'one', isNew: false })
    expect(await jobs.submit({ ...request, job_id: 'one', idempotency_key: 'k' })).toMatchObject({
      id: first.id,
      isNew: false,
    })
    expect(await rejection(jobs.submit({ ...request, job_id: 'two', idempotency_key: 'k' }))).toMatchObject({
      kind: 'conflict',
    })
    expect(await rejection(jobs.submit({ ...request, job_id: 'one', idempotency_key: 'l' }))).toMatchObject({
      kind: 'conflict',
    })
    const byKey = await jobs.submit({ ...request, idempotency_key: 'm' })
    expect(await rejection(jobs.submit({ ...request, job_id: 'three', idempotency_key: 'm' }))).toMatchObject({
      kind: 'conflict',
    })
    expect((await jobs.list()).map(({ id }) => id).toSorted()).toEqual([byKey.id, 'one'].toSorted())
  })
})
