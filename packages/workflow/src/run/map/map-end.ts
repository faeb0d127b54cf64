/** How a map ends: what it has become, and what later steps see of it. Imports the library's types, the plan and its own layer. */
import type { FailureRecord, Json } from 'reprise/durable'
import type { MapPlan } from '../../plan/map-plan.js'
import type { HaltReason, MapCounts } from '../../view/map-views.js'
import { failedOf } from './map-counts.js'
import type { MapNotes } from './map-record.js'
import type { ResultFiles } from './map-results.js'

/** What a map has become. */
export interface MapEnd {
  readonly state: 'succeeded' | 'completed_with_failures' | 'failed' | 'interrupted'
  readonly counts: MapCounts
  readonly halted: HaltReason | null
  /** Why its items could not be read; null if they could. */
  readonly failure: FailureRecord | null
  /** Items that wait because only a part was asked for. */
  readonly left: number
  /** What later steps see. */
  readonly figures: MapFigures
}

/** `total`, `succeeded` … `results` and `results_file`, as the document names them. */
type MapFigures = Readonly<Record<string, Json>>

const NO_COUNTS: MapCounts = {
  ...{ total: 0, pending: 0, running: 0, retrying: 0 },
  ...{ succeeded: 0, skipped: 0, dead: 0, cancelled: 0, undecided: 0 },
}

/** What a map whose items have all ended has become. */
export function stateOf(counts: MapCounts, { errors: { tolerate } }: MapPlan): 'succeeded' | 'completed_with_failures' {
  const lost = failedOf(counts) + counts.cancelled
  if (lost === 0) return 'succeeded'
  if (tolerate === null) return 'completed_with_failures'
  // Not `share × total`: 0.29 × 100 is less than 29.
  const isTolerated = 'count' in tolerate ? lost <= tolerate.count : lost / counts.total <= tolerate.share
  return isTolerated ? 'succeeded' : 'completed_with_failures'
}

export function endOf(
  state: MapEnd['state'],
  counts: MapCounts,
  { halted, failure }: Pick<MapNotes, 'halted' | 'failure'>,
  files: Pick<ResultFiles, 'file' | 'results'> | undefined,
): MapEnd {
  return { state, counts, halted, failure, left: 0, figures: figuresOf(counts, files) }
}

function figuresOf(counts: MapCounts, files: Pick<ResultFiles, 'file' | 'results'> | undefined): MapFigures {
  const { total, succeeded, skipped, dead, cancelled, undecided } = counts
  const pending = counts.pending + counts.running + counts.retrying
  const failed = failedOf(counts)
  return {
    ...{ total, succeeded, successful: succeeded, failed, skipped, dead, cancelled, undecided, pending },
    results_file: files?.file ?? null,
    ...(files?.results && { results: files.results }),
  }
}

/** What later steps see of a map that was skipped. */
export const NO_ITEMS: MapFigures = { ...figuresOf(NO_COUNTS, undefined), results: [] }
