import { expect, it } from 'vitest'
import { virtualClock } from '../testing/virtual-clock.js'
import { environmentOf } from './executor-options.js'

/** A clock that stands still but for what `betweenMs` says passes before each reading of its monotonic side. */
function delayed(betweenMs: number[]) {
  const clock = virtualClock({ startMs: 1_000_000 })
  let passedMs = 0
  return Object.assign(clock, {
    wallMs: () => 1_000_000 + passedMs,
    monotonicMs: () => (passedMs += betweenMs.shift() ?? 0),
  })
}

it('a process that is put aside while it looks at the clocks is not behind for good', () => {
  const clock = delayed([0, 50, 0, 30, 0, 0])
  const environment = environmentOf({ clock })
  expect(environment.exactMs()).toBe(clock.wallMs())
})

it('clocks that are never read at one moment are taken as close as they come', () => {
  const between = Array.from({ length: 40 }, (_, index) => (index === 7 ? 2 : 9))
  const clock = delayed(between)
  const environment = environmentOf({ clock })
  between.length = 0
  expect(Math.abs(environment.exactMs() - clock.wallMs())).toBeLessThanOrEqual(2)
})
