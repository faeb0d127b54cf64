/**
 * The ledger in a SQLite file, for several processes of one machine: SQL and no retry logic. What the deciding function
 * answers is written in the transaction that showed it the rows. Imports its own layer and the port.
 */
import type { LedgerAnalytics } from '../ledger/analytics.js'
import type {
  AttemptCounts,
  AttemptPage,
  Compacted,
  CompactRequest,
  Creation,
  ClaimDecision,
  Decided,
  DueRequest,
  Forgotten,
  ForgetRequest,
  SurveyFilter,
  SurveyPage,
  Keys,
  Ledger,
  LetterFilter,
  NewTask,
  QueueRef,
  ResultPage,
  RetryingFilter,
  RunFilter,
  RunRemoval,
  StatusCounts,
  TaskFilter,
  TaskResult,
  ThreadHeartbeat,
  View,
  WaitingCount,
  WaitingFilter,
} from '../ledger/ledger.js'
import type {
  AttemptRow,
  DeadLetter,
  EventScope,
  GateRecord,
  Json,
  OwnerRecord,
  PolicyRecord,
  RunRecord,
  StoredEvent,
  TaskKey,
  TaskRecord,
} from '../ledger/records.js'
import type { LedgerTime } from '../ledger/ledger-time.js'
import { tellFull } from '../ledger/queue-limit.js'
import { wordsOf } from '../ledger/records.js'
import { type NamedTally, type Tally, type TallyFilter, withTallyOf } from '../ledger/tally.js'
import { CountWriter } from './count-writer.js'
import { CommitQueue, HalfDone } from './commit-queue.js'
import type { SqliteDatabase } from './driver.js'
import { nextDue, takeDue } from './due-rows.js'
import { encodeChanges } from './encoded-changes.js'
import { freshValues, isFresh } from './narrow-writes.js'
import { resultCode } from './result-codes.js'
import { Housekeeping } from './housekeeping.js'
import { RowCache } from './row-cache.js'
import { LockedRows } from './locked-rows.js'
import type { OpenFiles } from './open-files.js'
import {
  attemptOf,
  gateOf,
  ownersIn,
  parse,
  runOf,
  tallyInRow,
  type SqlRow,
  taskOf,
  type TaskRow,
  text,
  updatedValues,
} from '../ledger/rows.js'
import { sqlAnalytics } from '../ledger/sql/sql-analytics.js'
import {
  countTasks,
  listAttempts,
  listEvents,
  listLetters,
  listResults,
  listRuns,
  listTasks,
} from '../ledger/sql/sql-lists.js'
import { readNow, type Reading, type SqlQuery, writtenFor } from '../ledger/sql/sql-reading.js'
import { listTallies } from '../ledger/sql/sql-tallies.js'
import { countWaiting, surveyWaiting, listRetrying, listWaiting } from '../ledger/sql/sql-waiting.js'
import { prepareStatements, type Statements } from './statements.js'
import { sqliteHeartbeat } from './thread-heartbeat.js'

/** A store in a SQLite file, for processes of one machine. */
export class SqliteLedger implements Ledger {
  readonly name: string
  readonly spans = 'machine'
  private readonly database: SqliteDatabase
  private readonly time: LedgerTime
  private readonly sql: Statements
  private readonly cache: RowCache
  private readonly counts: CountWriter
  private readonly queue: CommitQueue
  private readonly housekeeping: Housekeeping
  private readonly files: OpenFiles | undefined
  readonly analytics: LedgerAnalytics

  constructor(database: SqliteDatabase, name: string, time: LedgerTime, files?: OpenFiles) {
    this.database = database
    this.name = name
    this.time = time
    this.files = files
    this.sql = prepareStatements(database)
    this.cache = new RowCache(database)
    this.counts = new CountWriter(this.sql, this.cache, () => this.time.nowMs())
    this.queue = new CommitQueue(database, name, { files, listener: this.counts })
    this.housekeeping = new Housekeeping(database, this.sql)
    this.analytics = sqlAnalytics((begin) => this.queue.read(() => readNow(begin(), (query) => this.ask(query))))
  }

  async now(): Promise<number> {
    return this.time.nowMs()
  }

  async leaseNow(): Promise<number> {
    return this.time.wallMs()
  }

  /** SQLite counts what other connections have committed. */
  changeMark(): Promise<number> {
    return this.queue.read(() => (this.sql.dataVersion.get() as { data_version: number }).data_version)
  }

  /** Nothing to listen to: changes of other processes are polled for. */
  listen = async (): Promise<() => void> => () => undefined

  create(tasks: readonly NewTask[]): Promise<readonly Creation[]> {
    return this.queue.add(() => {
      const made = inTurn(tasks, (task) => this.insert(task))
      for (const [index, creation] of made.entries()) this.count(creation, tasks[index] as NewTask)
      return made
    })
  }

  transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T> {
    return this.queue.add(() => {
      const rows = new LockedRows(this.sql, this.time.nowMs(), keys)
      for (const key of keys.tasks) rows.add(key, this.cache.get(key) ?? this.find(key))
      return this.write(decide(rows), rows)
    })
  }

  async claim<T>(request: DueRequest, decide: ClaimDecision<T>): Promise<readonly T[]> {
    const { places, taken, results } = await this.queue.add(() => {
      const now = this.time.nowMs()
      const due = takeDue(this.sql, request, now)
      const seated = due.taken.flatMap((members, place) =>
        members.map((row, index) => ({ row, seat: { place, isFirst: index === 0 } })),
      )
      const made = inTurn(seated, ({ row, seat }) => {
        const rows = new LockedRows(this.sql, now, request)
        rows.add(row.task, row)
        return this.write(decide(row.task, rows, seat), rows)
      })
      return { places: due.places, taken: due.taken.map((rows) => rows.map(({ task }) => task)), results: made }
    })
    tellFull(places, taken, request.onFull)
    return results
  }

  nextDueAtMs(queues: readonly QueueRef[], except: readonly TaskKey[] = []): Promise<number | null> {
    return this.queue.read(() => nextDue(this.sql, queues, except))
  }

  heartbeat(owner: OwnerRecord): Promise<void> {
    return this.queue.add(() => void this.sql.putOwner.run(owner.id, text(owner)))
  }

  owners(): Promise<readonly OwnerRecord[]> {
    return this.queue.read(() => ownersIn(this.sql.owners.all() as SqlRow[]))
  }

  taskOwners(): Promise<readonly string[]> {
    return this.queue.read(() => (this.sql.taskOwners.all() as { owner: string }[]).map(({ owner }) => owner))
  }

  removeOwner(id: string): Promise<void> {
    return this.queue.add(() => void this.sql.removeOwner.run(id))
  }

  threadHeartbeat(): ThreadHeartbeat | undefined {
    return this.files && sqliteHeartbeat(this.files.file, this.database.driver)
  }

  get(key: TaskKey): Promise<TaskRecord | undefined> {
    return this.queue.read(() => this.find(key)?.task)
  }

  list(filter: TaskFilter): Promise<readonly TaskRecord[]> {
    return this.read(() => listTasks(filter))
  }

  retrying(filter?: RetryingFilter): Promise<readonly TaskRecord[]> {
    return this.read(() => listRetrying(filter))
  }

  countWaiting(queue: string): Promise<readonly WaitingCount[]> {
    return this.read(() => countWaiting(queue))
  }

  waiting(filter: WaitingFilter): Promise<readonly TaskRecord[]> {
    return this.read(() => listWaiting(filter))
  }

  survey(filter: SurveyFilter): Promise<SurveyPage> {
    return this.read(() => surveyWaiting(filter))
  }

  checkpoint({ scopeKind, scope, id }: TaskKey): Promise<Json | undefined> {
    return this.queue.read(() => {
      const row = this.sql.checkpoint.get(scopeKind, scope, id) as SqlRow | undefined
      return row && parse(row['value'], `checkpoint of ${wordsOf({ scopeKind, scope, id })}`)
    })
  }

  run(id: string): Promise<RunRecord | undefined> {
    return this.queue.read(() => {
      const row = this.sql.run.get(id) as SqlRow | undefined
      return row && runOf(row)
    })
  }

  runs(filter: RunFilter): Promise<readonly RunRecord[]> {
    return this.read(() => listRuns(filter))
  }

  definition(run: string): Promise<Json | undefined> {
    return this.queue.read(() => {
      const row = this.sql.definition.get(run) as SqlRow | undefined
      return row && parse(row['definition'], `run ${run}`)
    })
  }

  policy(hash: string): Promise<PolicyRecord | undefined> {
    return this.queue.read(() => {
      const row = this.sql.policy.get(hash) as SqlRow | undefined
      return row && { hash, policy: parse(row['policy'], `policy ${hash}`) }
    })
  }

  keepPolicy({ hash, policy }: PolicyRecord): Promise<void> {
    return this.queue.add(() => void this.sql.putPolicy.run(hash, text(policy), 0, this.time.nowMs()))
  }

  attempts(key: TaskKey): Promise<readonly AttemptRow[]> {
    const { scopeKind, scope, id } = key
    return this.queue.read(() =>
      (this.sql.attempts.all(scopeKind, scope, id) as SqlRow[]).map((row) => attemptOf(row, key)),
    )
  }

  attemptsOfRun(run: string, page?: AttemptPage): Promise<readonly AttemptRow[]> {
    return this.read(() => listAttempts(run, page))
  }

  results(run: string, page?: ResultPage): Promise<readonly TaskResult[]> {
    return this.read(() => listResults(run, page))
  }

  countTasks(run: string): Promise<StatusCounts> {
    return this.read(() => countTasks(run))
  }

  attemptCounts(keys: readonly TaskKey[]): Promise<readonly AttemptCounts[]> {
    const list = text(keys.map(({ scopeKind, scope, id }) => [scopeKind, scope, id]))
    return this.queue.read(() => this.sql.attemptCounts.all(list) as AttemptCounts[])
  }

