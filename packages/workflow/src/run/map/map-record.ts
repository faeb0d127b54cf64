/** What a map keeps with its run in the ledger. Imports the library and the notes of runs. */
import { type FailureRecord, type GateRecord, type Json, type RunRecord, TaskRefusedError } from 'reprise/durable'
import {
  COUNT,
  FAILURE,
  fields,
  FLAG,
  gateFaults,
  isJsonObject,
  type JsonShape,
  listOf,
  mapOf,
  NUMBER,
  oneOf,
  orNull,
  type QueueState,
  shapeFaults,
  TEXT,
} from 'reprise/internal'
import type { InputMark } from '../../items/input-mark.js'
import type { HaltReason, MapCounts } from '../../view/map-views.js'
import { expectShape } from '../../view/run-notes.js'
import type { RunPlace } from '../run-record.js'

/** What an agent needs to serve a lane as the process that conducts the map does. */
export interface LaneServing {
  /** Of the run of the map: the process that has it keeps the lane open. */
  readonly fence: number
  readonly correlationId: string
  /** When the map was taken up again; null if it was not. */
  readonly takenUpAtMs: number | null
  /** The version of reprise that conducts the map. */
  readonly version: string
}

/** The state of the gate of a lane. */
export interface LaneState extends QueueState {
  /** Items of the lane may begin, in the process that conducts the map and in agents; absent otherwise. */
  readonly serving?: LaneServing
  /** Where agents have served the lane: what its items wrote is kept there. */
  readonly places?: readonly RunPlace[]
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
  /** The commit that items with `isolation: worktree` begin with; null without it. */
  readonly base: string | null
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
  base: null,
  isPartial: false,
  halted: null,
  failure: null,
  counts: null,
  recovered: 0,
  resultsFile: null,
}

const HALT = fields({ kind: oneOf(['stop', 'max_failures', 'failure_threshold', 'halt_on', 'cancelled']) })

const NOTES = fields({}, {
  isEnumerated: FLAG,
  total: COUNT,
  inputMark: orNull(fields({ kind: oneOf(['file', 'paths']) })),
  base: orNull(TEXT),
  isPartial: FLAG,
  maxFailures: COUNT,
  maxParallel: COUNT,
  halted: orNull(HALT),
  failure: orNull(FAILURE),
  counts: orNull(mapOf(NUMBER)),
  recovered: COUNT,
  resultsFile: orNull(TEXT),
} satisfies Readonly<Record<keyof MapNotes, JsonShape>>)

/** Throws if what is noted of the map cannot be. */
export function mapNotesOf(run: RunRecord): MapNotes {
  expectShape(run, NOTES)
  return { ...NEW_MAP, ...(run.detail as unknown as Partial<MapNotes>) }
}

const SERVING = fields({ fence: COUNT, correlationId: TEXT, takenUpAtMs: orNull(NUMBER), version: TEXT })
const PLACES = listOf(fields({ host: TEXT, stateDirectory: TEXT }))
const LANE = fields(
  {},
  { failed: COUNT, halt: HALT, wasPaused: FLAG, maxFailures: COUNT, serving: SERVING, places: PLACES },
)

/** The state of a lane's gate, of which nothing is recorded before it begins. Throws if it cannot be. */
export function laneStateOf(gate: GateRecord | undefined): LaneState {
  if (gate === undefined) return {}
  const faults = [...gateFaults(gate), ...(isJsonObject(gate.state) ? shapeFaults(LANE, gate.state, 'state') : [])]
  if (faults.length === 0) return gate.state as LaneState
  const name = gate.key.replace(':', ' ')
  const message = `The record of ${name} is invalid (${faults.join('; ')}); nothing was changed.`
  throw new TaskRefusedError('state_refused', message)
}

export function mapNotesAsJson(notes: MapNotes): Json {
  return notes as unknown as Json
}
