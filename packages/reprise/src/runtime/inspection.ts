/**
 * What `inspect` resolves to: a plain record. Imports types only.
 */
import type { Timeline } from '../core/timeline.js'
import type { TimelineSource } from './rejection.js'

/** How a call went: its value or its error, and its timeline. */
export type Inspection<T> =
  | {
      readonly ok: true
      /** What the operation gave. */
      readonly value: T
      /** The record of the call. */
      readonly timeline: Timeline
    }
  | {
      readonly ok: false
      /** What `run` would have rejected with. */
      readonly error: unknown
      /** The record of the call. */
      readonly timeline: Timeline
    }

/**
 * The timeline is made here and not when it is read: a property that makes it would have to be an own one, for whoever
 * spreads or clones the record, and that costs more than the timeline.
 */
export function inspectedSuccess(value: unknown, timeline: Timeline): Inspection<unknown> {
  return { ok: true, value, timeline }
}

export function inspectedFailure(error: unknown, source: TimelineSource): Inspection<unknown> {
  return { ok: false, error, timeline: source.timeline() }
}
