import { AsyncLocalStorage } from 'node:async_hooks'
import { type Budget, type BudgetRequest, createExecutor, normalizePolicy, retry, tokenBucket } from 'reprise'
import { virtualClock } from 'reprise/testing'
import { describe, expect, test } from 'vitest'

const boom = new Error('boom')

describe('a hook that ends the call while an attempt is being concluded', () => {
  test('finishes the attempt once, with its own error', async () => {
    const clock = virtualClock()
    const controller = new AbortController()
    const seen: string[] = []
    const observer = {
      onEvent: (event: { type: string }): void => {
        seen.push(event.type)
        if (event.type === 'breaker_changed') controller.abort(new Error('stop all'))
      },
    }
    const executor = createExecutor({
      clock,
      observers: [observer],
      policies: { job: { attempts: 3, breaker: { failureThreshold: 1 } } },
    })
    const result = await executor.inspect('job', () => Promise.reject(boom), { signal: controller.signal })
    expect(seen).toEqual(['call_started', 'attempt_started', 'attempt_finished', 'breaker_changed', 'call_failed'])
    expect(result.timeline.attempts).toMatchObject([{ outcome: 'failure', error: boom }])
    expect(result.timeline.stopReason).toBe('aborted')
  })

  test('as a listener of one attempt does not conclude the others twice', async () => {
    const clock = virtualClock()
    const controller = new AbortController()
    const finished: string[] = []
    const executor = createExecutor({
      clock,
      observers: [
        {
          onEvent: (event) =>
            void (event.type === 'attempt_finished' && finished.push(`${event.launch} ${event.outcome}`)),
        },
      ],
      policies: { job: { attempts: 1, timeout: '2s', hedge: { delay: '1s' }, breaker: { failureThreshold: 5 } } },
    })
    const call = executor.run(
      'job',
      ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => controller.abort(boom))
        }),
      { signal: controller.signal },
    )
    const settled = call.catch((error: unknown) => error)
    await clock.runAll()
    await settled
    expect(finished.toSorted()).toEqual(['1 timeout', '2 aborted'])
    expect(executor.breaker('job')?.snapshot().failures).toBe(1)
  })
})

test('the deadline of a retry aborts in the context of its own caller', async () => {
  const clock = virtualClock()
  const tenants = new AsyncLocalStorage<string>()
  const executor = createExecutor({ clock, policies: { job: { attempts: 3, timeout: '5s', initialDelay: '1s' } } })
  const heard: Record<string, string | undefined> = {}
  const call = (tenant: string): Promise<unknown> =>
    tenants.run(tenant, () =>
      executor
        .run('job', ({ attempt, signal }) => {
          if (attempt === 1) throw boom
          signal.addEventListener('abort', () => {
            heard[tenant] = tenants.getStore()
          })
          return new Promise(() => undefined)
        })
        .catch(() => undefined),
    )
  const calls = [call('a'), call('b')]
  await clock.runAll()
  await Promise.all(calls)
  expect(heard).toEqual({ a: 'a', b: 'b' })
})

describe('executors that share a budget', () => {
  test('agree on the time, also when the wall clock was set back between them', async () => {
    let wallMs = 10_000_000
    const clock = Object.assign(virtualClock(), { wallMs: () => wallMs })
    const budgets = { api: tokenBucket({ capacity: 1, refillPerSecond: 1 }) }
    const policies = { job: { attempts: 1, budget: 'api' } }
    await createExecutor({ clock, budgets, policies }).run('job', () => 'x')
    wallMs -= 7_200_000
    await clock.advance(2000)
    await expect(createExecutor({ clock, budgets, policies }).run('job', () => 'y')).resolves.toBe('y')
  })

  test('poll it for each other', async () => {
    const clock = virtualClock()
    let wake: (() => void) | undefined
    let pollAtMs = Infinity
    const lot: Budget = {
      allowAttempt: ({ key }: BudgetRequest) => ({ allowed: key === 'free', reason: '' }),
      settle: () => {
        pollAtMs = 100
      },
      park: (_request, grant) => {
        wake = () => grant({ allowed: true, reason: 'allowed' })
        return () => undefined
      },
      wakeAtMs: () => pollAtMs,
      poll: () => {
        pollAtMs = Infinity
        wake?.()
      },
    }
    const policy = { attempts: 1, budget: 'lot' }
    const [first, second] = [1, 2].map(() => createExecutor({ clock, budgets: { lot }, defaultPolicy: policy }))
    const parked = first?.run('parked', () => clock.monotonicMs())
    await second?.run('free', () => 'x')
    await clock.advance(200)
    await expect(parked).resolves.toBe(100)
  })
})

describe('what a budget is handed', () => {
  test('is plain enough to be written down, and has nothing of the runtime', async () => {
    const requests: BudgetRequest[] = []
    const api: Budget = {
      allowAttempt: (request) => {
        requests.push(JSON.parse(JSON.stringify(request)) as BudgetRequest)
        return { allowed: true, reason: '' }
      },
    }
    const policy = { attempts: 2, initialDelay: 0, budget: 'api', timeout: '9s' }
    await expect(retry(() => Promise.reject(boom), policy, { clock: virtualClock(), budgets: { api } })).rejects.toBe(
      boom,
    )
    expect(requests.map((request) => Object.keys(request).toSorted())).toEqual(
      [1, 2].map(() => ['attempt', 'deadlineMs', 'key', 'kind', 'launch', 'now', 'ref']),
    )
    expect(requests).toMatchObject([
      { attempt: 1, launch: 1, deadlineMs: 9000, now: 0 },
      { attempt: 2, launch: 2, deadlineMs: 9000, now: 0 },
    ])
  })
})

