/**
 * The library reads the clock once for many calls where it can. That must never show in a limit or a wait: both last as
 * long as they say, also when the turn they begin in has been long. On the clock of the process.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createExecutor } from 'reprise'

describe('a busy turn', () => {
  /** Longer than the limit of the calls. */
  const BLOCK_MS = 900
  const LIMIT_MS = 800
  const block = (): void => {
    const until = performance.now() + BLOCK_MS
    while (performance.now() < until);
  }

  it.each([
    ['attemptTimeout', { attempts: 1, attemptTimeout: LIMIT_MS }],
    ['timeout', { attempts: 1, timeout: LIMIT_MS }],
  ] as const)('does not eat up the %s of a call that starts late in it', async (_, policy) => {
    const executor = createExecutor({ policies: { quick: { attempts: 1 }, slow: policy } })
    await nextTurn()
    // Enough calls at once for the clock to be read once for many.
    const many = Array.from({ length: 100 }, () => executor.run('quick', () => 'quick'))
    block()
    const slow = executor.run('slow', () => sleep(20, 'slow'))
    await expect(slow).resolves.toBe('slow')
    await Promise.all(many)
  })

  it.each([
    ['in it', () => Promise.reject(new Error('failed'))],
    ['after it', () => sleep(10).then(() => Promise.reject(new Error('failed')))],
  ] as const)('does not eat up the timeout of a call whose first attempt fails %s', async (_, fail) => {
    const policy = { attempts: 2, initialDelay: 0, timeout: LIMIT_MS }
    const executor = createExecutor({ policies: { quick: { attempts: 1 }, slow: policy } })
    await nextTurn()
    const many = Array.from({ length: 100 }, () => executor.run('quick', () => 'quick'))
    block()
    const slow = executor.run('slow', ({ attempt }) => {
      return attempt === 1 ? fail() : sleep(20, 'slow')
    })
    await expect(slow).resolves.toBe('slow')
    await Promise.all(many)
  })

  it('does not cut short the wait before a retry', async () => {
    const executor = createExecutor({
      policies: { quick: { attempts: 1 }, slow: { attempts: 2, backoff: 'fixed', initialDelay: LIMIT_MS } },
    })
    await nextTurn()
    const many = Array.from({ length: 100 }, () => executor.run('quick', () => 'quick'))
    const starts: number[] = []
    block()
    let failedAt = 0
    const slow = executor.run('slow', () => {
      starts.push(performance.now())
      if (starts.length > 1) return 'done'
      failedAt = performance.now()
      throw new Error('failed')
    })
    await Promise.all([...many, slow])
    expect((starts[1] ?? 0) - failedAt).toBeGreaterThanOrEqual(LIMIT_MS - 1)
  })
})
