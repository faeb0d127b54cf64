/** When attempts are held for want of answers, and what an answer takes. */
import { describe, expect, it } from 'vitest'
import {
  capacity,
  FAST,
  fill,
  hasRoom,
  knowing,
  PATIENCE_MS,
  SLOW,
  UNLIMITED,
  usuallyFast,
  usuallySlow,
  windowOf,
} from '../../../../../test/attempt-window-fixture.js'
import type { AttemptWindow } from './attempt-window.js'

describe('the attempts in flight', () => {
  it('are those that started and have not ended in any way', () => {
    const window = usuallyFast(5)
    window.ended()
    window.missed(PATIENCE_MS, 10, false)
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
  it('closes around what is in flight and the attempt that asks, after a quarter of the patience without a fast answer', () => {
    expect(fill(usuallyFast(3), 249)).toBe(UNLIMITED)
    const window = usuallyFast(3)
    expect(fill(window, 250)).toBe(4)
    window.ended()
    expect(fill(window, 250)).toBe(4)
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
    window.started(100)
    expect(hasRoom(window, 349)).toBe(true)
    expect(fill(window, 350)).toBe(4)
  })

  it.each([
    ['slow successes', true, 0.26],
    ['fast failures', false, FAST],
  ])('closes despite %s', (_, ok, share) => {
    const window = usuallyFast(3)
    window.answered(ok, share, share * PATIENCE_MS, 240, true)
    expect(fill(window, 250)).toBe(3)
  })

  it.each([
    [0, 1],
    [0.2, 3],
    [0.4, 6],
  ])(
    'closes where a share of %d is not fast from %d attempts on that wait for a fast answer or had a slow one',
    (notFast, least) => {
      const waiting = (attempts: number): AttemptWindow => knowing({ notFast }, attempts)
      expect(fill(waiting(least), 250)).toBe(least + 1)
      if (least > 1) expect(fill(waiting(least - 1), 250)).toBe(UNLIMITED)
      const answered = waiting(1)
      for (let now = 10; now <= 10 * least; now += 10) {
        answered.started(now)
        answered.answered(true, SLOW, SLOW * PATIENCE_MS, 249, true)
      }
      answered.started(249)
      expect(fill(answered, 250)).toBe(3)
    },
  )

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

describe('the time that an answer takes', () => {
  it('is a mean over about eight successes', () => {
    const window = usuallyFast(0)
    for (let i = 0; i < 8; i++) window.answered(true, SLOW, 500, 0, false)
    // All but (7/8)^8 of the way.
    expect(window.answerMs).toBeCloseTo(500 * (1 - 0.875 ** 8))
    for (let i = 0; i < 100; i++) window.answered(true, SLOW, 500, 0, false)
    expect(window.answerMs).toBeCloseTo(500, 1)
    window.answered(true, FAST, 100, 0, false)
    expect(window.answerMs).toBeCloseTo(450, 1)
  })

  it('is not told by failures and attempts that ran into their time limits', () => {
    const window = usuallyFast(2)
    window.answered(false, SLOW, 500, 500, false)
    window.missed(PATIENCE_MS, 1000, false)
    expect(window.answerMs).toBe(0)
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
    window.missed(PATIENCE_MS, 1000, false)
    window.missed(PATIENCE_MS, 1000, false)
    expect(hasRoom(window, 1000)).toBe(false)
  })

  it('stays silent when attempts fail, and takes the next success for its end', () => {
    const window = usuallyFast(10)
    expect(hasRoom(window, 500)).toBe(false)
    for (let i = 0; i < 9; i++) window.answered(false, FAST, FAST * PATIENCE_MS, 600, true)
    expect(hasRoom(window, 600)).toBe(false)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 600, true)
    expect(hasRoom(window, 600)).toBe(true)
  })

  it('has no limit after a silence that the patience outlasted', () => {
    const window = usuallyFast(10)
    expect(hasRoom(window, 500)).toBe(false)
    window.answered(true, FAST, FAST * PATIENCE_MS, 999, true)
    expect(fill(window, 999)).toBe(UNLIMITED)
  })

  it('opens at half of what was in flight after a silence that outlasted the patience', () => {
    const window = usuallyFast(10)
    expect(hasRoom(window, 500)).toBe(false)
    for (let i = 0; i < 10; i++) window.missed(PATIENCE_MS, 990, false)
    window.started(990)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1000, true)
    expect(fill(window, 1000)).toBe(5)
  })

  it('opens for one attempt if one was in flight, and for another with a fast answer', () => {
    const window = usuallyFast(1)
    expect(hasRoom(window, 500)).toBe(false)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1000, true)
    expect(fill(window, 1000)).toBe(1)
    window.answered(true, FAST, FAST * PATIENCE_MS, 1100, true)
    expect(fill(window, 1100)).toBe(2)
  })

  it('opens for one more than is still in flight, if that is more than half', () => {
    const window = usuallyFast(10)
    expect(hasRoom(window, 500)).toBe(false)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1000, true)
    expect(fill(window, 1000)).toBe(10)
  })

  it('counts no more in flight than its limit was before the silence', () => {
    const window = usuallyFast(3)
    expect(fill(window, 300)).toBe(4)
    for (let i = 0; i < 6; i++) window.started(300)
    expect(hasRoom(window, 500)).toBe(false)
    for (let i = 0; i < 10; i++) window.missed(PATIENCE_MS, 1400, false)
    window.started(1400)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1500, true)
    expect(fill(window, 1500)).toBe(2)
  })

  it('opens at all that was in flight where slow answers are usual, and widens by a quarter of an attempt with every answer', () => {
    const window = usuallySlow(10)
    expect(hasRoom(window, 1000)).toBe(false)
    for (let i = 0; i < 10; i++) window.missed(PATIENCE_MS, 1400, false)
    window.started(1400)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1500, true)
    expect(fill(window, 1500)).toBe(10)
    for (let i = 0; i < 3; i++) window.answered(true, SLOW, SLOW * PATIENCE_MS, 1500, true)
    expect(fill(window, 1500)).toBe(11)
    window.answered(true, SLOW, SLOW * PATIENCE_MS, 1500, false)
    expect(fill(window, 1500)).toBe(UNLIMITED)
  })

  it.each([999, 1000])(
    'takes fast answers for usual after a silence that ends at %i ms if it knew nothing before',
    (now) => {
      const window = windowOf(1, 10, 0)
      expect(hasRoom(window, 500)).toBe(false)
      for (let i = 0; i < 5; i++) window.answered(true, SLOW, SLOW * PATIENCE_MS, now, true)
      // The window has closed around what is in flight.
      expect(fill(window, now + 250)).toBeLessThan(UNLIMITED)
      expect(window.snapshot()).toMatchObject({ fastShare: 1, spells: 0 })
    },
  )
})

