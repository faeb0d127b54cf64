/**
 * The port to a durable store: a few transactional verbs, and no retry logic behind them. What is written is decided by
 * the function that `transact` is given: pure, synchronous, shown the locked rows, answering with their changes.
 * Imports types of its own layer.
 */
import type { LedgerAnalytics } from './analytics.js'
import type {
  AttemptRow,
  CheckpointChange,
  ClosedLetter,
  DeadLetter,
  EventScope,
  FinishedStatus,
  GateRecord,
  LedgerEvent,
  OwnerRecord,
  Json,
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

/** What the deciding function sees: the rows it named, as of the ledger's own time. */
export interface View {
  readonly now: number
  task(key: TaskKey): TaskRecord | undefined
  gate(key: string): GateRecord | undefined
  run(id: string): RunRecord | undefined
}

/** What it wants to be true afterwards, all or nothing. */
export interface Changes {
  readonly runs?: readonly RunChange[]
  /** Tasks that were named, and are not there yet. */
  readonly created?: readonly NewTask[]
  readonly tasks?: readonly TaskRecord[]
  readonly attempts?: readonly AttemptRow[]
  readonly gates?: readonly GateRecord[]
  /** Letters that are opened, or opened again. */
  readonly dead?: readonly DeadLetter[]
  readonly closedLetters?: readonly ClosedLetter[]
  readonly checkpoints?: readonly CheckpointChange[]
  readonly events?: readonly LedgerEvent[]
}

export interface Decided<T> extends Changes {
  readonly result: T
}

/** Of a task that succeeded. */
export interface TaskResult {
  readonly id: string
  readonly result: Json
  /** Attempts that failed before. */
  readonly failures: number
}

export type StatusCounts = Readonly<Partial<Record<TaskStatus, number>>>

/** Attempts of a task since its last reset. */
export interface Tally {
  /** The highest attempt; 0 without a row. */
  readonly last: number
  /** Rows of attempts that ended, and of interruptions that were counted as a failure. */
  readonly ended: number
}

export interface Keys {
  readonly tasks: readonly TaskKey[]
  /** Locked first, in order of their keys. */
  readonly gates?: readonly string[]
  /** Locked after the gates. */
  readonly runs?: readonly string[]
}

/** A run as it is to be; one that is not there yet is created, and needs what it runs. */
export interface RunChange {
  readonly run: RunRecord
  /** What it runs, which may be long: left as it is when absent. */
  readonly definition?: Json
}

export interface RunFilter {
  /** Runs whose id begins with this text. They come in descending order of their ids, so that a limit bounds the reading. */
  readonly idPrefix?: string
  readonly name?: string
  readonly kind?: string
  readonly statuses?: readonly RunStatus[]
  /** Begun at this time or later. */
  readonly sinceMs?: number
  readonly limit?: number
}

export interface NewTask {
  readonly task: TaskRecord
  /** The one that the task names. */
  readonly policy: PolicyRecord
  /** What makes two submissions the same. */
  readonly payloadHash: string
}

/** `conflict`: there is a task with this key and another payload. */
export interface Creation {
  readonly type: 'created' | 'existing' | 'conflict'
  readonly task: TaskRecord
}

/** Tasks of a queue that have this policy: one with another is not touched before somebody has agreed to the change. */
export interface QueueRef {
  readonly queue: string
  readonly policyHash: string
}

export interface DueRequest {
  readonly queues: readonly QueueRef[]
  readonly limit: number
  /** Gates that the deciding function may look at and change. */
  readonly gates?: readonly string[]
  /** Runs that the deciding function may look at. */
  readonly runs?: readonly string[]
  /** Tasks to pass over: this program cannot make sense of them. */
  readonly except?: readonly TaskKey[]
}

/** A kind alone means all scopes of it; a name alone, scopes of this name of every kind. */
export interface ScopeFilter {
  readonly scopeKind?: ScopeKind
  readonly scope?: string
}

export interface TaskFilter extends ScopeFilter {
  readonly queue?: string
  readonly statuses?: readonly TaskStatus[]
  readonly owner?: string
  readonly limit?: number
  /** Continue after this one, in order of key. */
  readonly after?: TaskKey
}

/** Finished tasks of one kind, and how old they must be. */
export interface ForgetRequest {
  readonly status: FinishedStatus
  /** Those that have not changed since. */
  readonly beforeMs: number
  /** At most so many tasks, since nobody else writes meanwhile. */
  readonly limit: number
}

/** Rows that are gone. */
export interface Forgotten {
  readonly tasks: number
  readonly attempts: number
  readonly events: number
  readonly deadLetters: number
}

/** Rows of a run that are gone; `isDone`: nothing is left of it. */
export interface RunRemoval extends Forgotten {
  readonly isDone: boolean
}

/** What may be shortened or dropped while the tasks stay; a field that is absent leaves its kind alone. */
export interface CompactRequest {
  /** Of a task with more attempts than this, the older ones go until half of it is left: that it did is recorded. */
  readonly maxHistoryPerTask?: number
  /** Events from before, whatever became of their tasks. */
  readonly eventsBeforeMs?: number
  /** Policies that no task has, and that nobody has asked to keep since. */
  readonly policiesBeforeMs?: number
  /** Owners whose lease ran out before, and who own nothing. */
  readonly ownersBeforeMs?: number
  /** Gives space back that is free, where the store can: some of it, if it is more than a quarter. */
  readonly reclaim?: boolean
  /** At most so many of each kind, since nobody else writes meanwhile. */
  readonly limit: number
}

export interface Compacted extends Omit<Forgotten, 'tasks'> {
  /** Tasks whose history was shortened. */
  readonly tasks: number
  readonly policies: number
  readonly owners: number
  readonly reclaimedBytes: number
}

/** How a thread renews an owner's row through a connection of its own: as text, since a thread shares no functions. */
export interface ThreadHeartbeat {
  /**
   * The body of a function in CommonJS that sees `data` and `require`, and returns `(owner, leaseMs) => void`: it
   * renews the row, if there is one, and leaves no connection behind. It may return a promise.
   */
  readonly connect: string
  /** What can be sent to a thread. */
  readonly data: object
}

export interface Ledger {
  /** What to call it in messages: never a secret. */
  readonly name: string
  /** Who can share it: processes of one machine, which see each other, or of many. */
  readonly spans: 'machine' | 'network'
  /** Questions about many tasks; they are answered from what is there, and write nothing. */
  readonly analytics: LedgerAnalytics
  /** The ledger's own time. */
  now(): Promise<number>

  /** Idempotent by key and payload. */
  create(tasks: readonly NewTask[]): Promise<readonly Creation[]>
  /** Locks what is named, lets `decide` see it, and commits what it answers. What it throws is thrown; nothing is written. */
  transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T>
  /** The same for tasks that are due, each decided in turn; the earliest first. */
  claim<T>(request: DueRequest, decide: (task: TaskRecord, view: View) => Decided<T>): Promise<readonly T[]>
  /** When the next task of these queues is due; null if none waits. */
  nextDueAtMs(queues: readonly QueueRef[], except?: readonly TaskKey[]): Promise<number | null>
  /** Another number than before if somebody else may have written since; to look only when there is something to see. */
  changeMark(): Promise<number>
  /**
   * Calls `heard` when another process has made a task due at once, where a store can tell; a hint, which may be lost or
   * come for nothing. The answer ends it.
   */
  listen(heard: () => void): Promise<() => void>

  /**
   * The time that leases are written and judged by, of all processes alike: the clock on the wall as it is now, or the
   * database's. Unlike `now` it may jump.
   */
  leaseNow(): Promise<number>
  /** Writes the owner's row. */
  heartbeat(owner: OwnerRecord): Promise<void>
  owners(): Promise<readonly OwnerRecord[]>
  removeOwner(id: string): Promise<void>
  /** Where a second thread can reach the store; else absent, or undefined. */
  threadHeartbeat?(): ThreadHeartbeat | undefined
  /** Everybody who has a task, whether or not there is a row of him. */
  taskOwners(): Promise<readonly string[]>

  get(key: TaskKey): Promise<TaskRecord | undefined>
  list(filter: TaskFilter): Promise<readonly TaskRecord[]>
  /** What the task's program kept last; undefined without one. */
  checkpoint(key: TaskKey): Promise<Json | undefined>
  run(id: string): Promise<RunRecord | undefined>
  /** The latest first. */
  runs(filter: RunFilter): Promise<readonly RunRecord[]>
  /** What a run runs, as it was written with it. */
  definition(run: string): Promise<Json | undefined>
  policy(hash: string): Promise<PolicyRecord | undefined>
  keepPolicy(policy: PolicyRecord): Promise<void>
  attempts(key: TaskKey): Promise<readonly AttemptRow[]>
  /** Of all tasks of a run, in the order of their ids: a run may have very many. */
  attemptsOfRun(run: string): Promise<readonly AttemptRow[]>
  /** What the tasks of a run that succeeded have given, in the order of their ids; for whoever goes on from there. */
  results(run: string): Promise<readonly TaskResult[]>
  /** How many tasks of a run there are of each status; one that no task has is absent. */
  countTasks(run: string): Promise<StatusCounts>
  /** What the rows of many tasks add up to, in the order of the keys: for whoever would only count them. */
  tallies(keys: readonly TaskKey[]): Promise<readonly Tally[]>
  gates(): Promise<readonly GateRecord[]>
  /** Open and closed ones. */
  deadLetters(scope?: Scope): Promise<readonly DeadLetter[]>
  /**
   * In order, after `seq`; never past one that an open transaction may still come before. With a scope, events of its
   * tasks and of the run itself; with the empty scope, events that concern no task and no run.
   */
  events(afterSeq: number, limit: number, scope?: EventScope): Promise<readonly StoredEvent[]>

  /**
   * Removes finished tasks with all that belongs to them: attempts, events, dead letters. Their ids are free again. Those
   * of a run stay as long as it does: it would run them again.
   */
  forget(request: ForgetRequest): Promise<Forgotten>
  /** Removes a run with all its tasks, so many of them at a time; last the run itself, with gates that were its own. */
  removeRun(id: string, limit: number, gates?: readonly string[]): Promise<RunRemoval>
  /** Shortens what grows while tasks live. Gates stay: one that is forgotten would allow what was used up. */
  compact(request: CompactRequest): Promise<Compacted>
  close(): Promise<void>
}
