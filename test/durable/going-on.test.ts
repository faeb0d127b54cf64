/** What a process that is gone left behind goes on as if nothing had happened. */
import { describe, expect, it } from 'vitest'
import type { PolicyInput } from '../../packages/reprise/src/core/policy.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { AttemptRow } from '../../packages/reprise/src/ledger/records.js'
import { type Host, turns, ProcessModel } from './process-model.js'

const STRATEGIES: readonly PolicyInput[] = (['fixed', 'linear', 'exponential', 'fibonacci'] as const).flatMap(
  (backoff) =>
    ([false, 'proportional', 'full', 'equal', 'decorrelated'] as const).map((jitter) => ({ backoff, jitter })),
)
const ATTEMPTS = 6

interface RetryCourse {
  readonly rows: readonly AttemptRow[]
  readonly totalDelayMs: number
  readonly stopReason: string | null
}

/** Fails every attempt; `killAfter` failures the process dies while it waits, and another goes on. */
async function courseOf(policy: PolicyInput, killAfter: readonly number[]): Promise<RetryCourse> {
  const model = new ProcessModel()
  const whole = { ...(policy as object), attempts: ATTEMPTS, initialDelay: '1s', maxDelay: '1h' }
  const open = async (): Promise<Host & { task: TaskHandle<null, never> }> => {
    const host = await model.open({ random: () => 0.37 })
    const task = host.durable.task('t', whole, (): never => {
      throw new Error('no')
    })
    return { ...host, task }
  }
  let host = await open()
  await host.task.start(null, { id: 'a' })
  await turns()
  for (let made = 1; made < ATTEMPTS; made++) {
    if (killAfter.includes(made)) {
      await host.kill()
      host = await open()
      await host.durable.resume()
    }
    const { dueAtMs } = await model.task('t', 'a')
    await model.clock.advance(Math.max(0, (dueAtMs ?? model.now) - model.now))
  }
  const { progress, stopReason } = await model.task('t', 'a')
  return {
    rows: await model.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' }),
    totalDelayMs: progress.retry.totalDelayMs,
    stopReason,
  }
}

const delaysOf = ({ rows }: RetryCourse): number[] => rows.map(({ delayBeforeMs }) => delayBeforeMs)

describe('delays over a resume', () => {
  it.each(STRATEGIES)('are those of an uninterrupted run: %o', async (policy) => {
    const calm = await courseOf(policy, [])
    expect(calm.rows).toHaveLength(ATTEMPTS)
    for (const killAfter of [[1], [3], [1, 2, 3, 4, 5]]) {
      const killed = await courseOf(policy, killAfter)
      expect(delaysOf(killed)).toEqual(delaysOf(calm))
      expect(killed.totalDelayMs).toBe(calm.totalDelayMs)
      expect(killed.stopReason).toBe('attempts_exhausted')
    }
  })
})

describe('the next attempt', () => {
  const policy = { attempts: 3, initialDelay: '10s', jitter: false } as const

  async function waiting(model: ProcessModel): Promise<number> {
    const host = await model.open()
    const task = host.durable.task('t', policy, () => {
      throw new Error('no')
    })
    await task.start({}, { id: 'a' })
    await turns()
    const { dueAtMs } = await model.task('t', 'a')
    await host.kill()
    return dueAtMs as number
  }

  it('comes after the rest of the wait only, and is not drawn again', async () => {
    const model = new ProcessModel()
    const dueAtMs = await waiting(model)
    await model.clock.advance(6000)
    const started: number[] = []
    const { durable } = await model.open()
    durable.task('t', policy, () => void started.push(model.now))
    await durable.resume()
    await model.clock.advance(3999)
    expect(started).toEqual([])
    await model.clock.advance(1)
    expect(started).toEqual([dueAtMs])
    await durable.close()
  })

  it('comes at once when its time has passed meanwhile', async () => {
    const model = new ProcessModel()
    const dueAtMs = await waiting(model)
    await model.clock.advance(60_000)
    const started: number[] = []
    const { durable } = await model.open()
    durable.task('t', policy, () => void started.push(model.now))
    await durable.resume()
    await turns()
    expect(started).toEqual([dueAtMs + 50_000])
    expect(
      (await model.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' })).map(
        ({ delayBeforeMs }) => delayBeforeMs,
      ),
    ).toEqual([0, 10_000])
    await durable.close()
  })

  it('is not put off by a clock that was set back', async () => {
    const model = new ProcessModel()
    await waiting(model)
    model.setClock(model.now - 7_200_000)
    const started: number[] = []
    const { durable } = await model.open()
    durable.task('t', policy, () => void started.push(model.now))
    await durable.resume()
    await model.clock.advance(10_000)
    await turns()
    expect(started).toHaveLength(1)
    await durable.close()
  })
})

