/**
 * The executor: which policy a key gets, per-call policies, wrapping, inspecting, hook errors, and what it keeps.
 */
import { describe, expect, test } from 'vitest'
import {
  type Budget,
  BudgetError,
  createExecutor,
  isRepriseError,
  type Operation,
  PolicyError,
  retry,
  timelineOf,
} from 'reprise'
import { createMetrics } from 'reprise/observe'
import { seededRandom, virtualClock } from 'reprise/testing'
import { failing, callFixture, wayFixture, turn, typesOf, watch, WAYS } from './call-fixture.js'

const down = new Error('down')

describe('a key', () => {
  test('has its own policy, else the default one', async () => {
    const { clock, executor } = callFixture(
      { attempts: 2, initialDelay: 0 },
      { policies: { many: { attempts: 5, initialDelay: 0 } } },
    )
    const [many, other] = [failing(down), failing(down)]
    const calls = [watch(executor.run('many', many)), watch(executor.run('other', other))]
    await clock.runAll()
    expect(calls.map((call) => call.error)).toEqual([down, down])
    expect([many.calls, other.calls]).toEqual([5, 2])
  })

  test('without a policy runs once where missingPolicyMode is allow, whatever the default says', async () => {
    const operation = failing(down)
    const { executor } = callFixture({ attempts: 5 }, { missingPolicyMode: 'allow' })
    await expect(executor.run('other', operation)).rejects.toBe(down)
    expect(operation.calls).toBe(1)
  })

  describe('without a policy is refused where missingPolicyMode is deny:', () => {
    test('the call rejects and the operation is not called', async () => {
      const operation = failing(down)
      const { executor } = callFixture({}, { missingPolicyMode: 'deny', policies: { known: {} } })
      const call = watch(executor.run('other', operation))
      await turn()
      expect(isRepriseError(call.error, 'no_policy')).toBe(true)
      expect(operation.calls).toBe(0)
      await expect(executor.run('known', () => 'x')).resolves.toBe('x')
    })

    test('the word is on the timeline too', async () => {
      const { executor } = callFixture({}, { missingPolicyMode: 'deny' })
      const call = watch(executor.run('other', () => 'x'))
      await turn()
      expect(timelineOf(call.error)).toMatchObject({ key: 'other', stopReason: 'no_policy', attempts: [] })
      await expect(executor.inspect('other', () => 'x')).resolves.toMatchObject({
        ok: false,
        timeline: { stopReason: 'no_policy' },
      })
    })

    test('observers and metrics hear of it', async () => {
      const types: string[] = []
      const metrics = createMetrics()
      const observers = [metrics, { onEvent: (event: { type: string }) => void types.push(event.type) }]
      const { executor } = callFixture({}, { missingPolicyMode: 'deny', observers })
      await expect(executor.run('other', () => 'x')).rejects.toMatchObject({ code: 'no_policy' })
      expect(types).toEqual(['call_started', 'call_failed'])
      const calls = metrics.read().find((family) => family.name === 'reprise_calls_total')
      expect(calls?.samples).toMatchObject([
        { labels: { key: 'other', result: 'failure', stop_reason: 'no_policy' }, value: 1 },
      ])
    })

    test('a policy given with the call is enough', async () => {
      const { executor } = callFixture({}, { missingPolicyMode: 'deny' })
      await expect(executor.run('other', () => 'x', { policy: {} })).resolves.toBe('x')
    })
  })

  test('may be any text, also one that objects have by nature', async () => {
    const { executor } = callFixture({ attempts: 1 }, { missingPolicyMode: 'deny', policies: { known: {} } })
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '']) {
      await expect(executor.run(key, () => 'x')).rejects.toMatchObject({ code: 'no_policy' })
    }
  })
})

