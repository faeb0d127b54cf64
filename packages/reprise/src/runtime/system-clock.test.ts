import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Clock, Timer } from '../core/time.js'
import { systemClock } from './system-clock.js'

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A clock of its own: the one of the process must not see what a test does to the globals. */
async function freshClock(): Promise<Clock> {
  vi.resetModules()
  return (await import('./system-clock.js')).systemClock
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('the clock of the process', () => {
  it('tells the time of the world, and a time that only grows', () => {
    expect(Math.abs(systemClock.wallMs() - Date.now())).toBeLessThan(1000)
    let last = -Infinity
    for (let i = 0; i < 10_000; i++) {
      const now = systemClock.monotonicMs()
      expect(now >= last).toBe(true)
      last = now
    }
  })

  it('tells a time of the turn that is not ahead, and behind by no more than the turn', async () => {
    for (let i = 0; i < 1000; i++) expect(systemClock.turnMs?.()).toBeLessThanOrEqual(systemClock.monotonicMs())
    await sleep(20)
    const before = systemClock.monotonicMs()
    expect(systemClock.turnMs?.()).toBeGreaterThanOrEqual(before)
  })

  it('fires no timer early and every timer once', async () => {
    const waits = Array.from({ length: 500 }, (_, i) => (i * 7.3) % 60)
    const fired: number[] = []
    await Promise.all(
      waits.map(
        (ms, i) =>
          new Promise<void>((resolve) => {
            const at = systemClock.monotonicMs() + ms
            const timer: Timer = {
              fire: () => {
                expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(at)
                fired.push(i)
                resolve()
              },
            }
            systemClock.schedule(timer, at)
          }),
      ),
    )
    await sleep(5)
    expect(fired.toSorted((a, b) => a - b)).toEqual(waits.map((_, i) => i))
  })

  it('forgets a timer that was cancelled, and does not mind one that never was scheduled', async () => {
    let fired = 0
    const timer: Timer = { fire: () => void fired++ }
    systemClock.cancel(timer)
    systemClock.schedule(timer, systemClock.monotonicMs() + 5)
    systemClock.cancel(timer)
    await sleep(20)
    expect(fired).toBe(0)
  })

  it('can be asked to cancel before anything was scheduled', async () => {
    const clock = await freshClock()
    clock.cancel({ fire: () => undefined })
  })
})

describe('soon', () => {
  it('is after the running code, in order, and nobody is lost', async () => {
    const fired: number[] = []
    for (let i = 0; i < 200; i++) systemClock.soon?.({ fire: () => void fired.push(i) })
    expect(fired).toEqual([])
    await sleep(5)
    expect(fired.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i))
  })

  it('does not starve timers and I/O, however long a chain of it', async () => {
    let stop = false
    let links = 0
    const chain: Timer = {
      fire: () => {
        links++
        if (!stop && links < 1_000_000) systemClock.soon?.(chain)
      },
    }
    systemClock.soon?.(chain)
    await sleep(5)
    stop = true
    expect(links).toBeGreaterThan(0)
    expect(links).toBeLessThan(1_000_000)
  })

  it('works where there is no setImmediate', async () => {
    vi.stubGlobal('setImmediate', undefined)
    const clock = await freshClock()
    let fired = 0
    for (let i = 0; i < 64; i++) clock.soon?.({ fire: () => void fired++ })
    await sleep(10)
    expect(fired).toBe(64)
  })
})

describe('a host whose timers are numbers', () => {
  it('is as good', async () => {
    const handles = new Map<number, ReturnType<typeof setTimeout>>()
    const [set, clear] = [setTimeout, clearTimeout]
    let next = 1
    vi.stubGlobal('setTimeout', (fn: () => void, ms: number) => {
      handles.set(next, set(fn, ms))
      return next++
    })
    vi.stubGlobal('clearTimeout', (handle: number | undefined) => clear(handles.get(handle ?? 0)))
    const clock = await freshClock()
    const forgotten: Timer = { fire: () => expect.unreachable() }
    clock.schedule(forgotten, clock.monotonicMs() + 250)
    await new Promise<void>((resolve) => clock.schedule({ fire: resolve }, clock.monotonicMs() + 3))
    clock.cancel(forgotten)
    await new Promise((resolve) => set(resolve, 300))
  })
})

describe('a wait counted from the time of the turn', () => {
  it('is not early, however long the turn was busy', async () => {
    const clock = await freshClock()
    // A burst, so that readings are shared; then work that the shared reading does not know of.
    for (let i = 0; i < 100; i++) clock.turnMs?.()
    const busyUntil = performance.now() + 60
    while (performance.now() < busyUntil);
    const started = performance.now()
    await new Promise<void>((resolve) => clock.scheduleIn?.({ fire: resolve }, 50))
    expect(performance.now() - started).toBeGreaterThanOrEqual(50)
  })

  it('that is cancelled in a burst holds the process no longer than its turn', async () => {
    const clock = await freshClock()
    const held = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = held()
    for (let i = 0; i < 200; i++) {
      const timer: Timer = { fire: () => undefined }
      clock.scheduleIn?.(timer, 3_600_000)
      clock.cancel(timer)
    }
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    expect(held()).toBeLessThanOrEqual(before)
  })
})
