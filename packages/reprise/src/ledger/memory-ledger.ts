/**
 * A ledger in memory: for tests and for programs that want the interface without the durability. It keeps text, as the
 * others do, so that what cannot be stored fails here too. Imports core and its own layer.
 */
import { CLOCK, expectOptions } from '../core/options.js'
import type { Clock } from '../core/time.js'
import type { LedgerAnalytics } from './analytics.js'
import { fairShare } from './fair-share.js'
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
  View,
  WaitingCount,
  WaitingFilter,
} from './ledger.js'
import { LedgerTime } from './ledger-time.js'
import { MemoryAnalytics } from './memory-analytics.js'
import { dueTasks, freePlaces, isNoneOf, isOf } from './memory-due.js'
import { compact, forget, isIn, letterName, type MemoryTables, removeRun } from './memory-housekeeping.js'
import {
  allTasks,
  countWaiting,
  surveyWaiting,
  countAttempts,
  countTasks,
  listAttempts,
  listLetters,
  listResults,
  listRetrying,
  listRuns,
  listTasks,
  listWaiting,
} from './memory-lists.js'
import { tellFull } from './queue-limit.js'
import type {
  AttemptRow,
  ClosedLetter,
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
} from './records.js'
import { nameOf, scopeOfRun } from './records.js'
import { countedTallies, type NamedTally, type Tally, type TallyFilter, tallyOf, withTallyOf } from './tally.js'

/** Options of `MemoryLedger`. */
export interface MemoryLedgerOptions {
  /** Gives the ledger's time. @default `systemClock` @example { clock: virtualClock() } */
  readonly clock?: Clock | undefined
}

/** A store in the memory of this process, for tests: it keeps nothing when the process ends. */
export class MemoryLedger implements Ledger {
  readonly name = 'memory:'
  readonly spans = 'machine'
  readonly analytics: LedgerAnalytics
  private readonly time: LedgerTime
  private commits = 0
  private readonly tables: MemoryTables = {
    runs: new Map(),
    tasks: new Map(),
    policies: new Map(),
    attempts: new Map(),
    checkpoints: new Map(),
    owners: new Map(),
    dead: new Map(),
    events: [],
    lastSeq: 0,
  }
  private readonly gateRecords = new Map<string, GateRecord>()

  /** Makes an empty store. */
  constructor(options: MemoryLedgerOptions = {}) {
    expectOptions('MemoryLedger', options, { clock: CLOCK })
    this.time = new LedgerTime(options.clock)
    this.analytics = new MemoryAnalytics({
      tasks: () => this.all(),
      attempts: (key) => this.tables.attempts.get(nameOf(key)) ?? [],
      events: () => this.tables.events,
      letters: () => listLetters(this.tables, {}),
    })
  }

  async now(): Promise<number> {
    return this.time.nowMs()
  }

  async leaseNow(): Promise<number> {
    return this.time.wallMs()
  }

  async changeMark(): Promise<number> {
    return this.commits
  }

  /** Who shares it is polled for. */
  async listen(): Promise<() => void> {
    return () => undefined
  }

  async create(tasks: readonly NewTask[]): Promise<readonly Creation[]> {
    // All that may throw happens before anything is written.
    const copies = tasks.map(copy)
    this.commits++
    return copies.map((task) => this.insert(task))
  }

  async transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T> {
    return this.commit(decide(this.view(keys)))
  }

  async claim<T>(request: DueRequest, decide: ClaimDecision<T>): Promise<readonly T[]> {
    const { queues, limit, except, onFull } = request
    const all = this.all()
    const places = freePlaces(all, queues, this.gateRecords)
    const due = dueTasks(all.filter(isNoneOf(except)), request, places, this.time.nowMs())
    const taken = fairShare(due, limit)
    const undo = this.remember(taken.flat())
    const { gates = [], runs = [] } = request
    try {
      const claimOne = (task: TaskRecord, place: number, index: number): T =>
        this.commit(decide(task, this.view({ gates, runs, tasks: [task] }), { place, isFirst: index === 0 }))
      const results = taken.flatMap((members, place) => members.map((task, index) => claimOne(task, place, index)))
      tellFull(places, taken, onFull)
      return results
    } catch (error) {
      undo()
      throw error
    }
  }

  async nextDueAtMs(queues: readonly QueueRef[], except?: readonly TaskKey[]): Promise<number | null> {
    const known = this.all().filter(isNoneOf(except))
    const times = known.flatMap((task) =>
      isOf(task, queues) && task.status === 'waiting' && task.dueAtMs !== null ? task.dueAtMs : [],
    )
    return times.length === 0 ? null : times.reduce((least, time) => Math.min(least, time))
  }

  async heartbeat(owner: OwnerRecord): Promise<void> {
    this.tables.owners.set(owner.id, copy(owner))
  }

