/**
 * What people and programs are shown of runs: the shapes that `--json` prints, with a date beside each time. Names of times
 * end in `AtMs`, which are milliseconds since the epoch; names of durations in `Ms`.
 * Imports types of the library only.
 */
import type { StopReason } from 'reprise'
import type { FailureRecord, Json } from 'reprise/durable'
import type { HandlerPart } from '../plan/plan.js'
import type { HaltReason, ItemState, MapAgentView, MapCounts } from './map-views.js'

export const RUN_STATES = [
  'running',
  'interrupted',
  'succeeded',
  'completed_with_failures',
  'failed',
  'cancelled',
] as const
/** `interrupted`: stopped or killed, and can be resumed. */
export type RunState = (typeof RUN_STATES)[number]

export const STEP_STATES = [
  'pending',
  'running',
  'retrying',
  'parked',
  'interrupted',
  'undecided',
  'succeeded',
  'recovered',
  'skipped',
  'failed',
  'cancelled',
] as const
/**
 * `retrying`: waits for its next attempt. `parked`: stands in a budget's line. `interrupted`: an attempt had started when
 * its process was stopped or killed, and no process has taken the run up since. `recovered`: succeeded after a failure.
 */
export type StepState = (typeof STEP_STATES)[number]

/** What the time of a run went into; the three add up to the time from its start to its end, or to its last sign of life. */
export interface RunTimes {
  /** Steps ran. */
  readonly activeMs: number
  /** No attempt ran: a step waited for its next one, or in a budget's queue. */
  readonly waitedMs: number
  /** No process conducted the run: from a stop or a kill to the next resume. */
  readonly downMs: number
}

/** A run as it is now. */
export interface RunView extends RunTimes {
  /** Its id. */
  readonly id: string
  /** `workflow`, or what a program calls its own. */
  readonly kind: string
  /** The name of the workflow. */
  readonly name: string
  /** Where the workflow was read; null if it was not read from a file. */
  readonly file: string | null
  /** What becomes of it now. */
  readonly state: RunState
  /** When it began. */
  readonly startedAtMs: number
  /** When it ended; null if it has not. */
  readonly endedAtMs: number | null
  /** How often it was resumed. */
  readonly resumes: number
  /** Why the step that ended the run was not retried; null otherwise. */
  readonly stopReason: StopReason | null
  /** The step that ended the run; null if none did. */
  readonly failedStep: string | null
  /** Steps in each state; a state that no step has is absent. */
  readonly counts: Readonly<Partial<Record<StepState, number>>>
  /** Items of its maps in each state, all maps together; null if it has no map, or none has begun. */
  readonly items: MapCounts | null
  /** The process that conducts it; null if none does. */
  readonly owner: OwnerView | null
  /** Agents that run items of its maps beside that process; those that live, as seen from here. */
  readonly agents: readonly MapAgentView[]
}

export interface OwnerView {
  /** The name of its machine. */
  readonly host: string
  /** The id of its process. */
  readonly pid: number
  /** When it began to conduct the run. */
  readonly takenAtMs: number
}

export interface RunDetail extends RunView {
  readonly params: Readonly<Record<string, Json>>
  /** What the workflow gave; null until it has ended, or if it has no `outputs`. */
  readonly outputs: Readonly<Record<string, Json>> | null
  /** Why its outputs could not be made, which is why it failed; null otherwise. */
  readonly outputsError: string | null
  readonly steps: readonly StepView[]
  /** When it was resumed, in order. */
  readonly resumedAtMs: readonly number[]
  /** When processes conducted it, in order. */
  readonly sessions: readonly SessionView[]
}

export interface SessionView {
  readonly startedAtMs: number
  /** Of a process that conducts it now, the time of looking; of one that was killed, the last time known of it. */
  readonly lastSeenAtMs: number
}