  tally(name: string): Promise<Tally> {
    return this.queue.read(() => tallyInRow(this.sql.tally.get(name) as SqlRow | undefined))
  }

  tallies(filter: TallyFilter): Promise<readonly NamedTally[]> {
    return this.read(() => listTallies(filter))
  }

  gates(): Promise<readonly GateRecord[]> {
    return this.queue.read(() => (this.sql.gates.all() as SqlRow[]).map(gateOf))
  }

  deadLetters(filter?: LetterFilter): Promise<readonly DeadLetter[]> {
    return this.read(() => listLetters(filter))
  }

  events(afterSeq: number, limit: number, scope?: EventScope): Promise<readonly StoredEvent[]> {
    return this.read(() => listEvents(afterSeq, limit, scope))
  }

  forget(request: ForgetRequest): Promise<Forgotten> {
    return this.queue.add(() => this.housekeeping.forget(request))
  }

  removeRun(id: string, limit: number, gates: readonly string[] = []): Promise<RunRemoval> {
    return this.queue.add(() => {
      this.cache.undo()
      this.counts.writePolicies()
      return this.housekeeping.removeRun(id, limit, gates)
    })
  }

  compact(request: CompactRequest): Promise<Compacted> {
    return this.queue.add(() => {
      // What it notes in a row, the row that is known does not say.
      this.cache.undo()
      return this.housekeeping.compact(request, this.time.nowMs())
    })
  }

  async close(): Promise<void> {
    this.queue.close()
  }

  /** At one moment. A program that reads page by page does not keep the event loop from turning. */
  private async read<T>(begin: () => Reading<T>): Promise<T> {
    await new Promise((resolve) => setImmediate(resolve))
    return this.queue.read(() => readNow(begin(), (query) => this.ask(query)))
  }

  private ask(query: SqlQuery): readonly SqlRow[] {
    const sql = writtenFor(
      query,
      (table) => table,
      () => '?',
    )
    return this.database.prepare(sql).all(...query.values) as SqlRow[]
  }

  private find({ scopeKind, scope, id }: TaskKey): TaskRow | undefined {
    const row = this.sql.task.get(scopeKind, scope, id) as SqlRow | undefined
    return row && taskOf(row)
  }

  private insert({ task, payloadHash }: NewTask): Creation {
    const input = text(task.input)
    const { scopeKind, scope, id, tally = null, correlationId, createdAtMs } = task
    const key = [scopeKind, scope, id, payloadHash, input]
    const { changes, lastInsertRowid } = isFresh(task)
      ? this.sql.insertFresh.run(...key, correlationId, createdAtMs, ...freshValues(task))
      : this.sql.insertTask.run(...key, tally, correlationId, createdAtMs, ...updatedValues(task))
    if (Number(changes) === 0) return this.existing(task, payloadHash)
    this.cache.put(Number(lastInsertRowid), task, input)
    return { type: 'created', task }
  }

  private count(creation: Creation, { policy }: NewTask): void {
    if (creation.type !== 'created') return
    this.counts.usesPolicy(policy)
    this.counts.created(creation)
  }

  private existing(key: TaskKey, payloadHash: string): Creation {
    const { payload_hash: kept } = this.sql.payload.get(key.scopeKind, key.scope, key.id) as { payload_hash: string }
    return { type: kept === payloadHash ? 'existing' : 'conflict', task: (this.find(key) as TaskRow).task }
  }

  /** Everything is encoded before anything is written, so that what cannot be encoded leaves nothing behind. */
  private write<T>(decided: Decided<T>, rows: LockedRows): T {
    const writes = encodeChanges(this.sql, decided, rows)
    const created = decided.created?.map((task) => this.insert(task)) ?? []
    if (decided.tasks?.some((task) => rows.rowOf(task).task.policyHash !== task.policyHash)) this.counts.writePolicies()
    for (const [statement, values] of writes) statement.run(...values)
    for (const [index, creation] of created.entries()) this.count(creation, decided.created?.[index] as NewTask)
    for (const task of decided.tasks ?? []) {
      const row = rows.rowOf(task)
      const kept = withTallyOf(row.task, task)
      if (kept.tally !== undefined) {
        this.counts.changed(row.task, kept)
        // Should the task be changed once more in this commit, that counts from here.
        rows.add(kept, { ...row, task: kept })
      }
      this.cache.put(row.pk, kept, row.input)
    }
    for (const key of decided.inputs ?? []) this.cache.forget(key)
    return decided.result
  }
}

/** One that fails undoes what was written for those before it. */
function inTurn<T, R>(items: readonly T[], act: (item: T) => R): R[] {
  return items.map((item, index) => {
    try {
      return act(item)
    } catch (error) {
      if (index === 0 || resultCode(error) !== undefined) throw error
      throw new HalfDone('undone', { cause: error })
    }
  })
}
