/**
 * The attempts of a call, newest first, as the objects that ran them; records are made when a timeline is asked for.
 * Imports core and types.
 */
import type { AttemptRecord, Timeline } from '../core/timeline.js'
import type { AttemptResult } from '../core/words.js'
import type { Plan } from './plan.js'

export interface Past {
  previous: Past | null
  readonly attempt: number
  readonly result: AttemptResult | undefined
  readonly startMs: number
  readonly error: unknown
  toRecord(): AttemptRecord
}

/** A timeline with its attempts still as they ran. */
export interface TimelineParts extends Omit<Timeline, 'key' | 'policy' | 'notes' | 'attempts'> {
  readonly plan: Plan
  readonly history: Past | null
}

/** `notes`: those of the plan, and what was noted during the call; frozen. */
export function timelineFrom(parts: TimelineParts, notes = parts.plan.notes): Timeline {
  const { plan, history, stopReason, budgetReason, totalDelayMs, elapsedMs } = parts
  const { key, policy } = plan
  const attempts = recordsOf(history)
  return Object.freeze({ key, policy, notes, attempts, stopReason, budgetReason, totalDelayMs, elapsedMs })
}

/** When the first attempt started; 0 if there was none. */
export function oldestStartMs(newest: Past | null): number {
  let startMs = 0
  for (let past = newest; past !== null; past = past.previous) startMs = past.startMs
  return startMs
}

/** How often a call has started its operation, and in how many attempts of its policy; denied launches are not counted. */
export interface Made {
  readonly attemptsMade: number
  readonly launches: number
}

export function madeOf(newest: Past | null): Made {
  let [attemptsMade, launches] = [0, 0]
  for (let past = newest; past !== null; past = past.previous) {
    if (past.result === 'denied') continue
    attemptsMade = Math.max(attemptsMade, past.attempt)
    launches++
  }
  return { attemptsMade, launches }
}

/** Oldest first, frozen. */
function recordsOf(newest: Past | null): readonly AttemptRecord[] {
  const records: AttemptRecord[] = []
  for (let past = newest; past !== null; past = past.previous) records.push(Object.freeze(past.toRecord()))
  return Object.freeze(records.reverse())
}
