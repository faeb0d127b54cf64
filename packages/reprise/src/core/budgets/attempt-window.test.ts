/** When attempts are held, and how the limit on attempts in flight follows the answers. */
import { describe, expect, it } from 'vitest'
import { AttemptWindow } from './attempt-window.js'

const PATIENCE_MS = 1000
/** Shares of the patience that answers take. */
const FAST = 0.1
const SLOW = 0.5
const SLOWER = 0.76
const UNLIMITED = 1000

/** A window that knows how often answers are fast, with attempts that started at 0. */
const windowOf = (fastShare: number, inFlight: number, spells = 16): AttemptWindow => {
  const window = new AttemptWindow()
  window.restore({ fastShare, spells })
  for (let i = 0; i < inFlight; i++) window.started(0)
  return window
}
const usuallyFast = (inFlight: number): AttemptWindow => windowOf(1, inFlight)
const usuallySlow = (inFlight: number): AttemptWindow => windowOf(0, inFlight)

const hasRoom = (window: AttemptWindow, now: number): boolean => window.hasRoom(now, PATIENCE_MS)

/** Starts attempts while there is room; how many are in flight then. */
const fill = (window: AttemptWindow, now: number): number => {
  while (window.inFlight < UNLIMITED && hasRoom(window, now)) window.started(now)
  return window.inFlight
}
/** How many may be in flight, whatever is in flight now. */
const capacity = (window: AttemptWindow, now: number): number => {
  while (window.inFlight > 0) window.ended()
  return fill(window, now)
}
/** Successes after the given share of the patience, each followed by as many attempts as there is room for. */
const answer = (window: AttemptWindow, count: number, share: number, now = 300, isHolding = true): void => {
  for (let i = 0; i < count; i++) {
    window.answered(true, share, share * PATIENCE_MS, now, isHolding)
    fill(window, now)
  }
}
/** Closed around ten attempts, and it is known that answers take half the patience: two rounds of ten answers. */
const closedAtTen = (): AttemptWindow => {
  const window = usuallyFast(10)
  expect(hasRoom(window, 300)).toBe(false)
  answer(window, 20, SLOW)
  expect(window.inFlight).toBe(10)
  return window
}
/** Answers become slower, until the window is cut; how many may be in flight then. */
const cut = (window: AttemptWindow): number => {
  const before = capacity(window, 300)
  for (let i = 0; i < 200; i++) {
    answer(window, 1, SLOWER, 300, false)
    const after = capacity(window, 300)
    if (after < before) return after
  }
  return expect.unreachable('it is cut')
}
/** Slow answers that do not become slower, until the window is wider by one; how many that takes. */
const answersUntilWider = (window: AttemptWindow): number => {
  const before = capacity(window, 300)
  for (let answers = 1; answers < 2000; answers++) {
    answer(window, 1, SLOW)
    if (window.inFlight > before) return answers
  }
  return expect.unreachable('it widens')
}

describe('the attempts in flight', () => {
  it('are those that started and have not ended in any way', () => {
    const window = usuallyFast(5)
    window.ended()
    window.missed(PATIENCE_MS, 10)
    window.answered(true, FAST, FAST * PATIENCE_MS, 10, false)
    window.answered(false, FAST, FAST * PATIENCE_MS, 10, false)
    expect(window.inFlight).toBe(1)
    window.ended()
    window.ended()
    expect(window.inFlight).toBe(0)
  })

  it('have no limit while answers are fast', () => {
    const window = usuallyFast(0)
    for (let now = 0; now < 5000; now += 100) {
      expect(hasRoom(window, now)).toBe(true)
      window.started(now)
      window.started(now)
      window.answered(true, FAST, FAST * PATIENCE_MS, now + 99, false)
    }
    expect(window.inFlight).toBe(50)
  })
})

describe('an open window', () => {
  it('closes around what is in flight after a quarter of the patience without a fast answer', () => {
    const window = usuallyFast(3)
    expect(hasRoom(window, 249)).toBe(true)
    expect(hasRoom(window, 250)).toBe(false)
    window.ended()
    expect(hasRoom(window, 250)).toBe(true)
    expect(fill(window, 250)).toBe(3)
  })

  it('does not close before it is known whether fast answers are usual', () => {
    expect(hasRoom(windowOf(1, 3, 0), 499)).toBe(true)
  })

  it('does not close where slow answers are usual', () => {
    expect(hasRoom(usuallySlow(3), 999)).toBe(true)
  })

  it('counts the quarter from the last fast answer', () => {
    const window = usuallyFast(3)
    window.answered(true, FAST, FAST * PATIENCE_MS, 100, false)
    expect(hasRoom(window, 349)).toBe(true)
    expect(hasRoom(window, 350)).toBe(false)
  })

  it.each([
    ['slow successes', true, 0.26],
    ['fast failures', false, FAST],
  ])('closes despite %s', (_, ok, share) => {
    const window = usuallyFast(3)
    window.answered(ok, share, share * PATIENCE_MS, 240, false)
    expect(hasRoom(window, 250)).toBe(false)
  })

  it.each([
    ['an attempt that was aborted', (window: AttemptWindow) => window.ended()],
    ['a slow answer', (window: AttemptWindow) => window.answered(true, 0.26, 0.26 * PATIENCE_MS, 200, false)],
  ])('counts no time while nothing is in flight, after %s', (_, end) => {
    const window = usuallyFast(1)
    end(window)
    expect(hasRoom(window, 260)).toBe(true)
    window.started(260)
    expect(hasRoom(window, 499)).toBe(true)
  })
})