describe('a policy', () => {
  test('given with a call is used instead of the key’s, whole', async () => {
    const { clock, executor } = callFixture({ attempts: 5, retryBudget: '1ms' })
    const operation = failing(down)
    const call = watch(executor.run('job', operation, { policy: { attempts: 2, jitter: 'none' } }), clock)
    await clock.runAll()
    expect(operation.calls).toBe(2)
    expect(call).toMatchObject({ state: 'rejected', atMs: 1000 })
  })

  test('that is wrong throws when the executor is made', () => {
    expect(() => createExecutor({ policies: { job: { attempts: 0 } } })).toThrow(PolicyError)
    expect(() => createExecutor({ defaultPolicy: { attempts: Number.NaN } })).toThrow(PolicyError)
  })

  test('that is wrong rejects the call it was given with, and nothing is called', async () => {
    const { executor } = callFixture()
    const operation = failing(down)
    const policy = { attempts: 0, atempts: 3 } as never
    const call = watch(executor.run('job', operation, { policy }))
    await turn()
    expect(call.error).toBeInstanceOf(PolicyError)
    expect((call.error as PolicyError).problems.map((problem) => problem.path)).toEqual(['attempts', 'atempts'])
    await expect(retry(operation, policy)).rejects.toBeInstanceOf(PolicyError)
    expect(operation.calls).toBe(0)
  })

  test('keeps one breaker, whether the call names it or the executor', async () => {
    const policy = { attempts: 1, breaker: { failureThreshold: 2 } }
    const { executor } = callFixture(policy)
    await expect(executor.run('job', failing(down), { policy: { ...policy } })).rejects.toBe(down)
    await expect(executor.run('job', failing(down))).rejects.toBe(down)
    await expect(executor.run('job', () => 'x', { policy: { ...policy } })).rejects.toMatchObject({
      code: 'breaker_open',
    })
  })
})

describe('retry', () => {
  test('takes a policy and the options of calls and executors together', async () => {
    const clock = virtualClock()
    const controller = new AbortController()
    const operation = failing(down)
    const options = { clock, random: seededRandom(1), signal: controller.signal, budgets: {} }
    const call = watch(retry(operation, { attempts: 4, jitter: 'none' }, options), clock)
    await clock.advance(1000)
    expect(operation.calls).toBe(2)
    controller.abort('enough')
    await turn()
    expect(call.error).toBe('enough')
    expect(clock.pending).toBe(0)
  })

  test('gives the value of the operation', async () => {
    await expect(retry(() => 42)).resolves.toBe(42)
    await expect(retry(async ({ attempt }) => attempt)).resolves.toBe(1)
  })

  test('of a policy takes a number of attempts and false as well', async () => {
    const [twice, once] = [failing(down), failing(down)]
    await expect(retry(twice, { attempts: 2, initialDelay: 0 })).rejects.toBe(down)
    await expect(retry(once, false)).rejects.toBe(down)
    expect([twice.calls, once.calls]).toEqual([2, 1])
  })
})

describe('wrap', () => {
  test('keeps the arguments and `this` over all attempts', async () => {
    const { clock, executor } = callFixture({ attempts: 3 })
    class Account {
      readonly seen: unknown[][] = []
      readonly name: string
      constructor(name: string) {
        this.name = name
      }
      readonly pay = executor.wrap('pay', async function (this: Account, amount: number, ...rest: string[]) {
        this.seen.push([this.name, amount, ...rest])
        if (this.seen.length < 3) throw down
        return `${this.name} paid ${amount}`
      })
    }
    const account = new Account('Ada')
    const call = watch(account.pay(5, 'a', 'b'))
    await clock.runAll()
    expect(call.value).toBe('Ada paid 5')
    expect(account.seen).toEqual([1, 2, 3].map(() => ['Ada', 5, 'a', 'b']))
  })

  test('hands nothing to the function but what the caller passed', async () => {
    const { executor } = callFixture()
    const wrapped = executor.wrap('job', (...args: unknown[]) => args)
    await expect(wrapped()).resolves.toEqual([])
    await expect(wrapped(undefined, 1)).resolves.toEqual([undefined, 1])
  })

  test('turns what a synchronous function throws into a rejection', async () => {
    const { executor } = callFixture({ attempts: 1 })
    const broken = (): never => {
      throw down
    }
    await expect(executor.wrap('job', broken)()).rejects.toBe(down)
  })
})

