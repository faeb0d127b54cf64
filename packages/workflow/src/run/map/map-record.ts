/** What a map keeps with its run in the ledger. Imports types. */
import type { FailureRecord, Json, RunRecord } from 'reprise/durable'
import type { QueueState } from 'reprise/internal'
import type { InputMark } from '../../items/input-mark.js'
import type { HaltReason, MapCounts } from '../../view/map-views.js'

/** The state of the gate of a lane. */
export interface LaneState extends QueueState {
  /** Items that failed for good or are undecided; counted at the lane `items`. */
  readonly failed?: number
  /** Why the map was stopped; absent if it was not. */
  readonly halt?: HaltReason
  /** A person had paused it before it was stopped: it stays paused when it may go on. */
  readonly wasPaused?: boolean
  /** In place of `max_failures` of the document; at the lane `items`. */
  readonly maxFailures?: number
}

export interface MapNotes {
  /** All items are recorded; nothing is executed before. */
  readonly isEnumerated: boolean
  /** Items; 0 until they are all recorded. */
  readonly total: number
  /** What the input looked like, to notice at a resume that it has changed; null where that cannot be seen. */
  readonly inputMark: InputMark | null
  /** Only a part was asked for when the run began: the other items are in a lane of their own. */
  readonly isPartial: boolean
  /** A limit that was given with a resume, in place of the document's. */
  readonly maxFailures?: number
  /** Items at a time, as a command said in place of the document. */
  readonly maxParallel?: number
  /** Why it was stopped; null if it was not. */
  readonly halted: HaltReason | null
  /** Why its items could not be read; null if they could. */
  readonly failure: FailureRecord | null
  /** When it ended; null before. */
  readonly counts: MapCounts | null
  /** Items that succeeded after a failure; counted when the results are written. */
  readonly recovered: number
  /** Where the results are; null before they are written. */
  readonly resultsFile: string | null
}

export const NEW_MAP: MapNotes = {
  isEnumerated: false,
  total: 0,
  inputMark: null,
  isPartial: false,
  halted: null,
  failure: null,
  counts: null,
  recovered: 0,
  resultsFile: null,
}

export function mapNotesOf({ detail }: RunRecord): MapNotes {
  return { ...NEW_MAP, ...(detail as unknown as Partial<MapNotes>) }
}

export function mapNotesAsJson(notes: MapNotes): Json {
  return notes as unknown as Json
}