  async owners(): Promise<readonly OwnerRecord[]> {
    return [...this.tables.owners.values()]
  }

  async taskOwners(): Promise<readonly string[]> {
    return [...new Set(this.all().flatMap(({ owner }) => owner ?? []))]
  }

  async removeOwner(id: string): Promise<void> {
    this.tables.owners.delete(id)
  }

  async get(key: TaskKey): Promise<TaskRecord | undefined> {
    return this.tables.tasks.get(nameOf(key))?.task
  }

  async list(filter: TaskFilter): Promise<readonly TaskRecord[]> {
    return listTasks(this.tables, filter)
  }

  async retrying(filter: RetryingFilter = {}): Promise<readonly TaskRecord[]> {
    return listRetrying(this.tables, filter)
  }

  async countWaiting(queue: string): Promise<readonly WaitingCount[]> {
    return countWaiting(this.tables, queue)
  }

  async waiting(filter: WaitingFilter): Promise<readonly TaskRecord[]> {
    return listWaiting(this.tables, filter)
  }

  async survey(filter: SurveyFilter): Promise<SurveyPage> {
    return surveyWaiting(this.tables, filter)
  }

  async checkpoint(key: TaskKey): Promise<Json | undefined> {
    return this.tables.checkpoints.get(nameOf(key))
  }

  async run(id: string): Promise<RunRecord | undefined> {
    return this.tables.runs.get(id)?.run
  }

  async runs(filter: RunFilter): Promise<readonly RunRecord[]> {
    return listRuns(this.tables, filter)
  }

  async definition(run: string): Promise<Json | undefined> {
    return this.tables.runs.get(run)?.definition
  }

  async policy(hash: string): Promise<PolicyRecord | undefined> {
    return this.tables.policies.get(hash)?.record
  }

  async keepPolicy(policy: PolicyRecord): Promise<void> {
    this.putPolicy(policy)
  }

  async attempts(key: TaskKey): Promise<readonly AttemptRow[]> {
    return [...(this.tables.attempts.get(nameOf(key)) ?? [])]
  }

  async attemptsOfRun(run: string, page: AttemptPage = {}): Promise<readonly AttemptRow[]> {
    return listAttempts(this.tables, listTasks(this.tables, scopeOfRun(run)), page)
  }

  async results(run: string, page: ResultPage = {}): Promise<readonly TaskResult[]> {
    return listResults(this.tables, run, page)
  }

  async countTasks(run: string): Promise<StatusCounts> {
    return countTasks(this.tables, run)
  }

  async attemptCounts(keys: readonly TaskKey[]): Promise<readonly AttemptCounts[]> {
    return keys.map((key) => countAttempts(this.tables, key))
  }

  async tally(name: string): Promise<Tally> {
    const [found] = countedTallies(this.all(), (tally) => tally === name)
    const { name: _name, ...tally } = found ?? { name, ...tallyOf([]) }
    return tally
  }

  async tallies({ prefix = '', after = '', limit = Infinity }: TallyFilter): Promise<readonly NamedTally[]> {
    return countedTallies(this.all(), (name) => name.startsWith(prefix) && name > after).slice(0, limit)
  }

  async gates(): Promise<readonly GateRecord[]> {
    return [...this.gateRecords.values()]
  }

  async deadLetters(filter: LetterFilter = {}): Promise<readonly DeadLetter[]> {
    return listLetters(this.tables, filter)
  }

  async events(afterSeq: number, limit: number, scope?: EventScope): Promise<readonly StoredEvent[]> {
    const isMeant = (event: StoredEvent): boolean =>
      event.seq > afterSeq && isIn(event, scope) && (scope?.id === undefined || event.id === scope.id)
    return this.tables.events.filter(isMeant).slice(0, limit)
  }

  async removeRun(id: string, limit: number, gates: readonly string[] = []): Promise<RunRemoval> {
    this.commits++
    const removed = removeRun(this.tables, id, limit)
    if (removed.isDone) for (const key of gates) this.gateRecords.delete(key)
    return removed
  }

  async forget(request: ForgetRequest): Promise<Forgotten> {
    this.commits++
    return forget(this.tables, request)
  }

  async compact(request: CompactRequest): Promise<Compacted> {
    this.commits++
    return compact(this.tables, request, this.time.nowMs())
  }

  async close(): Promise<void> {}

  private putPolicy(policy: PolicyRecord): void {
    this.tables.policies.set(policy.hash, { record: copy(policy), keptAtMs: this.time.nowMs() })
  }

  private all(): TaskRecord[] {
    return allTasks(this.tables)
  }

  private insert({ task, policy, payloadHash }: NewTask): Creation {
    const kept = this.tables.tasks.get(nameOf(task))
    if (kept !== undefined) return { type: kept.payloadHash === payloadHash ? 'existing' : 'conflict', task: kept.task }
    this.putPolicy(policy)
    this.tables.tasks.set(nameOf(task), { payloadHash, task: copy(task) })
    return { type: 'created', task }
  }