describe('inspect', () => {
  test('resolves with value and timeline after a success', async () => {
    const { clock, executor } = callFixture({ attempts: 3 })
    const inspection = executor.inspect('job', async ({ attempt }) => {
      await clock.sleep(10)
      if (attempt === 1) throw down
      return 'done'
    })
    await clock.runAll()
    expect(await inspection).toMatchObject({
      ok: true,
      value: 'done',
      timeline: {
        key: 'job',
        notes: [],
        totalDelayMs: 1000,
        elapsedMs: 1020,
        attempts: [
          { attempt: 1, launch: 1, outcome: 'failure', error: down, startMs: 0, endMs: 10, won: false },
          { attempt: 2, launch: 2, outcome: 'success', startMs: 1010, endMs: 1020, delayBeforeMs: 1000, won: true },
        ],
      },
    })
    expect((await inspection).timeline.stopReason).toBeUndefined()
  })

  test('resolves with error and timeline after a failure, also of undefined', async () => {
    const { executor } = callFixture({ attempts: 1 })
    const result = await executor.inspect('job', failing(undefined))
    expect(result.ok).toBe(false)
    expect(!result.ok && result.error).toBeUndefined()
    expect(result.timeline.stopReason).toBe('attempts_exhausted')
  })

  test('gives a plain record: it can be spread, compared and read twice', async () => {
    const { executor } = callFixture({ attempts: 1 })
    const [good, bad] = [await executor.inspect('job', () => 'x'), await executor.inspect('job', failing(down))]
    expect(good.timeline).toBe(good.timeline)
    expect(bad.timeline).toBe(bad.timeline)
    expect({ ...good }).toHaveProperty('timeline.key', 'job')
    expect({ ...bad }).toHaveProperty('timeline.key', 'job')
    expect(JSON.parse(JSON.stringify(good))).toMatchObject({ ok: true, value: 'x', timeline: { key: 'job' } })
  })

  test('has a timeline when the signal was aborted before', async () => {
    const { executor } = callFixture()
    const result = await executor.inspect('job', () => 'x', { signal: AbortSignal.abort('enough') })
    expect(result).toMatchObject({
      ok: false,
      error: 'enough',
      timeline: { stopReason: 'aborted', attempts: [], elapsedMs: 0 },
    })
  })
})

describe.each(WAYS)('hooks that throw in a call %s', (way) => {
  const broken = new Error('broken hook')
  const hook = (): never => {
    throw broken
  }

  test('as a budget, reject the call with their error and keep that of the operation', async () => {
    const released: string[] = []
    const api: Budget = {
      allowAttempt: ({ attempt }) =>
        attempt === 2 ? hook() : { allowed: true, reason: '', release: ({ result }) => void released.push(result) },
    }
    const { clock, play } = wayFixture(way, { attempts: 3, budget: 'api' }, { budgets: { api } })
    const call = await play(failing(down))
    expect(call.error).toBeInstanceOf(BudgetError)
    expect(call.error).toMatchObject({ message: 'Budget api threw: broken hook', cause: broken, lastError: down })
    expect(call.timeline).toMatchObject({ stopReason: 'budget_denied', budgetReason: 'panic_in_budget' })
    expect(call.timeline?.attempts[1]).toMatchObject({ launch: 2, outcome: 'denied', error: broken })
    expect(released).toEqual(['failure'])
    expect(call.timeline?.attempts[0]).toMatchObject({ launch: 1, outcome: 'failure' })
    expect(Object.isFrozen(call.timeline)).toBe(true)
    expect(clock.pending).toBe(0)
  })

  test('as a budget at the first attempt, reject the call with their error', async () => {
    const operation = failing(down)
    const call = await wayFixture(way, { budget: 'api' }, { budgets: { api: { allowAttempt: hook } } }).play(operation)
    expect(call.error).toMatchObject({ code: 'invalid_budget', cause: broken })
    expect(call.error).not.toHaveProperty('lastError')
    expect(operation.calls).toBe(0)
    expect(call.timeline?.attempts.filter((attempt) => attempt.outcome !== 'denied')).toEqual([])
  })

  test('as a budget, are a denial where hook errors are recovered', async () => {
    const options = { budgets: { api: { allowAttempt: hook } }, recoverHookErrors: true }
    const first = await wayFixture(way, { budget: 'api' }, options).play(() => 'never')
    expect(first.error).toMatchObject({ code: 'budget_denied', reason: 'panic_in_budget', attempt: 1, cause: broken })
    const api: Budget = { allowAttempt: ({ attempt }) => (attempt === 2 ? hook() : { allowed: true, reason: '' }) }
    const later = await wayFixture(way, { budget: 'api' }, { ...options, budgets: { api } }).play(failing(down))
    expect(later.error).toBe(down)
    expect(later.timeline).toMatchObject({ stopReason: 'budget_denied', budgetReason: 'panic_in_budget' })
    expect(later.timeline?.attempts[1]).toMatchObject({ outcome: 'denied', error: broken })
  })

  test('as peek, do the same', async () => {
    const api: Budget = { allowAttempt: () => ({ allowed: true, reason: '' }), peek: hook }
    const thrown = await wayFixture(way, { budget: 'api' }, { budgets: { api } }).play(failing(down))
    expect(thrown.error).toMatchObject({ code: 'invalid_budget', cause: broken, lastError: down })
    const recovered = await wayFixture(way, { budget: 'api' }, { budgets: { api }, recoverHookErrors: true }).play(
      failing(down),
    )
    expect(recovered.error).toBe(down)
    expect(recovered.timeline?.budgetReason).toBe('panic_in_budget')
  })

  test('as a predicate, reject the call, or make the failure not retryable with a note', async () => {
    const operation = failing(down)
    const thrown = await wayFixture(way, { retryOn: [hook] }).play(operation)
    expect(thrown.error).toBe(broken)
    const recovered = await wayFixture(way, { retryOn: [hook] }, { recoverHookErrors: true }).play(operation)
    expect(recovered.error).toBe(down)
    expect(recovered.timeline).toMatchObject({ stopReason: 'not_retryable', notes: ['panic_in_classifier'] })
    expect(operation.calls).toBe(2)
  })

  test('as failIf, reject the call with their error, and everything is closed', async () => {
    const { clock, events, play } = wayFixture(way, { failIf: hook, attemptTimeout: '1s', timeout: '9s' })
    const call = await play(() => 'x')
    expect(call.error).toBe(broken)
    expect(clock.pending).toBe(0)
    if (way === 'observed') {
      expect(typesOf(events)).toEqual(['call_started', 'attempt_started', 'attempt_finished', 'call_failed'])
    }
  })
})

