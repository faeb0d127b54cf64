/** How a window of attempts learns whether fast answers are usual. */
import { describe, expect, it } from 'vitest'
import { FAST, PATIENCE_MS, SLOW, usuallyFast, usuallySlow } from '../../../../../test/attempt-window-fixture.js'
import { BudgetError } from '../errors.js'
import { AttemptWindow } from './attempt-window.js'

describe('what answers usually take', () => {
  /** Attempts that start every 100 ms and are answered after the given share, for the given time. */
  const learn = (window: AttemptWindow, share: number, isHolding: boolean, ms = 20_000): void => {
    for (let now = 0; now < ms; now += 100) {
      window.hasRoom(now, PATIENCE_MS)
      window.started(now)
      window.answered(true, share, share * PATIENCE_MS, now, isHolding)
    }
  }

  it('is known after eight answers', () => {
    const window = new AttemptWindow()
    learn(window, SLOW, false, 700)
    expect(window.snapshot()).toMatchObject({ fastShare: 1, spells: 0 })
    learn(window, SLOW, false, 100)
    expect(window.snapshot()).toMatchObject({ fastShare: 0, spells: 1 })
  })

  it('is learned to be slow while no call is held', () => {
    const window = usuallyFast(0)
    learn(window, SLOW, false)
    expect(window.snapshot().fastShare).toBeLessThan(0.5)
  })

  it('is not learned to be slow while calls are held', () => {
    const window = usuallyFast(0)
    learn(window, SLOW, true)
    expect(window.snapshot()).toMatchObject({ fastShare: 1, spells: 8 })
  })

  it('is learned to be fast also while calls are held', () => {
    const window = usuallySlow(0)
    learn(window, FAST, true)
    expect(window.snapshot().fastShare).toBeGreaterThan(0.5)
  })

  it('is remembered of eight patiences', () => {
    const window = new AttemptWindow()
    learn(window, FAST, false, 60_000)
    expect(window.snapshot()).toMatchObject({ fastShare: 1, spells: 8 })
    learn(window, SLOW, false, 3000)
    expect(window.snapshot().fastShare).toBeGreaterThan(0.5)
  })

  /** A window that knew nothing before a silence, with answers of this share since. */
  const afterSilence = (share: number, late = 1): AttemptWindow => {
    const window = new AttemptWindow()
    for (let i = 0; i <= late; i++) window.started(0)
    window.hasRoom(PATIENCE_MS, PATIENCE_MS)
    for (let i = 0; i < late; i++) window.missed(PATIENCE_MS, PATIENCE_MS, true)
    window.answered(true, 1, PATIENCE_MS, PATIENCE_MS, true)
    for (let now = PATIENCE_MS; now < 20_000; now += 100) {
      window.started(now)
      window.answered(true, share, share * PATIENCE_MS, now, true)
    }
    return window
  }

  it('is assumed to be fast after a silence, until answers are slow and yet in good time while calls are held', () => {
    expect(afterSilence(0.3).snapshot().fastShare).toBeLessThan(0.5)
    expect(afterSilence(0.9).snapshot()).toMatchObject({ fastShare: 1, spells: 0 })
  })

  it('is assumed only until slow answers come without a late one, after a silence in which no attempt was late', () => {
    expect(afterSilence(0.9, 0).snapshot().fastShare).toBeLessThan(0.5)
  })

  it('is known and no longer assumed once most answers of a patience were fast', () => {
    expect(afterSilence(FAST).snapshot()).toMatchObject({ fastShare: 1, spells: 8 })
  })

  it('is kept by a snapshot, with no more patiences than are remembered', () => {
    const window = new AttemptWindow()
    window.restore({ fastShare: 0.3, spells: 99 })
    expect(window.snapshot()).toMatchObject({ fastShare: 0.3, spells: 8 })
  })

  it.each([
    undefined,
    null,
    {},
    { fastShare: 1 },
    { fastShare: -1, spells: 1 },
    { fastShare: 1, spells: 0.5 },
    { fastShare: Number.NaN, spells: 1 },
  ])('is not restored from %o, and stays as it was', (state) => {
    const window = usuallySlow(0)
    expect(() => window.restore(state)).toThrow(BudgetError)
    expect(() => window.restore(state)).toThrow('adaptiveBudget snapshot window: ')
    expect(window.snapshot()).toMatchObject({ fastShare: 0, spells: 8 })
  })
})
