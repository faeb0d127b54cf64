/**
 * The part of the port that writes: transactional verbs, without retry logic behind them. What is written is decided by
 * the function that `transact` is given: pure, synchronous, shown the locked rows, answering with their changes. Imports
 * the records.
 */
import type { Seat } from './claim-places.js'
import type {
  AttemptRow,
  CheckpointChange,
  ClosedLetter,
  DeadLetter,
  GateRecord,
  InputChange,
  Json,
  LedgerEvent,
  OwnerRecord,
  PolicyRecord,
  RunRecord,
  TaskKey,
  TaskRecord,
} from './records.js'

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
  /** Inputs of tasks that are replaced; `tasks` never changes one. */
  readonly inputs?: readonly InputChange[]
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
  /**
   * Up to `most` due tasks are claimed together, as one batch that takes one place of the queue's limit. Tasks for which
   * `apart` gives the same text are never in one batch.
   * @default every task has a place of its own
   * @example { queue: 'charge', policyHash: '9f2c', batch: { most: 50 } }
   */
  readonly batch?: {
    /** Tasks of one batch, at most. */
    readonly most: number
    /**
     * Tasks with the same text are kept in different batches.
     * @default any tasks may be in one batch
     * @example { queue: 'charge', policyHash: '9f2c', batch: { most: 50, apart: (task) => task.correlationId } }
     */
    readonly apart?: ((this: void, task: TaskRecord) => string) | undefined
  }
}

/** Which tasks `claim` may take. */
export interface DueRequest {
  /** The queues to take from, in the order of their turns, each with the policy that this program has for it. */
  readonly queues: readonly QueueRef[]
  /** At most this many tasks; of queues with batches, at most this many batches. */
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
   * The deciding function asks nothing that remembers what it has granted: no budget, no breaker. A store may write what it
   * is going to decide before it is called, and call it again if it decides otherwise.
   * @default false
   * @example { isUngated: true }
   */
  readonly isUngated?: boolean
  /**
   * Called after the commit for every limited queue that has no place left.
   * @default nobody is told
   * @example { onFull: (queue) => console.log(`${queue} is full`) }
   */
  readonly onFull?: (queue: string) => void
}

/** What becomes of a task that is claimed; `seat`: which tasks are claimed together with it. */
export type ClaimDecision<T> = (task: TaskRecord, view: View, seat: Seat) => Decided<T>

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

/** A connection of a program to PostgreSQL, with a transaction that it has begun: a `Client` or `PoolClient` of `pg`. */
export interface TransactionClient {
  /**
   * Runs one statement.
   * @example const result = await client.query({ text: 'SELECT $1::text AS name', values: ['ada'] })
   */
  query(statement: object): Promise<object>
}

/** What a ledger writes, all or nothing. */
export interface LedgerWriter {
  /**
   * Records tasks. Idempotent by key and payload.
   * @example
   * declare const task: NewTask
   * const [creation] = await ledger.create([task])
   */
  create(tasks: readonly NewTask[]): Promise<readonly Creation[]>
  /**
   * Records a task in a transaction of the program: it is there once that is committed, and other processes hear of it
   * then. Idempotent like `create`.
   * @default absent, for a store that programs cannot share a transaction with
   * @example
   * declare const task: NewTask
   * const creation = await ledger.createWithin?.(client, task)
   */
  createWithin?(client: TransactionClient, task: NewTask): Promise<Creation>
  /**
   * Locks the named rows, lets `decide` see them, and commits what it answers. If `decide` throws, nothing is written.
   * `decide` may be called several times.
   * @example const status = await ledger.transact({ tasks: [key] }, (view) => ({ result: view.task(key)?.status }))
   */
  transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T>
  /**
   * As `transact`, for tasks that are due, each decided in turn. Within a queue interrupted attempts come first, then
   * retries, then fresh tasks, each by due time and id. Queues take turns in the order of the request. `seat` says which
   * tasks are claimed together; those of one place are decided one after the other.
   * @example
   * const request = { queues: [{ queue: 'charge', policyHash: '9f2c' }], limit: 10 }
   * const ids = await ledger.claim(request, ({ id }) => ({ result: id }))
   */
  claim<T>(request: DueRequest, decide: ClaimDecision<T>): Promise<readonly T[]>
  /**
   * Writes the owner's row.
   * @example
   * declare const owner: OwnerRecord
   * await ledger.heartbeat({ ...owner, leaseUntilMs: (await ledger.leaseNow()) + 30_000 })
   */
  heartbeat(owner: OwnerRecord): Promise<void>
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
   * Records a policy, so that a compaction does not remove it before a task has it.
   * @example await ledger.keepPolicy({ hash: '9f2c', policy: { attempts: 3 } })
   */
  keepPolicy(policy: PolicyRecord): Promise<void>
}
