/** Attempts that wait in line: their order, how long they wait, and which of them go as probes. */
import { describe, expect, it } from 'vitest'
import { AdaptiveFixture, FAST_MS, PATIENCE_MS, requestAt, START_MS } from '../../../../../test/adaptive-fixture.js'
import { ALLOWED } from '../gate.js'

const NO_CREDIT = { allowed: false, reason: 'no_credit' }
const LINE_FULL = { allowed: false, reason: 'line_full' }

describe('the line of an adaptive budget', () => {
  it('is served in order, one retry for each fast success, at the price of a retry', () => {
    const fixture = new AdaptiveFixture({}, { waste: 3 })
    for (const name of ['a', 'b', 'c']) fixture.park(name)
    expect([fixture.budget.parked, fixture.woken]).toEqual([3, []])
    fixture.succeed()
    expect(fixture.woken).toEqual(['a'])
    expect([fixture.budget.parked, fixture.budget.inFlight]).toEqual([2, 1])
    expect(fixture.waste).toBeCloseTo(2.2)
    fixture.end(2, 'failure')
    fixture.firsts(1)
    fixture.end(1, 'failure')
    expect(fixture.woken).toEqual(['a'])
    fixture.succeed(2)
    expect(fixture.woken).toEqual(['a', 'b', 'c'])
    expect(fixture.grants).toEqual([ALLOWED, ALLOWED, ALLOWED])
  })

  it('is not served by a slow success', () => {
    const fixture = new AdaptiveFixture()
    fixture.park('a')
    fixture.succeed(9, FAST_MS + 1)
    expect(fixture.woken).toEqual([])
    fixture.succeed(1, FAST_MS)
    expect(fixture.woken).toEqual(['a'])
  })

  it('is served by the successes of the retries that came out of it', () => {
    const fixture = new AdaptiveFixture()
    for (const name of ['a', 'b', 'c']) fixture.park(name)
    fixture.succeed()
    fixture.end(2, 'success')
    fixture.end(2, 'success')
    expect(fixture.woken).toEqual(['a', 'b', 'c'])
  })

  it('is not passed by retries and hedges that come later, even if they cost less', () => {
    const fixture = new AdaptiveFixture({}, { waste: 1 })
    const leave = fixture.park('expensive', 2, { cost: 5 })
    fixture.succeed()
    for (const kind of ['retry', 'hedge'] as const) expect(fixture.ask(2, { kind })).toEqual(NO_CREDIT)
    expect(fixture.ask(1)).toBe(ALLOWED)
    leave()
    expect(fixture.ask(2, { kind: 'hedge' })).toBe(ALLOWED)
  })

  it('wakes an attempt at once that is covered when it joins', () => {
    const fixture = new AdaptiveFixture({}, { waste: 1 })
    fixture.park('late and expensive', 2, { cost: 5, deadlineMs: fixture.now + 100 })
    fixture.succeed()
    fixture.pass(101)
    expect(fixture.ask(2)).toEqual(NO_CREDIT)
    fixture.park('cheap')
    expect(fixture.woken).toEqual(['cheap'])
    expect(fixture.budget.parked).toBe(0)
  })

  it('can be left from anywhere, also twice, and wakes no attempt that has left', () => {
    const fixture = new AdaptiveFixture({}, { rate: 100 })
    const leave = ['a', 'b', 'c', 'd'].map((name) => fixture.park(name))
    leave[1]?.()
    leave[1]?.()
    leave[3]?.()
    expect(fixture.budget.parked).toBe(2)
    fixture.succeed(9)
    expect(fixture.woken).toEqual(['a', 'c'])
    leave.forEach((go) => go())
    expect(fixture.budget.parked).toBe(0)
  })

  it('has at most maxParked places, and denies an attempt at once that finds none', () => {
    const fixture = new AdaptiveFixture({ maxParked: 2 })
    for (const name of ['a', 'b', 'c']) fixture.park(name)()
    expect(fixture.woken).toEqual([])
    fixture.park('a')
    fixture.park('b', 1)()
    fixture.park('b')
    const leave = fixture.park('c')
    expect(fixture.woken.at(-1)).toBe('c')
    expect(fixture.grants.at(-1)).toEqual(LINE_FULL)
    leave()
    expect(fixture.budget.parked).toBe(2)
    const none = new AdaptiveFixture({ maxParked: 0 })
    none.park('a')
    expect(none.grants).toEqual([LINE_FULL])
  })

  it('passes over an attempt that cannot end in time, then serves the newest first until it was empty', () => {
    const fixture = new AdaptiveFixture({}, { rate: 100 })
    const limits = { attemptTimeoutMs: 1000 }
    fixture.ask(1, limits)
    fixture.park('late', 2, { ...limits, deadlineMs: fixture.now + 300 })
    for (const name of ['old', 'middle', 'new']) {
      fixture.park(name, 2, { ...limits, deadlineMs: fixture.now + 5000 })
    }
    fixture.pass(51)
    fixture.end(1, 'success', 51, limits)
    expect(fixture.woken).toEqual(['new'])
    fixture.succeed(2, 1, limits)
    expect(fixture.woken).toEqual(['new', 'middle', 'old'])
    for (const name of ['first', 'second']) fixture.park(name, 2, { ...limits, deadlineMs: fixture.now + 5000 })
    fixture.succeed(1, 1, limits)
    expect(fixture.woken.at(-1)).toBe('first')
  })

  it('serves an attempt in order that has just a quarter of its patience left', () => {
    const fixture = new AdaptiveFixture({}, { rate: 100 })
    const limits = { attemptTimeoutMs: 1000 }
    fixture.ask(1, limits)
    fixture.park('just in time', 2, { ...limits, deadlineMs: fixture.now + 300 })
    fixture.park('new', 2, limits)
    fixture.pass(50)
    fixture.end(1, 'success', 50, limits)
    expect(fixture.woken).toEqual(['just in time'])
  })

  it('serves a call whose attempt timeout is much longer than the time it has left', () => {
    const fixture = new AdaptiveFixture()
    fixture.park('a', 2, { attemptTimeoutMs: 30_000, deadlineMs: fixture.now + 5000 })
    fixture.succeed(1, 5)
    expect(fixture.woken).toEqual(['a'])
  })

  it('gives a grant that was not used to the next attempt, with its token', () => {
    const fixture = new AdaptiveFixture({}, { waste: 3 })
    for (const name of ['a', 'b', 'c']) fixture.park(name)
    fixture.succeed()
    fixture.returnGrant(0)
    expect(fixture.woken).toEqual(['a', 'b'])
    fixture.returnGrant(1)
    expect(fixture.woken).toEqual(['a', 'b', 'c'])
    expect(fixture.waste).toBeCloseTo(2.2)
    fixture.returnGrant(2)
    expect(fixture.waste).toBeCloseTo(3.2)
    expect([fixture.budget.inFlight, fixture.retries()]).toEqual([0, 1])
  })

  it('bears attempts that end while they are woken', () => {
    const fixture = new AdaptiveFixture({}, { rate: 100 })
    let ended = 0
    for (let i = 0; i < 3; i++) {
      fixture.budget.park(requestAt(fixture.now, 2), () => {
        ended++
        fixture.end(2, 'success')
      })
    }
    fixture.succeed()
    expect([ended, fixture.budget.parked, fixture.budget.inFlight]).toEqual([3, 0, 0])
  })
})

