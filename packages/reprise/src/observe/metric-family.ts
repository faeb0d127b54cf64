/**
 * What metrics look like when they are read: plain data that survives JSON. Imports types only.
 */
import type { Bucket } from './durations.js'

interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface HistogramSample {
  readonly labels: Readonly<Record<string, string>>
  readonly count: number
  readonly sum: number
  readonly buckets: readonly Bucket[]
}

export type MetricFamily =
  | {
      readonly name: string
      readonly help: string
      readonly type: 'counter' | 'gauge'
      readonly samples: readonly Sample[]
    }
  | {
      readonly name: string
      readonly help: string
      readonly type: 'histogram'
      readonly samples: readonly HistogramSample[]
    }
