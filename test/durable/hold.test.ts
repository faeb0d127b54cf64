/** `whenDenied: 'hold'`: a gate that denies stops the queue, and no task fails or loses an attempt because of it. */
import { concurrencyBudget, countBudget, ratioBudget, tokenBucket } from 'reprise'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RepriseEvent } from '../../packages/reprise/src/core/event.js'
import { grantBudget, resetBreaker } from '../../packages/reprise/src/durable/gate-control.js'
import type { TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { withVerbs } from './with-verbs.js'
import { turn, turns, until, ProcessModel } from './process-model.js'

const HOLD = { whenDenied: 'hold' } as const
const FIXED = { backoff: 'fixed', initialDelay: '100ms', jitter: false } as const
const BREAKER = { ...FIXED, attempts: 8, breaker: { key: 'mail', failureThreshold: 5, recoveryTimeout: '2s' } } as const

const inputs = (count: number): { id: string; input: string }[] =>
  Array.from({ length: count }, (_, index) => {
    const id = `t${String(index).padStart(4, '0')}`
    return { id, input: id }
  })

const tasksIn = (model: ProcessModel, status: TaskRecord['status']): Promise<readonly TaskRecord[]> =>
  model.ledger.list({ statuses: [status] })

/** Lets virtual time pass in small steps, with what follows of each. */
async function pass(model: ProcessModel, ms: number, stepMs = 100): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    await model.clock.advance(stepMs)
    await turns(6)
  }
}

/** What observers hear of queues. */
function queueEvents(): { told: string[]; observers: { onEvent(event: RepriseEvent): void }[] } {
  const told: string[] = []
  const onEvent = (event: RepriseEvent): void => {
    if (event.type === 'queue_held') told.push(`${event.key} held by ${event.gate}: ${event.reason} ${event.waitMs}`)
    if (event.type === 'queue_released') told.push(`${event.key} released by ${event.gate}`)
  }
  return { told, observers: [{ onEvent }] }
}

