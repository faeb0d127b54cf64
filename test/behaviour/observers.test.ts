/**
 * Observers: events, timeline and metrics say the same, and being observed changes nothing.
 */
import { describe, expect, test } from 'vitest'
import {
  type Budget,
  type Clock,
  concurrencyBudget,
  createExecutor,
  type Executor,
  type ExecutorOptions,
  type Observer,
  type Operation,
  type PolicyInput,
  type RepriseEvent,
  type Timeline,
} from 'reprise'
import { createMetrics, type Metrics } from 'reprise/observe'
import { seededRandom, virtualClock, type VirtualClock } from 'reprise/testing'
import { failing, Manual, ParkingLot, callFixture, wayFixture, turn, typesOf } from './call-fixture.js'

const down = new Error('down')

type EventOf<T extends RepriseEvent['type']> = Extract<RepriseEvent, { type: T }>

function eventsOf<T extends RepriseEvent['type']>(events: readonly RepriseEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type)
}

function totalOf(metrics: Metrics, name: string): number {
  const family = metrics.read().find((each) => each.name === name)
  if (family === undefined) throw new Error(`no metric ${name}`)
  const numbers =
    family.type === 'histogram' ? family.samples.map((each) => each.sum) : family.samples.map((each) => each.value)
  return numbers.reduce((sum, number) => sum + number, 0)
}

