/**
 * Operations and budgets that behave badly: a call always settles, once, and nothing escapes.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Budget, BudgetError, concurrencyBudget, type Decision, type PolicyInput, timelineOf } from 'reprise'
import { seededRandom } from 'reprise/testing'
import { failing, Manual, Recorder, callFixture, wayFixture, turn, watch, WAYS } from './call-fixture.js'

const down = new Error('down')

const throwing = (error: unknown) => (): never => {
  throw error
}

const unhandled: unknown[] = []
const note = (error: unknown): void => void unhandled.push(error)

beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', note)
})

afterEach(async () => {
  await turn()
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

describe.each(WAYS)('a call %s', (way) => {
  test('takes thenables for promises, once and whatever they do', async () => {
    const { play } = wayFixture(way, { attempts: 1 })
    const thenable = (then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void) =>
      // oxlint-disable-next-line unicorn/no-thenable -- that is what is tested
      ({ then }) as never
    expect((await play(() => thenable((resolve) => resolve(1)))).value).toBe(1)
    expect((await play(() => thenable((_, reject) => reject(down)))).error).toBe(down)
    const twice = await play(() =>
      thenable((resolve, reject) => {
        resolve('first')
        reject(down)
        throw down
      }),
    )
    expect(twice.value).toBe('first')
    expect((await play(() => thenable(throwing(down)))).error).toBe(down)
    const nested = await play(() => thenable((resolve) => resolve(thenable((inner) => inner('deep')))))
    expect(nested.value).toBe('deep')
    const traps = { get: throwing(down) }
    const getter = await play(() => new Proxy({}, traps) as never)
    expect(getter.error).toBe(down)
  })

  test('takes promises of subclasses, and gives plain ones back', async () => {
    class Slow<T> extends Promise<T> {}
    const { executor, play } = wayFixture(way, { attempts: 2, initialDelay: 0 })
    expect((await play(() => Slow.resolve('x'))).value).toBe('x')
    expect((await play(() => Slow.reject(down))).error).toBe(down)
    const promise = executor.run('job', () => Slow.resolve('x'))
    expect(promise.constructor).toBe(Promise)
    await promise
  })

  test('gives values through untouched: functions, frozen objects, undefined', async () => {
    const { play } = wayFixture(way)
    for (const value of [undefined, null, () => 'f', Object.freeze({}), Symbol('s'), new Error('as a value')]) {
      expect((await play(() => value)).value).toBe(value)
    }
  })

  test('survives errors that cannot be looked at', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const spiteful = new Proxy(new Error('x'), {
      get: throwing(new Error('no reading')),
      getPrototypeOf: throwing(new Error('no prototype')),
      has: throwing(new Error('no asking')),
      ownKeys: throwing(new Error('no keys')),
    })
    for (const [name, error] of Object.entries({ proxy, spiteful })) {
      for (const policy of [
        { attempts: 2 },
        { attempts: 2, retryOn: ['network', { pattern: 'x' }, { exitCode: 1 }] },
      ] as PolicyInput[]) {
        const { clock, call } = wayFixture(way, policy)
        const watched = call(failing(error))
        await clock.runAll()
        expect(watched.state, name).toBe('rejected')
        expect(Object.is(watched.error, error), name).toBe(true)
        expect(clock.pending).toBe(0)
      }
      expect(() => timelineOf(error)).not.toThrow()
    }
  })

  test('survives an error whose message throws when it is read', async () => {
    const error = Object.defineProperties(new Error('x'), {
      message: { get: throwing(down) },
      cause: { get: throwing(down) },
    })
    const { play } = wayFixture(way, { attempts: 2, retryOn: ['network'] })
    expect(Object.is((await play(failing(error))).error, error)).toBe(true)
  })

  test('settles also when operations never do, as long as it has a limit', async () => {
    const never: () => Promise<never> = () => new Promise(() => undefined)
    expect((await wayFixture(way, { attempts: 2, attemptTimeout: '1s' }).play(never)).atMs).toBe(3000)
    expect((await wayFixture(way, { attempts: 2, timeout: '1s' }).play(never)).atMs).toBe(1000)
  })

  test('handles the late rejection of an operation that timed out', async () => {
    const { clock, call } = wayFixture(way, { attempts: 1, attemptTimeout: '1s' })
    const manual = new Manual()
    call(manual.operation)
    await clock.advance(1000)
    manual.at(0).reject(new Error('late'))
    await turn()
  })

  test('refuses a budget that answers with a promise, with an error that says so', async () => {
    const operation = failing(down)
    const api = { allowAttempt: async () => ({ allowed: true, reason: '' }) } as unknown as Budget
    const call = await wayFixture(way, { budget: 'api' }, { budgets: { api } }).play(operation)
    expect(call.error).toBeInstanceOf(BudgetError)
    expect((call.error as Error).message).toMatch(/promise/)
    expect(operation.calls).toBe(0)
    const recovered = await wayFixture(way, { budget: 'api' }, { budgets: { api }, recoverHookErrors: true }).play(
      operation,
    )
    expect(recovered.error).toMatchObject({ code: 'budget_denied', reason: 'panic_in_budget' })
  })

  test.each([undefined, null, true, {}, { allowed: 'yes' }, { reason: 'x' }])(
    'refuses a budget that answers %s',
    async (answer) => {
      const api = { allowAttempt: () => answer } as unknown as Budget
      const call = await wayFixture(way, { budget: 'api' }, { budgets: { api } }).play(() => 'never')
      expect(call.error).toBeInstanceOf(BudgetError)
    },
  )

  test('is not disturbed by a budget that runs calls of its own while it is asked or told', async () => {
    const inner: Promise<unknown>[] = []
    const again = (): void => void inner.push(executor.run('nested', () => 'x', { policy: { attempts: 1 } }))
    const api: Budget = {
      allowAttempt: () => (again(), { allowed: true, reason: '', release: again }),
      peek: () => (again(), true),
    }
    const { executor, play } = wayFixture(
      way,
      { attempts: 3, budget: 'api', breaker: { failureThreshold: 9 } },
      { budgets: { api } },
    )
    const call = await play(failing(down))
    expect(call.error).toBe(down)
    expect(call.timeline?.attempts).toHaveLength(3)
    await Promise.all(inner)
    expect(inner).toHaveLength(3 + 3 + 2)
  })

  test('is not disturbed by a budget that runs its own key again', async () => {
    let depth = 0
    const api: Budget = {
      allowAttempt: () => {
        if (depth++ < 5) watch(executor.run('job', failing(down)))
        return { allowed: true, reason: '' }
      },
    }
    const { clock, executor, call } = wayFixture(
      way,
      { attempts: 2, budget: 'api', breaker: { failureThreshold: 99 } },
      { budgets: { api } },
    )
    const watched = call(failing(down))
    await clock.runAll()
    expect(watched.error).toBe(down)
    expect(watched.timeline?.attempts).toHaveLength(2)
  })

  test('shares a frozen decision with every other call', async () => {
    const decision: Decision = Object.freeze({ allowed: true, reason: 'shared' })
    const { play } = wayFixture(
      way,
      { attempts: 3, budget: 'api' },
      { budgets: { api: { allowAttempt: () => decision } } },
    )
    expect((await play(failing(down))).timeline?.attempts.map(({ budgetReason }) => budgetReason)).toEqual([
      'shared',
      'shared',
      'shared',
    ])
  })

  test('is not slowed by a pattern that would backtrack for ever', async () => {
    const { play } = wayFixture(way, { attempts: 2, retryOn: [{ pattern: 'a*a*a*a*a*b' }] })
    const before = performance.now()
    await play(failing(new Error('a'.repeat(5000))))
    expect(performance.now() - before).toBeLessThan(3000)
  })
})

test('a release that throws is reported as a warning', async () => {
  const warnings: string[] = []
  const listen = (warning: Error): void => void warnings.push(warning.message)
  process.on('warning', listen)
  try {
    const text = `release broken in test ${seededRandom(5)()}`
    const release = (): never => {
      throw new Error(text)
    }
    const { executor } = callFixture(
      { budget: 'api' },
      { budgets: { api: { allowAttempt: () => ({ allowed: true, reason: '', release }) } } },
    )
    await expect(executor.run('job', () => 'x')).resolves.toBe('x')
    await turn()
    expect(warnings.join()).toContain(text)
  } finally {
    process.off('warning', listen)
  }
})

test('hooks that are async and reject leave no unhandled rejection', async () => {
  const rejecting = (): never => Promise.reject(new Error('broken async hook')) as never
  const api: Budget = { allowAttempt: () => ({ allowed: true, reason: '', release: rejecting }) }
  const { executor } = callFixture({ budget: 'api' }, { budgets: { api }, observers: [{ onEvent: rejecting }] })
  await expect(executor.run('job', () => 'x')).resolves.toBe('x')
  await turn()
  expect(unhandled.splice(0)).toEqual([])
})

test('a policy from hostile data reaches no prototype', async () => {
  const policy = JSON.parse('{"attempts": 2, "__proto__": {"attempts": 9}}') as PolicyInput
  const { executor } = callFixture()
  const call = watch(executor.run('job', () => 'x', { policy }))
  await turn()
  expect(call.error).toMatchObject({ code: 'invalid_policy' })
  expect(({} as { attempts?: number }).attempts).toBeUndefined()
})

test('10 000 random calls release what they were allowed, and leave nothing', async () => {
  const random = seededRandom(20)
  const api = new Recorder(() => random() < 0.9)
  const pool = concurrencyBudget({ max: 50 })
  const policies: PolicyInput[] = [
    { attempts: 3, budget: 'api', jitter: 'full' },
    { attempts: 2, budget: 'api', attemptTimeout: '300ms', timeout: '2s' },
    { attempts: 2, budget: 'api', hedge: { delay: '100ms', maxHedges: 2, budget: { name: 'pool', share: true } } },
    { attempts: 3, budget: 'pool', breaker: { failureThreshold: 20, recoveryTimeout: '1s' } },
  ]
  const { clock, executor } = callFixture({}, { budgets: { api, pool } })
  let settled = 0
  let launched = 0
  const operation = async ({ signal }: { signal: AbortSignal }): Promise<string> => {
    launched++
    const [speed, luck, heed] = [random(), random(), random()]
    if (speed > 0.3) await clock.sleep(speed * 500, heed < 0.5 ? signal : undefined)
    if (luck < 0.4) throw down
    return 'x'
  }
  for (let batch = 0; batch < 20; batch++) {
    for (let index = 0; index < 500; index++) {
      const controller = new AbortController()
      if (random() < 0.2) void clock.sleep(random() * 1000).then(() => controller.abort())
      const options = {
        policy: policies[index % policies.length],
        ...(random() < 0.5 && { signal: controller.signal }),
      }
      executor.run('job', operation, options).then(
        () => settled++,
        () => settled++,
      )
    }
    await clock.advance(200)
  }
  await clock.runAll()
  expect(settled).toBe(10_000)
  expect(launched).toBeGreaterThan(9000)
  expect(pool.inUse).toBe(0)
  expect(clock.pending).toBe(0)
  expect(api.released).toHaveLength(api.allowed)
})
