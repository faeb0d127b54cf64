import { allOf, type Budget, concurrencyBudget, countBudget, perKey } from 'reprise'
import { grantBudget, type Json, MemoryLedger, openDurable } from 'reprise/durable'
import { virtualClock } from 'reprise/testing'
import { describe, expect, it } from 'vitest'
import { breakerViews, budgetViews } from './gates.js'
import { clockReading } from '../../../../test/clock-reading.js'

const NOW = 1_000_000

async function ledgerWith(kind: 'breaker' | 'budget', gates: Record<string, [state: Json, settings?: Json]>) {
  const ledger = new MemoryLedger({ clock: clockReading(() => NOW) })
  const records = Object.entries(gates).map(([name, [state, settings]]) => {
    return { key: `${kind}:${name}`, kind, state, ...(settings !== undefined && { settings }) }
  })
  await ledger.transact({ tasks: [] }, () => ({ gates: records, result: 0 }))
  return ledger
}

const SETTINGS = { failureThreshold: 5, recoveryTimeoutMs: 30_000, halfOpenMaxCalls: 1 }

describe('the views of breakers', () => {
  it('are sorted by name, with how many failures of how many', async () => {
    const closed = { phase: 'closed', failures: 2, openUntilMs: null }
    const ledger = await ledgerWith('breaker', { mail: [closed, SETTINGS], 'db:orders': [closed] })
    expect(await breakerViews(ledger, NOW)).toEqual([
      {
        name: 'db:orders',
        state: 'closed',
        failures: 2,
        failureThreshold: null,
        halfOpenAtMs: null,
        lastFailureAtMs: null,
      },
      { name: 'mail', state: 'closed', failures: 2, failureThreshold: 5, halfOpenAtMs: null, lastFailureAtMs: null },
    ])
  })

  it.each([
    ['open', NOW - 1, 'open'],
    ['open', NOW, 'half_open'],
    ['half_open', NOW - 1, 'half_open'],
  ])('show one that is %s until its time as what it is at %i: %s', async (phase, now, state) => {
    const ledger = await ledgerWith('breaker', { mail: [{ phase, failures: 5, openUntilMs: NOW }, SETTINGS] })
    expect(await breakerViews(ledger, now)).toMatchObject([{ state, failures: 5, halfOpenAtMs: NOW }])
  })

  it('are none where there is none', async () => {
    const ledger = new MemoryLedger({ clock: clockReading(() => NOW) })
    expect([await breakerViews(ledger, NOW), await budgetViews(ledger)]).toEqual([[], []])
  })
})

describe('the views of budgets', () => {
  it('have the limits beside the figures, where they are known', async () => {
    const ledger = await ledgerWith('budget', {
      own: [{ mood: 'good' }],
      word: ['closed', { type: 'door' }],
      list: [[1, 2], { type: 'pair' }],
      count: [
        { used: 3, keys: [] },
        { type: 'count', total: 20 },
      ],
    })
    expect(await budgetViews(ledger)).toEqual([
      { name: 'count', type: 'count', state: { total: 20, used: 3, keys: [] } },
      { name: 'list', type: 'pair', state: [1, 2] },
      { name: 'own', type: null, state: { mood: 'good' } },
      { name: 'word', type: 'door', state: 'closed' },
    ])
  })

  it('are what programs and operators made of them', async () => {
    const ledger = new MemoryLedger({ clock: clockReading(() => NOW) })
    const silent: Budget = { allowAttempt: () => ({ allowed: true, reason: 'allowed' }), peek: () => true }
    const budgets = {
      retries: countBudget({ total: 20 }),
      several: allOf(concurrencyBudget({ max: 3 }), silent),
      each: perKey(() => countBudget({ total: 1 })),
    }
    const durable = await openDurable(ledger, { budgets, clock: virtualClock({ startMs: NOW }) })
    for (const budget of Object.keys(budgets)) await durable.task(budget, { budget }, () => 1).run(null)
    await grantBudget(ledger, 'retries', { amount: 5, reason: 'the batch matters' })
    expect(await budgetViews(ledger)).toEqual([
      {
        name: 'each',
        type: 'per_key',
        state: { each: { type: 'count', total: 1 }, keys: { each: { used: 0, keys: [] } } },
      },
      { name: 'retries', type: 'count', state: { total: 20, used: 0, keys: [], granted: 5 } },
      { name: 'several', type: 'all_of', state: { members: [{ type: 'concurrency', max: 3, inUse: 0 }, null] } },
    ])
    await durable.close()
  })
})
