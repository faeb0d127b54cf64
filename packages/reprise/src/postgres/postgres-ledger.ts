/**
 * The ledger in PostgreSQL: many machines. It holds SQL and no retry logic: what is written is what the deciding function
 * answered, in the transaction that showed it the rows. Imports its own layer and the port.
 */
import { randomUUID } from 'node:crypto'
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
  StoreAvailability,
  TaskFilter,
  TaskResult,
  ThreadHeartbeat,
  TransactionClient,
  View,
  WaitingCount,
  WaitingFilter,
} from '../ledger/ledger.js'
import {
  type AttemptRow,
  type DeadLetter,
  type EventScope,
  type GateRecord,
  type Json,
  nameOf,
  type OwnerRecord,
  type PolicyRecord,
  type RunRecord,
  type StoredEvent,
  type TaskKey,
  type TaskRecord,
  wordsOf,
} from '../ledger/records.js'
import { attemptOf, gateOf, ownersIn, parse, runOf, tallyInRow, text } from '../ledger/rows.js'
import { tellFull } from '../ledger/queue-limit.js'
import type { NamedTally, Tally, TallyFilter } from '../ledger/tally.js'
import type { PostgresAddress } from './address.js'
import { type Batch, type BatchRow, decideIn } from './batch-view.js'
import type { Connections } from './connections.js'
import { type CreateWithinParts, TransactionCreator } from './create-within.js'
import { Hints } from './hints.js'
import { Housekeeping } from './housekeeping.js'
import { inTurns, RowCache } from './row-cache.js'
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
import type { Reading } from '../ledger/sql/sql-reading.js'
import { listTallies } from '../ledger/sql/sql-tallies.js'
import { countWaiting, surveyWaiting, listRetrying, listWaiting } from '../ledger/sql/sql-waiting.js'
import { KeptPolicies } from './kept-policies.js'
import { Reader } from './reader.js'
import type { ServerTime } from './server-time.js'
import { distinctKeys, keyColumns, ranksOf, type Statements, statementsOf } from './statements.js'
import { type KeySupply, TaskKeys } from './task-keys.js'
import { postgresHeartbeat } from './thread-heartbeat.js'
import { WriteQueue } from './write-queue.js'
import { Writers } from './writers.js'

/** A store in a PostgreSQL database, for many processes on many machines. */
export class PostgresLedger implements Ledger {
  /** Its address for messages, without the password. */
  readonly name: string
  readonly spans = 'network'
  readonly analytics: LedgerAnalytics
  private readonly schema: string
  private readonly address: PostgresAddress
  private readonly sql: Statements
  private readonly connections: Connections
  private readonly time: ServerTime
  private readonly cache = new RowCache()
  private readonly writers: Writers
  private readonly queue: WriteQueue
  private readonly reader: Reader
  private readonly hints: Hints
  private readonly housekeeping: Housekeeping
  private readonly enlisted: TransactionCreator
  private readonly keptPolicies = new KeptPolicies()
  /** Queues that this process has claimed from with a limit. */
  private readonly limitedQueues = new Set<string>()
  /**
   * Whose rows of tallies this process adds to: those of its last heartbeat. Without one they have a name of their own,
   * and the next sweep of any process merges them, as it does with rows of every owner that has no row.
   */
  private owner: string = randomUUID()
  private closing: Promise<void> | undefined = undefined

  constructor(address: PostgresAddress, connections: Connections, time: ServerTime) {
    const { name, schema, connections: count } = address
    this.address = address
    this.name = name
    this.schema = schema
    this.connections = connections
    this.time = time
    const sql = statementsOf(schema)
    this.sql = sql
    this.writers = new Writers(sql)
    this.reader = new Reader(name, sql, connections)
    this.hints = new Hints(schema, connections, this.reader, sql)
    const onWritten = (rows: readonly BatchRow[]): void => this.hint(rows)
    const { writers, cache } = this
    // One connection is left for whoever reads.
    const lanes = Math.max(1, Math.min(4, count - 1))
    const keys = new TaskKeys(sql)
    const owner = (): string => this.owner
    this.queue = new WriteQueue({ name, schema, sql, connections, writers, cache, keys, time, lanes, owner, onWritten })
    this.housekeeping = new Housekeeping(schema, this.reader)
    const ask: CreateWithinParts['ask'] = (statement, values) => this.reader.query(statement, values)
    this.enlisted = new TransactionCreator({ name, schema, channel: this.hints.channel, ask })
    this.analytics = sqlAnalytics((begin) => this.reader.read(schema, begin))
  }

