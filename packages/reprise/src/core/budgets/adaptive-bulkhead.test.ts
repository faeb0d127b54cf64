/** When an adaptive budget with a bulkhead holds attempts, and when it lets them go. */
import { describe, expect, it } from 'vitest'
import { AdaptiveFixture, type Details } from '../../../../../test/adaptive-fixture.js'
import { ALLOWED } from '../gate.js'

const NO_SLOT = { allowed: false, reason: 'no_slot' }
const SECOND: Details = { attemptTimeoutMs: 1000 }

/**
 * A dependency that is usually fast has attempts in flight that it has not answered for a quarter of their patience.
 * The last of them found the window open, and closed it.
 */
const closed = (inFlight = 5, waste = 5): AdaptiveFixture => {
  const fixture = new AdaptiveFixture({ bulkhead: true }, { rate: 100, fastShare: 1, waste })
  expect(fixture.firsts(inFlight - 1, SECOND)).toBe(inFlight - 1)
  fixture.pass(250)
  expect(fixture.ask(1, SECOND)).toBe(ALLOWED)
  expect(fixture.ask(1, SECOND)).toEqual(NO_SLOT)
  return fixture
}

describe('a budget with a bulkhead', () => {
  it('allows any number of first attempts before it knows the dependency, and where it is fast', () => {
    const unknown = new AdaptiveFixture({ bulkhead: true })
    expect(unknown.firsts(1000, SECOND)).toBe(1000)
    const fast = new AdaptiveFixture({ bulkhead: true }, { fastShare: 1 })
    expect(fast.firsts(1000, SECOND)).toBe(1000)
  })

  it('holds first attempts after a quarter of the patience without a fast answer', () => {
    const fixture = closed()
    fixture.end(1, 'failure', 10, SECOND)
    expect(fixture.ask(1, SECOND)).toBe(ALLOWED)
    expect(fixture.ask(1, SECOND)).toEqual(NO_SLOT)
    expect(fixture.budget.inFlight).toBe(5)
  })

  it('is needed to hold first attempts, not to hold retries', () => {
    const fixture = new AdaptiveFixture({}, { rate: 100, fastShare: 1 })
    fixture.succeed(2, 1, SECOND)
    fixture.firsts(5, SECOND)
    fixture.pass(250)
    expect(fixture.ask(2, SECOND)).toBe(ALLOWED)
    for (const kind of ['retry', 'hedge'] as const) expect(fixture.ask(2, { ...SECOND, kind })).toEqual(NO_SLOT)
    expect(fixture.firsts(1000, SECOND)).toBe(1000)
  })

  it('lets a waiting first attempt go for every answer, at no cost in tokens', () => {
    const fixture = closed(5, 0)
    for (const name of ['a', 'b', 'c', 'd']) fixture.park(name, 1, SECOND)
    expect(fixture.woken).toEqual([])
    fixture.end(1, 'failure', 250, SECOND)
    expect(fixture.woken).toEqual(['a'])
    fixture.end(1, 'success', 500, SECOND)
    expect(fixture.woken).toEqual(['a', 'b'])
    fixture.end(1, 'aborted', 500, SECOND)
    expect(fixture.woken).toEqual(['a', 'b', 'c'])
    expect(fixture.grants).toEqual([ALLOWED, ALLOWED, ALLOWED])
    expect(fixture.waste).toBeCloseTo(0.2)
  })

  it.each([
    ['starts a waiting call that has as much time left as answers take now', 600, 'hurried'],
    ['passes over a waiting call that has less time left than answers take now', 800, 'other'],
  ])('%s', (_, answerMs, woken) => {
    const fixture = new AdaptiveFixture({ bulkhead: true }, { fastShare: 1 })
    fixture.succeed(100, answerMs, SECOND)
    // More than have no fast answer by chance, though these answers were slow.
    fixture.firsts(4, SECOND)
    fixture.pass(250)
    expect(fixture.firsts(2, SECOND)).toBe(1)
    fixture.park('hurried', 1, { ...SECOND, deadlineMs: fixture.now + 701 })
    fixture.park('other', 1, { ...SECOND, deadlineMs: fixture.now + 10_000 })
    fixture.pass(1)
    fixture.end(1, 'failure', 250, SECOND)
    expect(fixture.woken).toEqual([woken])
  })

  it('lets all waiting first attempts go once fast answers have widened the window', () => {
    const fixture = closed()
    for (let i = 0; i < 20; i++) fixture.park(`call ${i}`, 1, SECOND)
    for (let i = 0; i < 25 && fixture.woken.length < 20; i++) fixture.end(1, 'success', 10, SECOND)
    expect(fixture.woken).toHaveLength(20)
    fixture.end(1, 'success', 10, SECOND)
    expect(fixture.firsts(100, SECOND)).toBe(100)
  })

  it('lets first attempts go before retries that came earlier', () => {
    const fixture = closed()
    fixture.park('retry', 2, SECOND)
    fixture.park('first', 1, SECOND)
    fixture.park('another retry', 2, SECOND)
    for (let i = 0; i < 5; i++) fixture.end(1, 'success', 10, SECOND)
    expect(fixture.woken).toEqual(['first', 'retry', 'another retry'])
  })

  it('lets no retry go while a first attempt waits, nor a first attempt past another', () => {
    const fixture = closed()
    fixture.end(1, 'success', 10, SECOND)
    fixture.firsts(5, SECOND)
    fixture.pass(250)
    expect(fixture.firsts(2, SECOND)).toBe(1)
    const leave = fixture.park('first', 1, SECOND)
    expect(fixture.ask(2, SECOND)).toEqual({ allowed: false, reason: 'no_credit' })
    expect(fixture.ask(1, SECOND)).toEqual(NO_SLOT)
    leave()
    expect(fixture.ask(2, SECOND)).toEqual(NO_SLOT)
  })

  it('holds a waiting retry for which there is credit but no room', () => {
    const fixture = closed()
    fixture.end(1, 'success', 10, SECOND)
    fixture.firsts(5, SECOND)
    fixture.pass(250)
    expect(fixture.ask(1, SECOND)).toBe(ALLOWED)
    expect(fixture.ask(2, SECOND)).toEqual(NO_SLOT)
    fixture.park('retry', 2, SECOND)
    expect(fixture.woken).toEqual([])
    fixture.end(1, 'failure', 250, SECOND)
    expect(fixture.woken).toEqual(['retry'])
  })

  it('lets the next attempt go when the grant of a first attempt was not used', () => {
    const fixture = closed()
    for (const name of ['a', 'b', 'c']) fixture.park(name, 1, SECOND)
    fixture.end(1, 'failure', 250, SECOND)
    expect(fixture.woken).toEqual(['a'])
    fixture.returnGrant(0)
    expect(fixture.woken).toEqual(['a', 'b'])
    expect(fixture.budget.inFlight).toBe(5)
  })

  it.each([
    [undefined, 499, 500],
    [0, 999, 1000],
  ])(
    'with a share of %s fast answers is open after %d ms without an answer and silent after %d',
    (fastShare, open, shut) => {
      const fixture = new AdaptiveFixture({ bulkhead: true }, fastShare === undefined ? {} : { fastShare })
      fixture.firsts(5, SECOND)
      fixture.pass(open)
      expect(fixture.ask(1, SECOND)).toBe(ALLOWED)
      fixture.pass(shut - open)
      expect(fixture.ask(1, SECOND)).toEqual(NO_SLOT)
    },
  )

  it('is silent for the attempts of a caller by the patience of that caller', () => {
    const fixture = new AdaptiveFixture({ bulkhead: true })
    fixture.firsts(5, SECOND)
    fixture.pass(1000)
    expect(fixture.ask(1, { attemptTimeoutMs: 3000 })).toBe(ALLOWED)
    expect(fixture.ask(1, { deadlineMs: fixture.now + 3000 })).toBe(ALLOWED)
    expect(fixture.ask(1)).toBe(ALLOWED)
    expect(fixture.ask(1, { deadlineMs: fixture.now + 1000 })).toEqual(NO_SLOT)
  })
})

