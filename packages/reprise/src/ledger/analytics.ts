/**
 * Questions about many tasks: a read port of its own beside the ledger's verbs. Every answer is made of the rows that are
 * there. Where history was compacted, the rows that are gone are in no figure, and `totals` says how many they are; what
 * was forgotten is as if it had never been. Imports types of its own layer.
 */
import type { LedgerFigures } from './figures.js'
import type { ScopeFilter } from './ledger.js'
import type { AttemptRow, Compaction, Scope, StoredEvent, TaskKey, TaskStatus } from './records.js'

/** Of which tasks, and when. Times are those at which attempts ended and events happened, `untilMs` not included. */
export interface AnalyticsFilter extends ScopeFilter {
  /** Tasks of this queue. @default tasks of every queue @example { queue: 'charge' } */
  readonly queue?: string
  /**
   * From this time on: milliseconds since the epoch.
   * @default from the beginning
   * @example { sinceMs: Date.now() - 86_400_000 }
   */
  readonly sinceMs?: number
  /** Before this time: milliseconds since the epoch. @default until now @example { untilMs: Date.now() - 3_600_000 } */
  readonly untilMs?: number
}

/** What the other answers are shares of. */
export interface Totals {
  /** Tasks as they are now, whenever they were created: the range is about attempts. */
  readonly tasks: number
  /** Tasks of each status; a status that no task has is absent. */
  readonly byStatus: Readonly<Partial<Record<TaskStatus, number>>>
  /** Starts of attempts that have ended, interrupted ones included. */
  readonly attempts: number
  /** Attempts that are in no figure, since compaction removed them; those that may have ended in the range. */
  readonly compactedAttempts: number
}

/** Which failures are grouped, and how many groups are told. */
export interface PatternFilter extends AnalyticsFilter {
  /** At most this many patterns, the most frequent ones. @default 50 @example { limit: 10 } */
  readonly limit?: number
  /** At most this many examples of each, the latest ones. @default 3 @example { examples: 1 } */
  readonly examples?: number
}

/** Failures of one kind. */
export interface FailurePattern {
  /** The kind of failure: its name and message without what varies. */
  readonly signature: string
  /** Failed attempts. */
  readonly count: number
  /** When the first of them ended. */
  readonly firstAtMs: number
  /** When the last of them ended. */
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
  /** The generation of the task. */
  readonly generation: number
  /** 1..attempts of the policy. */
  readonly attempt: number
  /** Starts of this attempt, this one included. */
  readonly execution: number
  /** When it ended. */
  readonly atMs: number
  /** The message of its error. */
  readonly message: string
  /** Joins the events of the task. */
  readonly correlationId: string
}

/** Which attempts are counted. */
export interface RecoveryFilter extends AnalyticsFilter {
  /**
   * Attempts of all generations of a task, or only those since its last reset.
   * @default 'all'
   * @example { generations: 'last' }
   */
  readonly generations?: 'all' | 'last'
}

/** How attempts of this number ended. One that was interrupted and is made again has not. */
export interface RecoveryRate {
  /** 1..attempts of the policy. */
  readonly attempt: number
  /** Times that somebody came so far. */
  readonly reached: number
  /** Attempts of this number that succeeded. */
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
  /** The sum of the waits. */
  readonly totalMs: number
  /** Per wait; 0 without one. */
  readonly meanMs: number
  /** The longest wait. */
  readonly maxMs: number
}

/** Interruptions and resumes in figures. */
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
  /** Runs that were taken up again, also where all that was left of them was a wait. Not of a queue: 0 with that filter. */
  readonly resumedRuns: number
  /** Times that it was done. */
  readonly runResumes: number
}

/** All that is known of one task, in order of time. */
export interface TaskHistory extends TaskKey {
  /** Joins its events, over processes and resets. */
  readonly correlationId: string
  /** Its attempts, of all generations. */
  readonly attempts: readonly AttemptRow[]
  /** What happened beside its attempts. */
  readonly events: readonly StoredEvent[]
  /** History that was removed for its length; null if none was. */
  readonly compacted: Compaction | null
}

/** Questions about many tasks. Every answer is read from the rows that are there. */
export interface LedgerAnalytics extends LedgerFigures {
  /**
   * How many tasks and attempts there are.
   * @example const { tasks, byStatus } = await durable.analytics.totals({ scope: 'charge' })
   */
  totals(filter?: AnalyticsFilter): Promise<Totals>
  /**
   * Failures grouped by kind, the most frequent first; equal ones by signature.
   * @example const [worst] = await durable.analytics.failurePatterns({ limit: 10 })
   */
  failurePatterns(filter?: PatternFilter): Promise<readonly FailurePattern[]>
  /**
   * How often each attempt succeeded, by number of the attempt.
   * @example const rates = await durable.analytics.recovery({ generations: 'last' })
   */
  recovery(filter?: RecoveryFilter): Promise<readonly RecoveryRate[]>
  /**
   * What waiting costs, by scope: its kind, then its name.
   * @example const [first] = await durable.analytics.delays()
   */
  delays(filter?: AnalyticsFilter): Promise<readonly DelaySpent[]>
  /**
   * How often attempts were interrupted and tasks resumed.
   * @example const { resumes, recovered } = await durable.analytics.resumes()
   */
  resumes(filter?: AnalyticsFilter): Promise<ResumeStats>
  /**
   * All that is known of one task; undefined if there is none.
   * @example const history = await durable.analytics.history({ scopeKind: 'task', scope: 'charge', id: 'order-42' })
   */
  history(key: TaskKey): Promise<TaskHistory | undefined>
}

export const DEFAULT_PATTERNS = 50
export const DEFAULT_EXAMPLES = 3
