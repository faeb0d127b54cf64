/** Budgets and breakers of durable tasks are kept with them: I4 and I9. */
import { describe, expect, it } from 'vitest'
import type { Budget } from '../../packages/reprise/src/core/budget.js'
import { concurrencyBudget } from '../../packages/reprise/src/core/budgets/concurrency.js'
import { countBudget } from '../../packages/reprise/src/core/budgets/count.js'
import type { PolicyInput } from '../../packages/reprise/src/core/policy.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { deferred, type Host, rejection, turns, ProcessModel } from './process-model.js'

type Opened = Host & { task: TaskHandle<null, unknown> }
interface Setting {
  readonly policy: PolicyInput
  readonly budget?: Budget
  readonly operation: () => unknown
  readonly onInterrupt?: 'rerun' | 'fail'
}

async function open(
  model: ProcessModel,
  { policy, budget, operation, onInterrupt = 'rerun' }: Setting,
): Promise<Opened> {
  const host = await model.open(budget === undefined ? {} : { budgets: { shared: budget } })
  return { ...host, task: host.durable.task<null, unknown>('t', policy, operation, { onInterrupt }) }
}

const fail = (): never => {
  throw new Error('no')
}
const hang = (): Promise<never> => new Promise(() => undefined)

describe('a count budget', () => {
  const policy = { attempts: 10, initialDelay: '1s', backoff: 'fixed', jitter: false, budget: 'shared' } as const

  it('is not exceeded over restarts', async () => {
    const model = new ProcessModel()
    const total = 5
    let made = 0
    const operation = (): never => {
      made++
      return fail()
    }
    let host = await open(model, { policy, operation, budget: countBudget({ total }) })
    await host.task.start(null, { id: 'a' })
    await host.task.start(null, { id: 'b' })
    for (let restart = 0; restart < 12; restart++) {
      await model.clock.advance(1000)
      if (restart % 2 === 0) await host.kill()
      else await host.durable.close()
      host = await open(model, { policy, operation, budget: countBudget({ total }) })
      await host.durable.resume()
      await turns()
    }
    expect(made).toBe(2 + total)
    expect(await host.task.status('a')).toMatchObject({ state: 'failed', stopReason: 'budget_denied' })
    expect((await model.ledger.gates())[0]?.state).toMatchObject({ used: total })
    await host.durable.close()
  })

  it('is not granted afresh by a process that was open all the while', async () => {
    const model = new ProcessModel()
    let made = 0
    const operation = (): never => {
      made++
      return fail()
    }
    const standby = await open(model, { policy, operation, budget: countBudget({ total: 3 }) })
    standby.line.hold()
    const first = await open(model, { policy, operation, budget: countBudget({ total: 3 }) })
    await first.task.start(null, { id: 'a' })
    await model.clock.advance(2000)
    await first.kill()
    standby.line.release()
    await standby.durable.resume()
    await model.clock.advance(60_000)
    expect(made).toBe(4)
    await standby.durable.close()
  })

  it('is not charged again for an attempt that was interrupted', async () => {
    const model = new ProcessModel()
    const first = await open(model, { policy, operation: fail, budget: countBudget({ total: 5 }) })
    await first.task.start(null, { id: 'a' })
    await turns()
    await first.durable.close()
    let host = await open(model, { policy, operation: hang, budget: countBudget({ total: 5 }) })
    await model.clock.advance(1000)
    for (let loss = 0; loss < 2; loss++) {
      await turns()
      await host.kill()
      host = await open(model, { policy, operation: hang, budget: countBudget({ total: 5 }) })
      await host.durable.resume()
    }
    await turns()
    expect(await model.task('t', 'a')).toMatchObject({ status: 'running' })
    expect((await model.ledger.gates())[0]?.state).toMatchObject({ used: 1 })
    await host.durable.close()
  })

  it('denies before the wait what it would deny after it, as a live call does', async () => {
    const model = new ProcessModel()
    const host = await open(model, { policy, operation: fail, budget: countBudget({ total: 0 }) })
    await host.task.start(null, { id: 'a' })
    await turns()
    expect(await host.task.status('a')).toMatchObject({ state: 'failed', stopReason: 'budget_denied', totalDelayMs: 0 })
    await host.durable.close()
  })
})