describe('a window on a dependency whose answers are often late or slow by nature', () => {
  it.each([
    [{ notPrompt: 0.2 }, 3],
    [{ notPrompt: 0.5 }, 7],
  ])(
    'with shares %o takes %d attempts that wait for half of the patience for silence, and fewer for chance',
    (shares, least) => {
      expect(hasRoom(knowing(shares, least), 500)).toBe(false)
      expect(hasRoom(knowing(shares, least - 1), 500)).toBe(true)
    },
  )

  it.each([
    [0.09, 2],
    [0.24, 4],
  ])('with a share of %d takes %d late attempts in a row for silence, and fewer for chance', (late, least) => {
    const after = (count: number): AttemptWindow => {
      const window = knowing({ late, notPrompt: late }, count)
      for (let i = 0; i < count; i++) window.missed(PATIENCE_MS, PATIENCE_MS, true)
      return window
    }
    expect(hasRoom(after(least), PATIENCE_MS)).toBe(false)
    expect(hasRoom(after(least - 1), PATIENCE_MS)).toBe(true)
  })

  it('learns the shares while no call is held', () => {
    const window = usuallyFast(0)
    for (let now = 0; now < 60_000; now += 100) {
      window.hasRoom(now, PATIENCE_MS)
      for (let i = 0; i < 10; i++) window.started(now)
      for (let i = 0; i < 6; i++) window.answered(true, FAST, 0, now, false)
      for (const share of [SLOW, 0.6]) window.answered(true, share, 0, now, false)
      for (let i = 0; i < 2; i++) window.missed(PATIENCE_MS, now, false)
    }
    const { notFast, notPrompt, late, fastShare } = window.snapshot()
    expect([notFast, notPrompt, late, fastShare]).toEqual(
      [0.4, 0.3, 0.2, 0.75].map((share) => expect.closeTo(share, 1)),
    )
  })

  it('cuts a window after a silence by a twenty-fifth with every late attempt, unless late attempts are usual as well', () => {
    const opened = (late: number): AttemptWindow => {
      const window = knowing({ fastShare: 0, late }, 100)
      expect(hasRoom(window, PATIENCE_MS)).toBe(false)
      for (let i = 0; i < 99; i++) window.missed(PATIENCE_MS, 1400, true)
      window.answered(true, SLOW, SLOW * PATIENCE_MS, 1500, true)
      expect(fill(window, 1500)).toBe(100)
      window.missed(PATIENCE_MS, 1500, true)
      return window
    }
    expect(capacity(opened(0), 1500)).toBe(96)
    expect(capacity(opened(0.075), 1500)).toBe(98)
    expect(capacity(opened(0.3), 1500)).toBe(100)
  })
})

describe('a window on a dependency of which a part is away', () => {
  /** Every second attempt has no answer, though the others are answered in good time. */
  const withHalfAway = (): AttemptWindow => {
    const window = usuallyFast(0)
    for (let now = 0; now < 20_000; now += 100) {
      window.started(now)
      window.started(now)
      window.answered(true, FAST, 0, now + 50, false)
      if (now >= PATIENCE_MS) window.missed(PATIENCE_MS, now + 60, false)
    }
    while (window.inFlight > 0) window.ended()
    return window
  }

  it('does not take a few attempts in a row without an answer for silence', () => {
    const window = withHalfAway()
    for (let i = 0; i < 5; i++) window.started(20_000)
    hasRoom(window, 20_600)
    expect(window.silent).toBe(false)
  })

  it('takes more attempts without an answer than chance explains for silence, in flight or late', () => {
    for (const late of [0, 10]) {
      const window = withHalfAway()
      for (let i = 0; i < 20; i++) window.started(20_000)
      for (let i = 0; i < late; i++) window.missed(PATIENCE_MS, 21_000, false)
      expect(hasRoom(window, 21_000)).toBe(false)
      expect(window.silent).toBe(true)
    }
  })

  it('does not take late attempts of a queue, which none overtakes, for a part that is away', () => {
    const window = usuallyFast(0)
    for (let now = 0; now < 20_000; now += 100) {
      window.started(now)
      window.started(now)
      window.answered(true, SLOW, 0, now + 50, true)
      // Started when the last answer had come.
      window.missed(0, now + 60, true)
    }
    window.started(20_000)
    expect(hasRoom(window, 20_600)).toBe(false)
    expect(window.silent).toBe(true)
  })
})