describe('events', () => {
  test('of a success on the second attempt, in order', async () => {
    const { events, play } = wayFixture('observed', { attempts: 3 })
    await play(({ attempt }) => {
      if (attempt === 1) throw down
      return 'x'
    })
    expect(typesOf(events)).toEqual([
      'call_started',
      'attempt_started',
      'attempt_finished',
      'waiting',
      'attempt_started',
      'attempt_finished',
      'call_succeeded',
    ])
    expect(eventsOf(events, 'waiting')).toMatchObject([
      { attempt: 1, attempts: 3, nextAttempt: 2, delayMs: 1000, error: down },
    ])
    expect(eventsOf(events, 'attempt_started')).toMatchObject([
      { launch: 1, attempt: 1, kind: 'retry', delayBeforeMs: 0, timeMs: 0 },
      { launch: 2, attempt: 2, kind: 'retry', delayBeforeMs: 1000, timeMs: 1000 },
    ])
    expect(events.at(-1)).toMatchObject({
      key: 'job',
      attemptsMade: 2,
      launches: 2,
      totalDelayMs: 1000,
      elapsedMs: 1000,
    })
    expect(new Set(events.map((event) => event.callId)).size).toBe(1)
  })

  test('of a failure name the stop reason and the error the call rejected with', async () => {
    const { events, play } = wayFixture('observed', { attempts: 9, retryBudget: '2s' })
    const call = await play(failing(down))
    expect(eventsOf(events, 'call_failed')).toMatchObject([
      { stopReason: 'retry_budget_exhausted', attemptsMade: 2, totalDelayMs: 1000 },
    ])
    expect(eventsOf(events, 'call_failed')[0]?.error).toBe(call.error)
  })

  test('of a budget carry name, cost, mode, allowed and reason; there are none without a named budget', async () => {
    const named = wayFixture(
      'observed',
      { attempts: 2, budget: { name: 'pool', cost: 2 } },
      { budgets: { pool: concurrencyBudget({ max: 2 }) } },
    )
    await named.play(failing(down))
    expect(eventsOf(named.events, 'budget_decision')).toMatchObject([
      { budget: 'pool', cost: 2, mode: 'gate', allowed: true, reason: 'allowed', launch: 1, kind: 'retry' },
      { budget: 'pool', cost: 2, mode: 'gate', allowed: true, reason: 'allowed', launch: 2, kind: 'retry' },
    ])
    const unnamed = wayFixture('observed', {}, { budgets: {} })
    await unnamed.play(() => 'x')
    expect(eventsOf(unnamed.events, 'budget_decision')).toEqual([])
  })

  test('of a denied first attempt tell of no attempt', async () => {
    const { events, play } = wayFixture(
      'observed',
      { budget: 'api' },
      { budgets: { api: { allowAttempt: () => ({ allowed: false, reason: 'no' }) } } },
    )
    await play(() => 'x')
    expect(typesOf(events)).toEqual(['call_started', 'budget_decision', 'call_failed'])
    expect(events.at(-1)).toMatchObject({
      stopReason: 'budget_denied',
      budgetReason: 'no',
      attemptsMade: 0,
      launches: 0,
    })
  })

  test('of a stop by peek say so', async () => {
    const api: Budget = { allowAttempt: () => ({ allowed: true, reason: '' }), peek: () => false }
    const { events, play } = wayFixture('observed', { budget: 'api' }, { budgets: { api } })
    await play(failing(down))
    expect(eventsOf(events, 'budget_decision').map(({ mode, allowed, launch }) => [mode, allowed, launch])).toEqual([
      ['gate', true, 1],
      ['peek', false, 2],
    ])
  })

  test('of a line tell of parking and of the grant', async () => {
    const lot = new ParkingLot(0)
    lot.pollAtMs = 500
    const { events, play } = wayFixture('observed', { budget: 'lot' }, { budgets: { lot } })
    await play(() => 'x')
    expect(typesOf(events)).toEqual([
      'call_started',
      'budget_decision',
      'parked',
      'budget_decision',
      'attempt_started',
      'attempt_finished',
      'call_succeeded',
    ])
    expect(eventsOf(events, 'budget_decision').map(({ mode, allowed, reason }) => [mode, allowed, reason])).toEqual([
      ['gate', false, 'full'],
      ['grant', true, 'woken'],
    ])
    expect(eventsOf(events, 'attempt_started')).toMatchObject([{ parkedMs: 500 }])
  })

  test('of a race tell of hedges started and cancelled', async () => {
    const { clock, events, call } = wayFixture('observed', { hedge: { delay: '1s', maxHedges: 2 } })
    const manual = new Manual()
    call(manual.operation)
    await clock.advance(2000)
    manual.at(1).resolve('x')
    await turn()
    expect(eventsOf(events, 'hedge_started').map(({ launch }) => launch)).toEqual([2, 3])
    expect(eventsOf(events, 'hedge_cancelled').map(({ launch }) => launch)).toEqual([3])
    expect(eventsOf(events, 'attempt_finished').map(({ launch, outcome, won }) => [launch, outcome, won])).toEqual([
      [2, 'success', true],
      [1, 'aborted', false],
      [3, 'aborted', false],
    ])
    expect(events.map(({ attempt }) => attempt)).toEqual([0, ...events.slice(1).map(() => 1)])
    expect(events.at(-1)).toMatchObject({ type: 'call_succeeded', attemptsMade: 1, launches: 3 })
  })

  test('of a breaker tell each change once', async () => {
    const { clock, events, play } = wayFixture('observed', { attempts: 1, breaker: { failureThreshold: 1 } })
    await play(failing(down))
    await clock.advance(30_000)
    await play(() => 'x')
    expect(eventsOf(events, 'breaker_changed').map(({ breaker, from, to }) => [breaker, from, to])).toEqual([
      ['job', 'closed', 'open'],
      ['job', 'open', 'half_open'],
      ['job', 'half_open', 'closed'],
    ])
  })

  test('of calls that run at once differ in their call id', async () => {
    const { clock, events, call } = wayFixture('observed', { attempts: 2 })
    call(failing(down))
    call(() => 'x')
    await clock.runAll()
    const ids = eventsOf(events, 'call_started').map((event) => event.callId)
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) {
      const ends = events.filter((event) => event.callId === id && /^call_(succeeded|failed)$/.test(event.type))
      expect(ends).toHaveLength(1)
    }
  })
})

interface Played {
  readonly label: string
  readonly ok: boolean
  readonly result: unknown
  readonly timeline: Timeline
  readonly atMs: number
}

/** A day of mixed calls from a seed: all kinds of policies, outcomes, aborts, hedges, lines. */
async function mixture(seed: number, observers: readonly Observer[]): Promise<Played[]> {
  const clock = virtualClock()
  const random = seededRandom(seed)
  const options: ExecutorOptions = {
    clock,
    random: seededRandom(seed + 1),
    observers,
    recoverHookErrors: true,
    budgets: { lot: new ParkingLot(3, 4000), pool: concurrencyBudget({ max: 4 }) },
  }
  const executor = createExecutor(options)
  const played = Array.from({ length: 150 }, (_, index) => oneOf(executor, clock, random, index))
  await clock.runAll()
  return Promise.all(played)
}

