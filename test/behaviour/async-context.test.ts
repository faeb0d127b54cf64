/**
 * Whatever fires a timer, frees a place or settles a call: an operation runs in the async context of its own caller.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, test } from 'vitest'
import { createExecutor, type ExecutorOptions, type Operation, type PolicyInput } from 'reprise'
import type { VirtualClock } from 'reprise/testing'
import { ParkingLot, wayFixture, type Way, WAYS } from './call-fixture.js'

const tenant = new AsyncLocalStorage<string>()
const down = new Error('down')

/** Runs one call for each of two tenants at once and returns, per tenant, where its operation found itself. */
async function interleaved(
  way: Way,
  policy: PolicyInput,
  operation: (clock: VirtualClock) => Operation<unknown>,
  options: ExecutorOptions = {},
) {
  const set = wayFixture(way, policy, options)
  const seen: Record<string, (string | undefined)[]> = { ada: [], bob: [] }
  for (const name of ['ada', 'bob']) {
    tenant.run(name, () =>
      set.call((context) => {
        seen[name]?.push(tenant.getStore())
        return operation(set.clock)(context)
      }),
    )
  }
  await tenant.run('nobody', () => set.clock.runAll())
  return seen
}

describe.each(WAYS)('two tenants whose calls (%s) interleave', (way) => {
  test('keep their contexts over retries with delays', async () => {
    const seen = await interleaved(way, { attempts: 4 }, () => () => {
      throw down
    })
    expect(seen).toEqual({ ada: Array(4).fill('ada'), bob: Array(4).fill('bob') })
  })

  test('keep their contexts over retries without delays', async () => {
    const seen = await interleaved(way, { attempts: 40, initialDelay: 0 }, (clock) => async () => {
      await clock.sleep(5)
      throw down
    })
    expect(seen).toEqual({ ada: Array(40).fill('ada'), bob: Array(40).fill('bob') })
  })

  test('keep their contexts over attempt timeouts', async () => {
    const seen = await interleaved(
      way,
      { attempts: 3, attemptTimeout: '1s' },
      (clock) =>
        ({ signal }) =>
          clock.sleep(60_000, signal),
    )
    expect(seen).toEqual({ ada: Array(3).fill('ada'), bob: Array(3).fill('bob') })
  })

  test('keep their contexts over hedges', async () => {
    const policy = { attempts: 2, attemptTimeout: '5s', hedge: { delay: '1s', maxHedges: 2 } }
    const seen = await interleaved(
      way,
      policy,
      (clock) =>
        ({ signal }) =>
          clock.sleep(60_000, signal),
    )
    expect(seen).toEqual({ ada: Array(6).fill('ada'), bob: Array(6).fill('bob') })
  })

  test('keep their contexts when they are woken out of a line, first and later attempts', async () => {
    const lot = new ParkingLot(1)
    const seen = await interleaved(
      way,
      { attempts: 3, backoff: 'fixed', initialDelay: 50, budget: 'lot' },
      (clock) => async () => {
        await clock.sleep(100)
        throw down
      },
      { budgets: { lot } },
    )
    expect(seen).toEqual({ ada: Array(3).fill('ada'), bob: Array(3).fill('bob') })
    expect(lot.free).toBe(1)
  })

  test('find their contexts in predicates, failIf and releases too', async () => {
    const found = new Set<string>()
    const note = (key: string): void => void found.add(`${key} ${tenant.getStore()}`)
    const api = {
      allowAttempt: () => (note('ask'), { allowed: true, reason: '', release: () => note('release') }),
    }
    const policy: PolicyInput = {
      attempts: 3,
      budget: 'api',
      retryOn: [() => (note('retryOn'), true)],
      failIf: () => (note('failIf'), true),
    }
    await interleaved(way, policy, () => () => 'x', { budgets: { api } })
    const expected = ['ask', 'release', 'retryOn', 'failIf'].flatMap((hook) => [`${hook} ada`, `${hook} bob`])
    expect([...found].sort()).toEqual(expected.sort())
  })
})

describe('on the clock of the system', () => {
  test('two tenants whose retries share one timer keep their contexts', async () => {
    const executor = createExecutor({
      defaultPolicy: { attempts: 5, backoff: 'fixed', initialDelay: 2, attemptTimeout: '1m' },
    })
    const seen: Record<string, (string | undefined)[]> = { ada: [], bob: [] }
    const calls = ['ada', 'bob', 'ada', 'bob'].map((name) =>
      tenant.run(name, () =>
        executor
          .run('job', () => {
            seen[name]?.push(tenant.getStore())
            throw down
          })
          .catch(() => tenant.getStore()),
      ),
    )
    await expect(Promise.all(calls)).resolves.toEqual(['ada', 'bob', 'ada', 'bob'])
    expect(seen).toEqual({ ada: Array(10).fill('ada'), bob: Array(10).fill('bob') })
  })

  test('many attempts without a delay keep their context over turns of the event loop', async () => {
    const executor = createExecutor({ defaultPolicy: { attempts: 100, initialDelay: 0 } })
    const seen = new Set<string | undefined>()
    const ada = tenant.run('ada', () =>
      executor.run('job', () => {
        seen.add(tenant.getStore())
        throw down
      }),
    )
    const bob = tenant.run('bob', () => executor.run('job', () => Promise.reject(down)))
    await Promise.allSettled([ada, bob])
    expect([...seen]).toEqual(['ada'])
  })
})
