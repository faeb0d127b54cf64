import { describe, expect, it } from 'vitest'
import { IdleProbe } from './idle-probe.js'

const BUSY = 100
const chance = (value: number) => (): number => value

/** After how long a probe is due, to the millisecond, with chance in the middle unless told otherwise. */
const dueAfterMs = (probe: IdleProbe, startMs: number, perSecond = BUSY, random = 0.5): number => {
  for (let ms = 0; ms <= 20_000; ms++) if (probe.isDue(startMs + ms, perSecond, chance(random))) return ms
  return Infinity
}

describe('the probe of an idle dependency', () => {
  it('is due at once if nothing was ever tried', () => {
    expect(new IdleProbe().isDue(0, BUSY, chance(0.5))).toBe(true)
    expect(new IdleProbe().wakeAtMs(BUSY)).toBeLessThanOrEqual(0)
  })

  it.each([1000, 4])('at %d calls a second is due a second after the last attempt', (perSecond) => {
    const probe = new IdleProbe()
    probe.succeeded()
    probe.attempted(7000)
    expect(dueAfterMs(probe, 7000, perSecond)).toBe(1000)
  })

  it('waits the time of four calls, at most ten seconds', () => {
    const waits = [4, 2, 1, 0.4, 0.3, 0.29, 0.01, 0].map((perSecond) => {
      const probe = new IdleProbe()
      probe.succeeded()
      probe.attempted(7000)
      return dueAfterMs(probe, 7000, perSecond)
    })
    expect(waits).toEqual([1000, 2000, 4000, 10_000, 10_000, 10_000, 10_000, 10_000])
  })

  it('waits after a failed retry as long as after a first probe', () => {
    const probe = new IdleProbe()
    probe.retryFailed()
    probe.retryFailed()
    probe.attempted(0)
    expect(dueAfterMs(probe, 0)).toBe(2000)
    probe.retryFailed()
    probe.attempted(2000)
    expect(dueAfterMs(probe, 2000)).toBe(4000)
  })

  it.each([
    [0, 500],
    [0.25, 750],
    [0.999, 1499],
  ])('with chance %d is due after %d ms', (random, ms) => {
    const probe = new IdleProbe()
    probe.attempted(0)
    expect(dueAfterMs(probe, 0, BUSY, random)).toBe(ms)
  })

  it('draws once for each wait', () => {
    const probe = new IdleProbe()
    let draws = 0
    const random = (): number => (draws++, 0.9)
    probe.attempted(0)
    for (const now of [500, 600, 1399]) expect(probe.isDue(now, BUSY, random)).toBe(false)
    expect(probe.isDue(1400, BUSY, random)).toBe(true)
    expect(draws).toBe(1)
    probe.attempted(1400)
    probe.isDue(1500, BUSY, random)
    expect(draws).toBe(2)
  })

  it('wants to be looked at when it can be due at the earliest, and once chance has spoken when it is', () => {
    const probe = new IdleProbe()
    probe.attempted(1000)
    expect(probe.wakeAtMs(BUSY)).toBe(1500)
    expect(probe.isDue(1500, BUSY, chance(0.25))).toBe(false)
    expect(probe.wakeAtMs(BUSY)).toBe(1750)
    probe.attempted(1600)
    expect(probe.wakeAtMs(BUSY)).toBe(2100)
  })

  it('doubles its wait up to ten seconds until something succeeds', () => {
    const probe = new IdleProbe()
    let now = 0
    const waits = (count: number): number[] =>
      Array.from({ length: count }, () => {
        probe.attempted(now)
        const ms = dueAfterMs(probe, now)
        now += ms
        return ms
      })
    expect(waits(6)).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000])
    probe.succeeded()
    expect(waits(2)).toEqual([1000, 2000])
  })

  it('is nearer at once when something succeeds', () => {
    const probe = new IdleProbe()
    for (const now of [0, 60_000, 120_000]) {
      probe.attempted(now)
      probe.isDue(now + 50_000, BUSY, chance(0.5))
    }
    probe.attempted(200_000)
    probe.isDue(200_001, BUSY, chance(0.5))
    expect(probe.wakeAtMs(BUSY)).toBe(208_000)
    probe.succeeded()
    expect(probe.wakeAtMs(BUSY)).toBe(200_500)
  })
})
