/** What is kept of an attempt that a gate did not let start: a row, and which gate said what. */
import { describe, expect, it } from 'vitest'
import type { Budget } from '../../packages/reprise/src/core/budget.js'
import { countBudget } from '../../packages/reprise/src/core/budgets/count.js'
import type { PolicyInput } from '../../packages/reprise/src/core/policy.js'
import { faultsOfRows } from '../../packages/reprise/src/durable/task-check.js'
import { rejection, ProcessModel } from './process-model.js'

const quota: Budget = {
  allowAttempt: ({ attempt }) =>
    attempt === 1 ? { allowed: true, reason: 'allowed' } : { allowed: false, reason: 'quota_of_tenant_7' },
}
const policy = { attempts: 5, initialDelay: '1s', backoff: 'fixed', jitter: false, budget: 'api' } as const

interface Ended {
  readonly model: ProcessModel
  readonly error: unknown
  readonly outcomes: readonly unknown[]
  readonly lastFailure: unknown
}

/** One task that fails until a gate ends it. */
async function endOf(given: PolicyInput, budget?: Budget): Promise<Ended> {
  const model = new ProcessModel()
  const host = await model.open(budget === undefined ? {} : { budgets: { api: budget } })
  const task = host.durable.task<null, unknown>('t', given, () => Promise.reject(new Error('503')))
  const error = rejection(task.run(null, { id: 'a' }))
  await model.clock.advance(60_000)
  const status = await task.status('a')
  const outcomes = (status?.history ?? []).map(({ attempt, outcome, failure }) => [attempt, outcome, failure?.denial])
  const ended = { model, error: await error, outcomes, lastFailure: status?.lastFailure }
  await host.durable.close()
  return ended
}

describe('a denied attempt', () => {
  it('is in the history with the budget that denied it and its own word', async () => {
    const { model, outcomes, lastFailure, error } = await endOf(policy, quota)
    const denial = { gate: 'budget:api', reason: 'quota_of_tenant_7' }
    expect(outcomes).toEqual([
      [1, 'failure', undefined],
      [2, 'denied', denial],
    ])
    expect(lastFailure).toMatchObject({ message: '503', denial })
    expect(error).toMatchObject({ stopReason: 'budget_denied', budgetReason: 'quota_of_tenant_7', attempts: 1 })
    const [letter] = await model.ledger.deadLetters({})
    expect(letter).toMatchObject({ stopReason: 'budget_denied', failure: { message: '503', denial } })
    const rows = [...(await model.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' }))]
    const checked = {
      task: await model.task('t', 'a'),
      rows,
      hasCheckpoint: false,
      pastFaults: [],
      letters: [],
      events: [],
    }
    expect(faultsOfRows(checked, policy.attempts)).toEqual([])
  })

  it('is in the history when the budget says before the wait that it will deny it', async () => {
    const { outcomes } = await endOf(policy, countBudget({ total: 1 }))
    expect(outcomes).toEqual([
      [1, 'failure', undefined],
      [2, 'failure', undefined],
      [3, 'denied', { gate: 'budget:api', reason: 'count_exhausted' }],
    ])
  })

  it('is in the history with the error of a budget that threw', async () => {
    const broken: Budget = {
      allowAttempt: () => {
        throw new Error('redis is down')
      },
    }
    const { outcomes, lastFailure } = await endOf(policy, broken)
    const denial = { gate: 'budget:api', reason: 'panic_in_budget', message: 'redis is down' }
    expect(outcomes).toEqual([[1, 'denied', denial]])
    expect(lastFailure).toMatchObject({
      name: 'BudgetDeniedError',
      message: 'Budget api denied attempt 1: panic_in_budget: redis is down',
      denial,
    })
  })

  it('is in the history with the breaker that was open', async () => {
    const breaker = { key: 'mail', failureThreshold: 2, recoveryTimeout: '1h' } as const
    const { budget: _budget, ...rest } = policy
    const { outcomes } = await endOf({ ...rest, breaker })
    expect(outcomes.at(-1)).toEqual([3, 'denied', { gate: 'breaker:mail', reason: 'breaker_open' }])
  })

  it('is not counted as made, nor among the failures', async () => {
    const { model } = await endOf(policy, quota)
    expect((await model.task('t', 'a')).progress.retry).toMatchObject({ launched: 1, failures: 1 })
    expect(await model.ledger.analytics.failurePatterns({})).toHaveLength(1)
  })

  it('is in the history when an allotment of the task is used up', async () => {
    const model = new ProcessModel()
    const host = await model.open()
    const given = { attempts: 9, initialDelay: 0, jitter: false } as const
    const task = host.durable.task<null, unknown>('t', given, () => Promise.reject(new Error('503')), {
      allot: { budget: 'import-7', total: 1 },
    })
    await rejection(task.run(null, { id: 'a' }))
    const status = await task.status('a')
    expect(status?.history.at(-1)).toMatchObject({
      attempt: 3,
      outcome: 'denied',
      failure: { denial: { gate: 'budget:import-7', reason: 'count_exhausted' } },
    })
    await host.durable.close()
  })
})
