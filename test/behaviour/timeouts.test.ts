/**
 * The limit of one attempt and the limit of the whole call.
 */
import { describe, expect, test } from 'vitest'
import { AttemptTimeoutError, CallTimeoutError, concurrencyBudget, isRepriseError } from 'reprise'
import { failing, Manual, Recorder, wayFixture, WAYS } from './call-fixture.js'

const down = new Error('down')

describe.each(WAYS)('a call %s', (way) => {
  test('ends an attempt that takes too long with a retryable timeout', async () => {
    const { clock, play } = wayFixture(way, { attempts: 2, attemptTimeout: '5s', retryOn: ['timeout'] })
    const call = await play(({ attempt, signal }) =>
      attempt === 1 ? clock.sleep(60_000, signal).then(() => 'first') : 'second',
    )
    expect(call).toMatchObject({ state: 'fulfilled', value: 'second', atMs: 6000 })
  })

  test('does not retry a timeout where retryOn lists other things', async () => {
    const { clock, play } = wayFixture(way, { attempts: 2, attemptTimeout: '5s', retryOn: ['network'] })
    const call = await play(({ signal }) => clock.sleep(60_000, signal))
    expect(call.error).toBeInstanceOf(AttemptTimeoutError)
    expect(call.timeline?.stopReason).toBe('not_retryable')
  })

  test('rejects with the timeout of its last attempt', async () => {
    const { clock, play } = wayFixture(way, { attempts: 2, attemptTimeout: '5s' })
    const call = await play(({ signal }) => clock.sleep(60_000, signal))
    expect(call.error).toBeInstanceOf(AttemptTimeoutError)
    expect(isRepriseError(call.error, 'attempt_timeout')).toBe(true)
    expect(call.error).toMatchObject({ timeoutMs: 5000 })
    expect(call.atMs).toBe(11_000)
    expect(call.timeline?.attempts.map((attempt) => attempt.outcome)).toEqual(['timeout', 'timeout'])
    expect(clock.pending).toBe(0)
  })

  test('aborts the signal of an attempt that timed out with the timeout error', async () => {
    const { clock, call } = wayFixture(way, { attempts: 2, attemptTimeout: '5s' })
    const manual = new Manual()
    call(manual.operation)
    await clock.advance(4999)
    expect(manual.at(0).signal.aborted).toBe(false)
    await clock.advance(1)
    expect(manual.at(0).signal.reason).toBeInstanceOf(AttemptTimeoutError)
  })

  test('goes on after a timeout without waiting for an operation that ignores its signal', async () => {
    const { clock, call } = wayFixture(way, { attempts: 3, attemptTimeout: '5s' })
    const manual = new Manual()
    const watched = call(manual.operation)
    await clock.advance(6000)
    expect(manual.calls).toBe(2)
    manual.at(0).resolve('late')
    await clock.advance(0)
    expect(watched.state).toBe('pending')
    manual.at(1).resolve('in time')
    await clock.advance(0)
    expect(watched.value).toBe('in time')
    expect(clock.pending).toBe(0)
  })

  test('gives a reservation back before it asks again, when the timed-out operation heeds its signal', async () => {
    const pool = concurrencyBudget({ max: 1 })
    const { clock, play } = wayFixture(
      way,
      { attempts: 3, attemptTimeout: '5s', initialDelay: 0, budget: 'pool' },
      { budgets: { pool } },
    )
    const call = await play(({ signal }) => clock.sleep(60_000, signal))
    expect(call.timeline?.attempts.map((attempt) => attempt.outcome)).toEqual(['timeout', 'timeout', 'timeout'])
    expect(pool.inUse).toBe(0)
  })

  test('ends the whole call at its deadline while an attempt runs', async () => {
    const { clock, call } = wayFixture(way, { attempts: 3, timeout: '10s' })
    const manual = new Manual()
    const watched = call(manual.operation)
    await clock.runAll()
    expect(watched.error).toBeInstanceOf(CallTimeoutError)
    expect(watched.error).toMatchObject({ code: 'timeout', timeoutMs: 10_000 })
    expect('cause' in (watched.error as Error)).toBe(false)
    expect(watched.atMs).toBe(10_000)
    expect(manual.at(0).signal.aborted).toBe(true)
    expect(watched.timeline?.stopReason).toBe('timeout')
    expect(watched.timeline?.attempts).toHaveLength(1)
  })

  test('carries the last real error as the cause of its timeout', async () => {
    const { clock, play } = wayFixture(way, { attempts: 3, timeout: '10s' })
    const call = await play(async ({ attempt }) => {
      if (attempt === 1) throw down
      await clock.sleep(60_000)
    })
    expect(call.error).toBeInstanceOf(CallTimeoutError)
    expect((call.error as Error).cause).toBe(down)
    expect(call.atMs).toBe(10_000)
  })

  test('stops at once when the wait ahead would end past its deadline', async () => {
    const { clock, play } = wayFixture(way, { attempts: 9, timeout: '5s' })
    const operation = failing(down)
    const call = await play(operation)
    expect(operation.calls).toBe(3)
    expect(call.atMs).toBe(3000)
    expect(call.error).toBeInstanceOf(CallTimeoutError)
    expect(clock.pending).toBe(0)
  })

  test('tells the operation how much time remains', async () => {
    const { clock, play } = wayFixture(way, { attempts: 2, timeout: '10s' })
    const remaining: (number | undefined)[] = []
    await play(async (context) => {
      remaining.push(context.remainingMs)
      await clock.sleep(2000)
      remaining.push(context.remainingMs)
      throw down
    })
    expect(remaining).toEqual([10_000, 8000, 7000, 5000])
    const unlimited = await wayFixture(way).play((context) => context.remainingMs)
    expect(unlimited.value).toBeUndefined()
  })

  test('tells budgets its deadline and the limit of the attempt', async () => {
    const api = new Recorder()
    const policy = { attempts: 2, timeout: '10s', attemptTimeout: '3s', budget: 'api' }
    await wayFixture(way, policy, { budgets: { api } }).play(failing(down))
    expect(api.asks.map((ask) => ask.deadlineMs - ask.now)).toEqual([10_000, 9000])
    expect(api.asks.map((ask) => ask.attemptTimeoutMs)).toEqual([3000, 3000])
    const free = new Recorder()
    await wayFixture(way, { budget: 'api' }, { budgets: { api: free } }).play(() => 'done')
    expect(free.asks[0]).toMatchObject({ deadlineMs: Infinity, attemptTimeoutMs: undefined })
  })

  test('leaves no timer behind when it succeeds before its limits', async () => {
    const { clock, call } = wayFixture(way, { attempts: 2, attemptTimeout: '3s', timeout: '10s' })
    const watched = call(async () => 'quick')
    await clock.advance(0)
    expect(watched.value).toBe('quick')
    expect(clock.pending).toBe(0)
  })

  test('lets the attempt timeout name the outcome when both limits come at one moment', async () => {
    const { clock, play } = wayFixture(way, { attempts: 3, attemptTimeout: '10s', timeout: '10s' })
    const call = await play(({ signal }) => clock.sleep(60_000, signal))
    expect(call.atMs).toBe(10_000)
    expect(call.error).toBeInstanceOf(CallTimeoutError)
    expect(call.timeline?.attempts.map((attempt) => attempt.outcome)).toEqual(['timeout'])
  })
})
