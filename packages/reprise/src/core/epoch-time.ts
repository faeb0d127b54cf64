/**
 * The time since the epoch by a clock: its wall as of the first use, advanced by its monotonic side. It never runs
 * backwards, all that share a clock agree on it, and what is kept of it still means something in another process.
 * Imports types of core only.
 */
import type { Clock } from './time.js'

/** The part of a clock that is read. */
export type TimeSource = Pick<Clock, 'wallMs' | 'monotonicMs'>

const offsets = /* @__PURE__ */ new WeakMap<TimeSource, number>()

/** Readings of one clock that lie further apart are tried again, at most this many times. */
const CLOSE_MS = 0.1
const MAX_READINGS = 10

/** What is added to the monotonic time of a clock: the same number as long as the clock is in use. */
export function epochOffsetMs(clock: TimeSource): number {
  let offsetMs = offsets.get(clock)
  if (offsetMs === undefined) {
    offsetMs = readOffset(clock)
    offsets.set(clock, offsetMs)
  }
  return offsetMs
}

/**
 * The wall's time less the monotonic one, as of one moment. A process that was put aside between the two readings, or that
 * had to load something for the second, would be behind the others for good.
 */
function readOffset(clock: TimeSource): number {
  let [offsetMs, leastMs] = [0, Infinity]
  for (let reading = 0; reading < MAX_READINGS && leastMs > CLOSE_MS; reading++) {
    const beforeMs = clock.monotonicMs()
    const wallMs = clock.wallMs()
    const apartMs = clock.monotonicMs() - beforeMs
    if (apartMs < leastMs) [offsetMs, leastMs] = [wallMs - beforeMs, apartMs]
  }
  return offsetMs
}
