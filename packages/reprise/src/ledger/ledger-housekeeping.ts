/** The part of the port that removes what is over and shortens what grows. Imports the records. */
import type { FinishedStatus } from './records.js'

/** Finished tasks of one kind, and how old they must be. */
export interface ForgetRequest {
  /** How they ended. */
  readonly status: FinishedStatus
  /** Tasks that have not changed since this time: milliseconds since the epoch. */
  readonly beforeMs: number
  /** At most this many tasks, since no other process can write meanwhile. */
  readonly limit: number
}

/** Rows that are gone. */
export interface Forgotten {
  /** Tasks removed. */
  readonly tasks: number
  /** Rows of attempts removed. */
  readonly attempts: number
  /** Events removed. */
  readonly events: number
  /** Dead letters removed. */
  readonly deadLetters: number
}

/** Rows of a run that are gone; `isDone`: nothing is left of it. */
export interface RunRemoval extends Forgotten {
  /** Whether nothing is left of the run. */
  readonly isDone: boolean
}

/** What may be shortened or dropped while the tasks stay; a field that is absent leaves its kind alone. */
export interface CompactRequest {
  /**
   * Of a task with more attempts than this, the older ones go until half of it is left: that it did is recorded.
   * @default no history is shortened
   * @example { maxHistoryPerTask: 100 }
   */
  readonly maxHistoryPerTask?: number
  /**
   * Removes events from before this time, whatever became of their tasks.
   * @default no event is removed
   * @example { eventsBeforeMs: Date.now() - 86_400_000 }
   */
  readonly eventsBeforeMs?: number
  /**
   * Removes dead letters that were closed before this time; open ones stay.
   * @default no letter is removed
   * @example { lettersBeforeMs: Date.now() - 86_400_000 }
   */
  readonly lettersBeforeMs?: number
  /**
   * Removes policies that no task has, and that no process has asked to keep since this time.
   * @default no policy is removed
   * @example { policiesBeforeMs: Date.now() - 86_400_000 }
   */
  readonly policiesBeforeMs?: number
  /**
   * Removes owners whose lease ran out before this time, and that own nothing.
   * @default no owner is removed
   * @example { ownersBeforeMs: Date.now() - 86_400_000 }
   */
  readonly ownersBeforeMs?: number
  /**
   * Gives free space back to the system, where the store can: some of it, if it is more than a quarter.
   * @default false
   * @example { reclaim: true }
   */
  readonly reclaim?: boolean
  /** At most this many of each kind, since no other process can write meanwhile. */
  readonly limit: number
}

/** What a compaction shortened and removed. */
export interface Compacted extends Omit<Forgotten, 'tasks'> {
  /** Tasks whose history was shortened. */
  readonly tasks: number
  /** Policies removed. */
  readonly policies: number
  /** Owners removed. */
  readonly owners: number
  /** Bytes given back to the system. */
  readonly reclaimedBytes: number
}

/** How a ledger is kept small. */
export interface LedgerHousekeeping {
  /**
   * Removes finished tasks with all that belongs to them: attempts, events, dead letters. Their ids are free again.
   * Those of a run stay as long as it does: it would run them again.
   * @example await ledger.forget({ status: 'succeeded', beforeMs: Date.now() - 86_400_000, limit: 200 })
   */
  forget(request: ForgetRequest): Promise<Forgotten>
  /**
   * Removes a run with its tasks, at most `limit` of them at a time; at last the run itself, with the gates that were
   * its own.
   * @example for (let isDone = false; !isDone; ) ({ isDone } = await ledger.removeRun('nightly-1', 200))
   */
  removeRun(id: string, limit: number, gates?: readonly string[]): Promise<RunRemoval>
  /**
   * Shortens what grows while tasks live. Gates stay: one that is forgotten would allow what was used up.
   * @example await ledger.compact({ maxHistoryPerTask: 100, limit: 200 })
   */
  compact(request: CompactRequest): Promise<Compacted>
}
