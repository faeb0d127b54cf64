/**
 * What `inspect` resolves to: a plain record. Imports types only.
 */
import type { Start } from '../core/decide.js'
import type { Timeline } from '../core/timeline.js'
import type { Plan } from './plan.js'
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
 * What a call of `inspect` does otherwise than one of `run`. `INSPECTOR` is the only one; calls are handed it, so that a
 * bundle of `retry` holds none of it.
 */
export interface Inspector {
  /** What the promise resolves to where there was no call but its first attempt. */
  firstSucceeded(value: unknown, plan: Plan, start: Start, startMs: number, endMs: number): Inspection<unknown>
  succeeded(value: unknown, source: TimelineSource): Inspection<unknown>
  failed(error: unknown, source: TimelineSource): Inspection<unknown>
}
