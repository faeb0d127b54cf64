import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WorkerPool } from './worker-pool.mjs'

const SECOND = 1000

/** Eight workers of 80 ms, that is 100 answers a second, with more to do than they can; a fault from 10 s to 20 s. */
function busyPool(workersInFault: number): WorkerPool {
  const pool = new WorkerPool({
    workers: 8,
    workersInFault,
    queueLength: 10_000,
    drawMs: () => 80,
    nowMs: () => Date.now(),
    faultFromMs: 10 * SECOND,
    faultUntilMs: 20 * SECOND,
  })
  for (let i = 0; i < 5000; i++) pool.submit(() => undefined)
  return pool
}

function servedIn(pool: WorkerPool, ms: number): number {
  const before = pool.served
  vi.advanceTimersByTime(ms)
  return pool.served - before
}

describe('the worker pool of the real server', () => {
  beforeEach(() => vi.useFakeTimers({ now: 0 }))
  afterEach(() => vi.useRealTimers())

  it('serves five eighths as much while five of eight workers are left, and all of it again afterwards', () => {
    const pool = busyPool(5)
    const [before, during, after] = [servedIn(pool, 10_000), servedIn(pool, 10_000), servedIn(pool, 10_000)]
    pool.close()
    expect([before, during, after].map((served) => Math.round(served / 10))).toEqual([100, 63, 100])
  })

  it('serves nothing in a hang, and at its end what hung with it', () => {
    const pool = busyPool(0)
    vi.advanceTimersByTime(10 * SECOND - 40)
    const servedBefore = pool.served
    vi.advanceTimersByTime(10 * SECOND)
    expect(pool.served - servedBefore).toBeLessThanOrEqual(8)
    vi.advanceTimersByTime(41)
    expect(pool.served - servedBefore).toBeGreaterThanOrEqual(8)
    pool.close()
  })

  it('refuses a request when its queue is full', () => {
    const pool = new WorkerPool({
      workers: 1,
      workersInFault: 1,
      queueLength: 1,
      drawMs: () => 80,
      nowMs: () => Date.now(),
      faultFromMs: 0,
      faultUntilMs: 0,
    })
    expect([1, 2, 3].map(() => pool.submit(() => undefined))).toEqual([true, true, false])
    pool.close()
  })
})
