/**
 * A clock for tests of ledgers, which only read the time: it shows what `now` says, and wakes nobody. Imports types of the
 * library only.
 */
import type { Clock } from 'reprise'

/** `wall`: the time of leases, where it is another. */
export function clockReading(now: () => number, wall: () => number = now): Clock {
  const refuse = (): never => {
    throw new Error('This clock has no timers')
  }
  return { wallMs: wall, monotonicMs: now, schedule: refuse, cancel: refuse }
}
