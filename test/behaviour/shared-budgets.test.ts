/**
 * Budgets that many calls share, and the budgets of hedges.
 */
import { describe, expect, test } from 'vitest'
import { type Budget, BudgetDeniedError, concurrencyBudget, type PolicyInput, ratioBudget, tokenBucket } from 'reprise'
import { failing, Manual, Recorder, callFixture, turn, watch } from './call-fixture.js'

const down = new Error('down')

describe('budgets', () => {
  test('of K places never have more than K operations running, and all K are free afterwards', async () => {
    const pool = concurrencyBudget({ max: 5 })
    const policy = { attempts: 4, backoff: 'fixed', initialDelay: 700, attemptTimeout: '3s', budget: 'pool' } as const
    const { clock, executor } = callFixture(policy, { budgets: { pool } })
    let running = 0
    let most = 0
    const calls = Array.from({ length: 200 }, async (_, index) => {
      await clock.sleep(index * 37)
      return executor
        .run('job', async () => {
          most = Math.max(most, ++running)
          // Every third ignores that it timed out.
          await clock.sleep(index % 3 === 0 ? 5000 : 400).finally(() => running--)
          if (index % 2 === 0) throw down
        })
        .catch(() => undefined)
    })
    await clock.runAll()
    await Promise.all(calls)
    expect(most).toBe(5)
    expect(running).toBe(0)
    expect(pool.inUse).toBe(0)
  })

  test('of a token bucket refill by the clock of the executor', async () => {
    const api = tokenBucket({ capacity: 2, refillPerSecond: 1 })
    const { clock, executor } = callFixture({ attempts: 1, budget: 'api' }, { budgets: { api } })
    await executor.run('job', () => 'x')
    await executor.run('job', () => 'x')
    await expect(executor.run('job', () => 'x')).rejects.toBeInstanceOf(BudgetDeniedError)
    await clock.advance(999)
    await expect(executor.run('job', () => 'x')).rejects.toBeInstanceOf(BudgetDeniedError)
    await clock.advance(1)
    await expect(executor.run('job', () => 'x')).resolves.toBe('x')
  })

  test('of a ratio let as many retries pass as first attempts have paid for', async () => {
    const api = ratioBudget({ ratio: 0.5, minPerSecond: 0, window: '60s' })
    const { clock, executor } = callFixture({ attempts: 3, initialDelay: 10, budget: 'api' }, { budgets: { api } })
    const operation = failing(down)
    const calls = Array.from({ length: 10 }, () => watch(executor.run('job', operation)))
    await clock.runAll()
    expect(calls.every((call) => call.error === down)).toBe(true)
    expect(operation.calls).toBe(15)
  })

  test('of a hedge are asked instead of the retry’s', async () => {
    const [api, spare] = [new Recorder(), new Recorder()]
    const policy = {
      attempts: 1,
      budget: 'api',
      hedge: { delay: '1s', maxHedges: 2, budget: { name: 'spare', cost: 3 } },
    }
    const { clock, executor } = callFixture(policy, { budgets: { api, spare } })
    const manual = new Manual()
    watch(executor.run('job', manual.operation))
    await clock.advance(2000)
    expect(api.asks.map((ask) => [ask.launch, ask.kind])).toEqual([[1, 'retry']])
    expect(spare.asks.map((ask) => [ask.launch, ask.kind, ask.ref.cost])).toEqual([
      [2, 'hedge', 3],
      [3, 'hedge', 3],
    ])
    for (const attempt of manual.attempts) attempt.resolve('x')
  })

  test('of a retry are not asked by a hedge without a budget, and the timeline says so', async () => {
    const api = new Recorder()
    const { clock, executor } = callFixture({ budget: 'api', hedge: { delay: '1s' } }, { budgets: { api } })
    const manual = new Manual()
    const inspection = executor.inspect('job', manual.operation)
    await clock.advance(1000)
    manual.at(1).resolve('x')
    manual.at(0).resolve('x')
    const { timeline } = await inspection
    expect(api.asks).toHaveLength(1)
    expect(timeline.notes.join()).toMatch(/hedge/)
    expect(timeline.attempts[1]).toMatchObject({
      kind: 'hedge',
      hedge: true,
      budget: undefined,
      budgetReason: 'no_budget',
    })
  })

  test('of a retry are asked by a hedge that shares', async () => {
    const api = new Recorder()
    const { clock, executor } = callFixture(
      { budget: 'api', hedge: { delay: '1s', budget: 'share' } },
      { budgets: { api } },
    )
    const manual = new Manual()
    watch(executor.run('job', manual.operation))
    await clock.advance(1000)
    expect(api.asks.map((ask) => [ask.launch, ask.kind])).toEqual([
      [1, 'retry'],
      [2, 'hedge'],
    ])
    manual.at(0).resolve('x')
    manual.at(1).resolve('x')
    await turn()
    expect(api.released).toHaveLength(2)
  })

  test('of a hedge and of its retry must both allow, and both hear of the end', async () => {
    const shared: PolicyInput = {
      attempts: 1,
      budget: 'api',
      hedge: { delay: '1s', budget: { name: 'spare', share: true } },
    }
    for (const refuses of ['nobody', 'api', 'spare']) {
      const api = new Recorder(({ kind }) => kind === 'retry' || refuses !== 'api')
      const spare = new Recorder(() => refuses !== 'spare')
      const { clock, executor } = callFixture(shared, { budgets: { api, spare } })
      const manual = new Manual()
      const call = watch(executor.run('job', manual.operation))
      await clock.advance(1000)
      expect(manual.calls).toBe(refuses === 'nobody' ? 2 : 1)
      for (const attempt of manual.attempts) attempt.resolve('x')
      await turn()
      expect(call.value).toBe('x')
      expect(api.released).toHaveLength(refuses === 'nobody' ? 2 : 1)
      expect(spare.released).toHaveLength(refuses === 'spare' ? 0 : 1)
      if (refuses === 'api') expect(spare.released).toMatchObject([{ result: 'aborted', won: false }])
    }
  })

  test('of a hedge get back what they gave when the retry’s budget throws', async () => {
    const spare = concurrencyBudget({ max: 1 })
    const api: Budget = {
      allowAttempt({ kind }) {
        if (kind === 'hedge') throw new Error('broken budget')
        return { allowed: true, reason: '' }
      },
    }
    const policy: PolicyInput = {
      attempts: 1,
      budget: 'api',
      hedge: { delay: '1s', budget: { name: 'spare', share: true } },
    }
    const { clock, executor } = callFixture(policy, { budgets: { api, spare } })
    const manual = new Manual()
    const call = watch(executor.run('job', manual.operation))
    await clock.advance(1000)
    expect(spare.inUse).toBe(0)
    manual.at(0).resolve('x')
    await turn()
    expect(call.value).toBe('x')
  })

  test('that cost too little or hedge too much are clamped, and the timeline says so', async () => {
    const { executor } = callFixture({
      budget: { name: 'api', cost: 0 },
      hedge: { delay: '1s', maxHedges: 9, budget: 'api' },
    })
    const { timeline } = await executor.inspect('job', () => 'x')
    expect(timeline.policy.budget?.cost).toBe(1)
    expect(timeline.policy.hedge?.maxHedges).toBe(3)
    expect(timeline.notes).toHaveLength(4)
  })
})
