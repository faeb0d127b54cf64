/** Budgets that a person grants more to while processes use them. */
import { describe, expect, it } from 'vitest'
import type { Budget } from '../../packages/reprise/src/core/budget.js'
import {
  adaptiveBudget,
  allOf,
  concurrencyBudget,
  countBudget,
  perKey,
  ratioBudget,
  tokenBucket,
} from '../../packages/reprise/src/core/budgets/index.js'
import { grantBudget, listGates, type StoredBudget } from '../../packages/reprise/src/durable/gate-control.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { deferred, type Host, rejection, turns, ProcessModel } from './process-model.js'

const POLICY = { attempts: 10, initialDelay: '1s', backoff: 'fixed', jitter: false, budget: 'shared' } as const
const REASON = 'the batch matters'

type Opened = Host & { task: TaskHandle<null, unknown>; made: () => number }

const fail = (): never => {
  throw new Error('no')
}

async function open(model: ProcessModel, budget: Budget, operation: () => unknown = fail): Promise<Opened> {
  let made = 0
  const host = await model.open({ budgets: { shared: budget } })
  const task = host.durable.task<null, unknown>('t', POLICY, () => {
    made++
    return operation()
  })
  return { ...host, task, made: () => made }
}

async function budgetIn(model: ProcessModel): Promise<StoredBudget | undefined> {
  return (await listGates(model.ledger)).budgets[0]
}

const DENIED = { state: 'failed', stopReason: 'budget_denied' }

describe('a count that is granted more', () => {
  it('allows so many more in every process that found it exhausted, and no more than that', async () => {
    const model = new ProcessModel()
    const hosts = [await open(model, countBudget({ total: 2 })), await open(model, countBudget({ total: 2 }))]
    const [first, second] = hosts as [Opened, Opened]
    await first.task.start(null, { id: 'a' })
    await model.clock.advance(60_000)
    await second.task.start(null, { id: 'b' })
    await model.clock.advance(60_000)
    expect(await first.task.status('a')).toMatchObject(DENIED)
    expect(await first.task.status('b')).toMatchObject(DENIED)
    expect(first.made() + second.made()).toBe(4)

    const change = await grantBudget(model.ledger, 'shared', { amount: 3, reason: REASON })
    expect(change).toMatchObject({ gate: 'budget:shared', action: 'grant', reason: REASON, amount: 3 })
    expect([change.before, change.after]).toEqual([
      { used: 2, keys: [] },
      { used: 2, keys: [], granted: 3 },
    ])
    await first.task.reset('a')
    await second.task.reset('b')
    await model.clock.advance(60_000)
    expect(first.made() + second.made()).toBe(4 + 2 + 3)
    expect((await budgetIn(model))?.state).toEqual({ used: 5, keys: [], granted: 3 })
    for (const { durable } of hosts) await durable.close()
  })

  it('keeps what it was granted over kills, and over a grant that nobody has heard of yet', async () => {
    const model = new ProcessModel()
    let host = await open(model, countBudget({ total: 1 }))
    await host.task.start(null, { id: 'a' })
    await model.clock.advance(60_000)
    await grantBudget(model.ledger, 'shared', { amount: 1, reason: REASON })
    await host.kill()
    host = await open(model, countBudget({ total: 1 }))
    await host.task.reset('a')
    await model.clock.advance(60_000)
    expect(host.made()).toBe(2)
    await host.kill()
    host = await open(model, countBudget({ total: 1 }))
    await host.task.reset('a')
    await model.clock.advance(60_000)
    expect(host.made()).toBe(1)
    await host.durable.close()
  })

  it('lets a retry go that waited while the rest of it was used up', async () => {
    const model = new ProcessModel()
    const host = await open(model, countBudget({ total: 2 }))
    let made = 0
    const slow = host.durable.task<null, unknown>('slow', { ...POLICY, initialDelay: '10s' }, () => {
      made++
      return fail()
    })
    await slow.start(null, { id: 'a' })
    await turns()
    await host.task.start(null, { id: 'b' })
    await model.clock.advance(5000)
    expect(await host.task.status('b')).toMatchObject(DENIED)
    await grantBudget(model.ledger, 'shared', { amount: 1, reason: REASON })
    await model.clock.advance(60_000)
    expect(made).toBe(2)
    expect(await slow.status('a')).toMatchObject(DENIED)
    await host.durable.close()
  })

  it('does not disturb an attempt that runs', async () => {
    const model = new ProcessModel()
    const end = deferred<string>()
    let calls = 0
    const host = await open(model, countBudget({ total: 1 }), () => (calls++ === 0 ? fail() : end.promise))
    await host.task.start(null, { id: 'a' })
    await model.clock.advance(1000)
    await grantBudget(model.ledger, 'shared', { amount: 1, reason: REASON })
    end.resolve('done')
    expect(await host.task.run(null, { id: 'a' })).toBe('done')
    expect((await budgetIn(model))?.state).toEqual({ used: 1, keys: [], granted: 1 })
    await host.durable.close()
  })
})

