/** Durations as exact as people want them; views have them exact. Imports the library and the shapes. */
import { formatDuration } from 'reprise'
import type { RunTimes } from '../view/views.js'

/** `350ms`, `1.2s`, `1m30s`. */
export function roundedDuration(ms: number): string {
  if (ms < 999.5) return formatDuration(Math.round(ms))
  const tenths = Math.round(ms / 100)
  return tenths < 600 ? `${tenths / 10}s` : formatDuration(Math.round(ms / 1000) * 1000)
}

/** `6s of 12s`; nothing where nothing was waited. */
export function waitedText(waitedMs: number, budgetMs: number | null): string {
  if (waitedMs === 0) return ''
  return budgetMs === null ? roundedDuration(waitedMs) : `${roundedDuration(waitedMs)} of ${roundedDuration(budgetMs)}`
}

/** A shorter time is not worth a word; `--json` has it. */
const LEAST_SHOWN_MS = 100

/** Whether a wait or downtime is long enough to be shown. */
export function isShownTime(ms: number): boolean {
  return ms >= LEAST_SHOWN_MS
}

/** `6.3s`, `waited 12s`, `down 30s`: how long steps ran, and beside it what else the time went into. */
export function timeWords({ activeMs, waitedMs, downMs }: RunTimes): string[] {
  return [
    roundedDuration(activeMs),
    ...(isShownTime(waitedMs) ? [`waited ${roundedDuration(waitedMs)}`] : []),
    ...(isShownTime(downMs) ? [`down ${roundedDuration(downMs)}`] : []),
  ]
}