const POLICIES: readonly PolicyInput[] = [
  { attempts: 4, jitter: 'full' },
  { attempts: 3, retryBudget: '2s', jitter: 'equal' },
  { attempts: 3, attemptTimeout: '300ms', timeout: '3s' },
  { attempts: 2, hedge: { delay: '100ms', maxHedges: 2, budget: 'pool' } },
  { attempts: 3, budget: 'lot', initialDelay: 100 },
  { attempts: 3, budget: 'pool', initialDelay: 100 },
  { attempts: 3, breaker: { key: 'shared', failureThreshold: 4, recoveryTimeout: '1s' } },
  { attempts: 3, retryOn: ['network'] },
]

async function oneOf(executor: Executor, clock: VirtualClock, random: () => number, index: number): Promise<Played> {
  const policy = POLICIES[index % POLICIES.length] ?? {}
  const controller = new AbortController()
  const [startMs, abortMs] = [random() * 5000, random() * 8000]
  const moods = Array.from({ length: 12 }, () => [random(), random()] as const)
  const operation: Operation<string> = async ({ launch, signal }) => {
    const [speed, luck] = moods[launch - 1] ?? [0, 0]
    await clock.sleep(speed * 600, speed < 0.5 ? signal : undefined)
    if (luck < 0.6) throw new Error(luck < 0.1 ? 'odd' : 'ECONNRESET')
    return `call ${index} launch ${launch}`
  }
  await clock.sleep(startMs)
  if (index % 5 === 0) void clock.sleep(abortMs).then(() => controller.abort('enough'))
  const label = `call ${index}`
  const result = await executor.inspect(label, operation, { policy, signal: controller.signal })
  return {
    label,
    ok: result.ok,
    result: result.ok ? result.value : String(result.error),
    timeline: result.timeline,
    atMs: clock.monotonicMs(),
  }
}

describe.each([1, 2, 3])('150 calls of every kind (seed %i)', (seed) => {
  test('tell the same in events, timelines and metrics', async () => {
    const events: RepriseEvent[] = []
    const metrics = createMetrics({ maxSeries: 100_000 })
    const played = await mixture(seed, [metrics, { onEvent: (event) => void events.push(event) }])
    expect(new Set(played.map(({ timeline }) => timeline.stopReason)).size).toBeGreaterThan(5)

    for (const { label, ok, timeline } of played) {
      const own = events.filter((event) => event.key === label)
      const ran = timeline.attempts.filter((attempt) => attempt.outcome !== 'denied')
      expect(eventsOf(own, 'call_started')).toHaveLength(1)
      expect(eventsOf(own, 'call_succeeded')).toHaveLength(ok ? 1 : 0)
      expect(eventsOf(own, 'call_failed')).toHaveLength(ok ? 0 : 1)
      expect(eventsOf(own, 'attempt_started').map(({ launch }) => launch)).toEqual(ran.map(({ launch }) => launch))
      expect(timeline.attempts.map(({ launch }) => launch)).toEqual(timeline.attempts.map((_, index) => index + 1))
      const finished = eventsOf(own, 'attempt_finished').toSorted((a, b) => a.launch - b.launch)
      expect(finished.map(({ attempt, launch, kind, outcome, won }) => [attempt, launch, kind, outcome, won])).toEqual(
        ran.map(({ attempt, launch, kind, outcome, won }) => [attempt, launch, kind, outcome, won]),
      )
      const waited = eventsOf(own, 'waiting').reduce((sum, event) => sum + event.delayMs, 0)
      expect(waited).toBeCloseTo(timeline.totalDelayMs, 6)
      const end = own.findLast((event) => event.type === 'call_failed' || event.type === 'call_succeeded')
      expect(end).toMatchObject({
        attemptsMade: ran.at(-1)?.attempt ?? 0,
        launches: ran.length,
        totalDelayMs: timeline.totalDelayMs,
        elapsedMs: timeline.elapsedMs,
      })
      if (end?.type === 'call_failed') {
        expect(end).toMatchObject({ stopReason: timeline.stopReason, budgetReason: timeline.budgetReason })
      }
    }

    const ran = played.flatMap(({ timeline }) => timeline.attempts.filter((attempt) => attempt.outcome !== 'denied'))
    expect(totalOf(metrics, 'reprise_calls_total')).toBe(played.length)
    expect(totalOf(metrics, 'reprise_attempts_total')).toBe(ran.length)
    expect(totalOf(metrics, 'reprise_budget_decisions_total')).toBe(eventsOf(events, 'budget_decision').length)
    const waitedMs = played.reduce((sum, { timeline }) => sum + timeline.totalDelayMs, 0)
    expect(totalOf(metrics, 'reprise_wait_seconds')).toBeCloseTo(waitedMs / 1000, 6)
    const ranMs = ran.reduce((sum, attempt) => sum + attempt.endMs - attempt.startMs, 0)
    expect(totalOf(metrics, 'reprise_attempt_seconds')).toBeCloseTo(ranMs / 1000, 6)
    expect(totalOf(metrics, 'reprise_parked')).toBe(0)
  })

  test('end the same whether they are observed, observed by somebody who throws, or not observed', async () => {
    const thrower: Observer = {
      onEvent() {
        throw new Error('broken observer')
      },
    }
    const alone = await mixture(seed, [])
    expect(await mixture(seed, [thrower])).toEqual(alone)
    expect(await mixture(seed, [{ onEvent: () => undefined }, createMetrics()])).toEqual(alone)
  })
})