describe('without a poll', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  it.each(['end', 'hold'] as const)('2,000 items pass an outage of a breaker, with %s', async (whenDenied) => {
    const model = new ProcessModel()
    const { told, observers } = queueEvents()
    const { durable } = await model.open({ observers })
    const recoversAtMs = model.now + 9000
    let calls = 0
    const work = durable.task<string, null>(
      'work',
      BREAKER,
      async () => {
        calls++
        await turn()
        if (model.now < recoversAtMs) throw new Error('down')
        return null
      },
      { whenDenied },
    )
    await work.startAll(inputs(2000))
    await turns()
    await pass(model, 14_000, 250)
    for (let look = 0; look < 200 && (await tasksIn(model, 'waiting')).length > 0; look++) await pass(model, 500)
    const failed = await tasksIn(model, 'failed')
    const unrun = failed.filter(({ progress }) => progress.retry.launched === 0)
    if (whenDenied === 'end') {
      expect(unrun.length).toBeGreaterThan(1000)
    } else {
      expect(failed).toEqual([])
      expect((await tasksIn(model, 'succeeded')).length).toBe(2000)
      // Before the breaker opens as many fail as run at once; then one probe each time.
      expect(calls).toBeLessThan(2000 + 50 + 10)
      expect(told.length).toBeLessThan(20)
      expect(told[0]).toBe('work held by breaker:mail: breaker_open 2000')
      expect(told.at(-1)).toBe('work released by breaker:mail')
    }
    await durable.close()
  })

  it('a denied claim writes nothing, and the task that is denied stays as it was', async () => {
    let [decisions, writes] = [0, 0]
    const model = new ProcessModel((ledger) =>
      withVerbs(ledger, {
        claim: (request, decide) =>
          ledger.claim(request, (task, view, seat) => {
            const decided = decide(task, view, seat)
            const { result: _result, ...changes } = decided
            decisions++
            if (Object.keys(changes).length > 0) writes++
            return decided
          }),
      }),
    )
    const { told, observers } = queueEvents()
    const { durable } = await model.open({ observers })
    const work = durable.task<string, null>('work', BREAKER, () => Promise.reject(new Error('down')), HOLD)
    await work.startAll(inputs(5))
    await turns()
    await work.start('later', { id: 'later' })
    await turns()
    const [gates, later] = [await model.ledger.gates(), await model.task('work', 'later')]
    const before = { decisions, writes }
    for (let look = 0; look < 10; look++) {
      await work.retryNow('later')
      await turns()
    }
    expect(decisions - before.decisions).toBe(10)
    expect(writes).toBe(before.writes)
    const { updatedAtMs: _updated, progress: _progress, ...rest } = later
    expect(await model.task('work', 'later')).toMatchObject(rest)
    expect(await model.ledger.attempts(later)).toEqual([])
    expect(await model.ledger.gates()).toEqual(gates)
    expect((await model.ledger.events(0, 1000)).map(({ type }) => type)).toEqual([
      'breaker_changed',
      ...Array.from({ length: 10 }, () => 'retry_now'),
    ])
    expect(told).toHaveLength(1)
    await durable.close()
  })

  it('an empty bucket holds the queue until it has a token again', async () => {
    const model = new ProcessModel()
    const budgets = { api: tokenBucket({ capacity: 2, refillPerSecond: 4 }) }
    const { durable } = await model.open({ budgets })
    const started: [string, number][] = []
    const startMs = model.now
    const work = durable.task<string, null>(
      'work',
      { ...FIXED, budget: 'api' },
      (id) => {
        started.push([id, model.now - startMs])
        return null
      },
      HOLD,
    )
    await work.startAll(inputs(5))
    await turns()
    expect(started.map(([id]) => id)).toEqual(['t0000', 't0001'])
    await pass(model, 1000, 10)
    expect(started.map(([id]) => id)).toEqual(['t0000', 't0001', 't0002', 't0003', 't0004'])
    const [third = 0, fourth = 0, fifth = 0] = started.slice(2).map(([, atMs]) => atMs)
    expect([third >= 250, third < 300, fourth >= 500, fourth < 550, fifth >= 750, fifth < 800]).toEqual(
      Array.from({ length: 6 }, () => true),
    )
    await durable.close()
  })

  it('a place that is given back lets the next task start at once', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open({ budgets: { places: concurrencyBudget({ max: 1 }) } })
    const ends = new Map<string, () => void>()
    const work = durable.task<string, null>(
      'work',
      { ...FIXED, budget: 'places' },
      (id) => new Promise((resolve) => ends.set(id, () => resolve(null))),
      HOLD,
    )
    await work.startAll(inputs(3))
    for (const { id } of inputs(3)) {
      await turns()
      expect([...ends.keys()].at(-1)).toBe(id)
      ends.get(id)?.()
    }
    await turns()
    expect((await tasksIn(model, 'succeeded')).length).toBe(3)
    await durable.close()
  })

  it('other queues go on while one is held, also those that wait for their time', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const held = durable.task<string, null>('held', BREAKER, () => Promise.reject(new Error('down')), HOLD)
    const started: number[] = []
    const other = durable.task<string, null>('other', { ...FIXED, attempts: 2 }, (_id, { attempt }) => {
      started.push(attempt)
      if (attempt === 1) throw new Error('not yet')
      return null
    })
    await held.startAll(inputs(200))
    await turns()
    await other.start('o', { id: 'o' })
    await turns()
    await pass(model, 200, 50)
    expect(started).toEqual([1, 2])
    await durable.close()
  })

  it('a failed task waits for its next attempt by its policy alone, though the breaker is open by then', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open({ budgets: { few: countBudget({ total: 0 }) } })
    const fail = (): Promise<never> => Promise.reject(new Error('down'))
    const guarded = durable.task<string, null>('guarded', { ...BREAKER, attempts: 2 }, fail, HOLD)
    const counted = durable.task<string, null>('counted', { ...FIXED, attempts: 2, budget: 'few' }, fail, HOLD)
    await guarded.startAll(inputs(5))
    await counted.start('c', { id: 'c' })
    await pass(model, 500)
    expect((await tasksIn(model, 'failed')).length).toBe(0)
    expect((await model.task('counted', 'c')).progress.retry).toMatchObject({ launched: 1, failures: 1 })
    // The policy still ends what it ends.
    await pass(model, 20_000, 250)
    expect((await tasksIn(model, 'failed')).map(({ stopReason }) => stopReason)).toEqual(
      Array.from({ length: 5 }, () => 'attempts_exhausted'),
    )
    await durable.close()
  })

  it('first attempts go on while a budget holds the retries, whose deposits they make', async () => {
    const model = new ProcessModel()
    const budgets = { share: ratioBudget({ ratio: 0.5, minPerSecond: 0, window: '10h' }) }
    const { durable } = await model.open({ budgets, concurrency: 2 })
    const work = durable.task<string, null>(
      'work',
      { ...FIXED, attempts: 2, budget: 'share' },
      (_id, { attempt }) => {
        if (attempt === 1) throw new Error('not yet')
        return null
      },
      HOLD,
    )
    await work.startAll(inputs(40))
    // No poll looks for what was deposited meanwhile: somebody has to.
    for (let look = 0; look < 60; look++) {
      await pass(model, 200)
      await work.retryNow('t0000').catch(() => undefined)
    }
    expect((await tasksIn(model, 'succeeded')).length).toBe(20)
    const waiting = await tasksIn(model, 'waiting')
    expect(waiting.map(({ progress }) => progress.retry.launched)).toEqual(Array.from({ length: 20 }, () => 1))
    await durable.close()
  })

  it('a task whose time in a line is over goes back to the queue, uncharged', async () => {
    const model = new ProcessModel()
    const parked = new ParkingBudget()
    const { durable } = await model.open({ budgets: { line: parked } })
    const started: string[] = []
    const work = durable.task<string, null>(
      'work',
      { ...FIXED, budget: 'line' },
      (id) => {
        started.push(id)
        return null
      },
      HOLD,
    )
    await work.start('a', { id: 'a' })
    await turns()
    expect(await model.task('work', 'a')).toMatchObject({ status: 'parked' })
    await pass(model, 1000)
    // It has left the line, and stands in it again.
    expect(parked.joined).toBeGreaterThan(1)
    expect(await model.task('work', 'a')).toMatchObject({ progress: { retry: { launched: 0, failures: 0 } } })
    expect(await model.ledger.deadLetters()).toEqual([])
    parked.open()
    await turns()
    expect(started).toEqual(['a'])
    await durable.close()
  })
})

