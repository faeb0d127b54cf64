/**
 * The adaptive budget in an executor: calls that wait for each other's successes, give up in time and leave nothing
 * behind.
 */
import { describe, expect, test } from 'vitest'
import {
  type AdaptiveBudget,
  type AdaptiveBudgetOptions,
  adaptiveBudget,
  BudgetDeniedError,
  createExecutor,
  type PolicyInput,
  recommended,
  timelineOf,
} from 'reprise'
import { seededRandom, virtualClock } from 'reprise/testing'
import { failing, Manual, callFixture, type CallFixture, turn, WAYS, wayFixture, watch } from './call-fixture.js'

const down = new Error('down')

/** In every key's policy, unless told otherwise. */
const POLICY: PolicyInput = { attempts: 3, initialDelay: '100ms', jitter: false, budget: 'adaptive' }

interface Adaptive extends CallFixture {
  readonly budget: AdaptiveBudget
}

/** Keeps no credit, not even the one of the start: every retry has to wait for a success. */
const STRICT: AdaptiveBudgetOptions = { strict: true }

function adaptive(policy: PolicyInput = {}, options = STRICT): Adaptive {
  const budget = adaptiveBudget(options)
  return { ...callFixture({ ...POLICY, ...policy }, { budgets: { adaptive: budget } }), budget }
}

/** The budget has learned that its dependency answers fast. */
async function learn({ clock, executor }: CallFixture): Promise<void> {
  for (let i = 0; i < 60; i++) {
    watch(executor.run('job', () => clock.sleep(10)))
    await clock.advance(100)
  }
}

