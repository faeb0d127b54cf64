/**
 * Cancellation at every point of a call: it rejects in the turn of the abort with the caller's own reason, and nothing
 * is left behind — no call, no timer, no listener, no place in line.
 */
import { describe, expect, test } from 'vitest'
import { createExecutor, type PolicyInput, type RepriseEvent, retry } from 'reprise'
import {
  failing,
  listenersOf,
  Manual,
  ParkingLot,
  Recorder,
  callFixture,
  wayFixture,
  turn,
  watch,
  WAYS,
} from './call-fixture.js'

const down = new Error('down')
const reason = { because: 'the user left' }

/** How many microtasks the rejection may take to reach an `await`. */
async function microtasks(count = 5): Promise<void> {
  for (let i = 0; i < count; i++) await Promise.resolve()
}

const limits: PolicyInput = { attempts: 5, attemptTimeout: '10s', timeout: '60s', hedge: { delay: '5s' } }

describe.each([
  ['with nothing but retries', { attempts: 5 }],
  ['with every kind of limit', limits],
] as [string, PolicyInput][])('a call %s', (_, policy) => {
  describe.each(WAYS)('%s', (way) => {
    function aborting(extra: PolicyInput = {}, options = {}) {
      const set = wayFixture(way, { ...policy, ...extra }, options)
      const controller = new AbortController()
      const { signal } = controller
      const abort = async (): Promise<void> => {
        controller.abort(reason)
        expect(set.clock.pending).toBe(0)
        expect(listenersOf(signal)).toBe(0)
        await microtasks()
      }
      return { ...set, signal, controller, abort }
    }

    test('that is aborted before its start makes no call and asks nobody', async () => {
      const api = new Recorder()
      const { clock, call } = aborting({ budget: 'api' }, { budgets: { api } })
      const operation = failing(down)
      const signal = AbortSignal.abort(reason)
      const watched = call(operation, { signal })
      expect(clock.pending).toBe(0)
      expect(listenersOf(signal)).toBe(0)
      await microtasks()
      expect(watched.error).toBe(reason)
      expect(operation.calls).toBe(0)
      expect(api.asks).toEqual([])
    })

    test('that is aborted during an attempt does not wait for it', async () => {
      const { clock, signal, call, abort } = aborting()
      const manual = new Manual()
      const watched = call(manual.operation, { signal })
      await clock.advance(10)
      expect(listenersOf(signal)).toBe(1)
      await abort()
      expect(watched.error).toBe(reason)
      expect(manual.at(0).signal.reason).toBe(reason)
      manual.at(0).resolve('late')
      await clock.runAll()
      expect(manual.calls).toBe(1)
      expect(watched.timeline).toMatchObject({ stopReason: 'aborted', attempts: [{ outcome: 'aborted' }] })
    })

    test('that is aborted during a wait makes no further call', async () => {
      const { clock, signal, call, abort } = aborting()
      const operation = failing(down)
      const watched = call(operation, { signal })
      await clock.advance(500)
      expect(operation.calls).toBe(1)
      await abort()
      expect(watched.error).toBe(reason)
      expect(watched.atMs).toBe(500)
      await clock.runAll()
      expect(operation.calls).toBe(1)
    })

    test('that is aborted between two attempts without a delay makes no further call', async () => {
      const { clock, signal, controller, call } = aborting({ initialDelay: 0 })
      let calls = 0
      const watched = call(
        () => {
          calls++
          // Runs after the failure was seen, before the next attempt.
          if (calls === 1) void Promise.resolve().then(() => queueMicrotask(() => controller.abort(reason)))
          throw down
        },
        { signal },
      )
      await turn()
      expect(watched.error).toBe(reason)
      expect(calls).toBeLessThanOrEqual(2)
      const made = calls
      await clock.runAll()
      expect(calls).toBe(made)
      expect(clock.pending).toBe(0)
      expect(listenersOf(signal)).toBe(0)
    })

    test('that aborts itself within its operation ends with that', async () => {
      const { clock, signal, controller, call } = aborting()
      let calls = 0
      const watched = call(
        () => {
          calls++
          controller.abort(reason)
          throw down
        },
        { signal },
      )
      await turn()
      expect(watched.error).toBe(reason)
      await clock.runAll()
      expect(calls).toBe(1)
      expect(clock.pending).toBe(0)
      expect(listenersOf(signal)).toBe(0)
    })

    test('that aborts itself within its operation and then succeeds is aborted all the same', async () => {
      const { clock, signal, controller, call } = aborting()
      const watched = call(
        () => {
          controller.abort(reason)
          return 'done'
        },
        { signal },
      )
      await turn()
      expect(watched.error).toBe(reason)
      expect(clock.pending).toBe(0)
    })

    test('that is aborted while parked leaves the line', async () => {
      const lot = new ParkingLot(0)
      lot.pollAtMs = 20_000
      const { clock, signal, call, abort } = aborting({ budget: 'lot' }, { budgets: { lot } })
      const operation = failing(down)
      const watched = call(operation, { signal })
      await clock.advance(700)
      expect(lot.line).toHaveLength(1)
      await abort()
      expect(watched.error).toBe(reason)
      expect(lot.line).toHaveLength(0)
      expect(operation.calls).toBe(0)
    })

    test('leaves no listener on the signal after it has succeeded or failed', async () => {
      const { signal, clock, call } = aborting()
      const calls = [call(() => 'done', { signal }), call(failing(down), { signal })]
      await clock.runAll()
      expect(calls.map((each) => each.state)).toEqual(['fulfilled', 'rejected'])
      expect(listenersOf(signal)).toBe(0)
      expect(clock.pending).toBe(0)
    })

    test('keeps one listener on a signal that many calls share', async () => {
      const { signal, clock, call, abort } = aborting()
      const manual = new Manual()
      const calls = Array.from({ length: 50 }, () => call(manual.operation, { signal }))
      await clock.advance(1)
      expect(listenersOf(signal)).toBe(1)
      manual.at(0).resolve('done')
      await clock.advance(1)
      expect(listenersOf(signal)).toBe(1)
      await abort()
      expect(calls.map((each) => each.state)).toEqual(['fulfilled', ...Array.from({ length: 49 }, () => 'rejected')])
    })

    test('rejects with whatever reason the caller gave, also none', async () => {
      for (const given of [undefined, null, 0, 'text', new Error('mine')]) {
        const { clock, call } = wayFixture(way, policy)
        const controller = new AbortController()
        const watched = call(new Manual().operation, { signal: controller.signal })
        await clock.advance(1)
        controller.abort(given)
        await microtasks()
        expect(watched.state).toBe('rejected')
        expect(watched.error).toBe(controller.signal.reason)
        if (given !== undefined) expect(watched.error).toBe(given)
      }
    })
  })
})

