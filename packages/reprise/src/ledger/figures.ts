/**
 * Sums that commands print: how the tasks of a run stand, what its time went into, and dead letters by cause. A store counts
 * them itself, so that a run of very many tasks is summed up without reading them. Imports types of its own layer.
 */
import type { StopReason } from '../core/words.js'
import type { AttemptRow, DeadLetter, LetterClosing, Scope, ScopeKind, TaskRecord, TaskStatus } from './records.js'

/** Tasks of a run that stand alike. */
export interface TaskCount {
  /** Their status. */
  readonly status: TaskStatus
  /** An attempt of them has failed since their last reset. */
  readonly hasFailed: boolean
  /** An attempt of them has begun since their last reset; a step that was skipped has none. */
  readonly hasBegun: boolean
  /** An attempt is in flight, or was when its process stopped. */
  readonly isInFlight: boolean
  /** How many they are. */
  readonly tasks: number
}

/** From one time to another: milliseconds since the epoch. */
export interface TimeSpan {
  /** When it begins. */
  readonly fromMs: number
  /** When it ends. */
  readonly toMs: number
}

/** What the time of a run is divided by. */
export interface WaitedRequest {
  /** Only time within these is counted; they follow one another and do not overlap. */
  readonly periods: readonly TimeSpan[]
  /** Waits that no recorded attempt ends: of tasks that have not ended. */
  readonly waits: readonly TimeSpan[]
  /** Attempts that are not recorded yet, since they run. */
  readonly runs: readonly TimeSpan[]
}

/** Which dead letters are counted: those that fit every field. */
export interface LetterCountFilter {
  /** Letters of these scopes. @default letters of every scope @example { scopes: [{ scopeKind: 'task', scope: 'charge' }] } */
  readonly scopes?: readonly Scope[]
  /** Only open letters, or only closed ones. @default both @example { isOpen: true } */
  readonly isOpen?: boolean
  /** Letters of this kind of failure. @default letters of every kind @example { signature: 'Error: no route' } */
  readonly signature?: string
  /**
   * Letters that were closed before this time: milliseconds since the epoch.
   * @default open letters, and letters closed at any time
   * @example { isOpen: false, untilMs: Date.now() - 86_400_000 }
   */
  readonly untilMs?: number
}

/** Letters that are alike in all of this. */
export interface LetterCount {
  /** Of tasks of programs (`task`), or of runs (`run`). */
  readonly scopeKind: ScopeKind
  /** Parts of the scope's name between its slashes: 1 for a run, 2 for a map of a run; 3 stands for more too. */
  readonly parts: number
  /** Why they were not retried. */
  readonly stopReason: StopReason
  /** The error itself said that no further attempt will help. */
  readonly isFinal: boolean
  /** What closed them; null for open letters. */
  readonly closedBy: LetterClosing | null
  /** How many they are. */
  readonly letters: number
  /** When the first of them came. */
  readonly firstAtMs: number
  /** When the last of them came. */
  readonly lastAtMs: number
}

/** Dead letters in figures. */
export interface LetterTotals {
  /** Kinds of failures among them. */
  readonly kinds: number
  /** By what they have in common. */
  readonly counts: readonly LetterCount[]
}

/** Letters of one kind of failure. */
export interface LetterPattern {
  /** The kind of failure: its name and message without what varies. */
  readonly signature: string
  /** How many they are. */
  readonly letters: number
  /** When the first of them came. */
  readonly firstAtMs: number
  /** Why they were not retried, with how many letters; by stop reason. */
  readonly reasons: readonly Pick<LetterCount, 'stopReason' | 'isFinal' | 'letters'>[]
  /** Scopes of their tasks, that of the first letter first; at most 50. */
  readonly scopes: readonly Scope[]
  /** The last of them. */
  readonly last: DeadLetter
}

/** A task of a run with what has become of it; its input is null. */
export interface RunTask {
  /** The task as it is now. */
  readonly task: TaskRecord
  /** Its attempts that have ended or were interrupted, of all generations, in order. */
  readonly attempts: readonly AttemptRow[]
}

/** Which tasks of a run are listed. */
export interface RunTaskPage {
  /**
   * Continue after this one, in order of creation, then of id.
   * @default from the first task on
   * @example { after: { createdAtMs: 1767225600000, id: 'fetch' }, limit: 1000 }
   */
  readonly after?: Pick<TaskRecord, 'createdAtMs' | 'id'>
  /** At most this many tasks. */
  readonly limit: number
}

/** Scopes that are listed of each kind of failure. */
export const MOST_SCOPES = 50

/** Sums over the tasks of a run, and over dead letters. */
export interface LedgerFigures {
  /**
   * How the tasks of a run stand. `exceptEnding`: tasks whose ids end with this text are left out.
   * @example const counts = await durable.analytics.tasksOfRun('nightly-1')
   */
  tasksOfRun(run: string, exceptEnding?: string): Promise<readonly TaskCount[]>
  /**
   * The last sign of life in each period of a run: when an attempt that began in the period ended or, if that was not
   * within the period, when it began; null if none began. `startsMs`: when the periods begin, in ascending order; each
   * lasts until the next one.
   * @example const [lastMs] = await durable.analytics.lastSigns('nightly-1', [0])
   */
  lastSigns(run: string, startsMs: readonly number[]): Promise<readonly (number | null)[]>
  /**
   * How long tasks of a run waited for their next attempt while no attempt ran, in milliseconds.
   * @example
   * const periods = [{ fromMs: 1767225600000, toMs: Date.now() }]
   * const waitedMs = await durable.analytics.waitedMs('nightly-1', { periods, waits: [], runs: [] })
   */
  waitedMs(run: string, request: WaitedRequest): Promise<number>
  /**
   * Tasks of a run with their attempts, in the order in which the tasks were created: what happened to a run, from its
   * beginning on.
   * @example const tasks = await durable.analytics.runHistory('nightly-1', { limit: 1000 })
   */
  runHistory(run: string, page: RunTaskPage): Promise<readonly RunTask[]>
  /**
   * How many dead letters there are, by what they have in common.
   * @example const { kinds, counts } = await durable.analytics.letterTotals({ isOpen: true })
   */
  letterTotals(filter?: LetterCountFilter): Promise<LetterTotals>
  /**
   * Dead letters grouped by kind of failure, the most frequent first; equal ones by signature.
   * @example const [worst] = await durable.analytics.letterPatterns({ isOpen: true })
   */
  letterPatterns(filter?: LetterCountFilter): Promise<readonly LetterPattern[]>
}
