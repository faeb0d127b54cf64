/** Points 5, 6, 8, 9 and 14: budgets and completions are exact, however many processes decide at once. `ROUNDS=100` for more. */
import { describe, expect, it } from 'vitest'
import type { Jobs } from '@reprise/jobs'
import { faultsOfJob } from './job-history.js'
import { failSome, jobsPlaces, named, STORES } from './jobs-fixture.js'

const ROUNDS = Number(process.env['ROUNDS'] ?? 2)
/** Each with a ledger of its own, of two connections where the store has connections. */
const OPENED = 32
const AT_ONCE = 64

/** Lets nobody pass before this many have come. */
class Barrier {
  private readonly waiting: (() => void)[] = []
  private readonly size: number

  constructor(size: number) {
    this.size = size
  }

  pass(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve)
      if (this.waiting.length === this.size) for (const go of this.waiting.splice(0)) go()
    })
  }
}

describe.each(STORES)('on $name', (store) => {
  const place = jobsPlaces(store)

  it('(6, 8) 100 failing workflows with a budget of 20 make exactly 120 attempts, though 64 connections fail at once', {
    timeout: 180_000 + ROUNDS * 20_000,
  }, async () => {
    const shared = await place(2)
    const ledger = await shared.ledger()
    const all = await Promise.all(Array.from({ length: OPENED }, () => shared.open()))
    let barrier = new Barrier(AT_ONCE)
    let started = 0
    const fail = async (): Promise<never> => {
      started++
      if (started <= AT_ONCE) await barrier.pass()
      throw new Error('no')
    }
    const slots = AT_ONCE / OPENED
    await Promise.all(all.map((jobs) => jobs.work({ datacenter: 'eu', slots, handlers: { some: fail } })))
    for (let round = 0; round < ROUNDS; round++) {
      barrier = new Barrier(AT_ONCE)
      started = 0
      // Every other budget is exhausted by the first 64 failures, every other one by the caps of the workflows.
      const budget = round % 2 === 0 ? { retry_budget: 20 } : { retry_budget: 50, retry_budget_per_workflow: 1 }
      const workflows = round % 2 === 0 ? named(100) : named(70)
      const retries = round % 2 === 0 ? 20 : 50
      const job = await (all[round % OPENED] as Jobs).submit({ datacenters: ['eu'], workflows, ...budget })
      const { totals } = await job.result()
      const attempts = workflows.length + retries
      expect(totals).toMatchObject({ failed: workflows.length, attempts, retries })
      expect(started).toBe(attempts)
      expect(await faultsOfJob(ledger, job.id)).toEqual([])
    }
  })

  it('(9) one budget holds over all datacenters, and its cap for each workflow of each', {
    timeout: 60_000,
  }, async () => {
    const shared = await place()
    const jobs = await shared.open()
    for (const datacenter of ['eu', 'us', 'ap']) await jobs.work({ datacenter, slots: 4, handlers: { some: failSome } })
    const workflows = named(2, () => ({ fails: 99 }))
    const job = await jobs.submit({
      datacenters: ['eu', 'us', 'ap'],
      workflows,
      retry_budget: 7,
      retry_budget_per_workflow: 2,
    })
    const result = await job.result()
    expect(result).toMatchObject({ outcome: 'failed', success: false, totals: { attempts: 6 + 7 } })
    expect(await faultsOfJob(await shared.ledger(), job.id)).toEqual([])
  })

  it('(14) the last report, the deadline and a cancellation at once complete the job once', {
    timeout: 60_000 + ROUNDS * 10_000,
  }, async () => {
    const shared = await place()
    const env = { BEST_EFFORT_CHECK_INTERVAL_SECONDS: '0.05' }
    const all = await Promise.all([shared.open({ env }), shared.open({ env }), shared.open({ env })])
    const [first, second, third] = all
    const waiting: (() => void)[] = []
    const held = (): Promise<void> => new Promise((resolve) => waiting.push(resolve))
    await first.work({ datacenter: 'eu', handlers: { some: held } })
    const ledger = await shared.ledger()
    for (let round = 0; round < ROUNDS * 3; round++) {
      const deadlineMs = 400
      const request = { datacenters: ['eu'], workflows: named(1), best_effort_min_dcs: 1, best_effort: true }
      const job = await second.submit({ ...request, best_effort_deadline_seconds: deadlineMs / 1000 })
      const aim = (await ledger.run(job.id))?.createdAtMs ?? 0
      while ((await ledger.now()) < aim + deadlineMs - 30 || waiting.length === 0) await new Promise(setImmediate)
      while ((await ledger.now()) < aim + deadlineMs - 10 + (round % 4) * 5) await new Promise(setImmediate)
      for (const go of waiting.splice(0)) go()
      await third.cancel(job.id)
      await job.result()
      expect(await faultsOfJob(ledger, job.id)).toEqual([])
      const { events } = await third.events(0, { job: job.id })
      expect(events.filter(({ event }) => event === 'BestEffortCompletion')).toHaveLength(1)
    }
    const metrics = await second.metrics()
    const completions = metrics.filter(({ name }) => name === 'best_effort_completions_total')
    expect(completions.reduce((sum, { value }) => sum + value, 0)).toBe(ROUNDS * 3)
  })
})
