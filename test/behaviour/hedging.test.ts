/**
 * Hedges: when copies of a slow attempt start, who wins, and how an attempt without a winner ends.
 */
import { describe, expect, test } from 'vitest'
import { type PolicyInput, type RepriseEvent } from 'reprise'
import { failing, Manual, Recorder, callFixture, wayFixture, turn, typesOf, watch } from './call-fixture.js'

const down = new Error('down')
const fatal = Object.assign(new Error('fatal'), { fatal: true })
const retryOn = [(error: unknown) => error !== fatal]

function retryLater(seconds: number): Error {
  return Object.assign(new Error('busy'), { retryAfter: seconds })
}

function hedged(hedge: PolicyInput['hedge'], policy: PolicyInput = {}) {
  const { clock, executor } = callFixture({ attempts: 1, retryOn, ...(hedge && { hedge }), ...policy })
  const manual = new Manual()
  const inspection = executor.inspect('job', manual.operation)
  const call = watch(inspection, clock)
  return { clock, manual, call, inspection }
}

describe('a hedge', () => {
  test('starts after its delay and not before', async () => {
    const { clock, manual } = hedged({ delay: '100ms' })
    await clock.advance(99)
    expect(manual.calls).toBe(1)
    await clock.advance(1)
    expect(manual.attempts.map(({ launch, kind, attempt }) => [launch, kind, attempt])).toEqual([
      [1, 'retry', 1],
      [2, 'hedge', 1],
    ])
  })

  test('is one by default, and one per due time up to the most allowed', async () => {
    const one = hedged({ delay: '100ms' })
    await one.clock.advance(10_000)
    expect(one.manual.calls).toBe(2)
    const three = hedged({ delay: '100ms', maxHedges: 3 })
    await three.clock.advance(200)
    expect(three.manual.calls).toBe(3)
    await three.clock.advance(10_000)
    expect(three.manual.calls).toBe(4)
  })

  test('does not start when the primary was quick', async () => {
    const { clock, manual, call } = hedged({ delay: '100ms' })
    await clock.advance(99)
    manual.at(0).resolve('quick')
    await turn()
    expect(call.value).toMatchObject({ ok: true, value: 'quick' })
    expect(clock.pending).toBe(0)
  })

  test('that wins gives the result, and the loser’s signal aborts with the reason winner', async () => {
    const { clock, manual, inspection } = hedged({ delay: '100ms', maxHedges: 2 })
    await clock.advance(200)
    manual.at(1).resolve('second')
    const result = await inspection
    expect(result).toMatchObject({ ok: true, value: 'second' })
    expect(manual.attempts.map(({ signal }) => signal.aborted)).toEqual([true, false, true])
    expect(manual.at(0).signal.reason).toBe('winner')
    expect(manual.at(2).signal.reason).toBe('winner')
    expect(result.timeline.attempts.map(({ outcome, won, hedge }) => [outcome, won, hedge])).toEqual([
      ['aborted', false, false],
      ['success', true, true],
      ['aborted', false, true],
    ])
    manual.at(0).resolve('late')
    manual.at(2).reject(new Error('late, and handled'))
    await turn()
    expect(clock.pending).toBe(0)
  })

  test('that loses never changes the result', async () => {
    const { clock, manual, inspection } = hedged({ delay: '100ms' })
    await clock.advance(100)
    manual.at(0).resolve('primary')
    manual.at(1).reject(fatal)
    expect(await inspection).toMatchObject({ ok: true, value: 'primary' })
    expect(manual.at(1).signal.reason).toBe('winner')
  })

  test('still wins after the primary failed, retryable or not', async () => {
    for (const error of [down, fatal]) {
      const { clock, manual, inspection } = hedged({ delay: '100ms' })
      await clock.advance(100)
      manual.at(0).reject(error)
      await turn()
      manual.at(1).resolve('hedge')
      expect(await inspection).toMatchObject({ ok: true, value: 'hedge' })
    }
  })

  test('is cancelled by a failure that is not retryable, where the policy says so', async () => {
    const { clock, manual, call, inspection } = hedged({ delay: '100ms', cancelOnFirstTerminal: true }, { attempts: 3 })
    await clock.advance(100)
    manual.at(0).reject(fatal)
    await turn()
    expect(call.value).toMatchObject({ ok: false, error: fatal })
    expect(manual.at(1).signal.aborted).toBe(true)
    expect((await inspection).timeline.stopReason).toBe('not_retryable')
    expect(clock.pending).toBe(0)
  })

  test('goes on after a retryable failure also where the first terminal one cancels', async () => {
    const { clock, manual, inspection } = hedged({ delay: '100ms', cancelOnFirstTerminal: true })
    await clock.advance(100)
    manual.at(0).reject(down)
    await turn()
    expect(manual.at(1).signal.aborted).toBe(false)
    manual.at(1).resolve('hedge')
    expect(await inspection).toMatchObject({ ok: true, value: 'hedge' })
  })

  test.each([
    ['first', 0, 1],
    ['last', 1, 0],
  ])(
    'ends its attempt as not retryable when that failure comes %s, also within one tick',
    async (_, terminal, other) => {
      const { clock, manual, inspection } = hedged({ delay: '100ms' }, { attempts: 3 })
      await clock.advance(100)
      const settle = [() => manual.at(terminal).reject(fatal), () => manual.at(other).reject(down)]
      if (terminal === 1) settle.reverse()
      for (const act of settle) act()
      expect(await inspection).toMatchObject({ ok: false, error: fatal, timeline: { stopReason: 'not_retryable' } })
      expect(manual.calls).toBe(2)
    },
  )

  test('belongs to the attempt that it copies: the delay counts attempts, launches go on', async () => {
    const { clock, manual, inspection } = hedged({ delay: '100ms' }, { attempts: 3 })
    for (const index of [0, 2, 4]) {
      await clock.advance(100)
      manual.at(index).reject(down)
      manual.at(index + 1).reject(down)
      await clock.advance(index === 0 ? 1000 : 2000)
    }
    const { timeline } = await inspection
    expect(manual.attempts.map(({ launch, kind, attempt }) => [launch, kind, attempt])).toEqual([
      [1, 'retry', 1],
      [2, 'hedge', 1],
      [3, 'retry', 2],
      [4, 'hedge', 2],
      [5, 'retry', 3],
      [6, 'hedge', 3],
    ])
    expect(timeline).toMatchObject({ stopReason: 'attempts_exhausted', totalDelayMs: 3000 })
    expect(timeline.attempts.map(({ launch }) => launch)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('and its primary wait for the larger Retry-After of the two', async () => {
    for (const order of [
      [20, 5],
      [5, 20],
    ] as const) {
      const { clock, manual } = hedged({ delay: '100ms' }, { attempts: 2 })
      await clock.advance(100)
      manual.at(0).reject(retryLater(order[0]))
      await turn()
      manual.at(1).reject(retryLater(order[1]))
      await clock.advance(19_999)
      expect(manual.calls).toBe(2)
      await clock.advance(1)
      expect(manual.calls).toBe(3)
    }
  })

  test('is not launched in a later attempt before its own delay', async () => {
    const { clock, manual } = hedged({ delay: '500ms' }, { attempts: 2 })
    manual.at(0).reject(down)
    await clock.advance(1000)
    expect(manual.calls).toBe(2)
    await clock.advance(499)
    expect(manual.calls).toBe(2)
    await clock.advance(1)
    expect(manual.attempts.map(({ kind }) => kind)).toEqual(['retry', 'retry', 'hedge'])
  })

  test('may time out while the primary goes on', async () => {
    const { clock, manual, inspection } = hedged({ delay: '100ms' }, { attempts: 1, attemptTimeout: '1s' })
    await clock.advance(1050)
    expect(manual.at(0).signal.aborted).toBe(true)
    expect(manual.at(1).signal.aborted).toBe(false)
    manual.at(1).resolve('hedge')
    const { timeline } = await inspection
    expect(timeline.attempts.map((attempt) => attempt.outcome)).toEqual(['timeout', 'success'])
    expect(clock.pending).toBe(0)
  })

  test('that times out says in its error which attempt and which launch it was', async () => {
    const { clock, inspection } = hedged({ delay: '100ms' }, { attempts: 1, attemptTimeout: '1s' })
    await clock.advance(1100)
    const { timeline } = await inspection
    expect(timeline.attempts.map(({ error }) => error)).toMatchObject([
      { code: 'attempt_timeout', attempt: 1, launch: 1, message: 'Attempt 1 of job timed out after 1000 ms' },
      {
        code: 'attempt_timeout',
        attempt: 1,
        launch: 2,
        message: 'Attempt 1 (launch 2) of job timed out after 1000 ms',
      },
    ])
  })

  test('ends with the call at its deadline and at an abort', async () => {
    const late = hedged({ delay: '100ms' }, { timeout: '1s' })
    await late.clock.advance(1000)
    expect((await late.inspection).timeline.attempts.map((attempt) => attempt.outcome)).toEqual(['timeout', 'timeout'])
    expect(late.clock.pending).toBe(0)

    const { clock, executor } = callFixture({ hedge: { delay: '100ms' } })
    const controller = new AbortController()
    const manual = new Manual()
    const call = watch(executor.run('job', manual.operation, { signal: controller.signal }))
    await clock.advance(100)
    controller.abort('enough')
    expect(manual.attempts.map(({ signal }) => signal.reason as unknown)).toEqual(['enough', 'enough'])
    await turn()
    expect(call.error).toBe('enough')
    expect(clock.pending).toBe(0)
  })
})

describe('a hedge that is denied', () => {
  const policy: PolicyInput = { attempts: 2, hedge: { delay: '100ms', maxHedges: 2, budget: 'spare' } }

  test('is recorded, asked for once per due time, and ends nothing', async () => {
    const spare = new Recorder(() => 'no copies')
    const { clock, executor } = callFixture(policy, { budgets: { spare } })
    const manual = new Manual()
    const inspection = executor.inspect('job', manual.operation)
    await clock.advance(60_000)
    expect(spare.asks).toHaveLength(2)
    expect(manual.calls).toBe(1)
    manual.at(0).resolve('primary')
    const { timeline } = await inspection
    expect(timeline.stopReason).toBeUndefined()
    expect(
      timeline.attempts.map(({ launch, kind, outcome, budgetReason }) => [launch, kind, outcome, budgetReason]),
    ).toEqual([
      [1, 'retry', 'success', 'no_budget'],
      [2, 'hedge', 'denied', 'no copies'],
      [3, 'hedge', 'denied', 'no copies'],
    ])
    expect(spare.released).toEqual([])
  })

  test('ends nothing where the first terminal failure cancels, either', async () => {
    const spare = new Recorder(() => false)
    const hedge = { delay: '100ms', cancelOnFirstTerminal: true, budget: 'spare' }
    const { clock, executor } = callFixture({ attempts: 1, hedge }, { budgets: { spare } })
    const manual = new Manual()
    const call = watch(executor.run('job', manual.operation))
    await clock.advance(1000)
    expect(manual.at(0).signal.aborted).toBe(false)
    manual.at(0).resolve('primary')
    await turn()
    expect(call.value).toBe('primary')
  })

  test('uses its number up: the retry after it has the next launch', async () => {
    const spare = new Recorder(() => false)
    const { clock, executor } = callFixture(policy, { budgets: { spare } })
    const manual = new Manual()
    const inspection = executor.inspect('job', manual.operation)
    await clock.advance(150)
    manual.at(0).reject(down)
    await clock.advance(1000)
    manual.at(1).reject(down)
    const { ok, timeline } = await inspection
    expect(ok).toBe(false)
    expect(manual.attempts.map(({ attempt, launch }) => [attempt, launch])).toEqual([
      [1, 1],
      [2, 3],
    ])
    expect(timeline.attempts.map(({ launch, outcome }) => [launch, outcome])).toEqual([
      [1, 'failure'],
      [2, 'denied'],
      [3, 'failure'],
    ])
    expect(timeline.stopReason).toBe('attempts_exhausted')
    expect(timeline.budgetReason).toBeUndefined()
  })

  test('by a budget that panics is a denial too, when hook errors are recovered', async () => {
    const spare = {
      allowAttempt() {
        throw new Error('broken')
      },
    }
    const { clock, executor } = callFixture(policy, { budgets: { spare }, recoverHookErrors: true })
    const manual = new Manual()
    const inspection = executor.inspect('job', manual.operation)
    await clock.advance(100)
    manual.at(0).resolve('primary')
    const result = await inspection
    expect(result).toMatchObject({ ok: true })
    expect(result.timeline.attempts[1]).toMatchObject({ outcome: 'denied', budgetReason: 'panic_in_budget' })
  })
})

describe('when a hook throws while hedges run', () => {
  /** A call with two attempts in flight whose `hook` throws, and everything that was heard of it. */
  function broken(policy: PolicyInput) {
    const events: RepriseEvent[] = []
    const spare = {
      allowAttempt() {
        throw new Error('broken hook')
      },
    }
    const { clock, executor } = callFixture(policy, {
      budgets: { spare },
      observers: [{ onEvent: (e) => void events.push(e) }],
    })
    const manual = new Manual()
    const call = watch(executor.run('job', manual.operation))
    return { clock, manual, call, events }
  }

  test('in the hedge’s budget, the hedge is denied, and the primary goes on to its success', async () => {
    const { clock, manual, call, events } = broken({ attempts: 1, hedge: { delay: '100ms', budget: 'spare' } })
    await clock.advance(100)
    expect(manual.calls).toBe(1)
    expect(manual.at(0).signal.aborted).toBe(false)
    expect(events.find(({ type }) => type === 'budget_decision')).toMatchObject({
      kind: 'hedge',
      allowed: false,
      reason: 'panic_in_budget',
      error: { message: 'broken hook' },
    })
    manual.at(0).resolve('fine')
    await turn()
    expect(call).toMatchObject({ state: 'fulfilled', value: 'fine' })
    expect(typesOf(events).filter((type) => type.startsWith('call_'))).toEqual(['call_started', 'call_succeeded'])
    expect(clock.pending).toBe(0)
  })

  test('in the classifier, the call fails once, and the other attempt is told to stop', async () => {
    const retryIf = (): never => {
      throw new Error('broken hook')
    }
    const { clock, manual, call, events } = broken({ attempts: 2, retryOn: [retryIf], hedge: { delay: '100ms' } })
    await clock.advance(100)
    manual.at(0).reject(down)
    await turn()
    expect(call.error).toMatchObject({ message: 'broken hook' })
    expect(manual.at(1).signal.aborted).toBe(true)
    manual.at(1).resolve('late')
    await turn()
    expect(typesOf(events).filter((type) => type.startsWith('call_'))).toEqual(['call_started', 'call_failed'])
    expect(clock.pending).toBe(0)
  })
})

test('executions never exceed attempts × (1 + hedges)', async () => {
  const { clock, call } = wayFixture('observed', {
    attempts: 3,
    attemptTimeout: '10s',
    hedge: { delay: '1s', maxHedges: 3 },
  })
  const manual = new Manual()
  call(manual.operation)
  await clock.runAll()
  expect(manual.calls).toBe(12)
  expect(manual.attempts.map(({ launch }) => launch)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  const quick = wayFixture('observed', { attempts: 3, hedge: { delay: '1s', maxHedges: 3 } })
  const operation = failing(down)
  await quick.play(operation)
  expect(operation.calls).toBe(3)
})