describe('a closed window', () => {
  it('widens by a quarter with each fast answer while calls are held', () => {
    const window = usuallyFast(10)
    expect(hasRoom(window, 300)).toBe(false)
    answer(window, 4, FAST)
    expect(capacity(window, 300)).toBe(11)
  })

  it('doubles with one fast answer if it was closed around one attempt', () => {
    const window = usuallyFast(1)
    expect(hasRoom(window, 300)).toBe(false)
    answer(window, 1, FAST)
    expect(window.inFlight).toBe(2)
  })

  it('widens with slow answers that do not become slower, once it is known what they take', () => {
    const window = closedAtTen()
    answer(window, 4, SLOW)
    expect(capacity(window, 300)).toBe(11)
    answer(window, 8, SLOW)
    expect(capacity(window, 300)).toBe(13)
  })

  it('does not widen with slow answers while no call is held', () => {
    const window = closedAtTen()
    answer(window, 40, SLOW, 300, false)
    expect(capacity(window, 300)).toBe(10)
  })

  it('does not widen with failures', () => {
    const window = closedAtTen()
    for (let i = 0; i < 40; i++) window.answered(false, FAST, FAST * PATIENCE_MS, 300, true)
    expect(capacity(window, 300)).toBe(10)
  })

  it('is cut to seven tenths when a round of answers takes more than half as long again', () => {
    const window = closedAtTen()
    answer(window, 9, SLOWER, 300, false)
    expect(capacity(window, 300)).toBe(10)
    answer(window, 1, SLOWER, 300, false)
    expect(capacity(window, 300)).toBe(7)
  })

  it('is not cut when answers take half as long again', () => {
    const window = closedAtTen()
    answer(window, 100, 0.75, 300, false)
    expect(capacity(window, 300)).toBe(10)
  })

  it('does not take fast answers that become slower but stay fast for trouble', () => {
    const window = usuallyFast(10)
    expect(hasRoom(window, 300)).toBe(false)
    for (const share of [0.01, 0.01, 0.24, 0.24]) answer(window, 10, share)
    expect(capacity(window, 300)).toBeGreaterThanOrEqual(20)
  })

  it('follows answers that become faster by a quarter of the way, so that one lucky round does not cut it', () => {
    const window = closedAtTen()
    // 0.5 becomes 0.45, and half as long again is 0.675.
    answer(window, 10, 0.3, 300, false)
    answer(window, 10, 0.67, 300, false)
    expect(capacity(window, 300)).toBe(10)
    answer(window, 10, 0.68, 300, false)
    expect(capacity(window, 300)).toBe(7)
  })

  it('is cut by attempts that ran into their time limits, which count as two patiences', () => {
    const window = closedAtTen()
    answer(window, 8, SLOW, 300, false)
    window.missed(PATIENCE_MS, 300)
    window.missed(PATIENCE_MS, 300)
    expect(capacity(window, 300)).toBe(7)
  })

  it('counts rounds of at least five answers, and is never cut below one attempt', () => {
    const window = usuallyFast(1)
    expect(hasRoom(window, 300)).toBe(false)
    answer(window, 10, SLOW, 300, false)
    for (let i = 0; i < 100; i++) answer(window, 1, 1 + i, 300, false)
    expect(capacity(window, 300)).toBe(1)
  })

  it('ignores the round of answers after a cut, which are of attempts from before it', () => {
    const window = closedAtTen()
    expect(cut(window)).toBe(7)
    answer(window, 7, SLOWER, 300, false)
    expect(capacity(window, 300)).toBe(7)
    answer(window, 7, SLOWER, 300, false)
    expect(capacity(window, 300)).toBe(5)
  })

  it('waits longer after each cut before slow answers widen it again, up to the fourth', () => {
    const window = closedAtTen()
    const rounds = Array.from({ length: 6 }, () => {
      const limit = cut(window)
      return Math.floor(answersUntilWider(window) / Math.max(5, limit))
    })
    // The round after the cut, then 2, 4, 8 and 16 of them.
    expect(rounds).toEqual([3, 5, 9, 17, 17, 17])
  })

  it('still widens with fast answers right after a cut', () => {
    const window = closedAtTen()
    expect(cut(window)).toBe(7)
    answer(window, 4, FAST)
    expect(capacity(window, 300)).toBe(8)
  })

  it('has no limit after a fast answer while no call is held', () => {
    const window = closedAtTen()
    answer(window, 1, FAST, 300, false)
    expect(fill(window, 300)).toBe(UNLIMITED)
  })

  it('forgets its cuts with the limit', () => {
    const once = closedAtTen()
    cut(once)
    const usual = answersUntilWider(once)
    const window = closedAtTen()
    for (let i = 0; i < 3; i++) cut(window)
    window.answered(true, FAST, FAST * PATIENCE_MS, 300, false)
    while (window.inFlight > 0) window.ended()
    for (let i = 0; i < 10; i++) window.started(300)
    window.answered(false, FAST, FAST * PATIENCE_MS, 540, false)
    window.started(540)
    expect(hasRoom(window, 560)).toBe(false)
    answer(window, 20, SLOW, 560)
    // At the time of `cut` and `answersUntilWider` nothing is silent: the clock may stand.
    cut(window)
    expect(answersUntilWider(window)).toBe(usual)
  })
})

