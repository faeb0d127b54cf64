/**
 * The circuit breaker as calls meet it.
 */
import { describe, expect, test } from 'vitest'
import { BreakerOpenError, type Budget, concurrencyBudget, type PolicyInput, retry, timelineOf } from 'reprise'
import { failing, Manual, Recorder, callFixture, wayFixture, turn, watch, WAYS } from './call-fixture.js'

const down = new Error('down')
const breaker = { failureThreshold: 2, recoveryTimeout: '30s' }

describe.each(WAYS)('a call %s', (way) => {
  const policy: PolicyInput = { attempts: 1, breaker }

  async function opened(extra: PolicyInput = {}, budgets: Record<string, Budget> = {}) {
    const set = wayFixture(way, { ...policy, ...extra }, { budgets })
    await set.play(failing(down), { policy })
    await set.play(failing(down), { policy })
    return set
  }

  test('is refused while its breaker is open: no attempt, no record, no cause', async () => {
    const { play } = await opened()
    const operation = failing(down)
    const call = await play(operation)
    expect(operation.calls).toBe(0)
    expect(call.error).toBeInstanceOf(BreakerOpenError)
    expect(call.error).toMatchObject({ code: 'breaker_open', breaker: 'job' })
    expect('cause' in (call.error as Error)).toBe(false)
    expect(call.timeline).toMatchObject({ stopReason: 'breaker_open', attempts: [] })
  })

  test('opens the breaker with its own failures, and stops because the wait would end with it still open', async () => {
    const { play } = wayFixture(way, { attempts: 9, breaker })
    const operation = failing(down)
    const call = await play(operation)
    expect(operation.calls).toBe(2)
    expect(call.atMs).toBe(1000)
    expect(call.error).toBeInstanceOf(BreakerOpenError)
    expect((call.error as Error).cause).toBe(down)
    expect(call.timeline?.attempts).toHaveLength(2)
  })

  test('does not count a failure that says `not_yet`, nor does such a probe open or close the breaker', async () => {
    const early = Object.assign(new Error('pending'), { retryable: 'not_yet' })
    const { executor, play, clock } = wayFixture(way, policy)
    for (let call = 0; call < 3; call++) expect((await play(failing(early), { policy })).error).toBe(early)
    expect(executor.breaker('job')?.snapshot()).toMatchObject({ phase: 'closed', failures: 0 })
    await play(failing(down), { policy })
    await play(failing(down), { policy })
    await clock.advance(30_000)
    // Each probe gives its slot back.
    for (let call = 0; call < 3; call++) expect((await play(failing(early), { policy })).error).toBe(early)
    expect(executor.breaker('job')?.snapshot()).toMatchObject({ phase: 'half_open' })
    expect((await play(() => 'fine', { policy })).value).toBe('fine')
    expect(executor.breaker('job')?.closed).toBe(true)
  })

  test('waits and probes where its wait ends when the breaker would let it', async () => {
    const { play } = wayFixture(way, { attempts: 3, backoff: 'fixed', initialDelay: '30s', breaker })
    const call = await play(({ attempt }) => {
      if (attempt < 3) throw down
      return 'recovered'
    })
    expect(call).toMatchObject({ state: 'fulfilled', value: 'recovered', atMs: 60_000 })
  })

  test('probes after the recovery time, closes the breaker with its success and opens it with its failure', async () => {
    const { clock, executor, play } = await opened()
    await clock.advance(30_000)
    expect((await play(failing(down))).error).toBe(down)
    expect((await play(() => 'refused')).error).toBeInstanceOf(BreakerOpenError)
    await clock.advance(30_000)
    expect((await play(() => 'fine')).value).toBe('fine')
    expect(executor.breaker('job')?.closed).toBe(true)
    expect((await play(failing(down))).error).toBe(down)
    expect((await play(() => 'one failure is no reason')).value).toBe('one failure is no reason')
  })

  test('lets one probe pass at a time, and gives the slot of an aborted probe back', async () => {
    const { clock, call } = await opened()
    await clock.advance(30_000)
    const controller = new AbortController()
    const manual = new Manual()
    const probe = call(manual.operation, { signal: controller.signal })
    const other = call(() => 'refused')
    await turn()
    expect(other.error).toBeInstanceOf(BreakerOpenError)
    controller.abort('enough')
    await turn()
    expect(probe.error).toBe('enough')
    const next = call(() => 'probed')
    await turn()
    expect(next.value).toBe('probed')
  })

  test('gives its slot back when the budget then denies the probe', async () => {
    const api = new Recorder(({ key }) => key !== 'job' || asked++ > 0)
    let asked = 0
    const { clock, call } = await opened({ budget: 'api' }, { api })
    await clock.advance(30_000)
    const denied = call(() => 'denied')
    await turn()
    expect(denied.timeline?.stopReason).toBe('budget_denied')
    const next = call(() => 'probed')
    await turn()
    expect(next.value).toBe('probed')
  })

  test('gives its slot back when the budget throws at the probe', async () => {
    let throws = true
    const api: Budget = {
      allowAttempt() {
        if (throws) throw new Error('broken budget')
        return { allowed: true, reason: '' }
      },
    }
    const { clock, call } = await opened({ budget: 'api' }, { api })
    await clock.advance(30_000)
    const broken = call(() => 'never')
    await turn()
    expect((broken.error as Error).message).toBe('Budget api threw: broken budget')
    throws = false
    const next = call(() => 'probed')
    await turn()
    expect(next.value).toBe('probed')
  })

  test('counts failures that are not retryable, and successes reset the count', async () => {
    const { play } = wayFixture(way, { attempts: 5, retryOn: ['network'], breaker })
    await play(failing(down))
    await play(() => 'fine')
    await play(failing(down))
    expect((await play(() => 'still closed')).value).toBe('still closed')
    await play(failing(down))
    await play(failing(down))
    expect((await play(() => 'open')).error).toBeInstanceOf(BreakerOpenError)
  })

  test('counts attempt timeouts, but neither denials nor aborts', async () => {
    const { clock, executor, call, play } = wayFixture(
      way,
      { attempts: 1, attemptTimeout: '1s', breaker, budget: { name: 'api', cost: 1 } },
      { budgets: { api: new Recorder(() => allowed) } },
    )
    let allowed = false
    await play(() => 'denied')
    await play(() => 'denied')
    await play(() => 'denied')
    allowed = true
    for (let i = 0; i < 3; i++) {
      const controller = new AbortController()
      call(new Manual().operation, { signal: controller.signal })
      controller.abort()
    }
    expect(executor.breaker('job')?.closed).toBe(true)
    await play(() => clock.sleep(5000))
    await play(() => clock.sleep(5000))
    expect(executor.breaker('job')?.closed).toBe(false)
  })

  test('records the breaker as it was when the attempt started', async () => {
    const { clock, play } = await opened({ attempts: 1 })
    await clock.advance(30_000)
    const probe = await play(failing(down))
    expect(probe.timeline?.attempts.map((attempt) => attempt.breaker)).toEqual(['half_open'])
    const plain = await wayFixture(way, policy).play(failing(down))
    expect(plain.timeline?.attempts.map((attempt) => attempt.breaker)).toEqual(['closed'])
    const none = await wayFixture(way, { attempts: 1 }).play(failing(down))
    expect(none.timeline?.attempts.map((attempt) => attempt.breaker)).toEqual([undefined])
  })
})