export interface StepView {
  readonly id: string
  readonly name: string
  /** The list of the document that it stands in; absent for `steps`. */
  readonly part?: HandlerPart
  readonly kind: string
  readonly state: StepState
  readonly generation: number
  /** Made, in this generation. */
  readonly attempts: number
  readonly attemptsAllowed: number
  readonly nextAttemptAtMs: number | null
  /** The durations of all its attempts together, with the one that runs now. */
  readonly activeMs: number
  /** The waits before its attempts as they were chosen, in this generation; of the wait that lasts, the part that is over. */
  readonly waitedMs: number
  readonly retryBudgetMs: number | null
  readonly stopReason: StopReason | null
  readonly failure: FailureRecord | null
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
  readonly correlationId: string | null
  /** What the last attempt that wrote anything has written, of this generation; also while it runs. */
  readonly log: string | null
  /** Of all generations, in order; with executions that were interrupted. */
  readonly history: readonly AttemptView[]
  /** Of a map: its items; null if it has not begun. Absent for a step. */
  readonly map?: MapView | null
}

/** The items of a map, in figures: however many there are, this stays small. */
export interface MapView {
  /** How the map as a whole is; `interrupted`: it can be continued. */
  readonly state: RunState
  /** Items in each state; they add up to the total. */
  readonly counts: MapCounts
  /** Items that succeeded after a failure; null while the map has not ended. */
  readonly recovered: number | null
  /** Items that ended in a second, since the map began; null unless it runs. */
  readonly perSecond: number | null
  /** Items at a time, over all processes. */
  readonly maxParallel: number
  /** Items that may start in a second; null for no limit. */
  readonly perSecondAllowed: number | null
  /** The failed item that stops the map; null for no limit. */
  readonly maxFailures: number | null
  /** Whether somebody has paused it. */
  readonly isPaused: boolean
  /** Whether only a part of the items was asked for when the run began. */
  readonly isPart: boolean
  /** Why it was stopped; null if it was not. */
  readonly halted: HaltReason | null
  /** Agents that serve the map, beside the process that executes the run; those that live, as seen from here. */
  readonly agents: readonly MapAgentView[]
  /** Items that run, the longest first; at most twenty. */
  readonly running: readonly MapRunningItem[]
  /** Kinds of failures, the most frequent first; a few of them. */
  readonly failures: readonly FailureGroup[]
  /** The file with the results; null if it was not written. */
  readonly resultsFile: string | null
}

/** An item that runs, in any process. */
export interface MapRunningItem {
  /** The id of the item. */
  readonly item: string
  /** The key of the item. */
  readonly key: string
  /** 1..attempts of the policy. */
  readonly attempt: number
  readonly startedAtMs: number
}

/** Items that failed in one way at least once. */
export interface FailureGroup {
  /** The kind of failure: its name and message without what varies. */
  readonly signature: string
  readonly items: number
  /** Of these, items that failed for good. */
  readonly failed: number
  /** Of these, items that have succeeded since. */
  readonly recovered: number
  readonly example: { readonly item: string; readonly message: string } | null
}

/** An item of a map, as a row of a list. */
export interface ItemView {
  /** The id of the item, which is unique in the map. */
  readonly item: string
  /** The key of the item, for people. */
  readonly key: string
  /** Its position, from 0. */
  readonly index: number
  readonly state: ItemState
  readonly generation: number
  /** Made, in this generation. */
  readonly attempts: number
  readonly attemptsAllowed: number
  readonly nextAttemptAtMs: number | null
  readonly stopReason: StopReason | null
  readonly failure: FailureRecord | null
  readonly updatedAtMs: number
}

/** Items of a map, as many as were asked for. */
export interface ItemPage {
  readonly run: string
  readonly map: string
  /** Items in each state. */
  readonly counts: MapCounts
  /** The state that the items have; null for items in every state. */
  readonly state: ItemState | null
  readonly items: readonly ItemView[]
  /** The id after which the next page begins; null if there is none. */
  readonly next: string | null
}

/** One item of a map, as a step with its attempts. */
export interface ItemDetail extends StepView {
  readonly run: string
  readonly key: string
  readonly index: number
  /** What its steps are given. */
  readonly value: Json
  /** What it gave; null unless it succeeded. */
  readonly result: Json
}