/** A line that nobody leaves with a grant before it is opened. */
class ParkingBudget {
  joined = 0
  readonly maxParkMs = 300
  private readonly line = new Set<(grant: { allowed: true; reason: string }) => void>()

  allowAttempt(): { allowed: false; reason: string } {
    return { allowed: false, reason: 'closed' }
  }

  park(_request: unknown, wake: (grant: { allowed: true; reason: string }) => void): () => void {
    this.joined++
    this.line.add(wake)
    return () => this.line.delete(wake)
  }

  open(): void {
    for (const wake of this.line) wake({ allowed: true, reason: 'open' })
  }
}

describe('with other processes', () => {
  it('a count that is used up holds the queue until somebody grants more', async () => {
    const model = new ProcessModel()
    const { told, observers } = queueEvents()
    const { durable } = await model.open({ budgets: { retries: countBudget({ total: 1 }) }, observers })
    const policy = { ...FIXED, attempts: 2, budget: 'retries' } as const
    const work = durable.task<string, null>(
      'work',
      policy,
      (_id, { attempt }) => {
        if (attempt === 1) throw new Error('not yet')
        return null
      },
      HOLD,
    )
    await work.startAll(inputs(2))
    await pass(model, 200)
    await until(async () => (await tasksIn(model, 'succeeded')).length === 1, 'the end of one')
    expect((await tasksIn(model, 'waiting')).length).toBe(1)
    await grantBudget(model.ledger, 'retries', { reason: 'more', amount: 1 })
    await until(async () => (await tasksIn(model, 'succeeded')).length === 2, 'the end of the other')
    expect(told).toEqual(['work held by budget:retries: count_exhausted undefined', 'work released by budget:retries'])
    await durable.close()
  })

  it('a breaker that is reset by hand lets the queue go on', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    let isUp = false
    const run = (): Promise<null> => (isUp ? Promise.resolve(null) : Promise.reject(new Error('down')))
    const work = durable.task<string, null>('work', BREAKER, run, HOLD)
    await work.startAll(inputs(20))
    await turns()
    isUp = true
    await resetBreaker(model.ledger, 'mail', { reason: 'it is back' })
    await model.clock.advance(100)
    await until(async () => (await tasksIn(model, 'succeeded')).length === 20, 'the end of all')
    await durable.close()
  })

  it('an interrupted attempt that holds the only place starts again, and is not held by its own place', async () => {
    const model = new ProcessModel()
    const budgets = () => ({ places: concurrencyBudget({ max: 1 }) })
    const policy = { ...FIXED, budget: 'places' }
    const lost = await model.open({ budgets: budgets() })
    await lost.durable.task<string, null>('work', policy, () => new Promise(() => undefined), HOLD).startAll(inputs(3))
    await turns()
    expect((await tasksIn(model, 'running')).map(({ id }) => id)).toEqual(['t0000'])
    await lost.kill()
    const { durable } = await model.open({ budgets: budgets() })
    const started: string[] = []
    durable.task<string, null>(
      'work',
      policy,
      (id) => {
        started.push(id)
        return null
      },
      HOLD,
    )
    await turns()
    await durable.resume()
    await until(() => started.length === 3, 'the start of all')
    expect(started[0]).toBe('t0000')
    await until(async () => (await tasksIn(model, 'succeeded')).length === 3, 'the end of all')
    await durable.close()
  })

  it('a process that is killed while its queue is held leaves it to the next, which waits for the same gate', async () => {
    const model = new ProcessModel()
    const first = await model.open()
    const fail = (): Promise<never> => Promise.reject(new Error('down'))
    await first.durable.task<string, null>('work', BREAKER, fail, HOLD).startAll(inputs(100))
    await turns()
    await first.kill()
    const started: number[] = []
    const startMs = model.now
    const { durable } = await model.open()
    durable.task<string, null>(
      'work',
      BREAKER,
      () => {
        started.push(model.now - startMs)
        return null
      },
      HOLD,
    )
    await durable.resume()
    await pass(model, 1900)
    expect(started).toEqual([])
    await pass(model, 3000)
    await until(async () => (await tasksIn(model, 'succeeded')).length === 100, 'the end of all')
    expect(Math.min(...started)).toBeGreaterThanOrEqual(2000)
    await durable.close()
  })
})

it('a word that is neither end nor hold is refused', async () => {
  const model = new ProcessModel()
  const { durable } = await model.open()
  const given = { whenDenied: 'wait' as 'hold' }
  expect(() => durable.task('work', {}, () => null, given)).toThrow(/whenDenied.*'end' or 'hold'/)
  await durable.close()
})
