/** How the limit of a closed window follows the answers. */
import { describe, expect, it } from 'vitest'
import {
  capacity,
  FAST,
  fill,
  PATIENCE_MS,
  SLOW,
  UNLIMITED,
  usuallyFast,
} from '../../../../../test/attempt-window-fixture.js'
import type { AttemptWindow } from './attempt-window.js'

/** Share of the patience of answers that take more than half as long again as slow ones. */
const SLOWER = 0.76

/** Answers of a round of a window that closed around ten attempts: its limit is 10.5. */
const ROUND = 11

/** A window that closed, and a clock that moves with its answers. */
class ClosedWindow {
  private now = 300
  private readonly window: AttemptWindow

  /** Closed around this many attempts and a half, of which all but the one that asked last started at 0. */
  constructor(limit: number) {
    this.window = usuallyFast(limit - 1)
    expect(fill(this.window, this.now)).toBe(limit)
  }

  /** How many attempts may be in flight. */
  get limit(): number {
    return capacity(this.window, this.now)
  }

  /** Attempts start now, together, and succeed after this share of the patience. */
  answer(count: number, share: number, isHolding = true): this {
    this.now += share * PATIENCE_MS
    return this.answerNow(count, share, isHolding)
  }

  /** Attempts that started before succeed now. */
  answerNow(count: number, share: number, isHolding = true): this {
    for (let i = 0; i < count; i++) {
      this.window.answered(true, share, share * PATIENCE_MS, this.now, isHolding)
      fill(this.window, this.now)
    }
    return this
  }

  /** Attempts fail after a tenth of the patience. */
  fail(count: number): void {
    for (let i = 0; i < count; i++) this.window.answered(false, FAST, FAST * PATIENCE_MS, this.now, true)
  }

  /** Attempts start now, together, and run into their time limits. */
  miss(count: number): this {
    this.now += PATIENCE_MS
    return this.missNow(count)
  }

  /** Attempts that started before run into their time limits now. */
  missNow(count: number): this {
    for (let i = 0; i < count; i++) this.window.missed(PATIENCE_MS, this.now, false)
    return this
  }

  /** Attempts start now, and each answer is slower, until the window is cut; how many may be in flight then. */
  cut(): number {
    const before = this.limit
    this.answer(1, SLOWER, false)
    for (let i = 0; i < 200 && this.limit === before; i++) this.answerNow(1, SLOWER, false)
    expect(this.limit).toBeLessThan(before)
    return this.limit
  }

  /** A fast answer while no call is held removes the limit; then the window closes again around this many attempts. */
  closeAgain(limit: number): void {
    this.answer(1, FAST, false)
    while (this.window.inFlight > 0) this.window.ended()
    for (let i = 1; i < limit; i++) this.window.started(this.now)
    this.now += 300
    expect(fill(this.window, this.now)).toBe(limit)
  }
}

/** Closed around ten attempts, and it is known that answers take half the patience. */
const closedAtTen = (): ClosedWindow => {
  const window = new ClosedWindow(10).answer(ROUND, SLOW, false)
  expect(window.limit).toBe(10)
  return window
}

