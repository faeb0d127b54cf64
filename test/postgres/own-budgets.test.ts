/**
 * A budget that is a process's own cannot be set back to what it was before a transaction: when that has to be done again,
 * since its connection was cut at the commit, the budget is not asked again.
 */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Budget } from '../../packages/reprise/src/core/budget.js'
import { adaptiveBudget } from '../../packages/reprise/src/core/budgets/adaptive.js'
import { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { environmentOf } from '../../packages/reprise/src/runtime/executor-options.js'
import { withVerbs } from '../durable/with-verbs.js'
import { PostgresProxy } from './proxy.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
let proxy: PostgresProxy
let durable: Durable
beforeEach(async () => {
  proxy = await PostgresProxy.listen(Number(new URL(database.url).port))
})
afterEach(async () => {
  await durable.close()
  await proxy.close()
})
afterAll(() => database.drop())

interface Cuts {
  /** The task whose claim is cut at its commit. */
  id: string
  /** How often it was decided. */
  decided: number
  /** What was on its way. */
  statement: string
}

/** Cuts the connection at the commit of the claim that was just decided, the first time. */
function withCuts(ledger: Ledger, cuts: Cuts): Ledger {
  return withVerbs(ledger, {
    claim: (request, decide) =>
      ledger.claim(request, (task, view, seat) => {
        if (task.id === cuts.id && ++cuts.decided === 1)
          void proxy.cutAtCommit('before').then((statement) => (cuts.statement = statement))
        return decide(task, view, seat)
      }),
  })
}

let schemas = 0
async function open(budget: Budget): Promise<{ task: TaskHandle<string, string>; cuts: Cuts; runs: string[] }> {
  const cuts = { id: '', decided: 0, statement: '' }
  const ledger = await openPostgres(`${proxy.urlOf(database.url)}?schema=own_${schemas++}`)
  const settings = { concurrency: 5, leaseMs: 30_000, policyChange: 'refuse' } as const
  durable = await Durable.open(withCuts(ledger, cuts), environmentOf({ budgets: { mine: budget } }), settings)
  const runs: string[] = []
  const task = durable.task<string, string>('t', { attempts: 3, budget: 'mine' }, (id) => {
    runs.push(id)
    return id
  })
  await task.run('uncut', { id: 'uncut' })
  return { task, cuts, runs }
}

/** Its claim is decided, lost, and decided again. */
async function runWithCut(task: TaskHandle<string, string>, cuts: Cuts, id: string): Promise<void> {
  Object.assign(cuts, { id, decided: 0, statement: '' })
  expect(await task.run(id, { id })).toBe(id)
  expect(cuts.statement).toMatch(/COMMIT/)
  expect(cuts.decided).toBeGreaterThan(1)
}

describe('a budget of this process alone, whose claim is cut at its commit', () => {
  it('is asked once for an attempt, and given back what it allowed', async () => {
    const asked: number[] = []
    let used = 0
    const budget: Budget = {
      allowAttempt: ({ attempt }) => {
        asked.push(attempt)
        if (used > 0) return { allowed: false, reason: 'full' }
        used++
        return { allowed: true, reason: 'allowed' }
      },
      settle: () => void used--,
    }
    const { task, cuts, runs } = await open(budget)
    for (const id of ['a', 'b', 'c']) await runWithCut(task, cuts, id)
    expect(runs).toEqual(['uncut', 'a', 'b', 'c'])
    expect(asked).toEqual([1, 1, 1, 1])
    expect(used).toBe(0)
  })

  it('and which makes attempts stand in line has none in flight when nothing runs', async () => {
    const budget = adaptiveBudget({ bulkhead: true })
    const { task, cuts, runs } = await open(budget)
    for (const id of ['a', 'b', 'c']) {
      await runWithCut(task, cuts, id)
      expect(budget.inFlight).toBe(0)
    }
    expect(runs).toEqual(['uncut', 'a', 'b', 'c'])
  })
})
