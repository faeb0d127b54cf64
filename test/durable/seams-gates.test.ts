/** Where attempts meet budgets and breakers: looks, takeovers, and transactions that are done again. */
import { describe, expect, it } from 'vitest'
import type { Budget, BudgetRequest } from '../../packages/reprise/src/core/budget.js'
import { concurrencyBudget } from '../../packages/reprise/src/core/budgets/concurrency.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { Decided, DueRequest, Keys, Ledger, Seat, View } from '../../packages/reprise/src/ledger/ledger.js'
import type { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import type { TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { withVerbs } from './with-verbs.js'
import { type Host, rejection, turns, ProcessModel } from './process-model.js'

type Opened = Host & { task: TaskHandle<null, unknown> }

const hang = (): Promise<never> => new Promise(() => undefined)

describe('what was granted to an attempt', () => {
  it('goes back when a look finds that the interrupted attempt happened', async () => {
    const model = new ProcessModel()
    const open = async (): Promise<Opened> => {
      const host = await model.open({ budgets: { shared: concurrencyBudget({ max: 1 }) } })
      const onInterrupt = { verify: () => ({ done: 1 }) }
      return { ...host, task: host.durable.task<null, unknown>('t', { budget: 'shared' }, hang, { onInterrupt }) }
    }
    const first = await open()
    await first.task.start(null, { id: 'a' })
    await turns()
    await first.kill()
    const heir = await open()
    await heir.durable.resume()
    await turns()
    expect((await model.task('t', 'a')).status).toBe('succeeded')
    expect((await model.ledger.gates())[0]?.state).toEqual({ inUse: 0 })
    await heir.durable.close()
  })

  it('goes back once when the transaction of its end has to be done again', async () => {
    const redone = (ledger: MemoryLedger): Ledger =>
      withVerbs(ledger, {
        transact: <T>(keys: Keys, decide: (view: View) => Decided<T>) =>
          ledger.transact(keys, (view) => {
            decide(view)
            return decide(view)
          }),
      })
    const model = new ProcessModel(redone)
    const { durable } = await model.open({ budgets: { shared: concurrencyBudget({ max: 1 }) } })
    const task = durable.task('t', { budget: 'shared' }, () => 1)
    await task.run(null)
    expect((await model.ledger.gates())[0]?.state).toEqual({ inUse: 0 })
    await durable.close()
  })

  it('is settled by another process under the number of its attempt', async () => {
    const settled: number[] = []
    const budget = (): Budget => ({
      allowAttempt: () => ({ allowed: true, reason: 'allowed' }),
      settle: (request: BudgetRequest) => void settled.push(request.attempt),
    })
    const model = new ProcessModel()
    const first = await model.open({ budgets: { shared: budget() } })
    await first.durable.task('t', { budget: 'shared' }, hang).start(null, { id: 'a' })
    await turns()
    await first.kill()
    const heir = await model.open({ budgets: { shared: budget() } })
    const task = heir.durable.task('t', { budget: 'shared' }, () => 1)
    await heir.durable.resume()
    await task.run(null, { id: 'a' })
    expect(settled).toEqual([1])
    await heir.durable.close()
  })

  it('that cannot be given back, since the budget throws, harms no task', async () => {
    const model = new ProcessModel()
    const budget: Budget = {
      allowAttempt: () => ({ allowed: true, reason: 'allowed' }),
      settle: () => {
        throw new Error('a bug of the budget')
      },
    }
    const { durable } = await model.open({ budgets: { shared: budget } })
    const task = durable.task('t', { budget: 'shared' }, () => 1)
    expect(await task.run(null)).toBe(1)
    await durable.close()
  })
})

describe('a transaction', () => {
  it('takes one place of a breaker that is half open, however often it is done', async () => {
    const redone = (ledger: MemoryLedger): Ledger =>
      withVerbs(ledger, {
        claim: <T>(request: DueRequest, decide: (task: TaskRecord, view: View, seat: Seat) => Decided<T>) =>
          ledger.claim(request, (task, view, seat) => {
            decide(task, view, seat)
            return decide(task, view, seat)
          }),
      })
    const model = new ProcessModel(redone)
    const { durable } = await model.open()
    const policy = { attempts: 1, breaker: { failureThreshold: 1, recoveryTimeout: '1s' } } as const
    let runs = 0
    const task = durable.task('t', policy, () => {
      if (++runs === 1) throw new Error('once')
      return 1
    })
    await rejection(task.run(null))
    await model.clock.advance(1000)
    expect(await task.run(null)).toBe(1)
    await durable.close()
  })
})
