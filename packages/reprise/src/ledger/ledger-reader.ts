/**
 * The part of the port that reads. Every list has a cursor and a limit: pages that are read one after the other, each
 * after the last row of the one before, join to the whole. Imports the records.
 */
import type {
  AttemptPage,
  SurveyEnd,
  SurveyFilter,
  LetterFilter,
  ResultPage,
  RetryingFilter,
  RunFilter,
  TaskFilter,
  WaitingFilter,
  WaitingRef,
} from './filters.js'
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
  StoredEvent,
  TaskKey,
  TaskRecord,
  TaskStatus,
} from './records.js'
import type { NamedTally, Tally, TallyFilter } from './tally.js'

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

/** Tasks that wait, counted by policy and place in the order of claims. */
export interface WaitingCount extends Omit<WaitingRef, 'queue'> {
  /** How many there are. */
  readonly tasks: number
}

/** What was found of some of the waiting tasks of a queue. */
export interface SurveyPage {
  /** Tasks whose records are as the driver writes them, with nothing to be looked at. */
  readonly sound: number
  /** The others: reset or interrupted before, later than now, or with a state that the store does not recognise. */
  readonly others: readonly TaskRecord[]
  /** Where to continue; undefined if there are no more. */
  readonly end: SurveyEnd | undefined
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
  /**
   * What the task's program kept last; undefined without one.
   * @example const kept = await ledger.checkpoint({ scopeKind: 'task', scope: 'import', id: 'orders' })
   */
  checkpoint(key: TaskKey): Promise<Json | undefined>
  /**
   * Tasks that wait after an attempt, which failed or was interrupted, and tasks that are parked: the next to be due
   * first. Fresh tasks are not among them, however many wait.
   * @example const next = await ledger.retrying({ limit: 100 })
   */
  retrying(filter?: RetryingFilter): Promise<readonly TaskRecord[]>
  /**
   * How many tasks of a queue wait, by policy and place in the order of claims.
   * @example const [first] = await ledger.countWaiting('charge')
   */
  countWaiting(queue: string): Promise<readonly WaitingCount[]>
  /**
   * Tasks that wait with one policy at one place in the order of claims, the next to be due first.
   * @example const retries = await ledger.waiting({ queue: 'charge', policyHash: '9f2c', rank: 1, limit: 1000 })
   */
  waiting(filter: WaitingFilter): Promise<readonly TaskRecord[]>
  /**
   * Counts tasks that wait, in the order of their claims, and gives those that have to be looked at one by one. A store
   * may give more of them than necessary, never fewer: what it only counts has the shape that the driver writes, and as
   * many recorded attempts as its state says.
   * @example
   * const group = { queue: 'charge', policyHash: '9f2c', rank: 2 }
   * const { sound } = await ledger.survey({ ...group, nowMs: Date.now(), attempts: 5, limit: 1000 })
   */
  survey(filter: SurveyFilter): Promise<SurveyPage>
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
   * @example const rows = await ledger.attemptsOfRun('nightly-1', { limit: 1000 })
   */
  attemptsOfRun(run: string, page?: AttemptPage): Promise<readonly AttemptRow[]>
  /**
   * What the succeeded tasks of a run have given, in the order of their ids.
   * @example const results = await ledger.results('nightly-1', { limit: 1000 })
   */
  results(run: string, page?: ResultPage): Promise<readonly TaskResult[]>
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
   * Letters of tasks that failed for good or are undecided, open and closed ones, in the order of their times.
   * @example const letters = await ledger.deadLetters({ scopeKind: 'task', scope: 'charge', limit: 100 })
   */
  deadLetters(filter?: LetterFilter): Promise<readonly DeadLetter[]>
  /**
   * In order, after `seq`; never past one that an open transaction may still come before. With a scope, events of its
   * tasks and of the run itself; with an id, those of one task or of the run alone; with the empty scope, events that
   * concern no task and no run.
   * @example const events = await ledger.events(0, 100, { scopeKind: 'run', scope: 'nightly-1' })
   */
  events(afterSeq: number, limit: number, scope?: EventScope): Promise<readonly StoredEvent[]>
}
