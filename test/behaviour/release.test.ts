/**
 * What a budget gave comes back exactly once, when the operation has settled.
 */
import { describe, expect, test } from 'vitest'
import { type AttemptOutcome, type Budget, concurrencyBudget, type Decision, type PolicyInput } from 'reprise'
import { failing, Manual, Recorder, wayFixture, turn, WAYS } from './call-fixture.js'

const down = new Error('down')

describe.each(WAYS)('a call %s', (way) => {
  describe('gives back what it was given exactly once', () => {
    const given = async (
      policy: PolicyInput,
      act: (set: ReturnType<typeof wayFixture>, manual: Manual, controller: AbortController) => Promise<void>,
    ): Promise<AttemptOutcome[]> => {
      const api = new Recorder()
      const set = wayFixture(way, { budget: 'api', ...policy }, { budgets: { api } })
      const manual = new Manual()
      const controller = new AbortController()
      set.call(manual.operation, { signal: controller.signal })
      await turn()
      await act(set, manual, controller)
      await set.clock.runAll()
      expect(api.released).toHaveLength(api.asks.length)
      return api.released
    }

    test('after a success', async () => {
      const outcomes = await given({}, async ({ clock }, manual) => {
        await clock.advance(250)
        manual.at(0).resolve('done')
      })
      expect(outcomes).toMatchObject([{ result: 'success', won: true, latencyMs: 250, now: 250 }])
    })

    test('after failures', async () => {
      const outcomes = await given({ attempts: 2 }, async ({ clock }, manual) => {
        await clock.advance(10)
        manual.at(0).reject(down)
        await clock.advance(1000)
        manual.at(1).reject(down)
      })
      expect(outcomes).toMatchObject([
        { result: 'failure', won: false, latencyMs: 10, error: down },
        { result: 'failure', won: false, latencyMs: 0, error: down },
      ])
    })

    test('after a timeout, when the operation that ignored it settles', async () => {
      const outcomes = await given({ attempts: 1, attemptTimeout: '1s' }, async ({ clock }, manual) => {
        await clock.advance(5000)
        manual.at(0).resolve('late')
      })
      expect(outcomes).toMatchObject([{ result: 'timeout', won: false, latencyMs: 5000 }])
    })

    test('after an abort, when the operation that ignored it settles', async () => {
      const outcomes = await given({}, async ({ clock }, manual, controller) => {
        controller.abort()
        await clock.advance(5000)
        manual.at(0).reject(new Error('late'))
      })
      expect(outcomes).toMatchObject([{ result: 'aborted', won: false, latencyMs: 5000 }])
    })

    test('after the deadline of the whole call', async () => {
      const outcomes = await given({ timeout: '1s' }, async ({ clock }, manual) => {
        await clock.advance(3000)
        manual.at(0).resolve('late')
      })
      expect(outcomes).toMatchObject([{ result: 'timeout', won: false }])
    })

    test('after a lost race, when the loser settles', async () => {
      const outcomes = await given({ hedge: { delay: '1s', budget: 'api' } }, async ({ clock }, manual) => {
        await clock.advance(1000)
        manual.at(1).resolve('hedge')
        await turn()
        manual.at(0).resolve('late')
      })
      expect(outcomes).toMatchObject([
        { result: 'success', won: true },
        { result: 'aborted', won: false },
      ])
    })
  })

  test('holds its reservation as long as an operation that ignores its signal runs', async () => {
    const pool = concurrencyBudget({ max: 1 })
    const { call } = wayFixture(way, { attempts: 1, budget: 'pool' }, { budgets: { pool } })
    const controller = new AbortController()
    const manual = new Manual()
    const first = call(manual.operation, { signal: controller.signal })
    controller.abort('enough')
    await turn()
    expect(first.error).toBe('enough')
    expect(pool.inUse).toBe(1)
    manual.at(0).reject(new Error('at last'))
    await turn()
    expect(pool.inUse).toBe(0)
  })

  test('gives back before it asks for its own next attempt', async () => {
    const pool = concurrencyBudget({ max: 1 })
    const policy = { attempts: 3, initialDelay: 0, budget: 'pool' }
    const call = await wayFixture(way, policy, { budgets: { pool } }).play(failing(down))
    expect(call.timeline?.attempts.map((attempt) => attempt.outcome)).toEqual(['failure', 'failure', 'failure'])
  })

  test('is not changed by a release that throws', async () => {
    const api: Budget = {
      allowAttempt: () => ({
        allowed: true,
        reason: '',
        release() {
          throw new Error('broken release')
        },
      }),
    }
    const { play } = wayFixture(way, { attempts: 2, budget: 'api' }, { budgets: { api } })
    expect((await play(() => 'fine')).value).toBe('fine')
    const failed = await play(failing(down))
    expect(failed.error).toBe(down)
    expect(failed.timeline?.attempts).toHaveLength(2)
  })

  test('tells settle where a decision has no release of its own', async () => {
    const settled: [number, string][] = []
    const api: Budget = {
      allowAttempt: ({ attempt }) => ({ allowed: attempt < 3, reason: '' }),
      settle: ({ attempt }, { result }) => void settled.push([attempt, result]),
    }
    await wayFixture(way, { attempts: 9, budget: 'api' }, { budgets: { api } }).play(failing(down))
    expect(settled).toEqual([
      [1, 'failure'],
      [2, 'failure'],
    ])
  })

  test('calls release as a method of the decision, with or without a reason', async () => {
    for (const reason of ['', 'mine']) {
      let told = false
      class Ticket implements Decision {
        readonly allowed = true
        readonly reason = reason
        release(): void {
          told = this instanceof Ticket
        }
      }
      const api = { allowAttempt: () => new Ticket() }
      await wayFixture(way, { budget: 'api' }, { budgets: { api } }).play(() => 'x')
      expect(told).toBe(true)
    }
  })
})