describe('a budget with conclude', () => {
  const heard: string[] = []
  const budget = (): Budget => ({
    allowAttempt: () => ({ allowed: true, reason: '' }),
    conclude: ({ attempt }, { result, latencyMs }) => void heard.push(`conclude ${attempt} ${result} ${latencyMs}`),
    settle: ({ attempt }, { result }) => void heard.push(`settle ${attempt} ${result}`),
  })
  const policy = { attempts: 2, initialDelay: '1s', jitter: false, attemptTimeout: '5s', budget: 'shared' } as const

  it('hears of each attempt once, right before settle', async () => {
    heard.length = 0
    const model = new ProcessModel()
    let calls = 0
    const operation = (): unknown => (++calls === 1 ? hang() : 'done')
    const { task, durable } = await open(model, { policy, operation, budget: budget() })
    const result = task.run(null, { id: 'a' })
    await model.clock.advance(6000)
    expect(await result).toBe('done')
    await durable.close()
    expect(heard).toEqual(['conclude 1 timeout 5000', 'settle 1 timeout', 'conclude 2 success 0', 'settle 2 success'])
  })

  it('hears of an attempt that another process ends, and of one that is cancelled', async () => {
    heard.length = 0
    const model = new ProcessModel()
    const lost = await open(model, { policy, operation: hang, budget: budget() })
    await lost.task.start(null, { id: 'a' })
    await turns()
    await lost.kill()
    expect(heard).toEqual([])
    const next = await open(model, { policy, operation: hang, budget: budget() })
    await next.durable.resume()
    await turns()
    await next.task.cancel('a')
    await turns()
    expect(heard).toEqual(['conclude 1 aborted 0', 'settle 1 aborted'])
    await next.durable.close()
  })

  it('that throws is settled all the same, and changes nothing', async () => {
    heard.length = 0
    const model = new ProcessModel()
    const broken = { ...budget(), conclude: fail }
    const { task, durable } = await open(model, { policy, operation: () => 'done', budget: broken })
    expect(await task.run(null, { id: 'a' })).toBe('done')
    expect(heard).toEqual(['settle 1 success'])
    await durable.close()
  })
})

describe('a place of a concurrency budget', () => {
  const policy = { attempts: 3, initialDelay: '1s', jitter: false, budget: 'shared' } as const
  const inUse = async (model: ProcessModel): Promise<unknown> =>
    ((await model.ledger.gates())[0]?.state as { inUse: number } | undefined)?.inUse

  it('comes back with the end of an attempt that began in a lost process', async () => {
    const model = new ProcessModel()
    const first = await open(model, { policy, operation: hang, budget: concurrencyBudget({ max: 1 }) })
    await first.task.start(null, { id: 'a' })
    await turns()
    expect(await inUse(model)).toBe(1)
    await first.kill()
    const second = await open(model, { policy, operation: () => 'done', budget: concurrencyBudget({ max: 1 }) })
    await second.durable.resume()
    await turns()
    expect(await inUse(model)).toBe(0)
    expect(await second.task.run(null, { id: 'b' })).toBe('done')
    await second.durable.close()
  })

  it('comes back when a running task is cancelled', async () => {
    const model = new ProcessModel()
    const budget = concurrencyBudget({ max: 1 })
    const host = await open(model, { policy, operation: hang, budget })
    await host.task.start(null, { id: 'a' })
    await turns()
    await host.task.cancel('a')
    await turns()
    expect(budget.inUse).toBe(0)
    await host.durable.close()
  })

  it('comes back when a third interruption ends the attempt', async () => {
    const model = new ProcessModel()
    let host = await open(model, { policy, operation: hang, budget: concurrencyBudget({ max: 1 }) })
    await host.task.start(null, { id: 'a' })
    for (let loss = 0; loss < 3; loss++) {
      await turns()
      await host.kill()
      host = await open(model, { policy, operation: hang, budget: concurrencyBudget({ max: 1 }) })
      await host.durable.resume()
    }
    expect(await model.task('t', 'a')).toMatchObject({ status: 'waiting' })
    expect(await inUse(model)).toBe(0)
    await host.durable.close()
  })

  it('comes back when an interrupted attempt is not run again', async () => {
    const model = new ProcessModel()
    const timed = { ...policy, timeout: '10s' } as const
    const first = await open(model, { policy: timed, operation: hang, budget: concurrencyBudget({ max: 1 }) })
    await first.task.start(null, { id: 'a' })
    await turns()
    await first.kill()
    await model.clock.advance(10_000)
    const second = await open(model, { policy: timed, operation: hang, budget: concurrencyBudget({ max: 1 }) })
    await second.durable.resume()
    await turns()
    expect(await model.task('t', 'a')).toMatchObject({ status: 'failed', stopReason: 'timeout' })
    expect(await inUse(model)).toBe(0)
    await second.durable.close()
  })

  it('comes back when somebody decides about an attempt that nobody knows the end of', async () => {
    const model = new ProcessModel()
    const setting = { policy, operation: hang, onInterrupt: 'fail' } as const
    const first = await open(model, { ...setting, budget: concurrencyBudget({ max: 1 }) })
    await first.task.start(null, { id: 'a' })
    await turns()
    await first.kill()
    const second = await open(model, { ...setting, budget: concurrencyBudget({ max: 1 }) })
    await second.durable.resume()
    await second.task.decide('a', 'done')
    expect(await inUse(model)).toBe(0)
    await second.durable.close()
  })
})

