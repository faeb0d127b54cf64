import { describe, expect, it } from 'vitest'
import { epochOffsetMs } from './epoch-time.js'

describe('the time since the epoch by a clock', () => {
  it('is its wall at the first use, and not moved by a wall that is set later', () => {
    const clock = { wall: 5000, wallMs: () => clock.wall, monotonicMs: () => 20 }
    expect(epochOffsetMs(clock)).toBe(4980)
    clock.wall = 9000
    expect(epochOffsetMs(clock)).toBe(4980)
  })

  it('is read again where the two sides were read too far apart, and the closest reading counts', () => {
    const monotonic = [0, 50, 60, 62, 70, 70.05]
    const walls = [1000, 1060, 1070]
    const clock = { wallMs: () => walls.shift() ?? 0, monotonicMs: () => monotonic.shift() ?? 0 }
    expect(epochOffsetMs(clock)).toBe(1000)
    expect([monotonic, walls]).toEqual([[], []])
  })

  it('is not asked for without end where a clock is never read in time', () => {
    let [reads, now] = [0, 0]
    const clock = { wallMs: () => now, monotonicMs: () => ((now += 5), reads++, now) }
    expect(epochOffsetMs(clock)).toBe(0)
    expect(reads).toBe(20)
  })
})