describe('the signal an operation is handed', () => {
  test('is its attempt’s own, and the same whenever it is read', async () => {
    const { clock, executor } = callFixture({ attempts: 2 })
    const signals: AbortSignal[] = []
    const call = watch(
      executor.run('job', (context) => {
        expect(context.signal).toBe(context.signal)
        signals.push(context.signal)
        throw down
      }),
    )
    await clock.runAll()
    expect(call.error).toBe(down)
    expect(signals[0]).not.toBe(signals[1])
    expect(signals.map((signal) => signal.aborted)).toEqual([false, false])
  })

  test('tells of the abort also when it is first read after it', async () => {
    const { executor } = callFixture()
    const controller = new AbortController()
    let late: (() => AbortSignal) | undefined
    watch(
      executor.run('job', (context) => ((late = () => context.signal), new Promise(() => undefined)), {
        signal: controller.signal,
      }),
    )
    await turn()
    controller.abort(reason)
    expect(late?.().reason).toBe(reason)
  })

  test('cannot be made to abort by the operation through its context', async () => {
    const { executor } = callFixture()
    await executor.run('job', (context) => {
      expect(Object.keys(context)).not.toContain('abort')
      expect('abort' in context).toBe(false)
    })
  })
})

describe.each([
  'call_started',
  'attempt_started',
  'attempt_finished',
  'waiting',
  'budget_decision',
  'parked',
  'hedge_started',
] as const)('an observer that aborts the call at %s', (type) => {
  test('ends it there: nothing more is called, and nothing is left', async () => {
    const controller = new AbortController()
    const types: string[] = []
    const lot = new ParkingLot(type === 'parked' ? 0 : 9)
    const observer = {
      onEvent(event: RepriseEvent) {
        types.push(event.type)
        if (event.type === type) controller.abort(reason)
      },
    }
    const policy: PolicyInput = {
      attempts: 3,
      attemptTimeout: '9s',
      timeout: '60s',
      hedge: { delay: '1s' },
      budget: 'lot',
    }
    const { clock, executor } = callFixture(policy, { observers: [observer], budgets: { lot } })
    let callsAfter = 0
    const operation = async ({ signal }: { signal: AbortSignal }): Promise<never> => {
      if (controller.signal.aborted) callsAfter++
      await clock.sleep(type === 'hedge_started' ? 5000 : 10, signal)
      throw down
    }
    const call = watch(executor.run('job', operation, { signal: controller.signal }))
    await clock.advance(2000)
    expect(types).toContain(type)
    expect(call.error).toBe(reason)
    expect(callsAfter).toBe(0)
    expect(clock.pending).toBe(0)
    expect(listenersOf(controller.signal)).toBe(0)
    expect(lot.line).toHaveLength(0)
    expect(lot.free).toBe(type === 'parked' ? 0 : 9)
    expect(types.filter((each) => each === 'call_failed' || each === 'call_succeeded')).toEqual(['call_failed'])
  })
})

