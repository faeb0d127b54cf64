/**
 * Which rows a ledger lists, and from where on. A cursor (`after`) is the last row of the page before, or the fields of it
 * by which the list is ordered. Imports the records.
 */
import type {
  AttemptRow,
  DeadLetter,
  RunRecord,
  RunStatus,
  ScopeKind,
  TaskKey,
  TaskRecord,
  TaskStatus,
} from './records.js'

/** Which runs are listed: those that fit every field. */
export interface RunFilter {
  /**
   * Runs whose id begins with this text. They come in descending order of their ids, so that a limit bounds the
   * reading.
   * @default runs of every id
   * @example { idPrefix: 'nightly-' }
   */
  readonly idPrefix?: string
  /** Runs of this name. @default runs of every name @example { name: 'nightly' } */
  readonly name?: string
  /** Runs of this kind. @default runs of every kind @example { kind: 'workflow' } */
  readonly kind?: string
  /** Runs in one of these statuses. @default runs in every status @example { statuses: ['running', 'interrupted'] } */
  readonly statuses?: readonly RunStatus[]
  /**
   * Runs that began at this time or later: milliseconds since the epoch.
   * @default runs of all times
   * @example { sinceMs: Date.now() - 86_400_000 }
   */
  readonly sinceMs?: number
  /**
   * Continue after this one: any run of the list before, or its id and the time at which it began.
   * @default from the first run on
   * @example { limit: 20, after: { id: 'nightly-1', createdAtMs: 1767225600000 } }
   */
  readonly after?: Pick<RunRecord, 'id' | 'createdAtMs'>
  /** At most this many. @default no limit @example { limit: 20 } */
  readonly limit?: number
}

/** A kind alone means all scopes of it; a name alone, scopes of this name of every kind. */
export interface ScopeFilter {
  /** Tasks of programs (`task`), or steps of runs (`run`). @default both @example { scopeKind: 'run' } */
  readonly scopeKind?: ScopeKind
  /** The task's name, or the id of the run. @default every scope @example { scope: 'charge' } */
  readonly scope?: string
}

/** Which tasks are listed: those that fit every field. */
export interface TaskFilter extends ScopeFilter {
  /** Tasks of this queue. @default tasks of every queue @example { queue: 'charge' } */
  readonly queue?: string
  /** Tasks in one of these statuses. @default tasks in every status @example { statuses: ['failed', 'undecided'] } */
  readonly statuses?: readonly TaskStatus[]
  /**
   * Only tasks of which an attempt has failed since their last reset, or only the others.
   * @default both
   * @example { scopeKind: 'run', scope: 'nightly-1', statuses: ['succeeded'], hasFailed: true }
   */
  readonly hasFailed?: boolean
  /**
   * Tasks that changed at this time or later: milliseconds since the epoch.
   * @default tasks of all times
   * @example { scopeKind: 'run', scope: 'nightly-1', sinceMs: Date.now() - 5000 }
   */
  readonly sinceMs?: number
  /** Tasks of the owner with this id. @default tasks of every owner, and of none @example { owner: 'f3b2' } */
  readonly owner?: string
  /**
   * Whether inputs are read. Without them every listed task has the input null.
   * @default true
   * @example { scope: 'charge', withInput: false }
   */
  readonly withInput?: boolean
  /** At most this many. @default no limit @example { limit: 100 } */
  readonly limit?: number
  /**
   * Continue after this one, in order of key.
   * @default from the first task on
   * @example { after: { scopeKind: 'task', scope: 'charge', id: 'order-42' } }
   */
  readonly after?: TaskKey
}

/** Which of the attempts of a run are listed. */
export interface AttemptPage {
  /**
   * Continue after this one, in order of task, generation, attempt and execution.
   * @default from the first attempt on
   * @example { after: { id: 'fetch', generation: 1, attempt: 2, execution: 1 } }
   */
  readonly after?: Pick<AttemptRow, 'id' | 'generation' | 'attempt' | 'execution'>
  /** At most this many. @default no limit @example { limit: 1000 } */
  readonly limit?: number
}