describe('a window without answers', () => {
  it('lets nothing start after half the patience', () => {
    const window = windowOf(1, 10, 0)
    expect(hasRoom(window, 499)).toBe(true)
    expect(hasRoom(window, 500)).toBe(false)
    expect(window.silent).toBe(true)
  })

  it('lets nothing start after a whole patience where slow answers are usual', () => {
    const window = usuallySlow(10)
    expect(hasRoom(window, 999)).toBe(true)
    expect(hasRoom(window, 1000)).toBe(false)
    expect(window.silent).toBe(true)
  })

  it.each([
    ['a success', true],
    ['a failure', false],
  ])('counts the silence from the last answer, if it was %s', (_, ok) => {
    const window = windowOf(1, 10, 0)
    window.answered(ok, SLOW, SLOW * PATIENCE_MS, 400, false)
    expect(hasRoom(window, 899)).toBe(true)
    expect(hasRoom(window, 900)).toBe(false)
  })

  it('is not silent while nothing is in flight', () => {
    const window = windowOf(1, 1, 0)
    window.answered(false, FAST, FAST * PATIENCE_MS, 10, false)
    expect(hasRoom(window, 100_000)).toBe(true)
  })

  it('is silent when attempts ran into their time limits and none is left', () => {
    const window = windowOf(1, 2, 0)
    window.missed(PATIENCE_MS, 1000)
    window.missed(PATIENCE_MS, 1000)
    expect(hasRoom(window, 1000)).toBe(false)
  })

  it('stays silent when attempts fail, and takes the next success for its end', () => {
    const window = windowOf(1, 10, 0)
    expect(hasRoom(window, 500)).toBe(false)
    for (let i = 0; i < 9; i++) window.answered(false, FAST, FAST * PATIENCE_MS, 600, true)
    expect(hasRoom(window, 600)).toBe(false)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 600, true)
    expect(hasRoom(window, 600)).toBe(true)
  })

  it('has no limit after a silence that the patience outlasted', () => {
    const window = windowOf(1, 10, 0)
    expect(hasRoom(window, 500)).toBe(false)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 999, true)
    expect(fill(window, 999)).toBe(UNLIMITED)
  })

  it('opens at half of what was in flight after a silence that outlasted the patience', () => {
    const window = windowOf(1, 10, 0)
    expect(hasRoom(window, 500)).toBe(false)
    for (let i = 0; i < 10; i++) window.missed(PATIENCE_MS, 990)
    window.started(990)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1000, true)
    expect(fill(window, 1000)).toBe(5)
  })

  it('opens for one more than is still in flight, if that is more than half', () => {
    const window = windowOf(1, 10, 0)
    expect(hasRoom(window, 500)).toBe(false)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1000, true)
    expect(fill(window, 1000)).toBe(10)
  })

  it('counts no more in flight than its limit was before the silence', () => {
    const window = usuallyFast(4)
    expect(hasRoom(window, 300)).toBe(false)
    for (let i = 0; i < 6; i++) window.started(300)
    expect(hasRoom(window, 500)).toBe(false)
    for (let i = 0; i < 10; i++) window.missed(PATIENCE_MS, 1400)
    window.started(1400)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1500, true)
    expect(fill(window, 1500)).toBe(2)
  })

  it('opens at all that was in flight where slow answers are usual, and widens with every answer', () => {
    const window = usuallySlow(10)
    expect(hasRoom(window, 1000)).toBe(false)
    for (let i = 0; i < 10; i++) window.missed(PATIENCE_MS, 1400)
    window.started(1400)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1500, true)
    expect(fill(window, 1500)).toBe(11)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1500, true)
    expect(fill(window, 1500)).toBe(12)
    for (let i = 0; i < 40; i++) window.missed(PATIENCE_MS, 1500)
    expect(fill(window, 1500)).toBe(12)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1500, false)
    expect(fill(window, 1500)).toBe(UNLIMITED)
  })

  it('takes fast answers for usual after a long silence if it knew nothing before', () => {
    const window = windowOf(1, 10, 0)
    expect(hasRoom(window, 500)).toBe(false)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1000, true)
    expect(window.snapshot()).toMatchObject({ fastShare: 1, spells: 1 })
  })
})
