import { describe, expect, it } from 'vitest'
import { InFlight } from './in-flight.js'

const started = (count: number, now = 0, patienceMs = 1000): InFlight => {
  const flying = new InFlight()
  for (let i = 0; i < count; i++) flying.started(now, patienceMs)
  return flying
}

describe('what is in flight', () => {
  it('is what has started and not ended, and never less than nothing', () => {
    const flying = started(2)
    expect(flying.count).toBe(2)
    for (let i = 0; i < 5; i++) flying.ended(1, 0)
    expect(flying.count).toBe(0)
    flying.started(2, 1000)
    expect(flying.count).toBe(1)
  })

  it('is given up for lost when nothing has happened in twice the time anybody would wait', () => {
    const flying = started(3)
    expect(flying.lostAtMs).toBe(2000)
    flying.forgetLost(1999)
    expect(flying.count).toBe(3)
    flying.forgetLost(2000)
    expect(flying.count).toBe(0)
  })

  it('is not given up while something happens', () => {
    const flying = started(3)
    flying.ended(1500, 0)
    flying.forgetLost(3499)
    expect(flying.count).toBe(2)
    flying.started(3400, 1000)
    expect(flying.lostAtMs).toBe(5400)
  })

  it('is not given up because of others who would wait less', () => {
    const flying = started(1, 0, 60_000)
    flying.started(0, 100)
    flying.ended(50, 0)
    flying.forgetLost(10_000)
    expect(flying.count).toBe(1)
  })

  it('does not count the end of what was lost, but that of what started since', () => {
    const flying = started(1)
    flying.forgetLost(2000)
    flying.started(2000, 1000)
    flying.ended(2001, 0)
    expect(flying.count).toBe(1)
    flying.ended(2002, 2000)
    expect(flying.count).toBe(0)
  })

  it('is not lost when there is nothing', () => {
    const flying = started(0)
    flying.forgetLost(1e9)
    flying.started(1e9, 1000)
    flying.ended(1e9, 1e9)
    expect(flying.count).toBe(0)
  })

  it('comes back from a snapshot, without what was lost', () => {
    const flying = started(3)
    flying.forgetLost(2000)
    flying.restore(4, 5000, 1000)
    expect(flying.count).toBe(4)
    flying.ended(5001, 1000)
    expect(flying.count).toBe(3)
  })

  it.each([undefined, null, -1, 0.5, '2', Infinity])('refuses the snapshot %o and stays as it was', (used) => {
    const flying = started(3)
    expect(() => flying.restore(used, 0, 1000)).toThrow('adaptiveBudget snapshot used: ')
    expect(flying.count).toBe(3)
  })
})
