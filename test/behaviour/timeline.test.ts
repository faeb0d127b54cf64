/**
 * The record of a call, and how it is found again.
 */
import { describe, expect, test } from 'vitest'
import { normalizePolicy, timelineOf } from 'reprise'
import { failing, Recorder, callFixture, wayFixture, turn, watch, WAYS } from './call-fixture.js'

const down = new Error('down')

describe.each(WAYS)('the timeline of a call %s', (way) => {
  test('has every attempt with its times, its error and what the budget said', async () => {
    const api = new Recorder(({ attempt }) => (attempt < 3 ? true : 'spent'))
    const { clock, play } = wayFixture(way, { attempts: 5, budget: 'api', breaker: {} }, { budgets: { api } })
    const errors = [new Error('1'), new Error('2')]
    const call = await play(async ({ attempt }) => {
      await clock.sleep(100)
      throw errors[attempt - 1]
    })
    const common = { kind: 'retry', hedge: false, parkedMs: 0, won: false, budget: 'api' }
    expect(call.timeline?.attempts).toEqual([
      {
        ...common,
        attempt: 1,
        launch: 1,
        startMs: 0,
        endMs: 100,
        delayBeforeMs: 0,
        outcome: 'failure',
        error: errors[0],
        budgetAllowed: true,
        budgetReason: 'allowed',
        breaker: 'closed',
      },
      {
        ...common,
        attempt: 2,
        launch: 2,
        startMs: 1100,
        endMs: 1200,
        delayBeforeMs: 1000,
        outcome: 'failure',
        error: errors[1],
        budgetAllowed: true,
        budgetReason: 'allowed',
        breaker: 'closed',
      },
      {
        ...common,
        attempt: 3,
        launch: 3,
        startMs: 3200,
        endMs: 3200,
        delayBeforeMs: 2000,
        outcome: 'denied',
        error: undefined,
        budgetAllowed: false,
        budgetReason: 'spent',
        breaker: undefined,
      },
    ])
    expect(call.timeline).toMatchObject({
      key: 'job',
      stopReason: 'budget_denied',
      budgetReason: 'spent',
      totalDelayMs: 3000,
      elapsedMs: 3200,
    })
  })

  test('shows the policy as effective, and what was odd about it', async () => {
    const policy = { attempts: 1, initialDelay: '5s', maxDelay: '1s' }
    const call = await wayFixture(way, policy).play(failing(down))
    expect(call.timeline?.policy).toEqual(normalizePolicy(policy).policy)
    expect(call.timeline?.notes).toEqual(normalizePolicy(policy).notes)
    expect(call.timeline?.notes).toHaveLength(1)
  })

  test('is frozen through and through', async () => {
    const { timeline } = await wayFixture(way, { attempts: 2 }).play(failing(down))
    expect(timeline).toBeDefined()
    expect(Object.isFrozen(timeline)).toBe(true)
    expect(Object.isFrozen(timeline?.attempts)).toBe(true)
    expect(timeline?.attempts.every((attempt) => Object.isFrozen(attempt))).toBe(true)
    expect(Object.isFrozen(timeline?.notes)).toBe(true)
    expect(Object.isFrozen(timeline?.policy)).toBe(true)
  })

  test('does not freeze or change the error', async () => {
    const error = new Error('mine')
    const keys = Reflect.ownKeys(error)
    await wayFixture(way, { attempts: 2 }).play(failing(error))
    expect(Object.isFrozen(error)).toBe(false)
    expect(Reflect.ownKeys(error)).toEqual(keys)
  })

  test('is the same object whenever it is asked for, and does not change when a loser settles later', async () => {
    const { clock, call } = wayFixture(way, { attempts: 1, attemptTimeout: '1s' })
    let settle = (): void => undefined
    const watched = call(() => new Promise<void>((resolve) => (settle = resolve)))
    await clock.advance(1000)
    const before = watched.timeline
    settle()
    await clock.advance(1000)
    expect(before?.attempts[0]).toMatchObject({ outcome: 'timeout', endMs: 1000 })
    expect(watched.timeline).toBe(before)
  })
})

describe('timelineOf', () => {
  test('knows every object a call rejected with, frozen ones and functions too', async () => {
    const { executor } = callFixture({ attempts: 1 })
    for (const error of [new Error('x'), Object.freeze(new Error('x')), {}, [], () => undefined, Object.create(null)]) {
      await executor.run('job', failing(error)).catch(() => undefined)
      expect(timelineOf(error)).toMatchObject({ key: 'job', stopReason: 'attempts_exhausted' })
    }
  })

  test('of a primitive and of a stranger is undefined', async () => {
    const { executor } = callFixture({ attempts: 1 })
    await executor.run('job', failing('text')).catch(() => undefined)
    for (const thing of [undefined, null, 0, '', 'text', true, Symbol('s'), 1n, new Error('x'), {}]) {
      expect(timelineOf(thing)).toBeUndefined()
    }
  })

  test('of an error that two calls shared is the latest’s', async () => {
    const { executor } = callFixture({ attempts: 1 })
    await executor.run('first', failing(down)).catch(() => undefined)
    await executor.run('second', failing(down)).catch(() => undefined)
    expect(timelineOf(down)?.key).toBe('second')
  })

  test('of a library error is the call that rejected with it, also through a call around it', async () => {
    const { clock, executor } = callFixture(
      { attempts: 2 },
      { policies: { inner: { attempts: 3, retryBudget: '1ms' } } },
    )
    const call = watch(executor.run('outer', () => executor.run('inner', failing(down))))
    await clock.runAll()
    expect(call.error).toMatchObject({ code: 'retry_budget_exhausted' })
    expect(timelineOf(call.error)?.key).toBe('outer')
  })

  test('of the caller’s own reason is that of the aborted call', async () => {
    const { executor } = callFixture()
    const controller = new AbortController()
    const call = watch(executor.run('job', () => new Promise(() => undefined), { signal: controller.signal }))
    controller.abort()
    await turn()
    expect(call.error).toBe(controller.signal.reason)
    expect(timelineOf(call.error)).toMatchObject({ stopReason: 'aborted', attempts: [{ outcome: 'aborted' }] })
  })
})
