/** Who finds no credit waits: in what order, for how long, and who probes a dependency that nobody calls. */
import { describe, expect, it } from 'vitest'
import { Play, START_MS } from '../../../../../test/adaptive-play.js'
import { ALLOWED } from '../gate.js'

const NO_CREDIT = { allowed: false, reason: 'no_credit' }

describe('the line of an adaptive budget', () => {
  it('is served in order, one for each fast success, at the price of a retry', () => {
    const play = new Play({}, { waste: 3 })
    for (const name of ['a', 'b', 'c']) play.park(name)
    expect([play.budget.parked, play.woken]).toEqual([3, []])
    play.succeed()
    expect(play.woken).toEqual(['a'])
    expect([play.budget.parked, play.budget.inFlight]).toEqual([2, 1])
    expect(play.waste).toBeCloseTo(2.2)
    play.end(2, 'failure')
    play.end(1, 'failure')
    expect(play.woken).toEqual(['a'])
    play.succeed(2)
    expect(play.woken).toEqual(['a', 'b', 'c'])
    expect(play.grants).toEqual([ALLOWED, ALLOWED, ALLOWED])
  })

  it('is not moved by a slow success', () => {
    const play = new Play({}, { floorMs: 10 })
    play.park('a')
    play.succeed(9, 41)
    expect(play.woken).toEqual([])
    play.succeed(1, 40)
    expect(play.woken).toEqual(['a'])
  })

  it('goes on by its own successes', () => {
    const play = new Play()
    for (const name of ['a', 'b', 'c']) play.park(name)
    play.succeed()
    play.end(2, 'success')
    play.end(2, 'success')
    expect(play.woken).toEqual(['a', 'b', 'c'])
  })

  it('lets nobody pass: while somebody waits, retries and hedges are refused', () => {
    const play = new Play({}, { waste: 1 })
    const leave = play.park('dear', 2, { cost: 5 })
    play.succeed()
    for (const kind of ['retry', 'hedge'] as const) expect(play.ask(2, { kind })).toEqual(NO_CREDIT)
    expect(play.ask(1)).toBe(ALLOWED)
    leave()
    expect(play.ask(2, { kind: 'hedge' })).toBe(ALLOWED)
  })

  it('wakes at once who finds himself covered', () => {
    const play = new Play({}, { waste: 1 })
    play.park('late and dear', 2, { cost: 5, deadlineMs: play.now + 100 })
    play.succeed()
    play.pass(101)
    expect(play.ask(2)).toEqual(NO_CREDIT)
    play.park('cheap')
    expect(play.woken).toEqual(['cheap'])
    expect(play.budget.parked).toBe(0)
  })

  it('can be left from anywhere, also twice, and wakes nobody who has left', () => {
    const play = new Play({}, { rate: 100 })
    const leave = ['a', 'b', 'c', 'd'].map((name) => play.park(name))
    leave[1]?.()
    leave[1]?.()
    leave[3]?.()
    expect(play.budget.parked).toBe(2)
    play.succeed(9)
    expect(play.woken).toEqual(['a', 'c'])
    leave.forEach((go) => go())
    expect(play.budget.parked).toBe(0)
  })

  it('has so many places, and refuses at once who finds none', () => {
    const play = new Play({ maxParked: 2 })
    for (const name of ['a', 'b', 'c']) play.park(name)()
    expect(play.woken).toEqual([])
    play.park('a')
    play.park('b')
    const leave = play.park('c')
    expect(play.woken).toEqual(['c'])
    expect(play.grants).toEqual([{ allowed: false, reason: 'line_full' }])
    leave()
    expect(play.budget.parked).toBe(2)
    const none = new Play({ maxParked: 0 })
    none.park('a')
    expect(none.grants).toEqual([{ allowed: false, reason: 'line_full' }])
  })

  it('passes over who cannot be answered in time, and from then on serves the newest first until it was empty', () => {
    const play = new Play({}, { rate: 100, floorMs: 10 })
    play.park('late', 2, { deadlineMs: play.now + 100 })
    for (const name of ['old', 'middle', 'new']) play.park(name, 2, { deadlineMs: play.now + 5000 })
    play.pass(99)
    play.succeed()
    expect(play.woken).toEqual(['new'])
    play.succeed(2)
    expect(play.woken).toEqual(['new', 'middle', 'old'])
    for (const name of ['first', 'second']) play.park(name, 2, { deadlineMs: play.now + 5000 })
    play.succeed()
    expect(play.woken.at(-1)).toBe('first')
  })

  it('serves in order who can just make it', () => {
    const play = new Play({}, { rate: 100, floorMs: 10 })
    play.park('just', 2, { deadlineMs: play.now + 100 })
    play.park('new')
    play.pass(60)
    play.succeed()
    expect(play.woken).toEqual(['just'])
  })

  it('serves a call whose attempt timeout is much longer than the time it has left', () => {
    const play = new Play()
    play.park('a', 2, { attemptTimeoutMs: 30_000, deadlineMs: play.now + 5000 })
    play.succeed(1, 5)
    expect(play.woken).toEqual(['a'])
  })

  it('serves calls with three times the usual latency to go', () => {
    const play = new Play({}, { floorMs: 1000 })
    play.park('a', 2, { deadlineMs: play.now + 3000 })
    play.succeed(1, 1000)
    expect(play.woken).toEqual(['a'])
  })

  it('hands a grant that nobody used on to the next, with its waste', () => {
    const play = new Play({}, { waste: 3 })
    for (const name of ['a', 'b', 'c']) play.park(name)
    play.succeed()
    play.handBackGrant(0)
    expect(play.woken).toEqual(['a', 'b'])
    play.handBackGrant(1)
    expect(play.woken).toEqual(['a', 'b', 'c'])
    expect(play.waste).toBeCloseTo(2.2)
    play.handBackGrant(2)
    expect(play.waste).toBeCloseTo(3.2)
    expect([play.budget.inFlight, play.retries()]).toEqual([0, 1])
  })
})