describe.each(WAYS)('a call %s', (way) => {
  const staged = (policy: PolicyInput = {}, options = STRICT) => {
    const budget = adaptiveBudget(options)
    return { ...wayFixture(way, { ...POLICY, ...policy }, { budgets: { adaptive: budget } }), budget }
  }

  test('that finds no credit waits until the success of another gives it', async () => {
    const { clock, executor, call, budget } = staged({ timeout: '10s' })
    const other = new Manual()
    watch(executor.run('job', other.operation))
    const operation = failing(down)
    let works = false
    const watched = call((context) => (works ? 'done' : operation(context)))
    await clock.advance(400)
    expect([operation.calls, budget.parked, watched.state]).toEqual([1, 1, 'pending'])
    works = true
    other.at(0).resolve('x')
    await turn()
    expect(watched).toMatchObject({ state: 'fulfilled', value: 'done', atMs: 400 })
    expect([budget.parked, budget.inFlight, clock.pending]).toEqual([0, 0, 0])
    if (way === 'inspected')
      expect(watched.timeline?.attempts[1]).toMatchObject({
        delayBeforeMs: 100,
        parkedMs: 300,
        budgetReason: 'allowed',
      })
  })

  test('that waits past its deadline rejects with its last real error', async () => {
    const { clock, executor, call, budget } = staged({ timeout: '2s' })
    const other = new Manual()
    watch(executor.run('other', other.operation, { policy: { budget: 'adaptive' } }))
    const operation = failing(down)
    const watched = call(operation)
    await clock.advance(1500)
    expect([budget.parked, watched.state]).toEqual([1, 'pending'])
    await clock.advance(499)
    expect(watched.state).toBe('pending')
    await clock.advance(1)
    expect(watched).toMatchObject({ state: 'rejected', error: down, atMs: 2000 })
    expect(operation.calls).toBe(1)
    expect(watched.timeline).toMatchObject({ stopReason: 'budget_denied', budgetReason: 'park_expired' })
    expect([budget.parked, clock.pending]).toEqual([0, 0])
  })

  test('whose first attempt finds no slot until its deadline is denied', async () => {
    const { clock, executor, call, budget } = staged({ timeout: '1s' }, { bulkhead: true })
    await learn({ clock, executor })
    const others = new Manual()
    for (const _ of 'ab') watch(executor.run('other', others.operation, { policy: { budget: 'adaptive' } }))
    // After a quarter of the patience without an answer one call more starts. The first call in line goes as a probe,
    // the second does not.
    await clock.advance(300)
    for (const _ of 'ab') watch(executor.run('job', others.operation))
    const watched = call(() => 'never')
    await turn()
    expect([budget.inFlight, budget.parked]).toEqual([3, 2])
    await clock.advance(1000)
    expect(watched.error).toBeInstanceOf(BudgetDeniedError)
    expect(watched.error).toMatchObject({ reason: 'park_expired', attempt: 1, budget: 'adaptive', key: 'job' })
    expect([budget.parked, clock.pending]).toEqual([0, 0])
  })

  test('that is aborted in line rejects at once with the reason, and its place is free', async () => {
    const { clock, executor, call, budget } = staged()
    const other = new Manual()
    watch(executor.run('other', other.operation, { policy: { budget: 'adaptive' } }))
    const controller = new AbortController()
    const watched = call(failing(down), { signal: controller.signal })
    await clock.advance(500)
    expect(budget.parked).toBe(1)
    controller.abort('enough')
    expect([budget.parked, clock.pending]).toEqual([0, 0])
    await turn()
    expect(watched).toMatchObject({ state: 'rejected', error: 'enough', atMs: 500 })
  })

  test('that is aborted in the turn of its grant hands it on to the next', async () => {
    const { clock, executor, call, budget } = staged()
    const other = new Manual()
    watch(executor.run('other', other.operation, { policy: { budget: 'adaptive' } }))
    const controller = new AbortController()
    const first = call(failing(down), { signal: controller.signal })
    let attempts = 0
    const second = call(() => (attempts++ === 0 ? Promise.reject(down) : 'done'))
    await clock.advance(500)
    expect(budget.parked).toBe(2)
    const { waste } = budget.snapshot()
    budget.allowAttempt({ ...asking, now: 500 })
    budget.conclude({ ...asking, now: 500 }, { result: 'success', latencyMs: 1, won: true, now: 500 })
    controller.abort('enough')
    await turn()
    expect(first).toMatchObject({ state: 'rejected', error: 'enough' })
    expect(second).toMatchObject({ state: 'fulfilled', value: 'done' })
    expect(budget.snapshot().waste).toBeGreaterThanOrEqual(waste)
  })

  test('that is the first of all is retried at once when it fails', async () => {
    const { clock, call } = staged({}, {})
    let attempts = 0
    const watched = call(() => (attempts++ === 0 ? Promise.reject(down) : 'done'))
    await clock.advance(100)
    expect(watched).toMatchObject({ state: 'fulfilled', value: 'done', atMs: 100 })
    if (way === 'inspected') expect(watched.timeline?.attempts[1]).toMatchObject({ budgetReason: 'allowed' })
  })

  test('that finds no credit and no other calls is retried as a probe', async () => {
    const { clock, call, budget } = staged({ timeout: '60s', attemptTimeout: '1s' })
    let attempts = 0
    const watched = call(() => (attempts++ === 0 ? Promise.reject(down) : 'done'))
    await clock.runAll()
    expect(watched).toMatchObject({ state: 'fulfilled', value: 'done' })
    if (way === 'inspected') expect(watched.timeline?.attempts[1]).toMatchObject({ budgetReason: 'probe' })
    expect([budget.inFlight, budget.parked]).toEqual([0, 0])
  })
})

const asking = {
  key: 'x',
  attempt: 1,
  launch: 1,
  kind: 'retry',
  ref: { name: 'adaptive', cost: 1 },
  deadlineMs: Infinity,
} as const

