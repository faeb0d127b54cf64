/** Windows of attempts that know what answers usually take, and how many attempts they let start. */
import { AttemptWindow } from '../packages/reprise/src/core/budgets/attempt-window.js'
import type { UsualAnswersState } from '../packages/reprise/src/core/budgets/usual-answers.js'

export const PATIENCE_MS = 1000
/** Shares of the patience that answers take. */
export const FAST = 0.1
export const SLOW = 0.5
/** Attempts that are taken for no limit. */
export const UNLIMITED = 1000

/** A window that knows how often answers are fast, with attempts that started at 0. */
export const windowOf = (fastShare: number, inFlight: number, spells = 8): AttemptWindow => {
  const window = new AttemptWindow()
  window.restore({ fastShare, spells })
  for (let i = 0; i < inFlight; i++) window.started(0)
  return window
}
export const usuallyFast = (inFlight: number): AttemptWindow => windowOf(1, inFlight)
export const usuallySlow = (inFlight: number): AttemptWindow => windowOf(0, inFlight)

export const hasRoom = (window: AttemptWindow, now: number): boolean => window.hasRoom(now, PATIENCE_MS)

/** Starts attempts while there is room; how many are in flight then. */
export const fill = (window: AttemptWindow, now: number): number => {
  while (window.inFlight < UNLIMITED && hasRoom(window, now)) window.started(now)
  return window.inFlight
}
/** A window that knows that answers are fast, and which shares of the attempts are not; attempts that started at 0. */
export const knowing = (shares: Partial<UsualAnswersState>, inFlight: number): AttemptWindow => {
  const window = new AttemptWindow()
  window.restore({ fastShare: 1, spells: 8, ...shares })
  for (let i = 0; i < inFlight; i++) window.started(0)
  return window
}
/** How many may be in flight, whatever is in flight now. */
export const capacity = (window: AttemptWindow, now: number): number => {
  while (window.inFlight > 0) window.ended()
  return fill(window, now)
}