describe('an operation that is no function', () => {
  test.each([undefined, null, 42, {}, 'text'])(
    '(%s) is a clear error at once, and nothing is tried again',
    async (thing) => {
      const { clock, executor } = callFixture({ attempts: 3 })
      const operation = thing as Operation<never>
      for (const start of [
        () => executor.run('job', operation),
        () => executor.inspect('job', operation),
        () => retry(operation, { attempts: 3 }, { clock }),
      ]) {
        const call = watch(new Promise((resolve) => resolve(start())))
        await turn()
        expect(call.error).toBeInstanceOf(TypeError)
        expect((call.error as Error).message).toMatch(/operation/i)
        expect(clock.pending).toBe(0)
      }
    },
  )
})

describe('what an executor keeps', () => {
  /** The largest map or set that can be reached from `root`. */
  function largestCollection(root: object): number {
    const seen = new Set<unknown>()
    const open: unknown[] = [root]
    let largest = 0
    while (open.length > 0) {
      const value = open.pop()
      if (typeof value !== 'object' || value === null || seen.has(value)) continue
      seen.add(value)
      if (value instanceof Map || value instanceof Set) {
        largest = Math.max(largest, value.size)
        for (const entry of value as Iterable<unknown>) open.push(entry)
      }
      open.push(...Object.values(value))
    }
    return largest
  }

  test('is bounded after 5 000 keys', async () => {
    const { executor } = callFixture({ attempts: 1 })
    await Promise.all(Array.from({ length: 5000 }, (_, index) => executor.run(`key ${index}`, () => 'x')))
    expect(largestCollection(executor)).toBeLessThanOrEqual(1000)
  })

  test('is bounded also where every key has a breaker, and an open breaker is not forgotten before an idle one', async () => {
    const { executor } = callFixture({ attempts: 1, breaker: { failureThreshold: 1 } })
    await expect(executor.run('broken', failing(down))).rejects.toBe(down)
    for (let i = 0; i < 25_000; i++) void executor.run(`key ${i}`, () => 'x')
    await turn()
    expect(largestCollection(executor)).toBeLessThanOrEqual(10_000)
    await expect(executor.run('broken', () => 'x')).rejects.toMatchObject({ code: 'breaker_open' })
  })

  test('of metrics is at most 2 000 series after 5 000 keys', async () => {
    const metrics = createMetrics()
    const { executor } = callFixture({ attempts: 1 }, { observers: [metrics] })
    await Promise.all(Array.from({ length: 5000 }, (_, index) => executor.run(`key ${index}`, () => 'x')))
    const series = metrics
      .read()
      .reduce(
        (sum, family) => sum + (family.type === 'histogram' ? family.samples.length * 3 : family.samples.length),
        0,
      )
    expect(series).toBeLessThanOrEqual(2000)
    const calls = metrics.read().find((family) => family.name === 'reprise_calls_total')
    const total = calls?.samples.reduce((sum, sample) => sum + ('value' in sample ? sample.value : 0), 0)
    expect(total).toBe(5000)
  })
})
