/** Times as people speak of them, from now. Imports the library. */
import { roundedDuration } from '@reprise/workflow/internal'
import { formatDuration } from 'reprise'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `3m ago`, `in 4s`, `now`. */
export function relativeTime(timeMs: number, nowMs: number): string {
  const distanceMs = timeMs - nowMs
  if (Math.abs(distanceMs) < SECOND_MS / 2) return 'now'
  return distanceMs > 0 ? `in ${coarseDuration(distanceMs)}` : `${coarseDuration(-distanceMs)} ago`
}

/** How long until then: `3.2s`, `4m10s`; `now` when it has passed. */
export function countdown(timeMs: number, nowMs: number): string {
  const leftMs = timeMs - nowMs
  return leftMs <= 0 ? 'now' : leftMs < 10 * SECOND_MS ? tenths(leftMs) : roundedDuration(up(leftMs, SECOND_MS))
}

/** How long it has taken so far: it changes no oftener than people can read it. */
export function elapsed(ms: number): string {
  if (ms < 10 * SECOND_MS) return tenths(Math.max(0, ms))
  return formatDuration(Math.floor(ms / SECOND_MS) * SECOND_MS)
}

/** One unit, or two where the second says something: `50s`, `3m`, `2h5m`, `4d`. */
export function coarseDuration(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.max(1, Math.round(ms / SECOND_MS))}s`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m`
  if (ms < DAY_MS) return formatDuration(Math.floor(ms / MINUTE_MS) * MINUTE_MS)
  return `${Math.floor(ms / DAY_MS)}d`
}

/** Always with one digit, so that a row does not jump. */
function tenths(ms: number): string {
  return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`
}

function up(ms: number, unitMs: number): number {
  return Math.ceil(ms / unitMs) * unitMs
}
