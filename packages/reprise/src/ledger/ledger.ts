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
import type { NamedTally, Tally, TallyFilter } from './tally.js'

/** What the deciding function sees: the rows it named, as of the ledger's own time. */
export interface View {
  /** The ledger's time, the same for all of the transaction. */
  readonly now: number
  /**
   * The task with this key, which must have been named; undefined if there is none.
   * @example const status = view.task(key)?.status
   */
  task(key: TaskKey): TaskRecord | undefined
  /**
   * The budget or breaker with this key, which must have been named; undefined if there is none.
   * @example const settings = view.gate('breaker:mail')?.settings
   */
  gate(key: string): GateRecord | undefined
  /**
   * The run with this id, which must have been named; undefined if there is none.
   * @example const fence = view.run('nightly-1')?.fence
   */
  run(id: string): RunRecord | undefined
}

/** What it wants to be true afterwards, all or nothing. */
export interface Changes {
  /** Runs to create or change. */
  readonly runs?: readonly RunChange[]
  /** Tasks that were named, and are not there yet. */
  readonly created?: readonly NewTask[]
  /** Tasks as they are to be. */
  readonly tasks?: readonly TaskRecord[]
  /** Rows of attempts to add. */
  readonly attempts?: readonly AttemptRow[]
  /** Budgets and breakers as they are to be. */
  readonly gates?: readonly GateRecord[]
  /** Letters that are opened, or opened again. */
  readonly dead?: readonly DeadLetter[]
  /** Letters that are closed. */
  readonly closedLetters?: readonly ClosedLetter[]
  /** Checkpoints of tasks, written or removed. */
  readonly checkpoints?: readonly CheckpointChange[]
  /** Events to add. */
  readonly events?: readonly LedgerEvent[]
}

/** The changes that a deciding function wants, and what `transact` resolves to. */
export interface Decided<T> extends Changes {
  /** What `transact` resolves to. */
  readonly result: T
}

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
export interface AttemptCounts {
  /** The highest attempt; 0 without a row. */
  readonly last: number
  /** Rows of attempts that ended, and of interruptions that were counted as a failure. */
  readonly ended: number
}

/** Rows to lock for a transaction. Only these may be read and changed. */
export interface Keys {
  /** Locked last. */
  readonly tasks: readonly TaskKey[]
  /** Locked first, in order of their keys. @default none @example { gates: ['breaker:mail'] } */
  readonly gates?: readonly string[]
  /** Locked after the gates. @default none @example { runs: ['nightly-1'] } */
  readonly runs?: readonly string[]
}

/** A run as it is to be; one that is not there yet is created, and needs what it runs. */
export interface RunChange {
  /** The run as it is to be. */
  readonly run: RunRecord
  /** What it runs, which may be long: left as it is when absent. */
  readonly definition?: Json
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

/** A task to be recorded. */
export interface NewTask {
  /** Its row. */
  readonly task: TaskRecord
  /** The one that the task names. */
  readonly policy: PolicyRecord
  /** What makes two submissions the same. */
  readonly payloadHash: string
}

/** `conflict`: there is a task with this key and another payload. */
export interface Creation {
  /** `created`: it is new. `existing`: it was there with the same payload. `conflict`: with another one. */
  readonly type: 'created' | 'existing' | 'conflict'
  /** The row as the ledger has it now. */
  readonly task: TaskRecord
}

/** Tasks of a queue that have this policy: one with another is not touched before somebody has agreed to the change. */
export interface QueueRef {
  /** The queue's name. */
  readonly queue: string
  /** The key of the policy as data. */
  readonly policyHash: string
  /**
   * The queue is limited by its gate (`queueKey`), which the request names among its gates: at most `most` of its tasks
   * have an owner at a time, over all processes. The number counts as long as the gate has no state.
   * @default no limit
   * @example { queue: 'charge', policyHash: '9f2c', most: 8 }
   */
  readonly most?: number
  /**
   * Only tasks of these ranks: 0 for interrupted attempts, 1 for retries, 2 for fresh tasks.
   * @default all
   * @example { queue: 'charge', policyHash: '9f2c', ranks: [0, 2] }
   */
  readonly ranks?: readonly number[]
}

/** Which tasks `claim` may take. */
export interface DueRequest {
  /** The queues to take from, in the order of their turns, each with the policy that this program has for it. */
  readonly queues: readonly QueueRef[]
  /** At most this many tasks. */
  readonly limit: number
  /** Gates that the deciding function may look at and change. @default none @example { gates: ['breaker:mail'] } */
  readonly gates?: readonly string[]
  /** Runs that the deciding function may look at. @default none @example { runs: ['nightly-1'] } */
  readonly runs?: readonly string[]
  /**
   * Tasks to pass over, since this program cannot make sense of them.
   * @default none
   * @example { except: [{ scopeKind: 'task', scope: 'charge', id: 'order-42' }] }
   */
  readonly except?: readonly TaskKey[]
  /**
   * Called after the commit for every limited queue that has no place left.
   * @default nobody is told
   * @example { onFull: (queue) => console.log(`${queue} is full`) }
   */
  readonly onFull?: (queue: string) => void
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

/**
 * A store of durable tasks: `MemoryLedger`, `SqliteLedger`, `PostgresLedger`, or one of your own. Methods reject with a
 * `LedgerError`.
 */
export interface Ledger {
  /** What to call it in messages: never a secret. */
  readonly name: string
  /** Who can share it: processes of one machine, which see each other, or of many. */
  readonly spans: 'machine' | 'network'
  /** Questions about many tasks; they are answered from what is there, and write nothing. */
  readonly analytics: LedgerAnalytics
  /** The ledger's own time: milliseconds since the epoch. @example const nowMs = await ledger.now() */
  now(): Promise<number>

