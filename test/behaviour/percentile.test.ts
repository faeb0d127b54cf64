/**
 * Hedges that wait for a percentile of the latencies seen.
 */
import { describe, expect, test } from 'vitest'
import type { PolicyInput } from 'reprise'
import { Manual, Recorder, callFixture, turn, watch } from './call-fixture.js'

describe('a percentile', () => {
  const policy: PolicyInput = { attempts: 1, hedge: { percentile: 90 } }

  test('hedges nothing before 50 attempts have run, and then at about that latency', async () => {
    const { clock, executor } = callFixture(policy)
    for (let i = 0; i < 50; i++) {
      const manual = new Manual()
      const call = watch(executor.run('job', manual.operation))
      await clock.advance(i < 45 ? 100 : 1000)
      expect(manual.calls).toBe(1)
      manual.at(0).resolve('x')
      await turn()
      expect(call.value).toBe('x')
    }
    const slow = new Manual()
    watch(executor.run('job', slow.operation))
    await clock.advance(99)
    expect(slow.calls).toBe(1)
    await clock.advance(31)
    expect(slow.calls).toBe(2)
  })

  test('is fed by what ran, not by what was denied', async () => {
    let allowed = true
    const api = new Recorder(() => allowed)
    const { clock, executor } = callFixture({ ...policy, budget: 'api' }, { budgets: { api } })
    for (let i = 0; i < 49; i++) {
      const call = executor.run('job', () => clock.sleep(100))
      await clock.advance(100)
      await call
    }
    allowed = false
    for (let i = 0; i < 20; i++)
      await expect(executor.run('job', () => 'x')).rejects.toMatchObject({ code: 'budget_denied' })
    allowed = true
    const slow = new Manual()
    watch(executor.run('job', slow.operation))
    await clock.advance(60_000)
    expect(slow.calls).toBe(1)
  })

  test('is kept where one policy is given with calls of several keys', async () => {
    const { clock, executor } = callFixture()
    for (let i = 0; i < 60; i++) {
      const calls = ['a', 'b'].map((key) => executor.run(key, () => clock.sleep(10), { policy }))
      await clock.advance(10)
      await Promise.all(calls)
    }
    const slow = new Manual()
    watch(executor.run('a', slow.operation, { policy }))
    await clock.advance(60_000)
    expect(slow.calls).toBe(2)
  })

  test('is kept per key', async () => {
    const { clock, executor } = callFixture(policy)
    for (let i = 0; i < 60; i++) {
      const call = executor.run('fast', () => clock.sleep(10))
      await clock.advance(10)
      await call
    }
    const slow = new Manual()
    watch(executor.run('other', slow.operation))
    await clock.advance(60_000)
    expect(slow.calls).toBe(1)
    const fast = new Manual()
    watch(executor.run('fast', fast.operation))
    await clock.advance(60_000)
    expect(fast.calls).toBe(2)
  })
})
