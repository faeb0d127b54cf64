/**
 * The ledger in a SQLite file: one machine, several processes. It holds SQL and no retry logic: what is written is what
 * the deciding function answered, in the transaction that showed it the rows. Imports its own layer and the port.
 */
import type {
  Changes,
  Creation,
  Decided,
  DueRequest,
  Keys,
  Ledger,
  NewTask,
  QueueRef,
  TaskFilter,
  View,
} from '../ledger/ledger.js'
import type {
  AttemptRow,
  DeadLetter,
  GateRecord,
  OwnerRecord,
  PolicyRecord,
  StoredEvent,
  TaskKey,
  TaskRecord,
} from '../ledger/records.js'
import { CommitQueue } from './commit-queue.js'
import type { SqlRow, SqliteDatabase, SqliteStatement, SqlValue } from './driver.js'
import { KnownRows, nameOf } from './known-rows.js'
import {
  attemptOf,
  attemptValues,
  deadLetterOf,
  eventOf,
  gateOf,
  parse,
  taskOf,
  type TaskRow,
  text,
  updatedValues,
} from './rows.js'
import { listQuery, prepareStatements, type Statements } from './statements.js'

export class SqliteLedger implements Ledger {
  readonly name: string
  private readonly database: SqliteDatabase
  private readonly clock: () => number
  private readonly sql: Statements
  private readonly known: KnownRows
  private readonly queue: CommitQueue
  /** Policies that need not be written again: they are never removed. */
  private readonly keptPolicies = new Set<string>()

  constructor(database: SqliteDatabase, name: string, clock: () => number) {
    this.database = database
    this.name = name
    this.clock = clock
    this.sql = prepareStatements(database)
    this.known = new KnownRows(database)
    this.queue = new CommitQueue(database, name, this.known)
  }

  async now(): Promise<number> {
    return this.clock()
  }

  async create(tasks: readonly NewTask[]): Promise<readonly Creation[]> {
    const creations = await this.queue.add(() => tasks.map((task) => this.insert(task)))
    // Only what is committed is known to be there.
    for (const { type, task } of creations) if (type === 'created') this.keptPolicies.add(task.policyHash)
    return creations
  }

  transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T> {
    return this.queue.add(() => {
      const rows = new LockedRows(this.sql, this.clock(), keys.gates ?? [])
      for (const key of keys.tasks) rows.add(key, this.known.get(key) ?? this.find(key))
      return this.write(decide(rows), rows)
    })
  }

  claim<T>(request: DueRequest, decide: (task: TaskRecord, view: View) => Decided<T>): Promise<readonly T[]> {
    return this.queue.add(() => {
      const now = this.clock()
      return this.due(request, now).map((row) => {
        const rows = new LockedRows(this.sql, now, request.gates ?? [])
        rows.add(row.task, row)
        return this.write(decide(row.task, rows), rows)
      })
    })
  }

  async nextDueAtMs(queues: readonly QueueRef[]): Promise<number | null> {
    const times = queues.flatMap(({ queue, policyHash }) => {
      const row = this.sql.nextDue.get(queue, policyHash) as { due_at: number } | undefined
      return row?.due_at ?? []
    })
    return times.length === 0 ? null : Math.min(...times)
  }

  heartbeat(owner: OwnerRecord): Promise<boolean> {
    return this.queue.add(() => {
      this.sql.putOwner.run(owner.id, text(owner))
      return true
    })
  }

  async owners(): Promise<readonly OwnerRecord[]> {
    const rows = this.sql.owners.all() as SqlRow[]
    return rows.map((row) => parse(row['record'], 'an owner') as unknown as OwnerRecord)
  }

  removeOwner(id: string): Promise<void> {
    return this.queue.add(() => void this.sql.removeOwner.run(id))
  }

  async get(key: TaskKey): Promise<TaskRecord | undefined> {
    return this.find(key)?.task
  }

  async list(filter: TaskFilter): Promise<readonly TaskRecord[]> {
    const { sql, values } = listQuery(filter)
    // Whoever reads page by page does not keep the event loop from turning.
    await new Promise((resolve) => setImmediate(resolve))
    return (this.database.prepare(sql).all(...values) as SqlRow[]).map((row) => taskOf(row).task)
  }

  async policy(hash: string): Promise<PolicyRecord | undefined> {
    const row = this.sql.policy.get(hash) as SqlRow | undefined
    return row && { hash, policy: parse(row['policy'], `policy ${hash}`) }
  }

  keepPolicy({ hash, policy }: PolicyRecord): Promise<void> {
    return this.queue.add(() => void this.sql.putPolicy.run(hash, text(policy)))
  }

  async attempts({ run, id }: TaskKey): Promise<readonly AttemptRow[]> {
    return (this.sql.attempts.all(run, id) as SqlRow[]).map((row) => attemptOf(row, run, id))
  }

  async gates(): Promise<readonly GateRecord[]> {
    return (this.sql.gates.all() as SqlRow[]).map(gateOf)
  }

  async deadLetters(run?: string): Promise<readonly DeadLetter[]> {
    const rows = run === undefined ? this.sql.allDead.all() : this.sql.deadOfRun.all(run)
    return (rows as SqlRow[]).map(deadLetterOf)
  }

