/**
 * The published test kit: time that stands still, chance that repeats itself.
 */
import { describe, expect, test } from 'vitest'
import { seededRandom, virtualClock } from 'reprise/testing'
import { listenersOf, turn, watch } from './call-fixture.js'

describe('a virtual clock', () => {
  test('fires timers in order of time, at equal times in the order they were scheduled last', async () => {
    const clock = virtualClock()
    const fired: string[] = []
    const timer = (name: string) => ({ fire: () => void fired.push(`${name} ${clock.monotonicMs()}`) })
    const [a, b, c, d] = [timer('a'), timer('b'), timer('c'), timer('d')]
    clock.schedule(a, 20)
    clock.schedule(b, 20)
    clock.schedule(c, 10)
    clock.schedule(d, 5)
    clock.schedule(a, 20)
    clock.cancel(d)
    expect(clock.pending).toBe(3)
    await clock.advance(19)
    expect(fired).toEqual(['c 10'])
    await clock.advance(1)
    expect(fired).toEqual(['c 10', 'b 20', 'a 20'])
    expect(clock.pending).toBe(0)
  })

  test('begins its wall time where it is told to, and both times go on together', async () => {
    const clock = virtualClock({ startMs: 5000 })
    expect([clock.wallMs(), clock.monotonicMs()]).toEqual([5000, 0])
    await clock.advance(250)
    expect([clock.wallMs(), clock.monotonicMs()]).toEqual([5250, 250])
  })

  test('lets promises that a timer woke schedule their own timers before time goes on', async () => {
    const clock = virtualClock()
    const seen: number[] = []
    const walk = async (): Promise<void> => {
      for (let step = 0; step < 3; step++) {
        await clock.sleep(10)
        seen.push(clock.monotonicMs())
      }
    }
    const walking = walk()
    await clock.advance(25)
    expect(seen).toEqual([10, 20])
    await clock.runAll()
    await walking
    expect(seen).toEqual([10, 20, 30])
    expect(clock.monotonicMs()).toBe(30)
  })

  test('never goes back, also if it is advanced twice at once', async () => {
    const clock = virtualClock()
    const seen: number[] = []
    const note = (): void => void seen.push(clock.monotonicMs())
    await Promise.all([clock.advance(10).then(note), clock.advance(5).then(note), clock.sleep(7).then(note)])
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    expect(clock.monotonicMs()).toBe(10)
  })

  test('refuses to go back', async () => {
    await expect(virtualClock().advance('soon')).rejects.toThrow('"soon" is not a duration')
    await expect(virtualClock().advance(-1)).rejects.toBeInstanceOf(RangeError)
    await expect(virtualClock().advance(Number.NaN)).rejects.toBeInstanceOf(RangeError)
  })

  test('ends a sleep with the reason of its signal, and leaves neither timer nor listener', async () => {
    const clock = virtualClock()
    const controller = new AbortController()
    const asleep = watch(clock.sleep(100, controller.signal))
    const rested = watch(clock.sleep(10, controller.signal))
    await clock.advance(10)
    expect(rested.state).toBe('fulfilled')
    expect(listenersOf(controller.signal)).toBe(1)
    controller.abort('enough')
    await turn()
    expect(asleep.error).toBe('enough')
    expect(clock.pending).toBe(0)
    expect(listenersOf(controller.signal)).toBe(0)
    await expect(clock.sleep(1, controller.signal)).rejects.toBe('enough')
  })
})

test('a seeded generator repeats itself, stays within [0, 1), and differs from another', () => {
  const draw = (seed: number): number[] => Array.from({ length: 1000 }, seededRandom(seed))
  expect(draw(42)).toEqual(draw(42))
  expect(draw(42)).not.toEqual(draw(43))
  expect(draw(42).every((number) => number >= 0 && number < 1)).toBe(true)
  const mean = draw(42).reduce((sum, number) => sum + number, 0) / 1000
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.05)
})
