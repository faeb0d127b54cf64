/** The settings to start with: what they are, and what they do in a transient failure and in an outage. */
import { describe, expect, it } from 'vitest'
import { createExecutor } from '../index.js'
import { seededRandom, virtualClock } from '../testing/index.js'
import type { Budget } from './budget.js'
import type { PolicyInput } from './policy.js'
import { RECOMMENDED_BUDGET, recommended } from './recommended.js'

const down = new Error('down')

const budgetOf = (changes?: PolicyInput): Budget =>
  recommended(changes).budgets[RECOMMENDED_BUDGET] ?? expect.unreachable('it has a budget')

/** An executor on a clock of its own. */
const staged = (seed: number, changes?: PolicyInput) => {
  const clock = virtualClock()
  const executor = createExecutor({ ...recommended(changes), clock, random: seededRandom(seed) })
  /** Calls at a steady rate; what became of them in the end. */
  const calls = async (count: number, everyMs: number, operation: (signal: AbortSignal) => unknown) => {
    let succeeded = 0
    for (let i = 0; i < count; i++) {
      void executor
        .run('dependency', ({ signal }) => operation(signal))
        .then(
          () => succeeded++,
          () => undefined,
        )
      await clock.advance(everyMs)
    }
    await clock.runAll()
    return succeeded
  }
  return { clock, executor, calls }
}

describe('the recommended settings', () => {
  it('are a policy with jitter and a limit for everything, and a budget by key that parks', () => {
    const { defaultPolicy, budgets } = recommended()
    expect(defaultPolicy).toEqual({
      attempts: 8,
      backoff: 'exponential',
      initialDelay: '100ms',
      maxDelay: '5s',
      jitter: 'full',
      attemptTimeout: '3s',
      timeout: '10s',
      budget: RECOMMENDED_BUDGET,
    })
    expect(Object.keys(budgets)).toEqual([RECOMMENDED_BUDGET])
    expect(budgetOf()).toMatchObject({ park: expect.any(Function), maxParkMs: 30_000 })
  })

  it('take changes field by field', () => {
    const { defaultPolicy } = recommended({ attempts: 4, timeout: '2s', retryOn: ['timeout'] })
    expect(defaultPolicy).toEqual({
      ...recommended().defaultPolicy,
      attempts: 4,
      timeout: '2s',
      retryOn: ['timeout'],
    })
    expect(recommended({ budget: 'other' }).defaultPolicy.budget).toBe('other')
  })

  it('are made anew each time: nothing one executor learns is known to another', () => {
    expect(budgetOf()).not.toBe(budgetOf())
    const one = recommended()
    expect(one.budgets).not.toBe(recommended().budgets)
    expect(one.defaultPolicy).not.toBe(recommended().defaultPolicy)
  })

  it('are settings of an executor as they are', async () => {
    const executor = createExecutor(recommended())
    await expect(executor.run('k', () => 'done')).resolves.toBe('done')
  })

  it.each(['that is the first ever', 'long after others'])(
    'retry away a transient failure of a lone call %s',
    async (when) => {
      for (let seed = 0; seed < 20; seed++) {
        const { clock, calls } = staged(seed)
        /** One call whose first attempt fails; its result, and how many attempts it took. */
        const call = async (): Promise<[succeeded: number, attempts: number]> => {
          let attempts = 0
          const succeeded = await calls(1, 0, async () => {
            await clock.sleep(10)
            if (attempts++ === 0) throw down
          })
          return [succeeded, attempts]
        }
        if (when !== 'that is the first ever') {
          for (const _ of 'abc') {
            await calls(1, 0, () => clock.sleep(10))
            await clock.advance(600_000)
          }
        }
        const startMs = clock.monotonicMs()
        expect(await call()).toEqual([1, 2])
        expect(clock.monotonicMs() - startMs).toBeLessThan(5000)
      }
    },
  )

  it('retry away that every fifth attempt fails, at a quarter more attempts', async () => {
    const { clock, calls } = staged(1)
    const chance = seededRandom(2)
    let attempts = 0
    const succeeded = await calls(400, 50, async () => {
      attempts++
      await clock.sleep(10)
      if (chance() < 0.2) throw down
    })
    expect(succeeded).toBe(400)
    expect(attempts).toBeLessThan(400 * 1.35)
  })

  it('make no more attempts than calls and a few when nothing works from the start', async () => {
    const { calls } = staged(3)
    let attempts = 0
    const succeeded = await calls(1000, 10, () => {
      attempts++
      throw down
    })
    expect(succeeded).toBe(0)
    expect(attempts).toBeGreaterThanOrEqual(1000)
    expect(attempts).toBeLessThanOrEqual(1000 + 4)
  })

  it('make no more attempts than calls, a tenth of a second’s calls and a few when nothing works any more', async () => {
    const { clock, calls } = staged(4)
    let attempts = 0
    await calls(500, 10, () => clock.sleep(5))
    await calls(1000, 10, () => {
      attempts++
      throw down
    })
    expect(attempts).toBeLessThanOrEqual(1000 + 10 + 4)
  })

  it.each([true, false])('make few attempts when nothing answers any more, signal heard: %s', async (heard) => {
    const { clock, calls } = staged(5)
    let attempts = 0
    await calls(800, 10, () => clock.sleep(5))
    await calls(1000, 10, (signal) => {
      attempts++
      return heard ? clock.sleep(1e6, signal) : new Promise(() => undefined)
    })
    expect(attempts).toBeLessThanOrEqual(100)
  })
})