describe('a silent dependency', () => {
  /** No answer for half the patience, and first attempts that wait. */
  const silent = (details: Details = SECOND): AdaptiveFixture => {
    const fixture = new AdaptiveFixture({ bulkhead: true }, { rate: 100, fastShare: 1 })
    fixture.firsts(10, details)
    fixture.pass(500)
    for (let i = 0; i < 10; i++) {
      expect(fixture.ask(1, details)).toEqual(NO_SLOT)
      fixture.park(`call ${i}`, 1, details)
    }
    return fixture
  }
  const timeOut = (fixture: AdaptiveFixture, count: number): void => {
    for (let i = 0; i < count; i++) fixture.end(1, 'timeout', 1000, SECOND)
  }

  it('is sent nothing but probes, one a patience', () => {
    const fixture = silent()
    fixture.pass(499)
    fixture.poll()
    expect(fixture.woken).toEqual([])
    fixture.pass(1)
    timeOut(fixture, 10)
    expect(fixture.budget.wakeAtMs()).toBe(fixture.now)
    fixture.poll()
    fixture.poll()
    expect(fixture.woken).toEqual(['call 0'])
    expect(fixture.grants).toEqual([{ allowed: true, reason: 'probe' }])
    expect(fixture.budget.wakeAtMs()).toBe(fixture.now + 1000)
  })

  it('is sent nothing more when a probe fails', () => {
    const fixture = silent()
    fixture.pass(500)
    timeOut(fixture, 10)
    fixture.poll()
    fixture.end(1, 'failure', 1, SECOND)
    expect(fixture.woken).toEqual(['call 0'])
  })

  it('is sent half as many attempts as before when a probe succeeds after more than the patience', () => {
    const fixture = silent()
    fixture.pass(500)
    timeOut(fixture, 10)
    fixture.poll()
    fixture.pass(300)
    fixture.end(1, 'success', 300, SECOND)
    expect(fixture.woken).toHaveLength(1 + 5)
    expect(fixture.budget.inFlight).toBe(5)
  })

  it('is probed again at once when the grant of a probe was not used', () => {
    const fixture = silent()
    fixture.pass(500)
    timeOut(fixture, 10)
    fixture.poll()
    fixture.returnGrant(0)
    expect(fixture.budget.wakeAtMs()).toBeLessThanOrEqual(fixture.now)
    fixture.poll()
    expect(fixture.woken).toEqual(['call 0', 'call 1'])
  })
})