/** Which of the results of a run are listed. */
export interface ResultPage {
  /** Continue after the task with this id. @default from the first task on @example { after: 'fetch' } */
  readonly after?: string
  /** At most this many. @default no limit @example { limit: 1000 } */
  readonly limit?: number
}

/** Which dead letters are listed: those that fit every field. */
export interface LetterFilter extends ScopeFilter {
  /** Letters of tasks with this id. @default letters of every task @example { scope: 'charge', id: 'order-42' } */
  readonly id?: string
  /** Only open letters, or only closed ones. @default both @example { isOpen: true } */
  readonly isOpen?: boolean
  /** Letters of this kind of failure. @default letters of every kind @example { signature: 'Error: no route' } */
  readonly signature?: string
  /**
   * Continue after this one, in order of time, then of key and generation.
   * @default from the first letter on
   * @example { after: { atMs: 1767225600000, scopeKind: 'task', scope: 'charge', id: 'order-42', generation: 1 } }
   */
  readonly after?: Pick<DeadLetter, 'atMs' | 'scopeKind' | 'scope' | 'id' | 'generation'>
  /** At most this many. @default no limit @example { limit: 100 } */
  readonly limit?: number
}

/** Which of the tasks that are retried are listed. */
export interface RetryingFilter {
  /**
   * Continue after this one, in order of due time, then of id and scope.
   * @default from the first task on
   * @example { after: { dueAtMs: 1767225600000, id: 'order-42', scopeKind: 'task', scope: 'charge' } }
   */
  readonly after?: Pick<TaskRecord, 'dueAtMs' | 'id' | 'scopeKind' | 'scope'>
  /** At most this many. @default no limit @example { limit: 100 } */
  readonly limit?: number
}

/** Tasks of a queue that wait with one policy, at one place in the order of claims. */
export interface WaitingRef {
  /** The queue's name. */
  readonly queue: string
  /** The key of the policy as data. */
  readonly policyHash: string
  /** 0: an attempt was interrupted. 1: a retry. 2: fresh. */
  readonly rank: number
}

/** Which waiting tasks are listed. */
export interface WaitingFilter extends WaitingRef {
  /**
   * Continue after this one, in order of due time, then of id and scope.
   * @default from the first task on
   * @example
   * const last = { dueAtMs: 1767225600000, scopeKind: 'task', scope: 'charge', id: 'order-42' } as const
   * const page = await ledger.waiting({ queue: 'charge', policyHash: '9f2c', rank: 1, after: last })
   */
  readonly after?: Pick<TaskRecord, 'dueAtMs' | 'id' | 'scopeKind' | 'scope'>
  /** At most this many. @default no limit @example { queue: 'charge', policyHash: '9f2c', rank: 1, limit: 1000 } */
  readonly limit?: number
}

/** Which waiting tasks are counted. */
export interface SurveyFilter extends WaitingRef {
  /** A task that changed after this time is looked at: the clock was set back. */
  readonly nowMs: number
  /** A task with more recorded attempts than this is looked at. */
  readonly attempts: number
  /**
   * Where the page before ended.
   * @default from the first task on
   * @example
   * const from = { queue: 'charge', policyHash: '9f2c', rank: 2, nowMs: Date.now(), attempts: 5 }
   * const page = await ledger.survey({ ...from, limit: 1000, after: { dueAtMs: 0, id: 'order-42' } })
   */
  readonly after?: SurveyEnd
  /**
   * How many are counted at once; more if several have the due time and the id of the last one, or if a store counts
   * without holding up the process and finds nothing to look at.
   */
  readonly limit: number
}

/** Where a page of counted tasks ends: none of those that have this due time and this id follow. */
export interface SurveyEnd {
  /** The due time of its last task. */
  readonly dueAtMs: number
  /** The id of its last task. */
  readonly id: string
}
