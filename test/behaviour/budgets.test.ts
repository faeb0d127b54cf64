/**
 * How a call asks its budget, and what a denial does.
 */
import { describe, expect, test } from 'vitest'
import { type Budget, BudgetDeniedError, BudgetRegistry, countBudget, type Decision, type PolicyInput } from 'reprise'
import { failing, Recorder, wayFixture, WAYS } from './call-fixture.js'

const down = new Error('down')

describe.each(WAYS)('a call %s', (way) => {
  describe('asks', () => {
    test('before every attempt, numbered from 1', async () => {
      const api = new Recorder()
      await wayFixture(way, { attempts: 3, budget: { name: 'api', cost: 4 } }, { budgets: { api } }).play(failing(down))
      expect(
        api.asks.map(({ key, attempt, launch, kind, ref, now }) => ({ key, attempt, launch, kind, ref, now })),
      ).toEqual(
        [0, 1000, 3000].map((now, index) => ({
          key: 'job',
          attempt: index + 1,
          launch: index + 1,
          kind: 'retry',
          ref: { name: 'api', cost: 4 },
          now,
        })),
      )
    })

    test('after the wait and right before the operation', async () => {
      const order: string[] = []
      const api = new Recorder(({ now }) => (order.push(`asked at ${now}`), true))
      const { clock, play } = wayFixture(way, { attempts: 2, budget: 'api' }, { budgets: { api } })
      await play(() => {
        order.push(`called at ${clock.monotonicMs()}`)
        throw down
      })
      expect(order).toEqual(['asked at 0', 'called at 0', 'asked at 1000', 'called at 1000'])
    })

    test('nobody when the signal is already aborted', async () => {
      const api = new Recorder()
      const { play } = wayFixture(way, { budget: 'api' }, { budgets: { api } })
      const reason = new Error('enough')
      const call = await play(() => 'never', { signal: AbortSignal.abort(reason) })
      expect(call.error).toBe(reason)
      expect(api.asks).toEqual([])
    })

    test('peek before the wait and stops early, with the same denied record', async () => {
      const api = Object.assign(new Recorder(({ attempt }) => attempt === 1), { peek: () => false })
      const call = await wayFixture(way, { attempts: 4, budget: 'api' }, { budgets: { api } }).play(failing(down))
      expect(call.atMs).toBe(0)
      expect(call.error).toBe(down)
      expect(api.allowed).toBe(1)
      expect(call.timeline).toMatchObject({
        stopReason: 'budget_denied',
        budgetReason: 'budget_denied',
        totalDelayMs: 0,
      })
      expect(call.timeline?.attempts).toHaveLength(2)
      expect(call.timeline?.attempts[1]).toMatchObject({
        attempt: 2,
        launch: 2,
        outcome: 'denied',
        budget: 'api',
        budgetAllowed: false,
      })
    })

    test('again at the launch when peek was in favour', async () => {
      const api = Object.assign(new Recorder(({ attempt }) => attempt === 1), { peek: () => true })
      const call = await wayFixture(way, { attempts: 4, budget: 'api' }, { budgets: { api } }).play(failing(down))
      expect(call.atMs).toBe(1000)
      expect(api.asks).toHaveLength(2)
      expect(call.timeline?.attempts).toHaveLength(2)
      expect(call.timeline?.attempts[1]).toMatchObject({
        attempt: 2,
        launch: 2,
        outcome: 'denied',
        delayBeforeMs: 1000,
      })
    })
  })

  describe('finds its budget', () => {
    test.each([
      ['no name', {}, { api: new Recorder(() => false) }, true, 'no_budget'],
      ['a blank name', { budget: '  ' }, { api: new Recorder(() => false) }, true, 'no_budget'],
      ['no registry', { budget: 'api' }, undefined, true, 'no_budget'],
      ['a name nobody registered', { budget: 'other' }, { api: new Recorder(() => false) }, true, 'budget_not_found'],
      ['a name with spaces around it', { budget: ' api ' }, { api: new Recorder() }, true, 'allowed'],
    ] as [string, PolicyInput, Record<string, Budget> | undefined, boolean, string][])(
      '%s',
      async (_, policy, budgets, allowed, reason) => {
        const options = budgets === undefined ? {} : { budgets }
        const call = await wayFixture(way, { attempts: 1, ...policy }, options).play(failing(down))
        expect(call.error).toBe(down)
        expect(call.timeline?.attempts[0]).toMatchObject({ budgetAllowed: allowed, budgetReason: reason })
      },
    )

    test('or is denied without one, where missingBudgetMode says so', async () => {
      const operation = failing(down)
      const { play } = wayFixture(way, { budget: 'other' }, { budgets: {}, missingBudgetMode: 'deny' })
      const call = await play(operation)
      expect(operation.calls).toBe(0)
      expect(call.error).toMatchObject({ code: 'budget_denied', reason: 'budget_not_found', budget: 'other' })
    })

    test('in a registry that is filled or changed later', async () => {
      const budgets = new BudgetRegistry()
      const { play } = wayFixture(way, { attempts: 1, budget: 'api' }, { budgets, missingBudgetMode: 'deny' })
      expect((await play(() => 'x')).error).toBeInstanceOf(BudgetDeniedError)
      budgets.register(' api ', new Recorder())
      expect((await play(() => 'x')).value).toBe('x')
      budgets.register('api', new Recorder(() => 'replaced'))
      expect((await play(() => 'x')).error).toMatchObject({ reason: 'replaced' })
    })
  })

  test('tells the ends of attempts to the budget that allowed them, after another of its name heard of none', async () => {
    const budgets = new BudgetRegistry().register('api', countBudget({ total: 1000 }))
    const { play } = wayFixture(way, { attempts: 1, budget: 'api', breaker: {} }, { budgets })
    await play(() => 'x')
    const told: string[] = []
    const hearing: Budget = {
      allowAttempt: () => ({ allowed: true, reason: 'allowed' }),
      conclude: (_, { result }) => void told.push(result),
    }
    budgets.register('api', hearing)
    await play(() => 'x')
    await play(failing(down))
    budgets.register('api', countBudget({ total: 1000 }))
    await play(() => 'x')
    expect(told).toEqual(['success', 'failure'])
  })

  test.each([
    [undefined, 1],
    [0, 1],
    [-5, 1],
    [1, 1],
    [2.5, 2.5],
    [7, 7],
  ])('passes a cost of %s on as %s', async (cost, expected) => {
    const api = new Recorder()
    const ref = cost === undefined ? { name: 'api' } : { name: 'api', cost }
    await wayFixture(way, { attempts: 1, budget: ref }, { budgets: { api } }).play(() => 'x')
    expect(api.asks[0]?.ref.cost).toBe(expected)
  })

  test('fills empty reasons in and keeps others word by word', async () => {
    const reasons = async (answer: Decision): Promise<string | undefined> => {
      const budgets = { api: { allowAttempt: () => answer } }
      return (await wayFixture(way, { attempts: 1, budget: 'api' }, { budgets }).play(failing(down))).timeline
        ?.attempts[0]?.budgetReason
    }
    expect(await reasons({ allowed: true, reason: '' })).toBe('allowed')
    expect(await reasons({ allowed: false, reason: '' })).toBe('budget_denied')
    expect(await reasons({ allowed: true, reason: 'Sunday, 3 %' })).toBe('Sunday, 3 %')
    expect(await reasons({ allowed: false, reason: ' quota ' })).toBe(' quota ')
  })

  test('rejects with the previous error itself when a later attempt is denied, whatever the reason', async () => {
    const errors = [new Error('1'), new Error('2')]
    const api = new Recorder(({ attempt }) => (attempt < 3 ? true : 'not_retryable'))
    const operation = failing(...errors)
    const call = await wayFixture(way, { attempts: 9, budget: 'api' }, { budgets: { api } }).play(operation)
    expect(operation.calls).toBe(2)
    expect(call.error).toBe(errors[1])
    expect(call.timeline).toMatchObject({ stopReason: 'budget_denied', budgetReason: 'not_retryable' })
    expect(call.timeline?.attempts.map((attempt) => [attempt.launch, attempt.outcome])).toEqual([
      [1, 'failure'],
      [2, 'failure'],
      [3, 'denied'],
    ])
    expect(api.released).toHaveLength(2)
  })

  test('says with the budget’s own word why a count denied its retry', async () => {
    const api = countBudget({ total: 1 })
    const call = await wayFixture(way, { attempts: 5, budget: 'api' }, { budgets: { api } }).play(failing(down))
    expect(call.timeline?.stopReason).toBe('budget_denied')
    expect(call.timeline?.budgetReason).toBe('count_exhausted')
  })
})
