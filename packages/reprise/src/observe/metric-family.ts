/**
 * What metrics look like when they are read: plain data that survives JSON. Imports types only.
 */
import type { Bucket } from './durations.js'

interface Sample {
  /** Its labels. */
  readonly labels: Readonly<Record<string, string>>
  /** Its value. */
  readonly value: number
}

export interface HistogramSample {
  /** Its labels. */
  readonly labels: Readonly<Record<string, string>>
  /** How many values it has. */
  readonly count: number
  /** The sum of the values. */
  readonly sum: number
  /** How many values are at most each bound. */
  readonly buckets: readonly Bucket[]
}

/** One metric with all its series, as plain data. */
export type MetricFamily =
  | {
      /** Its name, such as `reprise_calls_total`. */
      readonly name: string
      /** What it counts, in a sentence. */
      readonly help: string
      /** Whether it only grows. */
      readonly type: 'counter' | 'gauge'
      /** Its series. */
      readonly samples: readonly Sample[]
    }
  | {
      /** Its name, such as `reprise_calls_total`. */
      readonly name: string
      /** What it counts, in a sentence. */
      readonly help: string
      /** Whether it only grows. */
      readonly type: 'histogram'
      /** Its series. */
      readonly samples: readonly HistogramSample[]
    }