describe('a breaker', () => {
  const breaker = { failureThreshold: 2, recoveryTimeout: '60s', halfOpenMaxCalls: 1 } as const
  const policy = { attempts: 1, breaker } as const

  async function opened(model: ProcessModel): Promise<void> {
    const host = await open(model, { policy, operation: fail })
    await rejection(host.task.run(null, { id: 'a' }))
    await rejection(host.task.run(null, { id: 'b' }))
    await host.kill()
  }

  it('that was open at the kill is open after it', async () => {
    const model = new ProcessModel()
    await opened(model)
    await model.clock.advance(59_999)
    const host = await open(model, { policy, operation: () => 'fine' })
    expect(await rejection(host.task.run(null, { id: 'c' }))).toMatchObject({ stopReason: 'breaker_open', attempts: 0 })
    await host.durable.close()
  })

  it('is half-open when the recovery time has passed meanwhile, and lets one probe through', async () => {
    const model = new ProcessModel()
    await opened(model)
    await model.clock.advance(60_000)
    const end = deferred<string>()
    const host = await open(model, { policy, operation: () => end.promise })
    const probe = host.task.run(null, { id: 'c' })
    await turns()
    expect(await rejection(host.task.run(null, { id: 'd' }))).toMatchObject({ stopReason: 'breaker_open' })
    end.resolve('fine')
    expect(await probe).toBe('fine')
    expect(await host.task.run(null, { id: 'e' })).toBe('fine')
    await host.durable.close()
  })

  it('keeps its count over a restart', async () => {
    const model = new ProcessModel()
    const first = await open(model, { policy, operation: fail })
    await rejection(first.task.run(null, { id: 'a' }))
    await first.kill()
    const second = await open(model, { policy, operation: fail })
    await rejection(second.task.run(null, { id: 'b' }))
    expect(await rejection(second.task.run(null, { id: 'c' }))).toMatchObject({ stopReason: 'breaker_open' })
    await second.durable.close()
  })

  it('gets the place of a probe back when that is cancelled', async () => {
    const model = new ProcessModel()
    await opened(model)
    await model.clock.advance(60_000)
    let calls = 0
    const host = await open(model, { policy, operation: () => (calls++ === 0 ? hang() : 'fine') })
    await host.task.start(null, { id: 'c' })
    await turns()
    await host.task.cancel('c')
    await turns()
    expect(await host.task.run(null, { id: 'd' })).toBe('fine')
    await host.durable.close()
  })
})

describe('a budget that is no good', () => {
  const policy = { attempts: 3, budget: 'shared' } as const

  it('that throws ends the task that asked, and nothing else', async () => {
    const model = new ProcessModel()
    const budget: Budget = {
      allowAttempt: () => {
        throw new Error('broken budget')
      },
    }
    const host = await open(model, { policy, operation: () => 'fine', budget })
    const free = host.durable.task('free', {}, () => 'free')
    const error = rejection(host.task.run(null, { id: 'a' }))
    await turns()
    expect(await free.run(null, { id: 'x' })).toBe('free')
    expect(await error).toMatchObject({ stopReason: 'budget_denied' })
    await host.durable.close()
  })

  it('that cannot read its snapshot is not used as if it were new', async () => {
    const model = new ProcessModel()
    await model.ledger.transact({ tasks: [] }, () => ({
      gates: [{ key: 'budget:shared', kind: 'budget', state: { used: 'many' } }],
      result: 0,
    }))
    let ran = 0
    const host = await open(model, { policy, operation: () => void ran++, budget: countBudget({ total: 1 }) })
    await host.task.start(null, { id: 'a' }).catch(() => undefined)
    await host.task.start(null, { id: 'b' }).catch(() => undefined)
    await model.clock.advance(5000)
    await turns()
    expect(ran).toBe(0)
    for (const id of ['a', 'b']) expect(await host.task.status(id)).toMatchObject({ state: 'waiting', attempts: 0 })
    await host.durable.close()
  })
})
