/** Point 24: metrics of jobs are exact over retries by hand and removals, and read no more the more jobs are kept. */
import { describe, expect, it } from 'vitest'
import type { JobMetric, JobOutputs, Jobs } from '@reprise/jobs'
import type { Ledger } from 'reprise/durable'
import { removeJobs } from '../../packages/jobs/src/drive/remove-jobs.js'
import { jobOf } from '../../packages/jobs/src/record/job-record.js'
import { readMetrics } from '../../packages/jobs/src/view/job-metrics.js'
import { until } from '../gates/until.js'
import { failSome, jobsPlaces, named, STORES } from './jobs-fixture.js'

const CONSUMED = 'retry_budget_consumed_total'

/** By job, or by the empty text where there is no label. */
function valuesOf(metrics: readonly JobMetric[], name: string): Record<string, number> {
  return Object.fromEntries(
    metrics.filter((one) => one.name === name).map(({ labels, value }) => [labels['job_id'] ?? '', value]),
  )
}

const untilCounted = (ledger: Ledger, id: string, round = 0): Promise<boolean> =>
  until(async () => {
    const run = await ledger.run(id)
    return run !== undefined && jobOf(run).detail.tally?.round === round
  }, `the tally of ${id}`)

/** What is asked of the ledger. */
function counting(ledger: Ledger): { readonly ledger: Ledger; readonly asked: string[]; rows: number } {
  const counted = { asked: [] as string[], rows: 0, ledger }
  counted.ledger = new Proxy(ledger, {
    get: (target, verb: keyof Ledger) => {
      const value: unknown = target[verb]
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        counted.asked.push(verb)
        const answer: unknown = await (value.bind(target) as (...all: unknown[]) => unknown)(...args)
        if (Array.isArray(answer) && verb === 'runs') counted.rows += answer.length
        return answer
      }
    },
  })
  return counted
}

describe.each(STORES)('metrics of jobs on $name', (store) => {
  const place = jobsPlaces(store)

  /** The job of number n fails n times. */
  const failing = async (jobs: Jobs, ledger: Ledger, numbers: readonly number[]): Promise<void> => {
    for (const number of numbers) {
      const workflows = named(number, () => ({ fails: 1 }))
      const request = { job_id: `j${number}`, datacenters: ['eu'], workflows, best_effort: true }
      await (await jobs.submit(request)).result()
      await untilCounted(ledger, `j${number}`)
    }
  }

  it('(24) give the latest jobs a series each and sum the others up, with reads that do not grow', async () => {
    const shared = await place()
    const jobs = await shared.open()
    const ledger = await shared.ledger()
    await jobs.work({ datacenter: 'eu', handlers: { some: failSome } })
    await failing(jobs, ledger, [1, 2, 3, 4])
    const before = counting(ledger)
    const first = await readMetrics(before.ledger, {}, 2)
    expect(valuesOf(first, CONSUMED)).toEqual({ j4: 4, j3: 3, other: 1 + 2 })
    expect(valuesOf(first, 'best_effort_completion_ratio')).toEqual({ j4: 1, j3: 1 })
    await failing(jobs, ledger, [5, 6, 7])
    const after = counting(ledger)
    expect(valuesOf(await readMetrics(after.ledger, {}, 2), CONSUMED)).toEqual({ j7: 7, j6: 6, other: 15 })
    expect(after.asked).toEqual(before.asked)
    expect(after.rows).toBe(before.rows)
    expect(after.asked.filter((verb) => verb === 'gates' || verb === 'run')).toEqual([])
    expect(valuesOf(await readMetrics(ledger, { byJob: false }, 2), CONSUMED)).toEqual({ '': 28 })
    expect(valuesOf(await jobs.metrics(), CONSUMED)).not.toHaveProperty('other')
    // A counter never falls: what was counted of a job outlives it.
    await removeJobs(ledger, Infinity)
    expect(valuesOf(await jobs.metrics(), CONSUMED)).toEqual({ other: 28 })
  })

  it('(24) count a job that runs, and one that is retried by hand, as it stands', async () => {
    const shared = await place()
    const jobs = await shared.open()
    const ledger = await shared.ledger()
    let isDown = true
    let go: () => void = () => undefined
    const held = new Promise<void>((resolve) => (go = resolve))
    const down = async (_params: object, { attempt }: { readonly attempt: number }): Promise<JobOutputs> => {
      if (attempt === 1) throw new Error('down')
      if (isDown) throw Object.assign(new Error('down for good'), { retryable: false })
      await held
      return {}
    }
    await jobs.work({ datacenter: 'eu', handlers: { some: down } })
    const budget = { retry_budget: 5, retry_budget_per_workflow: 2 }
    const job = await jobs.submit({ job_id: 'j', datacenters: ['eu'], workflows: named(2), ...budget })
    await job.result()
    await untilCounted(ledger, 'j')
    const consumed = async (): Promise<number | undefined> => valuesOf(await jobs.metrics(), CONSUMED)['j']
    expect(await consumed()).toBe(2)
    isDown = false
    await job.retry()
    await until(async () => (await job.status()).budgets[0]?.grants === 4, 'the retries of the second round')
    expect(await consumed()).toBe(4)
    go()
    await job.result()
    await untilCounted(ledger, 'j', 1)
    expect(await consumed()).toBe(4)
    await removeJobs(ledger, Infinity)
    expect(valuesOf(await jobs.metrics(), CONSUMED)).toEqual({ other: 4 })
  })
})