  async now(): Promise<number> {
    if (!this.time.isFresh) await this.askTime()
    return this.time.now()
  }

  async leaseNow(): Promise<number> {
    await this.askTime()
    return this.time.now()
  }

  private async askTime(): Promise<void> {
    const sentAtMs = this.time.sentAtMs
    const [row] = await this.reader.query(this.sql.now)
    this.time.heard(row?.['now'] as number, sentAtMs)
  }

  changeMark(): Promise<number> {
    return this.writers.decisionsOfOthers(this.reader)
  }

  listen(heard: () => void): Promise<() => void> {
    return this.hints.listen(heard)
  }

  async watchAvailability(heard: (state: StoreAvailability) => void): Promise<() => void> {
    return this.connections.availability.listen(heard)
  }

  // ── what is written ────────────────────────────────────────────────────────────────────────────

  create(tasks: readonly NewTask[]): Promise<readonly Creation[]> {
    if (tasks.length === 0) return Promise.resolve([])
    const made = new Set<string>()
    return this.queue.add({
      keys: { tasks: distinctKeys(tasks.map(({ task }) => task)) },
      creates: true,
      decide: (batch, supply) => {
        // Nothing is put into the batch before it is known that all can be kept.
        if (tasks.length > 1) for (const { task } of tasks) text(task.input)
        return tasks.map((task) => this.insert(task, made, batch, supply))
      },
      written: (keys) => {
        for (const key of keys) made.add(nameOf(key))
      },
    })
  }

  async createWithin(client: TransactionClient, task: NewTask): Promise<Creation> {
    const { hash, policy } = task.policy
    // In a transaction of its own: it would be locked for others until the program commits.
    await this.reader.write(this.sql.putPolicy, [hash, text(policy), await this.now()])
    return this.enlisted.create(client, task)
  }

  private insert(created: NewTask, made: ReadonlySet<string>, batch: Batch, supply: KeySupply): Creation {
    const { task, policy, payloadHash } = created
    const row = batch.row(task)
    if (row !== undefined && made.has(nameOf(task))) return { type: 'created', task: row.task }
    if (row !== undefined) return { type: row.payloadHash === payloadHash ? 'existing' : 'conflict', task: row.task }
    batch.take({ created: [created] }, supply.next)
    this.keptPolicies.keep(policy, batch)
    return { type: 'created', task }
  }

  transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T> {
    return this.queue.add({
      keys: { ...keys, tasks: distinctKeys(keys.tasks) },
      decide: (batch, supply) => {
        const { result, created } = decideIn(batch, keys, decide, supply.next)
        for (const { policy } of created) this.keptPolicies.keep(policy, batch)
        return result
      },
    })
  }

  async claim<T>(request: DueRequest, decide: ClaimDecision<T>): Promise<readonly T[]> {
    const { queues, gates = [], runs = [], limit, onFull } = request
    if (queues.length === 0) return []
    for (const { queue, most } of queues) if (most !== undefined) this.limitedQueues.add(queue)
    const { places, taken, results } = await this.queue.add({
      keys: { tasks: [], gates, runs },
      due: request,
      decide: (batch, supply, due) => {
        const groups = inTurns(due, queues, limit, batch.places)
        const made = groups.flatMap((rows, place) =>
          rows.map(({ task }, index) => {
            const keys = { tasks: [task], gates, runs }
            const seat = { place, isFirst: index === 0 }
            return decideIn(batch, keys, (view) => decide(task, view, seat), supply.next).result
          }),
        )
        return { places: batch.places, taken: groups.map((rows) => rows.map(({ task }) => task)), results: made }
      },
    })
    tellFull(places, taken, onFull)
    return results
  }

  async heartbeat(owner: OwnerRecord): Promise<void> {
    this.owner = owner.id
    await this.reader.write(this.sql.putOwner, [owner.id, text(owner)])
  }

  removeOwner(id: string): Promise<void> {
    return this.housekeeping.removeOwner(id)
  }

  threadHeartbeat(): ThreadHeartbeat | undefined {
    return postgresHeartbeat(this.address)
  }

  async keepPolicy({ hash, policy }: PolicyRecord): Promise<void> {
    await this.reader.write(this.sql.putPolicy, [hash, text(policy), await this.now()])
  }

  async forget(request: ForgetRequest): Promise<Forgotten> {
    return this.housekeeping.forget(request)
  }

  removeRun(id: string, limit: number, gates: readonly string[] = []): Promise<RunRemoval> {
    return this.housekeeping.removeRun(id, limit, gates)
  }

  async compact(request: CompactRequest): Promise<Compacted> {
    return this.housekeeping.compact(request, await this.now())
  }