export interface AttemptView {
  readonly generation: number
  readonly attempt: number
  readonly execution: number
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly outcome: string
  readonly delayBeforeMs: number
  readonly failure: FailureRecord | null
  /** The attempt's output, if it is there. */
  readonly log: string | null
}

/** Something that happened to a run; `step` is null for what concerns the run as a whole. */
export interface EventView {
  /** When it happened: milliseconds since the epoch. */
  readonly timeMs: number
  /** What happened. */
  readonly type: string
  /** The id of the run. */
  readonly run: string
  /** The id of the step; null for what concerns the run as a whole. */
  readonly step: string | null
  /** The attempt; null where it concerns none. */
  readonly attempt: number | null
  /** Attempts that the policy allows; null where `attempt` is. */
  readonly attemptsAllowed: number | null
  /** Joins the events of one step, over resumes; null where there is none. */
  readonly correlationId: string | null
  /** What else is known of it. */
  readonly detail: Json
}

/** What a resume would do. */
export interface ResumePreview {
  readonly run: string
  /** Steps that have ended well: they do not run again. */
  readonly kept: number
  /** In flight when the process was lost: they run again under their number. */
  readonly rerun: readonly PreviewStep[]
  readonly waiting: readonly (PreviewStep & { readonly nextAttemptAtMs: number | null })[]
  /** Those that wait in vain: their attempts or their time are used up. */
  readonly denied: readonly { readonly step: string; readonly reason: StopReason }[]
  /** Those that are granted a fresh set of attempts. */
  readonly reset: readonly string[]
  /** Those that run once more, whether or not they succeeded; items of maps are read again. */
  readonly repeated: readonly string[]
  /** Steps that nothing is recorded of yet. */
  readonly pending: number
  /** Maps that were begun; their items are in none of the other fields. */
  readonly maps: readonly MapPreview[]
  /** Time budgets that run on: no retry after this. */
  readonly budgetLeft: readonly { readonly step: string; readonly expiresAtMs: number }[]
  readonly warnings: readonly string[]
}

/** What a resume would do with the items of a map. */
export interface MapPreview {
  /** The id of the map. */
  readonly map: string
  /** Whether all items were recorded; else they are read again. */
  readonly isRead: boolean
  readonly total: number
  /** Succeeded: they do not run again. */
  readonly kept: number
  /** Not begun. */
  readonly pending: number
  /** After a failed attempt, waiting for the next one. */
  readonly retrying: number
  /** In flight when the process was lost or stopped. */
  readonly interrupted: number
  /** What becomes of those: `rerun` under their number, `fail` leaves them undecided, `verify` asks the command first. */
  readonly onInterrupt: 'rerun' | 'fail' | 'verify'
  readonly failed: number
  readonly undecided: number
  readonly cancelled: number
  /** Granted a fresh set of attempts. */
  readonly reset: number
}

interface PreviewStep {
  readonly step: string
  /** The one to come. */
  readonly attempt: number
  readonly of: number
}

/** What waits now. */
export interface RetryingView {
  /** `run`: a step of a run. `task`: a task of a program. */
  readonly scopeKind: 'run' | 'task'
  /** The run's id, or the task's name. */
  readonly scope: string
  readonly id: string
  readonly state: 'retrying' | 'parked'
  /** The one to come. */
  readonly attempt: number
  readonly attemptsAllowed: number
  readonly nextAttemptAtMs: number | null
  readonly waitedMs: number
  readonly retryBudgetMs: number | null
  readonly failure: FailureRecord | null
}

export interface BreakerView {
  readonly name: string
  readonly state: 'closed' | 'open' | 'half_open'
  readonly failures: number
  readonly failureThreshold: number | null
  /** When a probe is let through. */
  readonly halfOpenAtMs: number | null
  /** When an attempt that counts last failed; null if none has. */
  readonly lastFailureAtMs: number | null
}

export interface BudgetView {
  readonly name: string
  readonly type: string | null
  /** The budget's own figures. */
  readonly state: Json
}