describe('an observer', () => {
  test('that throws does not keep the next one from hearing', async () => {
    const heard: string[] = []
    const observers: Observer[] = [
      {
        onEvent() {
          throw new Error('broken observer')
        },
      },
      { onEvent: (event) => void heard.push(event.type) },
    ]
    const { executor } = callFixture({}, { observers })
    await expect(executor.run('job', () => 'x')).resolves.toBe('x')
    expect(heard).toEqual(['call_started', 'attempt_started', 'attempt_finished', 'call_succeeded'])
  })

  test('may start calls of its own on the same executor', async () => {
    const inner: Promise<unknown>[] = []
    let nested = 0
    const observer: Observer = {
      onEvent: (event) => {
        if (event.key === 'job') inner.push(executor.run('nested', () => ++nested))
      },
    }
    const { clock, executor } = callFixture(
      { attempts: 2, budget: 'pool' },
      { observers: [observer], budgets: { pool: concurrencyBudget({ max: 99 }) } },
    )
    const call = executor.inspect('job', ({ attempt }) => {
      if (attempt === 1) throw down
      return 'x'
    })
    await clock.runAll()
    expect((await call).timeline.attempts.map(({ outcome }) => outcome)).toEqual(['failure', 'success'])
    await Promise.all(inner)
    expect(nested).toBe(inner.length)
    expect(nested).toBeGreaterThan(5)
  })
})

describe('the clock', () => {
  /** Readings of the clock by one call that succeeds at once. */
  async function readings(policy: PolicyInput): Promise<number> {
    const time = virtualClock()
    let count = 0
    const clock: Clock = {
      wallMs: () => time.wallMs(),
      monotonicMs: () => {
        count++
        return time.monotonicMs()
      },
      schedule: (timer, atMs) => time.schedule(timer, atMs),
      cancel: (timer) => time.cancel(timer),
    }
    const budgets = { api: concurrencyBudget({ max: 5 }) }
    const executor = createExecutor({
      defaultPolicy: policy,
      clock,
      budgets,
      observers: [{ onEvent: () => undefined }],
    })
    await executor.run('warm', () => 1)
    count = 0
    await executor.run('job', () => 1)
    return count
  }

  test('is read once for all that happens without a pause in an observed call', async () => {
    expect(await readings({})).toBe(2)
    expect(await readings({ breaker: {}, budget: 'api' })).toBe(2)
  })

  test('is read once more where an attempt has a limit, which counts from its very start', async () => {
    expect(await readings({ breaker: {}, budget: 'api', attemptTimeout: '1s', timeout: '1m' })).toBe(3)
  })

  test('gives an attempt its whole limit, however long observers take', async () => {
    let nowMs = 0
    const scheduled: number[] = []
    const clock: Clock = {
      wallMs: () => nowMs,
      monotonicMs: () => nowMs,
      schedule: (_, atMs) => void scheduled.push(atMs),
      cancel: () => undefined,
    }
    const slow: Observer = { onEvent: () => void (nowMs += 300) }
    const executor = createExecutor({ defaultPolicy: { attemptTimeout: '1s' }, clock, observers: [slow] })
    let startedAtMs = 0
    await executor.run('job', () => {
      startedAtMs = nowMs
    })
    expect(startedAtMs).toBe(600)
    expect(scheduled).toEqual([startedAtMs + 1000])
  })
})
