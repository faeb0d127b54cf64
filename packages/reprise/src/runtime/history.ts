/**
 * The attempts of a call, newest first, as the objects that ran them; records are made when a timeline is asked for.
 * Imports core and types.
 */
import { NO_BUDGET } from '../core/gate.js'
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

/**
 * The first attempt of a light call that asked nobody: a start, an end and an error are all there is to know. Kept in
 * ticks, since a call that waits should be small.
 */
export class PlainFailure implements Past {
  readonly error: unknown
  private readonly plan: Plan
  private readonly startTick: number
  private readonly endTick: number

  constructor(plan: Plan, startTick: number, error: unknown) {
    this.plan = plan
    this.startTick = startTick
    this.endTick = plan.environment.turnTick()
    this.error = error
  }

  get previous(): null {
    return null
  }

  get attempt(): 1 {
    return 1
  }

  get result(): 'failure' {
    return 'failure'
  }

  get startMs(): number {
    return this.plan.environment.msOf(this.startTick)
  }

  toRecord(): AttemptRecord {
    return {
      attempt: 1,
      launch: 1,
      kind: 'retry',
      hedge: false,
      startMs: this.startMs,
      endMs: this.plan.environment.msOf(this.endTick),
      delayBeforeMs: 0,
      parkedMs: 0,
      outcome: 'failure',
      won: false,
      error: this.error,
      budget: undefined,
      budgetAllowed: true,
      budgetReason: NO_BUDGET.reason,
      breaker: undefined,
    }
  }
}

/** A timeline with its attempts still as they ran. */
export interface TimelineParts extends Omit<Timeline, 'attempts'> {
  readonly history: Past | null
}

export function timelineFrom(parts: TimelineParts): Timeline {
  const { key, policy, notes, stopReason, budgetReason, totalDelayMs, elapsedMs } = parts
  const attempts = recordsOf(parts.history)
  const frozenNotes = Object.freeze([...notes])
  return Object.freeze({ key, policy, notes: frozenNotes, attempts, stopReason, budgetReason, totalDelayMs, elapsedMs })
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