describe('a wrong use is told at once', () => {
  test('an async predicate is refused, and its rejection is nobody else’s trouble', async () => {
    const clock = virtualClock()
    for (const predicate of [async () => false, () => Promise.reject(boom)]) {
      const policy = { attempts: 3, retryOn: [predicate as unknown as () => boolean] }
      await expect(retry(() => Promise.reject(boom), policy, { clock })).rejects.toThrow(/must be synchronous/)
    }
  })

  test('options that do not exist, or are not what they should be', () => {
    const create = (options: object) => () => createExecutor(options)
    expect(create({ polices: {} })).toThrow('did you mean `policies`')
    expect(create({ missingPolicyMode: 'nope' })).toThrow('missingPolicyMode')
    expect(create({ missingBudgetMode: 'nope' })).toThrow('missingBudgetMode')
    expect(create({ observers: { onEvent() {} } })).toThrow('list of observers')
    expect(create({ random: 5 })).toThrow('random')
    expect(create({ polices: {}, random: 5 })).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        subject: 'createExecutor',
        problems: [
          { path: 'polices', message: 'unknown option', suggestion: 'did you mean `policies`?' },
          { path: 'random', message: '5 is not a function that gives numbers from 0 up to 1' },
        ],
      }) as Error,
    )
    expect(create({ clock: {} })).toThrow('clock')
    expect(create(null as unknown as object)).toThrow('null is not an object')
  })

  test('every bad policy of an executor, with its key', () => {
    expect(() => createExecutor({ policies: { a: { attempts: 0 }, b: { bakoff: 1 } as object } })).toThrow(
      expect.objectContaining({
        problems: [
          expect.objectContaining({ path: 'policies.a.attempts' }),
          expect.objectContaining({ path: 'policies.b.bakoff' }),
        ],
      }) as Error,
    )
  })

  test('a controller in place of its signal', async () => {
    const signal = new AbortController() as unknown as AbortSignal
    await expect(retry(() => 'x', {}, { signal })).rejects.toThrow('pass controller.signal')
    await expect(retry(() => 'x', {}, { sginal: 1 } as object)).rejects.toThrow('did you mean `signal`')
  })

  test('a budget that nobody registered is noted, with the name it may have meant', async () => {
    const executor = createExecutor({
      budgets: { api: tokenBucket({ capacity: 1, refillPerSecond: 1 }) },
      policies: { job: { budget: 'apii' } },
    })
    const { timeline } = await executor.inspect('job', () => 'x')
    expect(timeline.notes.join()).toContain('did you mean `api`')
  })

  test('policies that share a breaker and differ in its settings are noted', async () => {
    const executor = createExecutor({
      policies: {
        a: { breaker: { key: 'db', failureThreshold: 2 } },
        b: { breaker: { key: 'db', failureThreshold: 9 } },
      },
    })
    expect((await executor.inspect('b', () => 'x')).timeline.notes.join()).toContain('used it first')
    expect((await executor.inspect('a', () => 'x')).timeline.notes).toEqual([])
  })
})

test('a normalised policy is a policy wherever one is taken', async () => {
  const { policy } = normalizePolicy({ attempts: 2, initial_delay: '1ms' })
  const executor = createExecutor({ policies: { job: policy }, defaultPolicy: policy })
  let calls = 0
  const twice = (): string => {
    if (++calls % 2 === 1) throw boom
    return 'x'
  }
  await expect(executor.run('job', twice)).resolves.toBe('x')
  await expect(executor.run('other', twice, { policy })).resolves.toBe('x')
  await expect(retry(twice, policy)).resolves.toBe('x')
})

test('a generator that gives nonsense does not break the call', async () => {
  for (const random of [() => Number.NaN, () => -1, () => 7]) {
    const clock = virtualClock()
    const call = retry(() => Promise.reject(boom), { attempts: 2, jitter: 'full' }, { clock, random })
    const settled = call.catch((error: unknown) => error)
    await clock.runAll()
    expect(await settled).toBe(boom)
    expect(clock.monotonicMs()).toBeLessThanOrEqual(1000)
  }
})

test('breakers of configured keys are kept, however many others there are', async () => {
  const executor = createExecutor({
    policies: { api: { breaker: {} } },
    defaultPolicy: { attempts: 1, breaker: {} },
  })
  for (let i = 0; i < 10_500; i++) await executor.run(`key-${i}`, () => 'x')
  expect(executor.breaker('api')).toBeDefined()
})

test('a percentile is learnt by key, also where each call brings a policy of its own', async () => {
  const clock = virtualClock()
  const executor = createExecutor({ clock })
  const policy = () => ({ attempts: 1, hedge: { percentile: 90 } })
  for (let i = 0; i < 60; i++) {
    const call = executor.run('job', () => clock.sleep(10), { policy: policy() })
    await clock.runAll()
    await call
  }
  let calls = 0
  const slow = executor.run('job', () => clock.sleep(++calls === 1 ? 1000 : 10), { policy: policy() })
  await clock.runAll()
  await slow
  expect(calls).toBe(2)
})
