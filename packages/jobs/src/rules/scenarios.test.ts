/** The worked scenarios of retry budgets and best effort, played by the rules alone. */
import { describe, expect, it } from 'vitest'
import { playJob } from '../testing/play-job.js'

const workflows = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({ name: `w${index}`, handler: 'probe' }))

const failing = (names: readonly number[], times: number): Record<string, number> =>
  Object.fromEntries(names.map((name) => [`w${name}`, times]))

describe('a job of ten workflows with a budget of 15', () => {
  const job = { datacenters: ['eu'], workflows: workflows(10), retry_budget: 15 }

  it('uses nothing and is complete when nothing fails', () => {
    const { budget, result } = playJob({ job })
    expect(budget).toMatchObject({ used: 0, total: 15, grants: 0 })
    expect(result).toMatchObject({ outcome: 'complete', success: true, reason: 'all_dcs_reported' })
  })

  it('uses 5 of 15 and is complete when two workflows fail 2 and 3 times and then succeed', () => {
    const { budget, result } = playJob({ job, failures: { w1: 2, w2: 3 } })
    expect(budget.used).toBe(5)
    expect(result).toMatchObject({ outcome: 'complete', totals: { attempts: 15, retries: 5, succeeded: 10 } })
  })

  it('gives up the workflow that always fails at its cap of 3 and completes the other nine', () => {
    const { budget, denials, result } = playJob({ job, failures: { w3: Infinity } })
    expect(budget.used).toBe(3)
    expect(denials).toEqual([{ reason: 'workflow_budget_exhausted', used: 3, total: 3 }])
    expect(result).toMatchObject({ outcome: 'partial', success: false, totals: { succeeded: 9, failed: 1 } })
    expect(result.datacenters[0]?.workflows.find(({ name }) => name === 'w3')).toMatchObject({
      state: 'failed',
      error: 'it failed',
      denied: 'workflow_budget_exhausted',
    })
  })

  it('denies every failure after the fifth with a budget of 5, and the five that got a retry succeed', () => {
    const failures = { ...failing([0, 1, 2, 3, 4], 1), ...failing([5, 6, 7], Infinity) }
    const { budget, denials, result } = playJob({ job: { ...job, retry_budget: 5 }, failures })
    expect(budget.used).toBe(5)
    expect(denials).toEqual(Array.from({ length: 3 }, () => ({ reason: 'job_budget_exhausted', used: 5, total: 5 })))
    expect(result).toMatchObject({ totals: { succeeded: 7, failed: 3, attempts: 15, retries: 5 } })
  })
})

it('a job of 100 workflows that all fail makes exactly 120 attempts', () => {
  const job = { datacenters: ['eu'], workflows: workflows(100) }
  const all = Array.from({ length: 100 }, (_, index) => index)
  const { budget, result } = playJob({ job, failures: failing(all, Infinity) })
  expect(budget).toMatchObject({ used: 20, total: 20 })
  expect(result).toMatchObject({ outcome: 'failed', success: false, totals: { attempts: 120, failed: 100 } })
})

describe('a best-effort job for three datacenters of which two are enough', () => {
  const job = {
    datacenters: ['eu', 'us', 'ap'],
    workflows: workflows(1),
    best_effort: { min_dcs: 2, deadline: '5m' },
  }

  it('completes at the second report when the third datacenter is silent', () => {
    const { result } = playJob({ job, startsAtMs: { us: 7_000, ap: Infinity } })
    expect(result).toMatchObject({
      reason: 'min_dcs_reached',
      outcome: 'partial',
      success: true,
      minDcsMet: true,
      completedAtMs: 8_000,
      completed: ['eu', 'us'],
      missing: ['ap'],
      ratio: 2 / 3,
    })
  })

  it('completes at its deadline with what is there when the second report would come later', () => {
    const { result } = playJob({ job, startsAtMs: { us: 400_000, ap: Infinity } })
    expect(result).toMatchObject({
      reason: 'deadline_expired',
      outcome: 'below_minimum',
      success: false,
      minDcsMet: false,
      completedAtMs: 300_000,
      completed: ['eu'],
      missing: ['us', 'ap'],
    })
  })

  it('waits for the third datacenter while it settles, and takes it in', () => {
    const settling = { ...job, best_effort: { min_dcs: 2, deadline: '5m', settle: '10s' } }
    const { result } = playJob({ job: settling, startsAtMs: { ap: 5_000 } })
    expect(result).toMatchObject({ reason: 'all_dcs_reported', outcome: 'complete', completedAtMs: 6_000 })
  })

  it('does not settle for datacenters without a living worker', () => {
    const settling = { ...job, best_effort: { min_dcs: 2, deadline: '5m', settle: '10s' } }
    const { result } = playJob({ job: settling, startsAtMs: { ap: Infinity } })
    expect(result).toMatchObject({ reason: 'min_dcs_reached', completedAtMs: 1_000 })
  })
})
