/** What a policy means that says nothing of jitter: in code, in a durable task, and read from data. */
import { expect, test } from 'vitest'
import { createExecutor, normalizePolicy, type PolicyArgument, retry, timelineOf } from 'reprise'
import { openDurable } from 'reprise/durable'
import { virtualClock } from 'reprise/testing'
import { failing, watch } from './call-fixture.js'

test('retry has full jitter where the policy says nothing of it, unless the waits are spelt out', async () => {
  const waits = async (policy: PolicyArgument | undefined): Promise<(number | undefined)[]> => {
    const clock = virtualClock()
    const error = new Error('down')
    const call = watch(retry(failing(error), policy, { clock, random: () => 0.25 }))
    await clock.runAll()
    expect(call.error).toBe(error)
    return (
      timelineOf(error)
        ?.attempts.slice(1)
        .map(({ delayBeforeMs }) => delayBeforeMs) ?? []
    )
  }
  expect(await waits(undefined)).toEqual([250, 500])
  expect(await waits({})).toEqual([250, 500])
  expect(await waits(2)).toEqual([250])
  expect(await waits({ attempts: 4 })).toEqual([250, 500, 1000])
  expect(await waits({ backoff: 'linear' })).toEqual([250, 500])
  expect(await waits({ jitter: 'none' })).toEqual([1000, 2000])
  expect(await waits({ jitter: true })).toEqual([925, 1850])
  expect(await waits({ backoff: 'fixed' })).toEqual([1000, 1000])
  expect(await waits({ backoff: { custom: { delays: ['3s', '5s'] } } })).toEqual([3000, 5000])
  expect(await waits({ backoff: 'fixed', jitter: 'full' })).toEqual([250, 250])
  // What came out of a file stays as the file has it.
  expect(await waits(normalizePolicy({ attempts: 3 }, { needsUnits: true }).policy)).toEqual([1000, 2000])
})

test('an executor has the same default, whether the policy is the key’s, the default or the call’s', async () => {
  const policies = { own: { attempts: 2 }, fixed: { backoff: 'fixed' } } as const
  const executor = createExecutor({ policies, defaultPolicy: { attempts: 4 } })
  const jitterOf = async (key: string, policy?: PolicyArgument): Promise<string> => {
    const { timeline } = await executor.inspect(key, () => 'x', policy === undefined ? {} : { policy })
    return timeline.policy.jitter
  }
  expect([await jitterOf('own'), await jitterOf('other'), await jitterOf('own', 5)]).toEqual(['full', 'full', 'full'])
  expect([await jitterOf('fixed'), await jitterOf('own', { backoff: 'fixed' })]).toEqual(['none', 'none'])
})

test('a durable task has the same default', async () => {
  const clock = virtualClock()
  const durable = await openDurable('memory:', { clock, random: () => 0.5 })
  const down = (): Promise<never> => Promise.reject(new Error('down'))
  const dueAfter = async (name: string, policy: PolicyArgument): Promise<number> => {
    const task = durable.task(name, policy, down)
    await task.start(null, { id: 'x' })
    await clock.advance(0)
    return ((await task.status('x'))?.nextAttemptAtMs ?? Number.NaN) - clock.wallMs()
  }
  const jittered = await dueAfter('jittered', { initialDelay: '1h', maxDelay: '1h' })
  expect(jittered).toBeLessThan(3_600_000)
  expect(await dueAfter('exact', { initialDelay: '1h', maxDelay: '1h', jitter: 'none' })).toBe(3_600_000)
  expect(await dueAfter('fixed', { initialDelay: '1h', maxDelay: '1h', backoff: 'fixed' })).toBe(3_600_000)
  await durable.close()
})