  /**
   * Records tasks. Idempotent by key and payload.
   * @example
   * declare const task: NewTask
   * const [creation] = await ledger.create([task])
   */
  create(tasks: readonly NewTask[]): Promise<readonly Creation[]>
  /**
   * Locks the named rows, lets `decide` see them, and commits what it answers. If `decide` throws, nothing is written.
   * `decide` may be called several times.
   * @example const status = await ledger.transact({ tasks: [key] }, (view) => ({ result: view.task(key)?.status }))
   */
  transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T>
  /**
   * As `transact`, for tasks that are due, each decided in turn. Within a queue interrupted attempts come first, then
   * retries, then fresh tasks, each by due time and id. Queues take turns in the order of the request.
   * @example
   * const request = { queues: [{ queue: 'charge', policyHash: '9f2c' }], limit: 10 }
   * const ids = await ledger.claim(request, ({ id }) => ({ result: id }))
   */
  claim<T>(request: DueRequest, decide: (task: TaskRecord, view: View) => Decided<T>): Promise<readonly T[]>
  /**
   * When the next task of these queues is due; null if none waits.
   * @example const dueAtMs = await ledger.nextDueAtMs([{ queue: 'charge', policyHash: '9f2c' }])
   */
  nextDueAtMs(queues: readonly QueueRef[], except?: readonly TaskKey[]): Promise<number | null>
  /**
   * A number that differs from an earlier one if another process may have written since: a cheap way to see whether a
   * look is worthwhile.
   * @example
   * const before = await ledger.changeMark()
   * const isSame = before === (await ledger.changeMark())
   */
  changeMark(): Promise<number>
  /**
   * Calls `heard` when another process has made a task due at once, where a store can tell; a hint, which may be lost
   * or come for nothing. Resolves to a function that ends it.
   * @example
   * const stop = await ledger.listen(() => console.log('look again'))
   * stop()
   */
  listen(heard: () => void): Promise<() => void>

  /**
   * The time that leases of all processes are written and judged by: the wall clock as it is now, or the database's.
   * Unlike `now` it may jump.
   * @example const nowMs = await ledger.leaseNow()
   */
  leaseNow(): Promise<number>
  /**
   * Writes the owner's row.
   * @example
   * declare const owner: OwnerRecord
   * await ledger.heartbeat({ ...owner, leaseUntilMs: (await ledger.leaseNow()) + 30_000 })
   */
  heartbeat(owner: OwnerRecord): Promise<void>
  /** Every owner that has a row, whether or not its lease has run out. @example const owners = await ledger.owners() */
  owners(): Promise<readonly OwnerRecord[]>
  /**
   * Removes the owner's row. Its tasks stay its own until another process takes them over.
   * @example await ledger.removeOwner('f3b2')
   */
  removeOwner(id: string): Promise<void>
  /**
   * What a second thread needs to renew the lease of this process while the event loop is blocked.
   * @default the store cannot be reached from a second thread
   * @example const heartbeat = ledger.threadHeartbeat?.()
   */
  threadHeartbeat?(): ThreadHeartbeat | undefined
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
  /**
   * What the task's program kept last; undefined without one.
   * @example const kept = await ledger.checkpoint({ scopeKind: 'task', scope: 'import', id: 'orders' })
   */
  checkpoint(key: TaskKey): Promise<Json | undefined>
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
   * Records a policy, so that a compaction does not remove it before a task has it.
   * @example await ledger.keepPolicy({ hash: '9f2c', policy: { attempts: 3 } })
   */
  keepPolicy(policy: PolicyRecord): Promise<void>
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
   * @example const [counts] = await ledger.attemptCounts([key])
   */
  attemptCounts(keys: readonly TaskKey[]): Promise<readonly AttemptCounts[]>
  /**
   * How many tasks of each class name this tally, without counting them; all zero if no task does.
   * @example const { total, succeeded } = await ledger.tally('import-7')
   */
  tally(name: string): Promise<Tally>
  /**
   * Tallies that count at least one task, in the order of their names.
   * @example const page = await ledger.tallies({ prefix: 'import-', limit: 100 })
   */
  tallies(filter: TallyFilter): Promise<readonly NamedTally[]>
  /**
   * All recorded budgets and breakers.
   * @example const breakers = (await ledger.gates()).filter(({ kind }) => kind === 'breaker')
   */
  gates(): Promise<readonly GateRecord[]>
  /**
   * Of tasks that failed for good or are undecided, open and closed ones; with a scope, of this scope alone.
   * @example const letters = await ledger.deadLetters({ scopeKind: 'task', scope: 'charge' })
   */
  deadLetters(scope?: Scope): Promise<readonly DeadLetter[]>
  /**
   * In order, after `seq`; never past one that an open transaction may still come before. With a scope, events of its
   * tasks and of the run itself; with the empty scope, events that concern no task and no run.
   * @example const events = await ledger.events(0, 100, { scopeKind: 'run', scope: 'nightly-1' })
   */
  events(afterSeq: number, limit: number, scope?: EventScope): Promise<readonly StoredEvent[]>

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
  /** Closes files and connections. Nothing may be asked of the ledger afterwards. @example await ledger.close() */
  close(): Promise<void>
}
