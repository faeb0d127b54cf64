/**
 * Questions about many tasks: a read port of its own beside the ledger's verbs. Every answer is made of the rows that are
 * there. Where history was compacted, the rows that are gone are in no figure, and `totals` says how many they are; what
 * was forgotten is as if it had never been. Imports types of its own layer.
 */
import type { ScopeFilter } from './ledger.js'
import type { AttemptRow, Compaction, Scope, StoredEvent, TaskKey, TaskStatus } from './records.js'

/** Of which tasks, and when. Times are those at which attempts ended and events happened, `untilMs` not included. */
export interface AnalyticsFilter extends ScopeFilter {
  readonly queue?: string
  readonly sinceMs?: number
  readonly untilMs?: number
}

/** What the other answers are shares of. */
export interface Totals {
  /** Tasks as they are now, whenever they were created: the range is about attempts. */
  readonly tasks: number
  readonly byStatus: Readonly<Partial<Record<TaskStatus, number>>>
  /** Starts of attempts that have ended, interrupted ones included. */
  readonly attempts: number
  /** Attempts that are in no figure, since compaction removed them; those that may have ended in the range. */
  readonly compactedAttempts: number
}

export interface PatternFilter extends AnalyticsFilter {
  /** The most frequent so many; 50 when absent. */
  readonly limit?: number
  /** The latest so many of each; 3 when absent. */
  readonly examples?: number
}

/** Failures of one kind. */
export interface FailurePattern {
  readonly signature: string
  /** Failed attempts. */
  readonly count: number
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** Tasks that failed so at least once. */
  readonly tasks: number
  /** Of these, those that have succeeded in the end. */
  readonly recovered: number
  /** Of these, those that have failed for good; the others are under way, or cancelled. */
  readonly failed: number
  /** The latest first; of those at one time, those of the task that was created last. */
  readonly examples: readonly FailureExample[]
}

export interface FailureExample extends TaskKey {
  readonly generation: number
  readonly attempt: number
  readonly execution: number
  readonly atMs: number
  readonly message: string
  readonly correlationId: string
}

export interface RecoveryFilter extends AnalyticsFilter {
  /** `last`: only attempts since a task was last reset. All of them when absent. */
  readonly generations?: 'all' | 'last'
}

/** How attempts of this number ended. One that was interrupted and is made again has not. */
export interface RecoveryRate {
  readonly attempt: number
  /** Times that somebody came so far. */
  readonly reached: number
  readonly succeeded: number
  /** succeeded / reached */
  readonly rate: number
}

/** What the tasks of a scope have waited before attempts that have ended. */
export interface DelaySpent extends Scope {
  /** Attempts; one that was interrupted and made again is one, and has waited once. */
  readonly attempts: number
  /** Of these, those before which there was a delay. */
  readonly waits: number
  readonly totalMs: number
  /** Per wait; 0 without one. */
  readonly meanMs: number
  readonly maxMs: number
}

export interface ResumeStats {
  /** Tasks of which an attempt was interrupted. */
  readonly interruptedTasks: number
  /** Interruptions: by a crash, or by an orderly stop. */
  readonly interruptions: number
  /** Interruptions that were counted as a failure, since the attempt may be what ended its process. */
  readonly counted: number
  /** Starts of an attempt that had been started before. */
  readonly reExecutions: number
  /** Tasks that were taken over from a lost process. */
  readonly resumedTasks: number
  /** Times that it was done. */
  readonly resumes: number
  /** Of the interrupted tasks, those that have succeeded in the end. */
  readonly recovered: number
}

/** All that is known of one task, in order of time. */
export interface TaskHistory extends TaskKey {
  readonly correlationId: string
  readonly attempts: readonly AttemptRow[]
  readonly events: readonly StoredEvent[]
  readonly compacted: Compaction | null
}

export interface LedgerAnalytics {
  totals(filter?: AnalyticsFilter): Promise<Totals>
  /** The most frequent first; equal ones by signature. */
  failurePatterns(filter?: PatternFilter): Promise<readonly FailurePattern[]>
  /** By number of the attempt. */
  recovery(filter?: RecoveryFilter): Promise<readonly RecoveryRate[]>
  /** By scope: its kind, then its name. */
  delays(filter?: AnalyticsFilter): Promise<readonly DelaySpent[]>
  resumes(filter?: AnalyticsFilter): Promise<ResumeStats>
  history(key: TaskKey): Promise<TaskHistory | undefined>
}

export const DEFAULT_PATTERNS = 50
export const DEFAULT_EXAMPLES = 3