describe('a dependency that nobody calls', () => {
  /** Somebody waits, and the last attempt was now. Many calls a second: the interval is the shortest. */
  const quiet = (random = 0.5, rate = 1e6): { play: Play; probedAfter: (ms: number) => boolean } => {
    const play = new Play({}, { rate })
    play.firsts(1)
    play.end(1, 'failure')
    for (let i = 0; i < 20; i++) play.park(`call ${i}`)
    const probedAfter = (ms: number): boolean => {
      const before = play.woken.length
      play.pass(ms)
      play.poll(() => random)
      return play.woken.length > before
    }
    return { play, probedAfter }
  }

  it('is probed after a second with one of those who wait, at the cost of neither waste nor credit', () => {
    const { play, probedAfter } = quiet()
    expect(probedAfter(999)).toBe(false)
    expect(probedAfter(1)).toBe(true)
    expect(play.woken).toEqual(['call 0'])
    expect(play.grants[0]).toMatchObject({ allowed: true, reason: 'probe' })
    expect([play.waste, play.budget.inFlight, play.budget.parked]).toEqual([5, 1, 19])
  })

  it.each([
    [0, 500],
    [0.25, 750],
    [0.999, 1499],
  ])('is probed at its own time: with chance %d after %d ms', (random, ms) => {
    const { play, probedAfter } = quiet(random)
    expect(play.budget.wakeAtMs()).toBe(START_MS + 500)
    expect(probedAfter(499)).toBe(false)
    expect(play.budget.wakeAtMs()).toBeCloseTo(START_MS + ms)
    expect(probedAfter(ms - 500)).toBe(false)
    expect(probedAfter(1)).toBe(true)
  })

  it('is probed less and less often, down to once in ten seconds, until something succeeds', () => {
    const { play, probedAfter } = quiet()
    const fails = (ms: number): void => {
      expect(probedAfter(ms - 1)).toBe(false)
      expect(probedAfter(1)).toBe(true)
      play.grants.at(-1)?.release?.({ result: 'timeout', latencyMs: 0, won: false, now: play.now })
    }
    for (const ms of [1000, 2000, 4000, 8000, 10_000, 10_000]) fails(ms)
    expect(play.waste).toBe(5)
    // Too slow to let anybody go, but a success.
    play.succeed(1, 1000, { attemptTimeoutMs: 1000 })
    fails(1000)
    fails(2000)
  })

  it('goes on with the success of a probe', () => {
    const { play, probedAfter } = quiet()
    probedAfter(1000)
    play.grants[0]?.release?.({ result: 'success', latencyMs: 5, won: true, now: play.now })
    expect(play.woken).toEqual(['call 0', 'call 1'])
    // Less the one of the next; a probe that paid nothing gets nothing back.
    expect(play.waste).toBeCloseTo(4.2)
    expect(play.budget.inFlight).toBe(1)
  })

  it('is not probed while something is in flight, or within the time after an attempt', () => {
    const { play, probedAfter } = quiet()
    play.firsts(1)
    expect(probedAfter(5000)).toBe(false)
    play.end(1, 'failure')
    expect(probedAfter(0)).toBe(true)
    play.grants[0]?.release?.({ result: 'failure', latencyMs: 1, won: false, now: play.now })
    play.pass(1500)
    play.firsts(1)
    play.end(1, 'failure')
    expect(probedAfter(1999)).toBe(false)
    expect(probedAfter(1)).toBe(true)
  })

  it('is not probed by who cannot be answered in time, nor when nobody waits', () => {
    const play = new Play()
    play.firsts(1)
    play.end(1, 'failure')
    play.park('late', 2, { deadlineMs: play.now + 100 })
    play.pass(60_000)
    play.poll()
    expect([play.woken, play.budget.parked, play.budget.wakeAtMs()]).toEqual([[], 0, Infinity])
    play.poll()
    expect(play.budget.inFlight).toBe(0)
  })

  it('is probed at once when nothing at all has been tried yet', () => {
    const play = new Play()
    play.park('heir')
    expect(play.budget.wakeAtMs()).toBeLessThanOrEqual(play.now)
    play.poll()
    expect(play.woken).toEqual(['heir'])
  })

  it('is probed by one, not by as many as polls come', () => {
    const { play, probedAfter } = quiet()
    probedAfter(1000)
    for (let i = 0; i < 10; i++) play.poll()
    expect(play.woken).toHaveLength(1)
  })

  it('is probed although an attempt never ended: it is given up for lost when its time is over', () => {
    const play = new Play()
    play.firsts(1, { attemptTimeoutMs: 3000 })
    play.park('a')
    expect(play.budget.wakeAtMs()).toBeLessThanOrEqual(START_MS + 3375)
    play.pass(2999)
    play.poll()
    expect(play.woken).toEqual([])
    play.pass(30_000)
    play.poll()
    expect(play.woken).toEqual(['a'])
    expect(play.budget.inFlight).toBe(1)
  })
})