describe('a closed window', () => {
  it('widens by a quarter of an attempt with each fast answer while calls are held', () => {
    const window = new ClosedWindow(10).answer(1, FAST)
    expect(window.limit).toBe(10)
    expect(window.answer(1, FAST).limit).toBe(11)
    expect(window.answer(4, FAST).limit).toBe(12)
  })

  it('widens by an attempt with a window of fast answers, if it was closed around few attempts', () => {
    // From 2.5 by 1/2.5 to 2.9, and then to 3.2: a part of an attempt lets none start.
    const window = new ClosedWindow(2).answer(1, FAST)
    expect(window.limit).toBe(2)
    expect(window.answer(1, FAST).limit).toBe(3)
  })

  it('widens with slow answers once it has seen a round of them, also of attempts from before it closed', () => {
    const window = new ClosedWindow(10).answerNow(ROUND, 0.3)
    expect(window.limit).toBe(10)
    expect(window.answerNow(2, 0.3).limit).toBe(11)
    expect(window.answerNow(8, 0.3).limit).toBe(13)
  })

  it('does not widen with slow answers while no call is held', () => {
    expect(closedAtTen().answer(40, SLOW, false).limit).toBe(10)
  })

  it('does not widen with failures', () => {
    const window = closedAtTen()
    window.fail(40)
    expect(window.limit).toBe(10)
  })

  it('is cut to two thirds at the end of a round whose answers take more than half as long again', () => {
    const window = closedAtTen().answer(ROUND - 1, SLOWER, false)
    expect(window.limit).toBe(10)
    expect(window.answerNow(1, SLOWER, false).limit).toBe(7)
  })

  it('is not cut when answers take half as long again', () => {
    expect(closedAtTen().answer(100, 0.75, false).limit).toBe(10)
  })

  it('is not cut when at most three answers in four are slower', () => {
    expect(closedAtTen().answer(3, SLOW, false).answer(8, SLOWER, false).limit).toBe(10)
    expect(closedAtTen().answer(2, SLOW, false).answer(9, SLOWER, false).limit).toBe(7)
  })

  it('is not cut for a long tail, however long', () => {
    const window = closedAtTen()
    for (let round = 0; round < 5; round++) window.answer(8, SLOW, false).answerNow(3, 20, false)
    expect(window.limit).toBe(10)
  })

  it('is cut although the first round had a long tail', () => {
    // The mean of that round is 0.73, its geometric mean is 0.493, and half as long again is 0.74.
    const first = new ClosedWindow(10).answer(ROUND - 1, 0.4, false).answerNow(1, 4, false)
    expect(first.answer(ROUND, SLOWER, false).limit).toBe(7)
  })

  it('does not take fast answers that become slower but stay fast for trouble', () => {
    const window = new ClosedWindow(10).answer(20, 0.01).answer(100, 0.24)
    expect(window.limit).toBe(10 + 120 / 4)
  })

  it('follows answers that become faster', () => {
    const window = closedAtTen().answer(ROUND, 0.3, false).answer(ROUND, 0.44, false)
    expect(window.limit).toBe(10)
    expect(window.answer(ROUND, 0.46, false).limit).toBe(7)
  })

  it('is cut by attempts that ran into their time limits, which count as a patience', () => {
    const window = new ClosedWindow(10).answer(ROUND, 0.6, false).answer(2, 0.6, false)
    expect(window.miss(8).limit).toBe(10)
    expect(window.missNow(1).limit).toBe(7)
  })

  it('counts rounds of at least four answers, and is never cut below one attempt', () => {
    const window = new ClosedWindow(2).answer(4, SLOW, false).answer(3, SLOWER, false)
    expect(window.limit).toBe(2)
    expect(window.answerNow(1, SLOWER, false).limit).toBe(1)
    for (let i = 0; i < 5; i++) window.answer(4, SLOWER, false)
    expect(window.limit).toBe(1)
  })

  it('ignores answers of attempts that started before its last cut', () => {
    const window = closedAtTen()
    expect(window.cut()).toBe(7)
    expect(window.answerNow(100, SLOWER, false).limit).toBe(7)
    // A limit of 7: a round of seven answers.
    expect(window.answer(6, SLOWER, false).limit).toBe(7)
    expect(window.answerNow(1, SLOWER, false).limit).toBe(4)
  })

  it('ignores attempts that started before its last cut and run into their time limits', () => {
    const window = closedAtTen()
    expect(window.cut()).toBe(7)
    expect(window.missNow(100).limit).toBe(7)
    expect(window.answer(7, SLOWER, false).limit).toBe(4)
  })

  it('counts all answers again when it was open since its last cut', () => {
    const window = closedAtTen()
    window.cut()
    window.closeAgain(10)
    // They started before the cut, and tell what answers took when it closed again.
    window.answerNow(ROUND, SLOW, false)
    expect(window.answer(ROUND, SLOWER, false).limit).toBe(7)
  })

  it('waits after a cut for a round that is not slower before slow answers widen it again', () => {
    const window = closedAtTen()
    window.cut()
    expect(window.answer(7, SLOW).limit).toBe(7)
    expect(window.answerNow(4, SLOW).limit).toBe(8)
  })

  it('still widens with fast answers right after a cut', () => {
    const window = closedAtTen()
    expect(window.cut()).toBe(7)
    expect(window.answer(4, FAST).limit).toBe(8)
  })

  it('has no limit after a fast answer while no call is held', () => {
    expect(closedAtTen().answer(1, FAST, false).limit).toBe(UNLIMITED)
  })
})
