/**
 * The clock of the host: one `setTimeout` for each timer. `systemClock` of `reprise` has a wheel for thousands of them.
 * Imports types of core only.
 */
import type { Clock, Timer } from '../core/time.js'

/** What `setTimeout` can hold: 24 days. Longer waits are taken up again. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/** A clock may keep a field of its own on what it wakes. */
interface HeldTimer extends Timer {
  handle?: ReturnType<typeof setTimeout>
}

export const hostClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule(timer: HeldTimer, atMs) {
    // `setTimeout` may be early by a part of a millisecond too.
    const wake = (): void => (performance.now() < atMs ? hostClock.schedule(timer, atMs) : timer.fire())
    timer.handle = setTimeout(wake, Math.min(atMs - performance.now(), MAX_TIMEOUT_MS))
  },
  cancel: (timer: HeldTimer) => clearTimeout(timer.handle),
}