describe('a dependency that receives no attempts', () => {
  /** Retries wait, and the last attempt was now. At many calls a second the interval between probes is the patience. */
  const idle = (random = 0.5, rate = 1e6): { fixture: AdaptiveFixture; isProbedAfter: (ms: number) => boolean } => {
    const fixture = new AdaptiveFixture({}, { rate })
    fixture.firsts(1)
    fixture.end(1, 'failure')
    for (let i = 0; i < 20; i++) fixture.park(`call ${i}`)
    const isProbedAfter = (ms: number): boolean => {
      const before = fixture.woken.length
      fixture.pass(ms)
      fixture.poll(() => random)
      return fixture.woken.length > before
    }
    return { fixture, isProbedAfter }
  }

  it('is probed after the patience with one of the attempts that wait, without credit or token', () => {
    const { fixture, isProbedAfter } = idle()
    expect(isProbedAfter(PATIENCE_MS - 1)).toBe(false)
    expect(isProbedAfter(1)).toBe(true)
    expect(fixture.woken).toEqual(['call 0'])
    expect(fixture.grants).toEqual([{ allowed: true, reason: 'probe' }])
    expect([fixture.waste, fixture.budget.inFlight, fixture.budget.parked]).toEqual([5, 1, 19])
  })

  it.each([
    [0, 0.5],
    [0.25, 0.75],
    [0.999, 1.499],
  ])('with a random number of %d is probed again after %d intervals', (random, intervals) => {
    const { fixture, isProbedAfter } = idle(random)
    expect(fixture.budget.wakeAtMs()).toBe(START_MS + PATIENCE_MS)
    expect(isProbedAfter(PATIENCE_MS)).toBe(true)
    expect(fixture.budget.wakeAtMs()).toBeCloseTo(fixture.now + intervals * PATIENCE_MS)
    expect(isProbedAfter(intervals * PATIENCE_MS - 1)).toBe(false)
    expect(isProbedAfter(2)).toBe(true)
  })

  it.each([
    [0.5, 20_000],
    [20, 1000],
  ])('at %d calls a second is probed by a retry after ten calls’ time, at least the patience: %d ms', (rate, ms) => {
    // A call counts as a fifth of a call a second.
    const fixture = new AdaptiveFixture({}, { rate: rate - 0.2 })
    fixture.firsts(1, { attemptTimeoutMs: 1000 })
    fixture.end(1, 'failure', 10, { attemptTimeoutMs: 1000 })
    fixture.park('retry')
    expect(fixture.budget.wakeAtMs() - fixture.now).toBeCloseTo(ms)
  })

  it.each([
    [11_000, [1000, 2000, 4000, 5000, 5000]],
    [1500, [1000, 1000]],
    // Ten calls' time at 0.1 calls a second, a call half a second ago and this one: 0.3 / e ** 0.1 + 0.2 a second.
    [Infinity, [1000, 2000, 4000, 8000, 16_000, 21_211, 21_211]],
  ])(
    'is probed by first attempts with %d ms left after one patience, later more seldom but in time to help them',
    (leftMs, intervals) => {
      const fixture = new AdaptiveFixture({ bulkhead: true }, { rate: 0.1, fastShare: 1 })
      fixture.firsts(1, { attemptTimeoutMs: 1000 })
      let startMs = fixture.now
      fixture.pass(500)
      const limits = () => ({ attemptTimeoutMs: 1000, deadlineMs: fixture.now + leftMs })
      expect(fixture.ask(1, limits())).toEqual({ allowed: false, reason: 'no_slot' })
      for (const ms of intervals) {
        fixture.park('first', 1, limits())
        expect(fixture.budget.wakeAtMs() - startMs).toBeCloseTo(ms, 0)
        startMs = fixture.now = Math.ceil(fixture.budget.wakeAtMs())
        fixture.budget.poll(fixture.now, () => 0.5)
        expect(fixture.grants.at(-1)).toEqual({ allowed: true, reason: 'probe' })
      }
      expect(fixture.woken).toHaveLength(intervals.length)
    },
  )

  it('is sent the next retry when a probe succeeds', () => {
    const { fixture, isProbedAfter } = idle()
    isProbedAfter(PATIENCE_MS)
    fixture.end(2, 'success', 5)
    expect(fixture.woken).toEqual(['call 0', 'call 1'])
    expect(fixture.budget.inFlight).toBe(1)
  })

  it('is not probed within the interval after an attempt', () => {
    const { fixture, isProbedAfter } = idle()
    fixture.pass(PATIENCE_MS / 2)
    fixture.firsts(1)
    fixture.end(1, 'failure')
    expect(isProbedAfter(PATIENCE_MS - 1)).toBe(false)
    expect(isProbedAfter(1)).toBe(true)
  })

  it('is not probed by an attempt that cannot end in time, nor when none waits', () => {
    const fixture = new AdaptiveFixture()
    fixture.firsts(1)
    fixture.end(1, 'failure')
    fixture.park('late', 2, { deadlineMs: fixture.now + 100 })
    fixture.pass(60_000)
    fixture.poll()
    expect([fixture.woken, fixture.budget.parked, fixture.budget.wakeAtMs()]).toEqual([[], 0, Infinity])
    fixture.poll()
    expect(fixture.budget.inFlight).toBe(0)
  })

  it('is probed at once when nothing has been tried since a restart', () => {
    const fixture = new AdaptiveFixture()
    fixture.park('successor')
    expect(fixture.budget.wakeAtMs()).toBeLessThanOrEqual(fixture.now)
    fixture.poll()
    expect(fixture.woken).toEqual(['successor'])
  })

  it('is probed by one attempt, however often the budget is polled', () => {
    const { fixture, isProbedAfter } = idle()
    isProbedAfter(PATIENCE_MS)
    for (let i = 0; i < 10; i++) fixture.poll()
    expect(fixture.woken).toHaveLength(1)
  })

  it('is probed although an attempt never ends', () => {
    const fixture = new AdaptiveFixture({}, { rate: 100 })
    fixture.firsts(1, { attemptTimeoutMs: 3000 })
    fixture.park('a')
    expect(fixture.budget.wakeAtMs()).toBe(fixture.now + 3000)
    fixture.pass(3000)
    fixture.poll()
    expect(fixture.woken).toEqual(['a'])
  })
})
