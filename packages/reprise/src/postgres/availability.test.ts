import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StoreAvailability } from '../ledger/ledger.js'
import { Availability } from './availability.js'

let availability: Availability
let told: StoreAvailability[]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  availability = new Availability()
  told = []
  availability.listen((state) => told.push(state))
})
afterEach(() => void vi.useRealTimers())

describe('a server', () => {
  it('is away 5 s after the first question that nothing was heard after, told once with the last failure', () => {
    availability.asked()
    availability.failed(new Error('connect ECONNREFUSED'))
    vi.advanceTimersByTime(4000)
    availability.asked()
    availability.failed(new Error('timeout'))
    expect(availability.isAway).toBe(false)
    vi.advanceTimersByTime(1500)
    vi.advanceTimersByTime(60_000)
    expect(told).toEqual([{ isAway: true, reason: 'timeout' }])
    expect(availability.isAway).toBe(true)
  })

  it('that hangs without a failure is away too', () => {
    availability.asked()
    vi.advanceTimersByTime(5500)
    expect(told).toEqual([{ isAway: true, reason: 'no answer for 5 s' }])
  })

  it('is back with the next answer, which says how long it was away', () => {
    availability.asked()
    vi.advanceTimersByTime(20_000)
    availability.answered()
    expect(told.at(-1)).toEqual({ isAway: false, awayMs: 20_000 })
    availability.answered()
    expect(told).toHaveLength(2)
  })

  it('that answers in time is never away, however much is asked', () => {
    for (let second = 0; second < 60; second++) {
      availability.asked()
      vi.advanceTimersByTime(1000)
      availability.answered()
    }
    vi.advanceTimersByTime(60_000)
    expect(told).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is not away if its answer is read right after the first look, as after a blocked event loop', () => {
    availability.asked()
    vi.advanceTimersByTime(5200)
    availability.answered()
    vi.advanceTimersByTime(60_000)
    expect(told).toEqual([])
  })
})