describe('a breaker', () => {
  test('is shared by calls with its key, whatever the keys of their policies', async () => {
    const shared = { ...breaker, key: 'database' }
    const { clock, executor } = callFixture(
      {},
      { policies: { read: { attempts: 1, breaker: shared }, write: { attempts: 1, breaker: shared } } },
    )
    const calls = [watch(executor.run('read', failing(down))), watch(executor.run('write', failing(down)))]
    await clock.runAll()
    expect(calls.map((call) => call.error)).toEqual([down, down])
    await expect(executor.run('read', () => 'x')).rejects.toMatchObject({ breaker: 'database' })
    await expect(executor.run('write', () => 'x')).rejects.toBeInstanceOf(BreakerOpenError)
    expect(executor.breaker('read')).toBeUndefined()
  })

  test('without a key of its own belongs to the key of the call', async () => {
    const { executor } = callFixture({ attempts: 1, breaker: { failureThreshold: 1 } })
    await expect(executor.run('a', failing(down))).rejects.toBe(down)
    await expect(executor.run('a', () => 'x')).rejects.toBeInstanceOf(BreakerOpenError)
    await expect(executor.run('b', () => 'x')).resolves.toBe('x')
  })

  test('of retry in a policy written in place never opens, which a note and one warning say', async () => {
    const warnings: string[] = []
    const listen = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', listen)
    const note = expect.stringMatching(/^A breaker of retry\(\) without `key`.*never opens/)
    for (let call = 0; call < 20; call++) {
      const failed = new Error('down')
      await expect(retry(failing(failed), { attempts: 1, breaker: { failureThreshold: 3 } })).rejects.toBe(failed)
      expect(timelineOf(failed)?.notes).toEqual([note])
    }
    const failed = new Error('down')
    await expect(retry(failing(failed), { attempts: 1, breaker: { key: 'named' } })).rejects.toBe(failed)
    expect(timelineOf(failed)?.notes).toEqual([])
    await turn()
    process.off('warning', listen)
    expect(warnings.filter((text) => text.includes('without `key`'))).toHaveLength(1)
  })

  test('can be kept and restored in another executor', async () => {
    const policy = { attempts: 1, breaker: { failureThreshold: 1 } }
    const first = callFixture(policy)
    await expect(first.executor.run('a', failing(down))).rejects.toBe(down)
    const state: unknown = JSON.parse(JSON.stringify(first.executor.breaker('a')?.snapshot()))
    const second = callFixture(policy)
    await expect(second.executor.run('a', () => 'x')).resolves.toBe('x')
    second.executor.breaker('a')?.restore(state as never)
    await expect(second.executor.run('a', () => 'x')).rejects.toBeInstanceOf(BreakerOpenError)
    await second.clock.advance(30_000)
    await expect(second.executor.run('a', () => 'x')).resolves.toBe('x')
  })

  test('that is half open launches no hedge', async () => {
    const hedged: PolicyInput = {
      attempts: 1,
      hedge: { delay: '100ms', maxHedges: 3 },
      breaker: { failureThreshold: 1 },
    }
    const { clock, executor } = callFixture(hedged)
    await expect(executor.run('a', failing(down))).rejects.toBe(down)
    await clock.advance(30_000)
    const manual = new Manual()
    const probe = watch(executor.run('a', manual.operation))
    await clock.advance(1000)
    expect(manual.calls).toBe(1)
    manual.at(0).resolve('slow but well')
    await turn()
    expect(probe.value).toBe('slow but well')
    const closed = new Manual()
    const call = watch(executor.run('a', closed.operation))
    await clock.advance(1000)
    expect(closed.calls).toBe(4)
    closed.at(3).resolve('x')
    await turn()
    expect(call.value).toBe('x')
  })

  test('with several probes closes after as many successes', async () => {
    const { clock, executor } = callFixture({ attempts: 1, breaker: { failureThreshold: 1, halfOpenMaxCalls: 2 } })
    await expect(executor.run('a', failing(down))).rejects.toBe(down)
    await clock.advance(30_000)
    const manual = new Manual()
    const probes = [1, 2, 3].map(() => watch(executor.run('a', manual.operation)))
    await turn()
    expect(manual.calls).toBe(2)
    expect(probes[2]?.error).toBeInstanceOf(BreakerOpenError)
    manual.at(0).resolve('x')
    await turn()
    expect(executor.breaker('a')?.closed).toBe(false)
    manual.at(1).resolve('x')
    await turn()
    expect(executor.breaker('a')?.closed).toBe(true)
  })

  test('hears nothing of losers of a race', async () => {
    const { clock, executor } = callFixture({ attempts: 1, hedge: { delay: '1s' }, breaker: { failureThreshold: 1 } })
    const manual = new Manual()
    const call = watch(executor.run('a', manual.operation))
    await clock.advance(1000)
    manual.at(1).resolve('hedge')
    await turn()
    manual.at(0).reject(new Error('aborted'))
    await turn()
    expect(call.value).toBe('hedge')
    expect(executor.breaker('a')?.closed).toBe(true)
  })

  test('refuses before the budget is asked, so that nothing is charged', async () => {
    const pool = concurrencyBudget({ max: 5 })
    const spy = new Recorder()
    const { executor } = callFixture(
      { attempts: 1, breaker: { failureThreshold: 1 }, budget: 'spy' },
      { budgets: { pool, spy } },
    )
    await expect(executor.run('a', failing(down))).rejects.toBe(down)
    await expect(executor.run('a', () => 'x')).rejects.toBeInstanceOf(BreakerOpenError)
    expect(spy.asks).toHaveLength(1)
  })
})
