import { describe, expect, it } from 'vitest'
import { HeartbeatThread } from './heartbeat-thread.js'

const LEASE_MS = 600

/** Counts its renewals, and says when the last one was. */
const CONNECT = `
  const seen = new BigInt64Array(data.seen)
  return () => {
    Atomics.add(seen, 0, 1n)
    Atomics.store(seen, 1, process.hrtime.bigint())
  }
`

interface Watched {
  readonly thread: HeartbeatThread
  readonly renewals: () => number
  readonly lastRenewalNs: () => bigint
}

function watched(connect = CONNECT): Watched {
  const seen = new BigInt64Array(new SharedArrayBuffer(16))
  const thread = new HeartbeatThread({ connect, data: { seen: seen.buffer } }, 'one', LEASE_MS)
  return { thread, renewals: () => Number(seen[0]), lastRenewalNs: () => Atomics.load(seen, 1) }
}

const pause = (forMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, forMs))

function block(forMs: number): void {
  const untilMs = performance.now() + forMs
  while (performance.now() < untilMs);
}

/** It renews as soon as it runs, since nobody else does. */
async function running(connect?: string): Promise<Watched> {
  const one = watched(connect)
  while (one.renewals() === 0) await pause(10)
  return one
}

describe('the heartbeat thread', () => {
  it('renews the lease while the event loop is blocked, and says when', async () => {
    const { thread, renewals } = await running()
    thread.renewed(0)
    const before = renewals()
    block(LEASE_MS * 0.8)
    expect(renewals()).toBeGreaterThan(before)
    expect(thread.silentMs).toBeLessThan(LEASE_MS)
    await thread.end()
  })

  it('writes nothing as long as the event loop renews the lease', async () => {
    const { thread, renewals } = await running()
    thread.renewed(0)
    const timer = setInterval(() => thread.renewed(0), LEASE_MS / 20)
    const before = renewals()
    await pause(LEASE_MS * 2)
    clearInterval(timer)
    // A machine that stops this process for a moment is no fault.
    expect(renewals() - before).toBeLessThanOrEqual(1)
    await thread.end()
  })

  it('stops when the event loop has been blocked for a lease, and goes on when it turns again', async () => {
    const { thread, renewals, lastRenewalNs } = await running()
    const startedAt = process.hrtime.bigint()
    block(LEASE_MS * 3)
    expect(Number(lastRenewalNs() - startedAt) / 1e6).toBeLessThan(LEASE_MS * 2)
    expect(thread.silentMs).toBeGreaterThan(LEASE_MS)
    const before = renewals()
    while (renewals() === before) await pause(10)
    await thread.end()
  })

  it('says nothing where it cannot load what it needs', async () => {
    const { thread, renewals } = watched(`require('there-is-no-such-module')`)
    await pause(LEASE_MS)
    expect(renewals()).toBe(0)
    expect(thread.silentMs).toBe(Infinity)
    await thread.end()
  })

  it('is not cut off in the middle of a renewal when it ends', async () => {
    const long = `
      const seen = new BigInt64Array(data.seen)
      return () => {
        Atomics.add(seen, 0, 1n)
        const untilMs = performance.now() + 500
        while (performance.now() < untilMs);
        Atomics.add(seen, 1, 1n)
      }
    `
    const { thread, renewals, lastRenewalNs: finished } = await running(long)
    await thread.end()
    expect(Number(finished())).toBe(renewals())
  })

  it('ends though its program has failed', async () => {
    const { thread } = watched(`setTimeout(() => { throw new Error('later') }, 10); return () => undefined`)
    await pause(200)
    await thread.end()
    await expect(thread.end()).resolves.toBeUndefined()
  })

  it('tries again after a renewal that failed', async () => {
    const failing = CONNECT.replace(
      'return () => {',
      'return () => { if (Atomics.add(seen, 1, 1n) === 0n) throw new Error()',
    )
    const { thread, renewals } = await running(failing)
    expect(renewals()).toBeGreaterThan(0)
    await thread.end()
  })
})
