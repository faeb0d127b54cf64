/** What an agent tells while it executes items of a run that another process conducts. Imports types. */
import type { AttemptRow, FailureRecord } from 'reprise/durable'
import type { MapCounts } from '../../view/map-views.js'

/** Attempts of items that ended in this process. */
export interface AgentCounts {
  readonly succeeded: number
  /** Failed or out of time: retried, or given up. */
  readonly failed: number
  /** Ended by a stop or a takeover: not charged. */
  readonly interrupted: number
}

interface Told {
  readonly timeMs: number
  /** The id of the run. */
  readonly run: string
}

/** Why an agent has nothing to do now: nobody conducts the run, or no map of it has items to run. */
export type IdleReason = 'not_conducted' | 'no_map'

/** Why an agent has left. */
export type LeaveReason = 'run_ended' | 'maps_ended' | 'stopped'

export type AgentEvent =
  | (Told & {
      readonly type: 'agent_started'
      readonly name: string
      readonly parallel: number
      readonly pid: number
      readonly host: string
      readonly version: string
    })
  | (Told & { readonly type: 'agent_idle'; readonly reason: IdleReason })
  | (Told & {
      readonly type: 'map_joined'
      /** The id of the map. */
      readonly step: string
      readonly counts: MapCounts
      /** The process that conducts the run. */
      readonly conductor: { readonly pid: number; readonly host: string }
    })
  | (Told & {
      readonly type: 'item_attempt_finished'
      readonly step: string
      readonly item: string
      readonly attempt: number
      readonly outcome: AttemptRow['outcome']
      /** Null if it was interrupted. */
      readonly durationMs: number | null
      readonly failure: FailureRecord | null
    })
  | (Told & { readonly type: 'map_note'; readonly step: string; readonly message: string })
  | (Told & { readonly type: 'map_left'; readonly step: string })
  | (Told & {
      readonly type: 'agent_finished'
      readonly reason: LeaveReason
      /** The state of the run; null if it is not there any more. */
      readonly state: string | null
      readonly attempts: AgentCounts
    })