describe('calls with one adaptive budget', () => {
  test('stand in line in the order of their retries', async () => {
    const { clock, executor } = adaptive({ timeout: '10s' })
    const holder = new Manual()
    watch(executor.run('job', holder.operation))
    const order: number[] = []
    let works = false
    for (let i = 0; i < 5; i++) {
      watch(
        executor.run('job', () => {
          if (!works) throw down
          order.push(i)
        }),
      )
      await clock.advance(10)
    }
    await clock.advance(500)
    works = true
    holder.at(0).resolve('x')
    await turn()
    expect(order).toEqual([0, 1, 2, 3, 4])
  })

  test('leave no timer when none is in line, though attempts are in flight', async () => {
    const { clock, executor, budget } = adaptive({}, { ...STRICT, maxPark: '20s' })
    const manual = new Manual()
    for (let i = 0; i < 5; i++) watch(executor.run('job', manual.operation))
    await turn()
    expect([budget.inFlight, clock.pending]).toEqual([5, 0])
    const parked = watch(executor.run('job', failing(down)), clock)
    await clock.advance(200)
    // Its longest stay, and the next poll.
    expect([budget.parked, clock.pending]).toEqual([1, 2])
    await clock.advance(20_000)
    expect(parked).toMatchObject({ state: 'rejected', error: down, atMs: 20_100 })
    expect(timelineOf(down)?.budgetReason).toBe('park_expired')
    expect([budget.parked, clock.pending]).toEqual([0, 0])
  })

  test('do not keep the clock busy while they wait: a minute in line takes a handful of polls', async () => {
    const { clock, executor, budget } = adaptive({}, { ...STRICT, maxPark: '60s' })
    const holder = new Manual()
    watch(executor.run('job', holder.operation, { policy: { ...POLICY, attemptTimeout: '60s' } }))
    let polls = 0
    const poll = budget.poll.bind(budget)
    budget.poll = (now, random) => (polls++, poll(now, random))
    for (let i = 0; i < 20; i++) watch(executor.run('job', failing(down)))
    await clock.advance(59_000)
    expect(budget.parked).toBe(20)
    expect(polls).toBeLessThan(10)
  })

  test('do not hedge without credit', async () => {
    const policy: PolicyInput = { hedge: { delay: '50ms', budget: 'share' } }
    const { clock, executor, budget } = adaptive(policy)
    const manual = new Manual()
    const inspection = executor.inspect('job', manual.operation)
    await clock.advance(60)
    expect(manual.calls).toBe(1)
    expect(budget.parked).toBe(0)
    manual.at(0).resolve('x')
    expect((await inspection).timeline.attempts.map(({ budgetReason }) => budgetReason)).toEqual([
      'allowed',
      'no_credit',
    ])
  })

  test('hedge for the credit of a success, and get their waste back if the hedge wins', async () => {
    const { clock, executor, budget } = adaptive({ hedge: { delay: '50ms', budget: 'share' } }, {})
    await executor.run('job', () => 'x')
    const manual = new Manual()
    const call = watch(executor.run('job', manual.operation))
    await clock.advance(50)
    expect(manual.at(1).kind).toBe('hedge')
    const { waste } = budget.snapshot()
    expect(waste).toBeLessThan(5)
    manual.at(1).resolve('hedged')
    await turn()
    expect(call.value).toBe('hedged')
    expect(budget.snapshot().waste).toBeGreaterThanOrEqual(waste + 1)
    manual.at(0).reject(down)
    await turn()
    expect([budget.inFlight, clock.pending]).toEqual([0, 0])
  })

  test('are denied when the line is full', async () => {
    const { clock, executor } = adaptive({}, { ...STRICT, maxParked: 1 })
    const holder = new Manual()
    watch(executor.run('job', holder.operation))
    watch(executor.run('job', failing(new Error('first'))))
    const second = watch(executor.run('job', failing(down)), clock)
    await clock.advance(200)
    expect(second).toMatchObject({ state: 'rejected', error: down, atMs: 100 })
    expect(timelineOf(second.error)).toMatchObject({ stopReason: 'budget_denied', budgetReason: 'line_full' })
  })

  test('are not held up for ever by operations that ignore their signal and never settle', async () => {
    const { clock, executor, budget } = adaptive(
      { attempts: 1, attemptTimeout: '1s', timeout: '5s' },
      { bulkhead: true },
    )
    await learn({ clock, executor })
    const never = new Manual()
    for (const _ of 'ab') watch(executor.run('job', never.operation))
    await clock.advance(500)
    const waits = watch(
      executor.run('job', () => 'done'),
      clock,
    )
    await turn()
    expect([budget.inFlight, budget.parked]).toEqual([2, 1])
    await clock.advance(5000)
    expect(waits).toMatchObject({ state: 'fulfilled', value: 'done' })
  })

  test('have all slots again when operations that never settle were given up', async () => {
    const { clock, executor, budget } = adaptive(
      { attempts: 1, attemptTimeout: '1s', timeout: '5s' },
      { bulkhead: true },
    )
    await learn({ clock, executor })
    const never = new Manual()
    for (const _ of 'ab') watch(executor.run('job', never.operation))
    await clock.advance(10_000)
    await learn({ clock, executor })
    expect(budget.inFlight).toBe(0)
  })

  test.each([
    [240, 2],
    [260, 1],
  ])('without an attempt timeout have their patience measured from their start: %d ms of 1 s', async (ms, attempts) => {
    const { clock, executor } = adaptive({ timeout: '1s' })
    watch(executor.run('job', () => clock.sleep(ms)))
    const operation = failing(down)
    watch(executor.run('job', operation))
    await clock.advance(300)
    expect(operation.calls).toBe(attempts)
  })
})