describe('a hook that aborts its own call', () => {
  const hooks: [string, (abort: () => void) => PolicyInput, unknown][] = [
    ['as failIf', (abort) => ({ failIf: () => (abort(), false) }), 'value'],
    ['as a predicate', (abort) => ({ retryOn: [() => (abort(), true)] }), down],
  ]

  test.each(hooks)('%s ends it once', async (_, policyOf, outcome) => {
    const controller = new AbortController()
    const types: string[] = []
    const policy = policyOf(() => controller.abort(reason))
    const { clock, executor } = callFixture(policy, {
      observers: [{ onEvent: (event) => void types.push(event.type) }],
    })
    let calls = 0
    const operation = (): unknown => {
      calls++
      if (outcome === down) throw down
      return outcome
    }
    const call = watch(executor.run('job', operation, { signal: controller.signal }))
    await clock.runAll()
    expect(call.error).toBe(reason)
    expect(calls).toBe(1)
    expect(types.filter((each) => each.startsWith('call_'))).toEqual(['call_started', 'call_failed'])
    expect(types.filter((each) => each === 'attempt_finished')).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  test('as a budget ends it before the operation, and the grant goes back', async () => {
    const controller = new AbortController()
    const api = new Recorder(() => (controller.abort(reason), true))
    const { clock, executor } = callFixture({ budget: 'api' }, { budgets: { api } })
    const operation = failing(down)
    const call = watch(executor.run('job', operation, { signal: controller.signal }))
    await clock.runAll()
    expect(call.error).toBe(reason)
    expect(operation.calls).toBe(0)
    expect(api.released).toMatchObject([{ result: 'aborted' }])
  })

  test('as a release leaves one result and one end', async () => {
    const controller = new AbortController()
    const types: string[] = []
    const api = {
      allowAttempt: () => ({ allowed: true, reason: '', release: () => controller.abort(reason) }),
    }
    const observers = [{ onEvent: (event: RepriseEvent) => void types.push(event.type) }]
    const { clock, executor } = callFixture({ budget: 'api' }, { budgets: { api }, observers })
    const inspection = executor.inspect('job', () => 'done', { signal: controller.signal })
    await clock.runAll()
    const result = await inspection
    const ends = types.filter((each) => each === 'call_failed' || each === 'call_succeeded')
    expect(ends).toEqual([result.ok ? 'call_succeeded' : 'call_failed'])
    expect(result.timeline.stopReason).toBe(result.ok ? undefined : 'aborted')
  })
})

describe('on the clock of the system', () => {
  /** Tests of other files share the process: a timer of theirs may end meanwhile, so ours are counted as what is more. */
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

  test('nothing keeps the process alive after an abort in a wait', async () => {
    const before = timers()
    const controller = new AbortController()
    const operation = failing(down)
    const call = watch(
      retry(operation, { attempts: 3, initialDelay: '1h', maxDelay: '1h' }, { signal: controller.signal }),
    )
    await turn()
    controller.abort(reason)
    expect(timers()).toBeLessThanOrEqual(before)
    await microtasks()
    expect(call.error).toBe(reason)
    expect(listenersOf(controller.signal)).toBe(0)
    expect(operation.calls).toBe(1)
  })

  test('nothing keeps the process alive after calls with limits have settled', async () => {
    const before = timers()
    const executor = createExecutor({
      defaultPolicy: { attempts: 2, initialDelay: 1, attemptTimeout: '1h', timeout: '1h', hedge: { delay: '1h' } },
    })
    const calls = Array.from({ length: 20 }, (_, index) =>
      executor.run('job', index % 2 ? () => 'x' : failing(down)).catch(() => 'y'),
    )
    expect(timers()).toBeGreaterThan(before)
    await Promise.all(calls)
    expect(timers()).toBeLessThanOrEqual(before)
  })

  test('nothing keeps the process alive after an abort in a line', async () => {
    const before = timers()
    const lot = new ParkingLot(0)
    lot.pollAtMs = Date.now() + 3_600_000
    const controller = new AbortController()
    const call = watch(retry(() => 'never', { budget: 'lot' }, { budgets: { lot }, signal: controller.signal }))
    await turn()
    controller.abort(reason)
    expect(timers()).toBeLessThanOrEqual(before)
    await microtasks()
    expect(call.error).toBe(reason)
  })
})