describe('limits of time over a resume', () => {
  it('deny a retry past the expiry, once it was taken from a lost owner', async () => {
    const model = new ProcessModel()
    const policy = { attempts: 5, initialDelay: '1s', jitter: false, retryBudget: '60s' } as const
    const first = await model.open()
    const task = first.durable.task('t', policy, async (_input: null, { attempt }) => {
      if (attempt === 1) throw new Error('no')
      return new Promise(() => undefined)
    })
    await task.start(null, { id: 'a' })
    await model.clock.advance(1000)
    expect(await model.task('t', 'a')).toMatchObject({ status: 'running' })
    await first.kill()
    await model.clock.advance(60_000)
    let ran = 0
    const second = await model.open()
    const again = second.durable.task('t', policy, () => void ran++)
    await second.durable.resume()
    await turns()
    expect(ran).toBe(0)
    expect(await again.status('a')).toMatchObject({
      state: 'failed',
      stopReason: 'retry_budget_exhausted',
      attempts: 2,
    })
    await second.durable.close()
  })

  it('run an interrupted first attempt again, whenever that is', async () => {
    const model = new ProcessModel()
    const policy = { attempts: 5, retryBudget: '60s' } as const
    const first = await model.open()
    await first.durable.task('t', policy, () => new Promise(() => undefined)).start(null, { id: 'a' })
    await turns()
    await first.kill()
    await model.clock.advance(3_600_000)
    const second = await model.open()
    const task = second.durable.task('t', policy, (_input: null, { attempt, execution }) => ({ attempt, execution }))
    await second.durable.resume()
    expect(await task.run(null, { id: 'a' })).toEqual({ attempt: 1, execution: 2 })
    await second.durable.close()
  })

  it('deny a waiting retry past the expiry, when all who knew it are gone', async () => {
    const model = new ProcessModel()
    const policy = { attempts: 5, initialDelay: '1s', jitter: false, retryBudget: '60s' } as const
    const first = await model.open()
    await first.durable
      .task('t', policy, () => {
        throw new Error('no')
      })
      .start(null, { id: 'a' })
    await turns()
    await first.kill()
    await model.clock.advance(60_000)
    let ran = 0
    const second = await model.open()
    const task = second.durable.task('t', policy, () => void ran++)
    await second.durable.resume()
    await turns()
    expect(ran).toBe(0)
    expect(await task.status('a')).toMatchObject({ stopReason: 'retry_budget_exhausted' })
    await second.durable.close()
  })

  it('end the whole call at its deadline, without another attempt', async () => {
    const model = new ProcessModel()
    const policy = { attempts: 5, timeout: '30s' } as const
    const first = await model.open()
    await first.durable.task('t', policy, () => new Promise(() => undefined)).start(null, { id: 'a' })
    await turns()
    await first.kill()
    await model.clock.advance(30_000)
    let ran = 0
    const second = await model.open()
    const task = second.durable.task('t', policy, () => void ran++)
    await second.durable.resume()
    await turns()
    expect(ran).toBe(0)
    expect(await task.status('a')).toMatchObject({ state: 'failed', stopReason: 'timeout' })
    await second.durable.close()
  })

  it('give an attempt its own time limit afresh', async () => {
    const model = new ProcessModel()
    const policy = { attempts: 1, attemptTimeout: '10s' } as const
    const first = await model.open()
    await first.durable.task('t', policy, () => model.clock.sleep(9000)).start(null, { id: 'a' })
    await model.clock.advance(8000)
    await first.kill()
    const second = await model.open()
    const task = second.durable.task('t', policy, async () => model.clock.sleep(9000).then(() => 'done'))
    await second.durable.resume()
    const result = task.run(null, { id: 'a' })
    await model.clock.advance(9000)
    expect(await result).toBe('done')
    await second.durable.close()
  })
})

describe('the record of a task that was killed', () => {
  it('is that of an uninterrupted one but for times and marks, with one correlation id', async () => {
    const calm = await courseOf({ backoff: 'exponential', jitter: 'full' }, [])
    const killed = await courseOf({ backoff: 'exponential', jitter: 'full' }, [2, 4])
    const bare = ({ rows }: RetryCourse): unknown => rows.map(({ owner: _owner, ...row }) => row)
    expect(bare(killed)).toEqual(bare(calm))
  })

  it('keeps its correlation id, and every resume adds its own', async () => {
    const model = new ProcessModel()
    const seen = new Set<string>()
    const keys = new Set<string>()
    let host = await model.open()
    const hang = (_input: null, context: { correlationId: string; idempotencyKey: string }): Promise<never> => {
      seen.add(context.correlationId)
      keys.add(context.idempotencyKey)
      return new Promise(() => undefined)
    }
    await host.durable.task('t', {}, hang).start(null, { id: 'a' })
    for (let kill = 0; kill < 2; kill++) {
      await turns()
      await host.kill()
      host = await model.open()
      host.durable.task('t', {}, hang)
      await host.durable.resume()
    }
    await turns()
    expect([...seen]).toEqual([(await model.task('t', 'a')).correlationId])
    expect(keys.size).toBe(1)
    const events = (await model.ledger.events(0, 100)).filter(({ type }) => type === 'resumed')
    expect(events).toHaveLength(2)
    expect(new Set(events.map(({ correlationId }) => correlationId))).toEqual(seen)
    expect(new Set(events.map(({ detail }) => (detail as { resumeId: string }).resumeId)).size).toBe(2)
    await host.durable.close()
  })
})