describe('a bucket that is granted tokens', () => {
  it('admits as many more as found room', async () => {
    const model = new ProcessModel()
    const host = await open(model, tokenBucket({ capacity: 2, refillPerSecond: 0 }), () => 'fine')
    for (const id of ['a', 'b']) expect(await host.task.run(null, { id })).toBe('fine')
    expect(await rejection(host.task.run(null, { id: 'c' }))).toMatchObject({ stopReason: 'budget_denied' })
    expect(await grantBudget(model.ledger, 'shared', { amount: 5, reason: REASON })).toMatchObject({
      amount: 2,
      after: { tokens: 2 },
    })
    for (const id of ['d', 'e']) expect(await host.task.run(null, { id })).toBe('fine')
    expect(await rejection(host.task.run(null, { id: 'f' }))).toMatchObject({ stopReason: 'budget_denied' })
    await host.durable.close()
  })

  it('that is full by now has no room for any', async () => {
    const model = new ProcessModel()
    const host = await open(model, tokenBucket({ capacity: 2, refillPerSecond: 1 }), () => 'fine')
    await host.task.run(null, { id: 'a' })
    await model.clock.advance(1000)
    const refused = { code: 'gate_refused', kind: 'nothing_to_grant', message: expect.stringContaining('full') }
    await expect(grantBudget(model.ledger, 'shared', { amount: 1, reason: REASON })).rejects.toMatchObject(refused)
    await host.durable.close()
  })
})

describe('a budget that has nothing to grant', () => {
  const custom: Budget = {
    allowAttempt: () => ({ allowed: true, reason: 'allowed' }),
    snapshot: () => ({ mood: 'good' }),
  }

  it.each<[string, Budget, string | null]>([
    ['ratio', ratioBudget(), 'ratio'],
    ['concurrency', concurrencyBudget({ max: 1 }), 'concurrency'],
    ['adaptive', adaptiveBudget(), 'adaptive'],
    ['one for each key', perKey(() => countBudget({ total: 1 })), 'per_key'],
    ['several', allOf(countBudget({ total: 1 }), concurrencyBudget({ max: 9 })), 'all_of'],
    ["a program's own", custom, null],
  ])('is left as it is, and the answer says which have: %s', async (_what, budget, type) => {
    const model = new ProcessModel()
    const host = await open(model, budget, () => 'fine')
    await host.task.run(null, { id: 'a' })
    const before = await model.ledger.gates()
    expect(await budgetIn(model)).toMatchObject({ name: 'shared', type, isGrantable: false })
    const message = expect.stringMatching(/count \(raises what is left\) and token_bucket \(tokens/)
    const refused = { code: 'gate_refused', kind: 'nothing_to_grant', message }
    await expect(grantBudget(model.ledger, 'shared', { amount: 1, reason: REASON })).rejects.toMatchObject(refused)
    expect(await model.ledger.gates()).toEqual(before)
    expect((await model.ledger.events(0, 100)).filter(({ type: told }) => told === 'gate_changed')).toEqual([])
    await host.durable.close()
  })

  it('that cannot even say what it is, is used all the same', async () => {
    const model = new ProcessModel()
    const host = await open(model, { ...custom, describe: () => fail() }, () => 'fine')
    expect(await host.task.run(null, { id: 'a' })).toBe('fine')
    expect(await budgetIn(model)).toMatchObject({ type: null, settings: null, state: { mood: 'good' } })
    await host.durable.close()
  })
})

describe('a budget of a process that knew it before anybody used it', () => {
  it('begins with what others have used since', async () => {
    const model = new ProcessModel()
    const line: (() => void)[] = []
    const door: Budget = {
      allowAttempt: () => ({ allowed: false, reason: 'wait' }),
      park: (_request, wake) => {
        line.push(() => wake({ allowed: true, reason: 'allowed' }))
        return () => undefined
      },
    }
    const budgets = { shared: countBudget({ total: 3 }), door }
    const { durable } = await model.open({ budgets, concurrency: 1 })
    const lined = durable.task<null, unknown>('lined', { budget: 'door' }, () => 'done')
    let made = 0
    const task = durable.task<null, unknown>('t', POLICY, () => {
      made++
      return fail()
    })
    // Its line is full: it looks for tasks of budgets without one, and asks each whether it has.
    await lined.start(null, { id: 'a' })
    await turns()
    await lined.start(null, { id: 'b' })
    await turns()
    expect(line).toHaveLength(1)

    const other = await open(model, countBudget({ total: 3 }))
    await other.task.start(null, { id: 'x' })
    await model.clock.advance(3000)
    await other.durable.close()
    await task.start(null, { id: 'y' })
    await model.clock.advance(10_000)
    expect(other.made() + made).toBe(2 + 3)
    await durable.close()
  })
})
