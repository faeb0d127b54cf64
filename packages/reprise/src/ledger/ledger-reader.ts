/**
 * The part of the port that reads. Every list has a cursor and a limit: pages that are read one after the other, each
 * after the last row of the one before, join to the whole. Imports the records.
 */
import type { QueueRef } from './ledger-writer.js'
import type {
  AttemptRow,
  DeadLetter,
  EventScope,
  GateRecord,
  Json,
  OwnerRecord,
  PolicyRecord,
  RunRecord,
  RunStatus,
  Scope,
  ScopeKind,
  StoredEvent,
  TaskKey,
  TaskRecord,
  TaskStatus,
} from './records.js'

/** Of a task that succeeded. */
export interface TaskResult {
  /** The task's id within its run. */
  readonly id: string
  /** What it gave. */
  readonly result: Json
  /** Attempts that failed before. */
  readonly failures: number
}

/** Tasks of each status; a status that no task has is absent. */
export type StatusCounts = Readonly<Partial<Record<TaskStatus, number>>>

/** Attempts of a task since its last reset. */
export interface Tally {
  /** The highest attempt; 0 without a row. */
  readonly last: number
  /** Rows of attempts that ended, and of interruptions that were counted as a failure. */
  readonly ended: number
}

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
  /** Tasks of the owner with this id. @default tasks of every owner, and of none @example { owner: 'f3b2' } */
  readonly owner?: string
  /** At most this many. @default no limit @example { limit: 100 } */
  readonly limit?: number
  /**
   * Continue after this one, in order of key.
   * @default from the first task on
   * @example { after: { scopeKind: 'task', scope: 'charge', id: 'order-42' } }
   */
  readonly after?: TaskKey
}

/** What a ledger is asked. */
export interface LedgerReader {
  /**
   * When the next task of these queues is due; null if none waits.
   * @example const dueAtMs = await ledger.nextDueAtMs([{ queue: 'charge', policyHash: '9f2c' }])
   */
  nextDueAtMs(queues: readonly QueueRef[], except?: readonly TaskKey[]): Promise<number | null>
  /** Every owner that has a row, whether or not its lease has run out. @example const owners = await ledger.owners() */
  owners(): Promise<readonly OwnerRecord[]>
  /**
   * Ids of all owners that have a task, whether or not they have a row.
   * @example const ids = await ledger.taskOwners()
   */
  taskOwners(): Promise<readonly string[]>
  /**
   * The task with this key; undefined if there is none.
   * @example const task = await ledger.get({ scopeKind: 'task', scope: 'charge', id: 'order-42' })
   */
  get(key: TaskKey): Promise<TaskRecord | undefined>
  /**
   * Tasks in the order of their keys.
   * @example const failed = await ledger.list({ scope: 'charge', statuses: ['failed'], limit: 100 })
   */
  list(filter: TaskFilter): Promise<readonly TaskRecord[]>
  /** The run with this id; undefined if there is none. @example const record = await ledger.run('nightly-1') */
  run(id: string): Promise<RunRecord | undefined>
  /** Runs, the latest first. @example const latest = await ledger.runs({ kind: 'workflow', limit: 20 }) */
  runs(filter: RunFilter): Promise<readonly RunRecord[]>
  /**
   * What a run runs, as it was written with it; undefined if there is no such run.
   * @example const document = await ledger.definition('nightly-1')
   */
  definition(run: string): Promise<Json | undefined>
  /** The policy with this hash; undefined if there is none. @example const record = await ledger.policy('9f2c') */
  policy(hash: string): Promise<PolicyRecord | undefined>
  /**
   * The attempts of a task that have ended or were interrupted, of all generations, in order.
   * @example const rows = await ledger.attempts(key)
   */
  attempts(key: TaskKey): Promise<readonly AttemptRow[]>
  /**
   * Of all tasks of a run, in the order of their ids: a run may have very many.
   * @example const rows = await ledger.attemptsOfRun('nightly-1')
   */
  attemptsOfRun(run: string): Promise<readonly AttemptRow[]>
  /**
   * What the succeeded tasks of a run have given, in the order of their ids.
   * @example const results = await ledger.results('nightly-1')
   */
  results(run: string): Promise<readonly TaskResult[]>
  /**
   * How many tasks of a run there are of each status; one that no task has is absent.
   * @example const { failed = 0 } = await ledger.countTasks('nightly-1')
   */
  countTasks(run: string): Promise<StatusCounts>
  /**
   * How many attempts each of these tasks has had since its last reset, in the order of the keys.
   * @example const [tally] = await ledger.tallies([key])
   */
  tallies(keys: readonly TaskKey[]): Promise<readonly Tally[]>
  /**
   * All recorded budgets and breakers.
   * @example const breakers = (await ledger.gates()).filter(({ kind }) => kind === 'breaker')
   */
  gates(): Promise<readonly GateRecord[]>
  /**
   * Tasks that failed for good; with a scope, of this scope alone.
   * @example const letters = await ledger.deadLetters({ scopeKind: 'task', scope: 'charge' })
   */
  deadLetters(scope?: Scope): Promise<readonly DeadLetter[]>
  /**
   * In order, after `seq`; never past one that an open transaction may still come before. With a scope, events of its
   * tasks and of the run itself; with the empty scope, events that concern no task and no run.
   * @example const events = await ledger.events(0, 100, { scopeKind: 'run', scope: 'nightly-1' })
   */
  events(afterSeq: number, limit: number, scope?: EventScope): Promise<readonly StoredEvent[]>
}
