/** Tasks that stand in the line of a budget: they keep their owner, and leave exactly once. */
import { describe, expect, it } from 'vitest'
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../../packages/reprise/src/core/budget.js'
import { adaptiveBudget } from '../../packages/reprise/src/core/budgets/adaptive.js'
import type { PolicyInput } from '../../packages/reprise/src/core/policy.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { type Host, rejection, turns, ProcessModel } from './process-model.js'

/** Lets through whom it is told to. */
class Doorkeeper implements Budget {
  readonly maxParkMs = 20_000
  readonly line: ((grant: Decision) => void)[] = []
  readonly concluded: string[] = []
  inside = 0

  allowAttempt(_request: BudgetRequest): Decision {
    return { allowed: false, reason: 'wait' }
  }

  park(_request: BudgetRequest, wake: (grant: Decision) => void): () => void {
    this.line.push(wake)
    return () => void this.line.splice(this.line.indexOf(wake), 1)
  }

  conclude({ attempt }: BudgetRequest, { result }: AttemptOutcome): void {
    this.concluded.push(`${attempt} ${result}, ${this.inside} inside`)
  }

  /** The first in line may go. */
  open(): void {
    this.inside++
    this.line.shift()?.({ allowed: true, reason: 'allowed', release: () => void this.inside-- })
  }
}

type Opened = Host & { task: TaskHandle<null, unknown>; door: Doorkeeper; runs: () => number }

async function open(model: ProcessModel, policy: PolicyInput = { attempts: 2 }): Promise<Opened> {
  const door = new Doorkeeper()
  let runs = 0
  const host = await model.open({ budgets: { door } })
  const whole = { ...(policy as object), budget: 'door' }
  const task = host.durable.task<null, unknown>('t', whole, () => {
    runs++
    return 'done'
  })
  return { ...host, task, door, runs: () => runs }
}

async function parked(model: ProcessModel, policy?: PolicyInput): Promise<Opened> {
  const host = await open(model, policy)
  await host.task.start(null, { id: 'a' })
  await turns()
  expect(await model.task('t', 'a')).toMatchObject({ status: 'parked', owner: host.line.owner?.id })
  return host
}

describe('a parked task', () => {
  it('runs when it is let through, and gives back what it was given', async () => {
    const model = new ProcessModel()
    const { durable, task, door } = await parked(model)
    const result = task.run(null, { id: 'a' })
    door.open()
    expect(await result).toBe('done')
    expect(door.inside).toBe(0)
    expect(door.concluded).toEqual(['1 success, 1 inside'])
    await durable.close()
    expect(model.clock.pending).toBe(0)
  })

  it('fails at the end of its patience, and is not let through afterwards', async () => {
    const model = new ProcessModel()
    const { durable, task, door, runs } = await parked(model)
    await model.clock.advance(20_000)
    expect(await rejection(task.run(null, { id: 'a' }))).toMatchObject({ stopReason: 'budget_denied', attempts: 0 })
    expect(door.line).toEqual([])
    expect(runs()).toBe(0)
    await durable.close()
  })

  it('ends with its deadline, if that comes first', async () => {
    const model = new ProcessModel()
    const { durable, task } = await parked(model, { attempts: 2, timeout: '5s' })
    await model.clock.advance(5000)
    expect(await rejection(task.run(null, { id: 'a' }))).toMatchObject({ stopReason: 'timeout' })
    await durable.close()
  })

  it('is left for others when its process stops', async () => {
    const model = new ProcessModel()
    const { durable, door } = await parked(model)
    await durable.close()
    expect(await model.task('t', 'a')).toMatchObject({ status: 'waiting', owner: null, dueAtMs: model.now })
    expect(door.line).toEqual([])
    const second = await parked(model)
    second.door.open()
    await turns()
    expect(second.runs()).toBe(1)
    await second.durable.close()
  })

  it('is taken from a lost owner, and not resumed, since it has not failed', async () => {
    const model = new ProcessModel()
    const first = await parked(model)
    await first.kill()
    const second = await open(model)
    expect(await second.durable.resume()).toMatchObject({ resumed: 1 })
    await turns()
    expect(await model.task('t', 'a')).toMatchObject({ status: 'parked', progress: { retry: { resumed: false } } })
    first.door.open()
    second.door.open()
    await turns()
    expect([first.runs(), second.runs()]).toEqual([0, 1])
    await second.durable.close()
  })

  it('leaves the line when it is cancelled, and keeps nothing of what it is given', async () => {
    const model = new ProcessModel()
    const { durable, task, door, runs } = await parked(model)
    await task.cancel('a')
    await turns()
    expect(door.line).toEqual([])
    expect(runs()).toBe(0)
    await durable.close()
    expect(model.clock.pending).toBe(0)
  })

  it('gives back a grant that comes while another takes the task', async () => {
    const model = new ProcessModel()
    const { durable, task, door, line } = await parked(model)
    const other = await open(model)
    line.hold()
    door.open()
    await other.task.cancel('a')
    line.release()
    await turns()
    expect(door.inside).toBe(0)
    expect(door.concluded).toEqual(['1 aborted, 1 inside'])
    expect(await task.status('a')).toMatchObject({ state: 'cancelled' })
    await durable.close()
    await other.durable.close()
  })
})

describe('an adaptive budget', () => {
  it('parks what a failing dependency cannot bear, and lets it go on when that is well again', async () => {
    const model = new ProcessModel()
    const host = await model.open({ budgets: { adaptive: adaptiveBudget({}) }, concurrency: 100 })
    let isDown = true
    const policy = { attempts: 4, initialDelay: '100ms', budget: 'adaptive' } as const
    const task = host.durable.task('t', policy, () => {
      if (isDown) throw new Error('down')
      return 'up'
    })
    const results = Array.from({ length: 30 }, (_, index) => task.run(null, { id: `i${index}` }))
    await model.clock.advance(2000)
    const waiting = await model.ledger.list({ statuses: ['parked'] })
    expect(waiting.length).toBeGreaterThan(0)
    isDown = false
    const fresh = Array.from({ length: 60 }, (_, index) => task.run(null, { id: `n${index}` }))
    await model.clock.advance(60_000)
    expect(new Set(await Promise.all(fresh))).toEqual(new Set(['up']))
    const ended = await Promise.allSettled(results)
    expect(ended.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
    expect(await model.ledger.list({ statuses: ['parked', 'running', 'waiting'] })).toEqual([])
    await host.durable.close()
  })
})