  private view({ tasks, gates = [], runs = [] }: Keys): View {
    const names = new Set(tasks.map(nameOf))
    return {
      now: this.time.nowMs(),
      task: (key) => {
        if (!names.has(nameOf(key))) throw new Error(`Task ${key.scope}/${key.id} was not named in the transaction`)
        return this.tables.tasks.get(nameOf(key))?.task
      },
      gate: (key) => {
        if (!gates.includes(key)) throw new Error(`Gate ${key} was not named in the transaction`)
        return this.gateRecords.get(key)
      },
      run: (id) => {
        if (!runs.includes(id)) throw new Error(`Run ${id} was not named in the transaction`)
        return this.tables.runs.get(id)?.run
      },
    }
  }

  /** The way back from what is committed about these tasks. */
  private remember(tasks: readonly TaskRecord[]): () => void {
    const { tables } = this
    const rows = tasks.map((task) => tables.attempts.get(nameOf(task)))
    const checkpoints = [...tables.checkpoints]
    const gates = [...this.gateRecords]
    const [letters, events] = [[...tables.dead], tables.events.length]
    return () => {
      for (const [index, task] of tasks.entries()) {
        ;(tables.tasks.get(nameOf(task)) as { task: TaskRecord }).task = task
        tables.attempts.set(nameOf(task), rows[index] ?? [])
      }
      tables.checkpoints.clear()
      for (const [name, value] of checkpoints) tables.checkpoints.set(name, value)
      this.gateRecords.clear()
      for (const [key, gate] of gates) this.gateRecords.set(key, gate)
      tables.dead.clear()
      for (const [name, letter] of letters) tables.dead.set(name, letter)
      tables.events.splice(events)
    }
  }

  /** All that may throw happens before anything is written. */
  private commit<T>(decided: Decided<T>): T {
    const { result: _result, ...changes } = decided
    if (Object.values(changes).some((rows) => rows.length > 0)) this.commits++
    const { result, tasks = [], attempts = [], gates = [], dead = [], events = [], ...more } = copyChanges(decided)
    const { runs = [], created = [], checkpoints = [], closedLetters = [], inputs = [] } = more
    const changed = tasks.map((task) => ({ task, kept: this.tables.tasks.get(nameOf(task)) }))
    for (const { task, kept } of changed) {
      if (kept === undefined) throw new Error(`Task ${task.scope}/${task.id} does not exist`)
    }
    for (const key of [...checkpoints, ...inputs]) {
      if (!this.tables.tasks.has(nameOf(key))) throw new Error(`Task ${key.scope}/${key.id} does not exist`)
    }
    for (const { task } of created) {
      if (this.tables.tasks.has(nameOf(task))) throw new Error(`Task ${task.scope}/${task.id} exists`)
    }
    const begun = runs.map(({ run, definition = this.tables.runs.get(run.id)?.definition }) => {
      if (definition === undefined) throw new Error(`Run ${run.id} is new, and nothing says what it runs`)
      return { run, definition }
    })
    for (const kept of begun) this.tables.runs.set(kept.run.id, kept)
    for (const task of created) this.insert(task)
    for (const { task, kept } of changed) {
      if (kept === undefined) continue
      const { compacted: _compacted, ...rest } = { ...withTallyOf(kept.task, task), input: kept.task.input }
      kept.task = { ...rest, ...(kept.task.compacted && { compacted: kept.task.compacted }) }
    }
    for (const { input, ...key } of inputs) {
      const kept = this.tables.tasks.get(nameOf(key))
      if (kept !== undefined) kept.task = { ...kept.task, input }
    }
    for (const row of attempts) {
      const rows = this.tables.attempts.get(nameOf(row)) ?? []
      this.tables.attempts.set(nameOf(row), [...rows, row])
    }
    for (const { value, ...key } of checkpoints) {
      if (value === undefined) this.tables.checkpoints.delete(nameOf(key))
      else this.tables.checkpoints.set(nameOf(key), value)
    }
    for (const gate of gates) this.gateRecords.set(gate.key, gate)
    for (const letter of dead) this.tables.dead.set(letterName(letter), letter)
    for (const letter of closedLetters) this.closeLetter(letter)
    for (const event of events) this.tables.events.push({ ...event, seq: ++this.tables.lastSeq })
    return result
  }

  private closeLetter({ atMs, by, ...key }: ClosedLetter): void {
    const letter = this.tables.dead.get(letterName(key))
    if (letter !== undefined && letter.closed === undefined)
      this.tables.dead.set(letterName(key), { ...letter, closed: { atMs, by } })
  }
}

function copyChanges<T>({ result, ...changes }: Decided<T>): Decided<T> {
  return { ...copy(changes), result }
}

function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
