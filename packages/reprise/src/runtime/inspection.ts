/**
 * What `inspect` resolves to: a plain record. Imports types only.
 */
import type { Timeline } from '../core/timeline.js'
import type { TimelineSource } from './rejection.js'

export type Inspection<T> =
  | { readonly ok: true; readonly value: T; readonly timeline: Timeline }
  | { readonly ok: false; readonly error: unknown; readonly timeline: Timeline }

export function inspectedSuccess(value: unknown, source: TimelineSource): Inspection<unknown> {
  return { ok: true, value, timeline: source.timeline() }
}

export function inspectedFailure(error: unknown, source: TimelineSource): Inspection<unknown> {
  return { ok: false, error, timeline: source.timeline() }
}