  async events(afterSeq: number, limit: number): Promise<readonly StoredEvent[]> {
    return (this.sql.events.all(afterSeq, limit) as SqlRow[]).map(eventOf)
  }

  forget(finishedBeforeMs: number, limit: number): Promise<number> {
    return this.queue.add(() => {
      const rows = this.sql.finishedBefore.all(finishedBeforeMs, limit) as { pk: number; run: string; id: string }[]
      for (const { pk, run, id } of rows) {
        this.sql.removeAttempts.run(pk)
        this.sql.removeEvents.run(run, id)
        this.sql.removeTask.run(pk)
      }
      return rows.length
    })
  }

  async close(): Promise<void> {
    this.queue.close()
    this.database.close()
  }

  private find({ run, id }: TaskKey): TaskRow | undefined {
    const row = this.sql.task.get(run, id) as SqlRow | undefined
    return row && taskOf(row)
  }

  private insert({ task, policy, payloadHash }: NewTask): Creation {
    const input = text(task.input)
    const { run, id, correlationId, createdAtMs } = task
    const values = [run, id, payloadHash, input, correlationId, createdAtMs, ...updatedValues(task)]
    const { changes, lastInsertRowid } = this.sql.insertTask.run(...values)
    if (Number(changes) === 0) return this.existing(task, payloadHash)
    if (!this.keptPolicies.has(policy.hash)) this.sql.putPolicy.run(policy.hash, text(policy.policy))
    this.known.put(Number(lastInsertRowid), task, input)
    return { type: 'created', task }
  }

  private existing(key: TaskKey, payloadHash: string): Creation {
    const { payload_hash: kept } = this.sql.payload.get(key.run, key.id) as { payload_hash: string }
    return { type: kept === payloadHash ? 'existing' : 'conflict', task: (this.find(key) as TaskRow).task }
  }

  /** Of each queue the earliest, of all the earliest. */
  private due({ queues, limit }: DueRequest, now: number): TaskRow[] {
    const rows = queues.flatMap(({ queue, policyHash }) =>
      (this.sql.due.all(queue, policyHash, now, limit) as SqlRow[]).map(taskOf),
    )
    return rows.toSorted((a, b) => (a.task.dueAtMs as number) - (b.task.dueAtMs as number)).slice(0, limit)
  }

  /** Everything is encoded before anything is written, so that what cannot be encoded leaves nothing behind. */
  private write<T>(decided: Decided<T>, rows: LockedRows): T {
    for (const [statement, values] of this.encode(decided, rows)) statement.run(...values)
    for (const task of decided.tasks ?? []) this.known.put(rows.rowOf(task).pk, task, rows.rowOf(task).input)
    return decided.result
  }

  private encode(changes: Changes, rows: LockedRows): Write[] {
    const { tasks, attempts, gates, dead, events } = changes
    const { sql } = this
    const writes: Write[] = []
    for (const task of tasks ?? []) {
      const values = updatedValues(task)
      values.push(rows.rowOf(task).pk)
      writes.push([sql.updateTask, values])
    }
    for (const row of attempts ?? []) writes.push([sql.insertAttempt, attemptValues(rows.rowOf(row).pk, row)])
    for (const { key, kind, state } of gates ?? []) writes.push([sql.putGate, [key, kind, text(state)]])
    for (const { run, id, generation, atMs, signature, stopReason, failure } of dead ?? []) {
      const encoded = failure === null ? null : text(failure)
      writes.push([sql.insertDead, [run, id, generation, atMs, signature, stopReason, encoded]])
    }
    for (const { type, run, id, atMs, correlationId, detail } of events ?? []) {
      writes.push([sql.insertEvent, [type, run, id, atMs, correlationId, text(detail)]])
    }
    return writes
  }
}

type Write = readonly [statement: SqliteStatement, values: SqlValue[]]

/** What a transaction named, as it is while nobody else can write. */
class LockedRows implements View {
  readonly now: number
  private readonly sql: Statements
  private readonly rows = new Map<string, TaskRow | undefined>()
  private readonly gateKeys: readonly string[]

  constructor(sql: Statements, now: number, gates: readonly string[]) {
    this.sql = sql
    this.now = now
    this.gateKeys = gates
  }

  add(key: TaskKey, row: TaskRow | undefined): void {
    this.rows.set(nameOf(key), row)
  }

  task(key: TaskKey): TaskRecord | undefined {
    if (!this.rows.has(nameOf(key))) throw new Error(`Task ${key.run}/${key.id} was not named in the transaction`)
    return this.rows.get(nameOf(key))?.task
  }

  gate(key: string): GateRecord | undefined {
    if (!this.gateKeys.includes(key)) throw new Error(`Gate ${key} was not named in the transaction`)
    const row = this.sql.gate.get(key) as SqlRow | undefined
    return row && gateOf(row)
  }

  rowOf(key: TaskKey): TaskRow {
    const row = this.rows.get(nameOf(key))
    if (row === undefined) throw new Error(`Task ${key.run}/${key.id} does not exist`)
    return row
  }
}
