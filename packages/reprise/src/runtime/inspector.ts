/**
 * How calls of `inspect` go: times of the moment, and an inspection in place of a value or an error.
 *
 * The timeline is made at once and not when it is read: a property that makes it would have to be an own one, for whoever
 * spreads or clones the record, and to define that takes twice as long as to make the timeline.
 * Imports types only.
 */
import type { Start } from '../core/decide.js'
import type { AttemptRecord, Timeline } from '../core/timeline.js'
import type { Inspection, Inspector } from './inspection.js'
import type { Plan } from './plan.js'

export const INSPECTOR: Inspector = {
  firstSucceeded,
  succeeded: (value, source) => ({ ok: true, value, timeline: source.timeline() }),
  failed: (error, source) => ({ ok: false, error, timeline: source.timeline() }),
}

function firstSucceeded(value: unknown, plan: Plan, start: Start, startMs: number, endMs: number): Inspection<unknown> {
  return { ok: true, value, timeline: successTimeline(plan, start, startMs, endMs) }
}

/** Of a call whose first attempt has succeeded: no object is made but what the timeline consists of. */
function successTimeline(plan: Plan, { decision, breaker }: Start, startMs: number, endMs: number): Timeline {
  const { key, policy, notes } = plan
  const record: AttemptRecord = Object.freeze({
    attempt: 1,
    launch: 1,
    kind: 'retry',
    hedge: false,
    startMs,
    endMs,
    delayBeforeMs: 0,
    parkedMs: 0,
    outcome: 'success',
    won: true,
    error: undefined,
    budget: policy.budget?.name,
    budgetAllowed: decision.allowed,
    budgetReason: decision.reason,
    breaker,
  })
  return Object.freeze({
    key,
    policy,
    notes,
    attempts: Object.freeze([record]),
    stopReason: undefined,
    budgetReason: undefined,
    totalDelayMs: 0,
    elapsedMs: Math.max(0, endMs - startMs),
  })
}