describe('two keys with the recommended settings', () => {
  test('do not disturb each other', async () => {
    const settings = recommended()
    const { clock, executor } = callFixture(settings.defaultPolicy, { budgets: settings.budgets })
    let attempts = 0
    const fates: unknown[] = []
    for (let i = 0; i < 200; i++) {
      watch(executor.run('down', () => (attempts++, Promise.reject(down))))
      fates.push(watch(executor.run('up', () => clock.sleep(10).then(() => i))))
      await clock.advance(50)
    }
    await clock.runAll()
    expect(fates).toEqual(fates.map((_, i) => expect.objectContaining({ state: 'fulfilled', value: i })))
    expect(attempts).toBeLessThanOrEqual(200 + 4)
    expect(clock.pending).toBe(0)
  })

  test('retry by their own successes', async () => {
    const settings = recommended()
    const { clock, executor } = callFixture(settings.defaultPolicy, { budgets: settings.budgets })
    const started: string[] = []
    const calls = ['a', 'b'].map((key) =>
      watch(
        executor.run(key, () => {
          started.push(key)
          if (started.filter((other) => other === key).length <= 2) throw down
        }),
        clock,
      ),
    )
    // A new budget has credit and a token for one retry, which fails too. Each success gives a fifth of the next token.
    await clock.advance(500)
    expect([...started].sort()).toEqual(['a', 'a', 'b', 'b'])
    for (let i = 0; i < 5; i++) await executor.run('a', () => 'x')
    await turn()
    expect(calls.map(({ state }) => state)).toEqual(['fulfilled', 'pending'])
    for (let i = 0; i < 5; i++) await executor.run('b', () => 'x')
    await turn()
    expect(calls[1]?.state).toBe('fulfilled')
  })
})

describe('operations that ignore their signal, under traffic', () => {
  test('cost a healthy dependency nothing: their slots come free when their time is over', async () => {
    const clock = virtualClock()
    const executor = createExecutor({ ...recommended(), clock, random: seededRandom(1) })
    const random = seededRandom(2)
    const results: Promise<boolean>[] = []
    for (let call = 0; call < 1500; call++) {
      const hangs = random() < 0.02
      const operation = (): Promise<unknown> => (hangs ? new Promise(() => undefined) : clock.sleep(20))
      const done = executor.run('k', operation).then(
        () => true,
        () => hangs,
      )
      results.push(done)
      await clock.advance(20)
    }
    await clock.advance(30_000)
    const fine = await Promise.all(results)
    expect(fine.filter((ok) => !ok)).toEqual([])
  })
})
