/** Grants, denials, refunds and parked workflows. */
import { describe, expect, it } from 'vitest'
import {
  afterSuccess,
  askAgain,
  grantRetry,
  newRetryBudget,
  parkDelayMs,
  rebuiltRetryBudget,
  type RetryBudgetState,
} from './retry-grant.js'

const limits = { retryBudgetPerWorkflow: 3, maxDispatchAttempts: null, onBudgetExhausted: 'fail' } as const
const fresh = { charged: 0, attempts: 1 }
const spent = (used: number, total = used): RetryBudgetState => ({ ...newRetryBudget(total), used, grants: used })
const ask = (budget: RetryBudgetState | null, workflow = fresh, own: object = {}): ReturnType<typeof grantRetry> =>
  grantRetry(budget, workflow, { ...limits, ...own }, 1_000, 0.5)

describe('a retry', () => {
  it('is granted and counted while there is something left', () => {
    expect(ask(spent(4, 5))).toEqual({ kind: 'granted', budget: spent(5, 5) })
  })

  it('is denied by the job first, then by the workflow, then by the ceiling of attempts', () => {
    const over = { charged: 3, attempts: 4 }
    const ceiling = { maxDispatchAttempts: 4 }
    expect(ask(spent(5), over, ceiling)).toMatchObject({
      denial: { reason: 'job_budget_exhausted', used: 5, total: 5 },
    })
    expect(ask(spent(4, 5), over, ceiling)).toMatchObject({
      denial: { reason: 'workflow_budget_exhausted', used: 3, total: 3 },
    })
    expect(ask(spent(4, 5), { charged: 2, attempts: 4 }, ceiling)).toMatchObject({
      denial: { reason: 'dispatch_attempts_exhausted', used: 4, total: 4 },
    })
    expect(ask(null)).toMatchObject({ denial: { reason: 'retry_budget_missing' } })
  })

  it('is never granted with a budget of 0', () => {
    expect(ask(newRetryBudget(0))).toMatchObject({ kind: 'denied' })
  })

  it('is charged to a budget that was rebuilt from what the workflows were charged', () => {
    expect(rebuiltRetryBudget(5, [2, 0, 3])).toMatchObject({ used: 5, grants: 5, refunds: 0 })
    // Refunds are not kept with workflows: more than the limit cannot have counted.
    expect(rebuiltRetryBudget(5, [4, 4])).toMatchObject({ used: 5, grants: 8, refunds: 3 })
  })
})

describe('a success', () => {
  it('gives nothing back where all retries count', () => {
    const budget = spent(3, 5)
    expect(afterSuccess(budget, true, 'all')).toEqual({ budget, refunds: 0 })
  })

  it('gives back its own retry and one wasted retry where only wasted ones count', () => {
    expect(afterSuccess(spent(5), true, 'wasted')).toMatchObject({
      refunds: 2,
      budget: { used: 3, grants: 5, refunds: 2 },
    })
    expect(afterSuccess(spent(5), false, 'wasted')).toMatchObject({ refunds: 1, budget: { used: 4 } })
    expect(afterSuccess(spent(1), true, 'wasted')).toMatchObject({ refunds: 1, budget: { used: 0 } })
    expect(afterSuccess(spent(0, 5), false, 'wasted')).toMatchObject({ refunds: 0, budget: { used: 0 } })
  })

  it('doubles what can be granted with each round after an outage', () => {
    let budget = spent(16)
    let round = afterSuccess(budget, false, 'wasted')
    const grants: number[] = []
    while (round.budget.used > 0) {
      const free = round.budget.total - round.budget.used
      grants.push(free)
      budget = { ...round.budget, used: round.budget.total, grants: round.budget.grants + free }
      let refunds = 0
      for (let retry = 0; retry < free; retry++) {
        const success = afterSuccess(budget, true, 'wasted')
        budget = success.budget
        refunds += success.refunds
      }
      round = { budget, refunds }
    }
    expect(grants).toEqual([1, 2, 4, 8])
  })
})

describe('a parked workflow', () => {
  const parking = { onBudgetExhausted: 'park' }

  it('waits 5 to 60 seconds where the budget of the job is used up', () => {
    expect(ask(spent(5), fresh, parking)).toMatchObject({ kind: 'parked', dueAtMs: 1_000 + 32_500 })
    expect([parkDelayMs(0), parkDelayMs(1)]).toEqual([5_000, 60_000])
  })

  it('is not parked where its own cap or the ceiling denies it', () => {
    expect(ask(spent(5), { charged: 3, attempts: 4 }, parking)).toMatchObject({
      kind: 'denied',
      denial: { reason: 'workflow_budget_exhausted' },
    })
    expect(ask(spent(5), { charged: 1, attempts: 2 }, { ...parking, maxDispatchAttempts: 2 })).toMatchObject({
      denial: { reason: 'dispatch_attempts_exhausted' },
    })
  })

  it('is charged when it asks again and something was given back', () => {
    expect(askAgain(spent(4, 5), 3, 0, 0.5)).toEqual({ kind: 'granted', budget: spent(5, 5) })
  })

  it('waits while an attempt of the job runs, and is a free probe when none does', () => {
    expect(askAgain(spent(5), 1, 0, 0)).toEqual({ kind: 'waits', dueAtMs: 5_000 })
    expect(askAgain(spent(5), 0, 10_000, 1)).toEqual({
      kind: 'probe',
      budget: { ...spent(5), probeIntervalMs: 10_000, nextProbeAtMs: 15_000 },
    })
  })

  it('is probed ever less often, up to once a minute, until something succeeds', () => {
    let budget = spent(5)
    const waits: number[] = []
    for (let probe = 0, now = 0; probe < 6; probe++) {
      const answer = askAgain(budget, 0, now, 1)
      if (answer.kind !== 'probe') throw new Error(`expected a probe, got ${answer.kind}`)
      budget = answer.budget
      expect(askAgain(budget, 0, now, 1)).toEqual({ kind: 'waits', dueAtMs: budget.nextProbeAtMs })
      waits.push(budget.nextProbeAtMs - now)
      now = budget.nextProbeAtMs
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
    expect(afterSuccess(budget, false, 'all').budget).toEqual(spent(5))
  })
})
