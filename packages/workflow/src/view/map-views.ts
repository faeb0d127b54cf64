/** What people and programs are shown of maps. Imports nothing. */

/** States of an item; `dead` and `skipped`: failed for good, with a dead letter and without. */
export type ItemState =
  | 'pending'
  | 'running'
  | 'retrying'
  | 'succeeded'
  | 'skipped'
  | 'dead'
  | 'cancelled'
  | 'undecided'

/** Items in each state. */
export interface MapCounts {
  /** All items. */
  readonly total: number
  /** Not begun. */
  readonly pending: number
  /** An attempt runs. */
  readonly running: number
  /** After a failed attempt, waiting for the next one. */
  readonly retrying: number
  /** Ended with a result. */
  readonly succeeded: number
  /** Failed for good, with `on_item_failure: skip`. */
  readonly skipped: number
  /** Failed for good, with a dead letter. */
  readonly dead: number
  /** Ended by a cancellation. */
  readonly cancelled: number
  /** Interrupted, and only a person can say whether it took effect. */
  readonly undecided: number
}

/** Why a map was stopped. */
export type HaltReason = ItemHalt | FailureLimitHalt | FailureShareHalt | ExitCodeHalt | CancelHalt

/** An item failed for good, and `on_item_failure` is `stop`. */
interface ItemHalt {
  readonly kind: 'stop'
  /** The id of the item's task. */
  readonly item: string
}

/** As many items failed as `max_failures` says. */
interface FailureLimitHalt {
  readonly kind: 'max_failures'
  /** Items that had failed. */
  readonly failed: number
  /** The limit. */
  readonly limit: number
}

/** A larger share of the ended items failed than `failure_threshold` says. */
interface FailureShareHalt {
  readonly kind: 'failure_threshold'
  /** Items that had failed. */
  readonly failed: number
  /** Items that had ended. */
  readonly ended: number
  /** The share that was allowed. */
  readonly limit: number
}

/** An item ended with an exit code of `halt_on`, or with an error that says that the map must stop. */
interface ExitCodeHalt {
  readonly kind: 'halt_on'
  /** The id of the item's task. */
  readonly item: string
  /** The exit code; null for an error that said so itself. */
  readonly exitCode: number | null
}

/** Somebody has cancelled the run. */
interface CancelHalt {
  readonly kind: 'cancelled'
}

/** A process that runs items of a map, and does not execute its run. */
export interface MapAgentView {
  /** Of its process, on that machine. */
  readonly pid: number
  /** The name of the machine that it runs on. */
  readonly host: string
  /** Items that it may run at a time; null if it has not said so. */
  readonly slots: number | null
  /** When it joined the store. */
  readonly startedAtMs: number
}

/** How far a map is. */
export interface MapProgressView {
  /** Items in each state. */
  readonly counts: MapCounts
  /** Items that succeeded after a failure, since this process began with the map. */
  readonly recovered: number
  /** Items that end in a second, lately; null while that is not known. */
  readonly perSecond: number | null
  /** How long the rest takes at that rate; null while that is not known. */
  readonly etaMs: number | null
  /** Items that run in this process, the longest first; at most twenty. */
  readonly running: readonly RunningItemView[]
  /** The gate that holds the map; null if none does. */
  readonly heldBy: {
    /** Its kind and name: `breaker:warehouse`. */
    readonly gate: string
    /** The gate's word for it. */
    readonly reason: string
  } | null
  /** Whether somebody has paused the map. */
  readonly isPaused: boolean
  /** Agents that run items of it too. */
  readonly agents: readonly MapAgentView[]
}

/** An item that runs. */
export interface RunningItemView {
  /** The id of the item's task. */
  readonly item: string
  /** The key of the item. */
  readonly key: string
  /** 1..attempts of the policy. */
  readonly attempt: number
  /** When the attempt started: milliseconds since the epoch. */
  readonly startedAtMs: number
}
