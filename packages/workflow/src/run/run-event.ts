/**
 * What is told of a run while it goes on, after the commit that made it true: for a live view, for lines in a pipe, and
 * as `--ndjson`. Imports types of the library only.
 */
import type { FailureRecord } from 'reprise/durable'
import type { StopReason } from 'reprise'
import type { RunState, RunTimes, StepState } from '../view/views.js'
import type { HaltReason, MapCounts, MapProgressView } from '../view/map-views.js'

/** What happens in a run, told after it is recorded. */
export type RunEvent =
  | ({
      readonly type: 'run_started'
      /** When it happened: milliseconds since the epoch. */
      readonly timeMs: number
      /** The id of the run. */
      readonly run: string
      /** The name of the workflow. */
      readonly name: string
      /** All steps, in order. */
      readonly steps: readonly {
        /** The step's id. */
        readonly id: string
        /** The step's name for people. */
        readonly name: string
        /** The step's state at the start. */
        readonly state: StepState
      }[]
      /** Steps in each state at the start; a state that no step has is absent. */
      readonly counts: Readonly<Partial<Record<StepState, number>>>
      /** How often it was resumed before, this time included. */
      readonly resumes: number
    } & RunTimes)
  | (StepBase & { readonly type: 'attempt_started' })
  | (StepBase & {
      readonly type: 'attempt_failed'
      /** From the start of the attempt to its end. */
      readonly durationMs: number
      /** What the attempt failed with. */
      readonly failure: FailureRecord
      /** Whether it exceeded its time limit. */
      readonly timedOut: boolean
    })
  /** `attempt` is the one to come. */
  | (StepBase & {
      readonly type: 'waiting'
      /** The wait until the attempt. */
      readonly delayMs: number
      /** When the attempt starts: milliseconds since the epoch. */
      readonly nextAttemptAtMs: number
      /** The waits of the step together, this one included. */
      readonly waitedMs: number
      /** Limit of the waits together; null for no limit. */
      readonly retryBudgetMs: number | null
      /** What the attempt before failed with; null if it is not known. */
      readonly failure: FailureRecord | null
    })
  | (StepBase & {
      readonly type: 'parked'
      /** The name of the budget. */
      readonly budget: string
    })
  | (StepBase & {
      readonly type: 'step_finished'
      /** How the step ended. */
      readonly state: StepState
      /** Of all its attempts together, also those of earlier processes. */
      readonly durationMs: number
      /** The waits of the step together. */
      readonly waitedMs: number
      /** Why it was not retried; null otherwise. */
      readonly stopReason: StopReason | null
      /** What its last attempt failed with; null if it did not fail. */
      readonly failure: FailureRecord | null
      /** Whether the run goes on although it failed. */
      readonly continued: boolean
    })
  | (StepBase & {
      readonly type: 'step_skipped'
      /** Why the step is skipped. */
      readonly reason: string
    })
  /** The step has failed, and this task stands in for it; what becomes of that is told under its own id. */
  | (StepBase & {
      readonly type: 'fallback_started'
      /** The task that stands in for the step. */
      readonly fallback: {
        /** Its id. */
        readonly id: string
        /** Its name for people. */
        readonly name: string
      }
    })
  | {
      readonly type: 'breaker_changed'
      /** When it happened: milliseconds since the epoch. */
      readonly timeMs: number
      /** The id of the run. */
      readonly run: string
      /** The key of the breaker. */
      readonly breaker: string
      /** The phase before. */
      readonly from: string
      /** The phase after. */
      readonly to: string
    }
  | {
      readonly type: 'budget_denied'
      /** When it happened: milliseconds since the epoch. */
      readonly timeMs: number
      /** The id of the run. */
      readonly run: string
      /** The id of the step. */
      readonly step: string
      /** The name of the budget. */
      readonly budget: string
      /** The budget's word for its denial. */
      readonly reason: string
    }
  /** The store has not answered for some seconds: attempts go on to run, and what is to be recorded waits. */
  | {
      readonly type: 'store_away'
      /** When it happened: milliseconds since the epoch. */
      readonly timeMs: number
      /** The id of the run. */
      readonly run: string
      /** Which store, without a password. */
      readonly store: string
      /** What the last question to it failed with. */
      readonly reason: string
    }
  /** The store answers again. */
  | {
      readonly type: 'store_back'
      /** When it happened: milliseconds since the epoch. */
      readonly timeMs: number
      /** The id of the run. */
      readonly run: string
      /** Which store, without a password. */
      readonly store: string
      /** How long it had not answered. */
      readonly awayMs: number
    }
  /** A map begins, or continues: its items are recorded. */
  | (MapBase & {
      readonly type: 'map_started'
      /** Items in each state. */
      readonly counts: MapCounts
    })
  /** How far a map is; not more often than twice a second. */
  | (MapBase & {
      readonly type: 'map_progress'
    } & MapProgressView)
  /** An item has failed for good, or is undecided; of very many not each is told. */
  | (MapBase & {
      readonly type: 'item_failed'
      /** The id of the item's task. */
      readonly item: string
      /** The key of the item. */
      readonly key: string
      /** Attempts that were made. */
      readonly attemptsMade: number
      /** Why it was not retried. */
      readonly stopReason: StopReason
      /** What its last attempt failed with; null if it is not known. */
      readonly failure: FailureRecord | null
    })
  | (MapBase & {
      readonly type: 'map_finished'
      /** How the map ended; `interrupted`: it can be continued. */
      readonly state: RunState
      /** Items in each state. */
      readonly counts: MapCounts
      /** Items that succeeded after a failure. */
      readonly recovered: number
      /** Why it was stopped; null if it was not. */
      readonly halted: HaltReason | null
      /** Why its items could not be read; null if they could. */
      readonly failure: FailureRecord | null
      /** The file with the results; null if it was not written. */
      readonly resultsFile: string | null
    })
  /** The run waits until another run of its group has ended; nothing of it has begun. */
  | {
      readonly type: 'group_waiting'
      /** When it happened: milliseconds since the epoch. */
      readonly timeMs: number
      /** The id of the run. */
      readonly run: string
      /** The name of the group. */
      readonly group: string
      /** The run that has the group. */
      readonly holder: string
    }
  /** Something that people should know of a map, such as an input that has changed since its items were recorded. */
  | (MapBase & {
      readonly type: 'map_note'
      /** A sentence. */
      readonly message: string
    })
  /** The last line that a step has said; not more often than a few times a second. */
  | (StepBase & {
      readonly type: 'output'
      /** The line. */
      readonly line: string
    })
  | ({
      readonly type: 'run_finished'
      /** When it happened: milliseconds since the epoch. */
      readonly timeMs: number
      /** The id of the run. */
      readonly run: string
      /** How the run ended. */
      readonly state: RunState
      /** Why it was not retried; null otherwise. */
      readonly stopReason: StopReason | null
    } & RunTimes)

interface StepBase {
  /** When it happened: milliseconds since the epoch. */
  readonly timeMs: number
  /** The id of the run. */
  readonly run: string
  /** The id of the step. */
  readonly step: string
  /** 1..attempts of the policy. */
  readonly attempt: number
  /** Attempts that the policy allows. */
  readonly attempts: number
}

interface MapBase {
  /** When it happened: milliseconds since the epoch. */
  readonly timeMs: number
  /** The id of the run. */
  readonly run: string
  /** The id of the map. */
  readonly step: string
}
