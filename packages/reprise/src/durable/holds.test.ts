/** What holds a queue, what ends the hold, and what observers hear of it. */
import { beforeEach, describe, expect, it } from 'vitest'
import { type Denial, Holds } from './holds.js'

const OPEN: Denial = { gate: 'breaker:mail', reason: 'breaker_open', waitMs: 2000 }
const EMPTY: Denial = { gate: 'budget:count', reason: 'count_exhausted', waitMs: Infinity }
const TAKEN: Denial = { gate: 'budget:places', reason: 'budget_denied', waitMs: undefined }

const RETRY = 1

let told: string[]
let holds: Holds

/** Whether retries are. */
const isHeld = (queue: string): boolean => holds.openRanks(queue)?.includes(RETRY) === false

beforeEach(() => {
  told = []
  holds = new Holds({
    held: (queue, { gate, reason }) => void told.push(`${queue} held by ${gate}: ${reason}`),
    released: (queue, { gate }) => void told.push(`${queue} released by ${gate}`),
  })
})

describe('a hold', () => {
  it('ends at its time, and not before', () => {
    expect(holds.deny('mail', RETRY, OPEN, holds.mark, 500)).toBe(true)
    expect([isHeld('mail'), holds.nextAtMs]).toEqual([true, 2500])
    holds.expire(2499)
    expect(isHeld('mail')).toBe(true)
    holds.expire(2500)
    expect([isHeld('mail'), holds.nextAtMs]).toEqual([false, Infinity])
  })

  it('without a time ends with an attempt that its gate had allowed, or with one of another process', () => {
    holds.deny('mail', RETRY, TAKEN, holds.mark, 0)
    holds.deny('print', RETRY, OPEN, holds.mark, 0)
    expect(holds.attemptEnded(['budget:others'])).toBe(false)
    expect(holds.attemptEnded(['breaker:mail'])).toBe(false)
    expect(holds.attemptEnded(['budget:places', 'breaker:x'])).toBe(true)
    expect([isHeld('mail'), isHeld('print')]).toEqual([false, true])
    holds.deny('mail', RETRY, TAKEN, holds.mark, 0)
    holds.releaseUntimed()
    expect([isHeld('mail'), isHeld('print')]).toEqual([false, true])
  })

  it('that waits for a change by hand ends with a poll', () => {
    holds.deny('mail', RETRY, EMPTY, holds.mark, 0)
    holds.expire(1e15)
    holds.releaseUntimed()
    expect([isHeld('mail'), holds.nextAtMs]).toEqual([true, Infinity])
    holds.releaseAll()
    expect(isHeld('mail')).toBe(false)
  })

  it('does not begin if a place came free while the claim ran', () => {
    const { mark } = holds
    holds.attemptEnded(['queue:mail'])
    expect(holds.full('mail', 'queue:mail', mark)).toBe(false)
    expect(holds.deny('mail', RETRY, TAKEN, mark, 0)).toBe(false)
    expect(isHeld('mail')).toBe(false)
    expect(holds.full('mail', 'queue:mail', holds.mark)).toBe(true)
    expect(isHeld('mail')).toBe(true)
  })

  it('is of the ranks that were denied, and of all if a breaker denies', () => {
    holds.deny('mail', 1, TAKEN, holds.mark, 0)
    expect(holds.openRanks('mail')).toEqual([0, 2])
    holds.deny('mail', 2, EMPTY, holds.mark, 0)
    expect(holds.openRanks('mail')).toEqual([0])
    holds.started('mail', true)
    expect(told).toHaveLength(1)
    holds.attemptEnded(['budget:places'])
    expect(holds.openRanks('mail')).toEqual([0, 1])
    holds.deny('mail', 1, OPEN, holds.mark, 0)
    expect(holds.openRanks('mail')).toEqual([])
    holds.releaseAll()
    expect(holds.openRanks('mail')).toBe(undefined)
  })

  it('lasts a millisecond at least, whatever rounding makes of the time', () => {
    holds.deny('mail', RETRY, { ...OPEN, waitMs: -3 }, holds.mark, 100)
    expect(holds.nextAtMs).toBe(101)
  })
})

describe('observers', () => {
  it('hear of a hold once, and of its end when a task has started', () => {
    for (let look = 0; look < 5; look++) {
      holds.deny('mail', RETRY, OPEN, holds.mark, look * 1000)
      holds.releaseAll()
    }
    expect(told).toEqual(['mail held by breaker:mail: breaker_open'])
    holds.started('mail', false)
    holds.started('mail', true)
    holds.started('print', true)
    expect(told.slice(1)).toEqual(['mail released by breaker:mail'])
  })

  it('do not take an interrupted attempt, whose grant goes on, for the end of a hold by a budget', () => {
    holds.deny('mail', RETRY, EMPTY, holds.mark, 0)
    holds.started('mail', false)
    holds.releaseAll()
    holds.started('mail', false)
    expect(told).toHaveLength(1)
    holds.started('mail', true)
    expect(told).toHaveLength(2)
  })

  it('hear nothing of a queue that is full by its own limit', () => {
    holds.full('mail', 'queue:mail', holds.mark)
    holds.started('mail', true)
    expect(told).toEqual([])
  })
})