  /** Processes that look for work hear of tasks that are due at once, and of places that limited queues have again. */
  private hint(rows: readonly BatchRow[]): void {
    const now = this.time.now()
    const isDue = ({ task }: BatchRow): boolean => task.status === 'waiting' && (task.dueAtMs as number) <= now
    const isPlace = ({ task }: BatchRow): boolean => task.owner === null && this.limitedQueues.has(task.queue)
    if (rows.some((row) => isDue(row) || isPlace(row))) this.hints.tell()
  }

  // ── what is read ───────────────────────────────────────────────────────────────────────────────

  async nextDueAtMs(queues: readonly QueueRef[], except: readonly TaskKey[] = []): Promise<number | null> {
    const values = [queues.map(({ queue }) => queue), queues.map(({ policyHash }) => policyHash), queues.map(ranksOf)]
    const { nextDue, nextDueExcept } = this.sql
    const [row] =
      except.length === 0
        ? await this.reader.query(nextDue, values)
        : await this.reader.query(nextDueExcept, [...values, ...keyColumns(except)])
    return (row?.['due_at'] ?? null) as number | null
  }

  async owners(): Promise<readonly OwnerRecord[]> {
    const rows = await this.reader.query(this.sql.owners)
    return this.told(() => ownersIn(rows))
  }

  async taskOwners(): Promise<readonly string[]> {
    return (await this.reader.query(this.sql.taskOwners)).map((row) => row['owner'] as string)
  }

  get(key: TaskKey): Promise<TaskRecord | undefined> {
    return this.reader.get(key)
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
    // By the planner's choice: to count a large part of the table, a scan of all of it is faster than the index.
    return this.reader.read(this.schema, () => surveyWaiting(filter, true))
  }

  async checkpoint(key: TaskKey): Promise<Json | undefined> {
    const [row] = await this.reader.query(this.sql.checkpoint, [key.scopeKind, key.scope, key.id])
    return this.told(() => row && parse(row['value'], `checkpoint of ${wordsOf(key)}`))
  }

  async run(id: string): Promise<RunRecord | undefined> {
    const [row] = await this.reader.query(this.sql.run, [id])
    return this.told(() => row && runOf(row))
  }

  runs(filter: RunFilter): Promise<readonly RunRecord[]> {
    return this.read(() => listRuns(filter))
  }

  async definition(run: string): Promise<Json | undefined> {
    const [row] = await this.reader.query(this.sql.definition, [run])
    return this.told(() => row && parse(row['definition'], `run ${run}`))
  }

  async policy(hash: string): Promise<PolicyRecord | undefined> {
    const [row] = await this.reader.query(this.sql.policy, [hash])
    return this.told(() => row && { hash, policy: parse(row['policy'], `policy ${hash}`) })
  }

  async attempts(key: TaskKey): Promise<readonly AttemptRow[]> {
    const rows = await this.reader.query(this.sql.attempts, [key.scopeKind, key.scope, key.id])
    return this.told(() => rows.map((row) => attemptOf(row, key)))
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

  async attemptCounts(keys: readonly TaskKey[]): Promise<readonly AttemptCounts[]> {
    const rows = await this.reader.query(this.sql.attemptCounts, keyColumns(keys))
    return rows.map((row) => ({ last: row['last'] as number, ended: row['ended'] as number }))
  }

  async tally(name: string): Promise<Tally> {
    const [row] = await this.reader.query(this.sql.tally, [name])
    return tallyInRow(row)
  }

  tallies(filter: TallyFilter): Promise<readonly NamedTally[]> {
    return this.read(() => listTallies(filter))
  }

  async gates(): Promise<readonly GateRecord[]> {
    const rows = await this.reader.query(this.sql.gates)
    return this.told(() => rows.map(gateOf))
  }

  deadLetters(filter?: LetterFilter): Promise<readonly DeadLetter[]> {
    return this.read(() => listLetters(filter))
  }

  events(afterSeq: number, limit: number, scope?: EventScope): Promise<readonly StoredEvent[]> {
    return this.read(() => listEvents(afterSeq, limit, scope))
  }

  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private end(): Promise<void> {
    this.hints.close()
    return this.connections.end(async () => {
      await this.queue.close()
      // A row that stays is removed by compaction.
      await this.connections.with((connection) => this.writers.end(connection)).catch(() => undefined)
      this.reader.close()
    })
  }

  private read<T>(begin: () => Reading<T>): Promise<T> {
    return this.reader.list(this.schema, begin)
  }

  private told<T>(read: () => T): T {
    return this.reader.told(read)
  }
}
