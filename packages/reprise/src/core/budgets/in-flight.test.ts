import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InFlight } from './in-flight.js'

const started = (count: number, now = 0, patienceMs = 800): InFlight => {
  const flying = new InFlight()
  for (let i = 0; i < count; i++) flying.started(now, patienceMs)
  return flying
}

describe('what is in flight', () => {
  it('is what has started and not ended, and never less than nothing', () => {
    const flying = started(2)
    expect(flying.count).toBe(2)
    for (let i = 0; i < 5; i++) flying.ended(0)
    expect(flying.count).toBe(0)
    flying.started(2, 800)
    expect(flying.count).toBe(1)
  })

  it('is given up for lost once nobody can be waiting for it', () => {
    const flying = started(3)
    expect(flying.lostAtMs).toBe(900)
    flying.forgetLost(899)
    expect(flying.count).toBe(3)
    flying.forgetLost(900)
    expect(flying.count).toBe(0)
    expect(flying.lostAtMs).toBe(Infinity)
  })

  it('is given up by age, however much else happens', () => {
    const flying = started(1)
    for (let now = 10; now < 2000; now += 10) {
      flying.started(now, 800)
      flying.ended(now)
    }
    expect(flying.count).toBe(0)
  })

  it('is not given up because of others who would wait less', () => {
    const flying = started(1, 0, 60_000)
    flying.started(0, 100)
    flying.ended(0)
    flying.forgetLost(10_000)
    expect(flying.count).toBe(1)
  })

  it('is not given up early when somebody more patient comes, and ends all the same', () => {
    const flying = started(2)
    flying.started(700, 8000)
    flying.forgetLost(2000)
    expect(flying.count).toBe(3)
    expect(flying.patienceMs).toBe(8000)
    for (const startMs of [0, 0, 700]) flying.ended(startMs)
    expect(flying.count).toBe(0)
    flying.started(3000, 100)
    expect(flying.patienceMs).toBe(100)
  })

  it('does not count the end of what was lost, but that of what started since', () => {
    const flying = started(1)
    flying.forgetLost(2000)
    flying.started(2000, 800)
    flying.ended(0)
    expect(flying.count).toBe(1)
    flying.ended(2000)
    expect(flying.count).toBe(0)
  })

  it('takes a start that is rounded down, or a little late, for what it is', () => {
    const flying = started(1, 1000.7)
    flying.ended(1000)
    expect(flying.count).toBe(0)
    flying.started(1000, 800)
    flying.ended(1150)
    expect(flying.count).toBe(0)
  })

  it('goes on when the clock goes back', () => {
    const flying = started(1, 5000)
    flying.started(1000, 800)
    expect(flying.count).toBe(2)
    flying.ended(5000)
    flying.ended(4999)
    expect(flying.count).toBe(0)
  })

  it('keeps few slices, and the sum of them', () => {
    const events = fc.array(fc.tuple(fc.integer({ min: 0, max: 300 }), fc.boolean(), fc.constantFrom(50, 800, 3000)))
    fc.assert(
      fc.property(events, (steps) => {
        const flying = new InFlight()
        const starts: number[] = []
        let now = 0
        for (const [ms, isStart, patienceMs] of steps) {
          now += ms
          if (isStart) {
            flying.started(now, patienceMs)
            starts.push(now)
          } else if (starts.length > 0) {
            flying.ended(starts.shift() as number)
          }
          flying.forgetLost(now)
          expect(flying.count).toBeGreaterThanOrEqual(0)
          expect(flying.count).toBeLessThanOrEqual(starts.length)
        }
        flying.forgetLost(now + 10_000)
        expect(flying.count).toBe(0)
      }),
    )
  })

  it('comes back from a snapshot, until nobody can be waiting for it', () => {
    const flying = started(3)
    flying.restore(4, 5000, 1000)
    expect(flying.count).toBe(4)
    flying.ended(4000)
    expect(flying.count).toBe(3)
    flying.forgetLost(6000)
    expect(flying.count).toBe(0)
  })

  it.each([undefined, null, -1, 0.5, '2', Infinity])('refuses the snapshot %o and stays as it was', (used) => {
    const flying = started(3)
    expect(() => flying.restore(used, 0, 1000)).toThrow('adaptiveBudget snapshot used: ')
    expect(flying.count).toBe(3)
  })
})
