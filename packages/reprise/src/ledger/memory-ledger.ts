/**
 * A ledger in memory: for tests and for programs that want the interface without the durability. It keeps text, as the
 * others do, so that what cannot be stored fails here too. Imports its own layer and the host's clock by argument.
 */
import type { Creation, Decided, DueRequest, Keys, Ledger, NewTask, QueueRef, TaskFilter, View } from './ledger.js'
import type {
  AttemptRow,
  DeadLetter,
  GateRecord,
  OwnerRecord,
  PolicyRecord,
  StoredEvent,
  TaskKey,
  TaskRecord,
} from './records.js'
import { TERMINAL } from './records.js'

interface Kept {
  readonly payloadHash: string
  task: TaskRecord
}

export class MemoryLedger implements Ledger {
  readonly name = 'memory:'
  private readonly clock: () => number
  private readonly wall: () => number
  private commits = 0
  private readonly tasks = new Map<string, Kept>()
  private readonly policies = new Map<string, PolicyRecord>()
  private readonly attemptRows = new Map<string, AttemptRow[]>()
  private readonly gateRecords = new Map<string, GateRecord>()
  private readonly ownerRecords = new Map<string, OwnerRecord>()
  private readonly dead: DeadLetter[] = []
  private readonly log: StoredEvent[] = []

  /** `wall`: the clock of leases. */
  constructor(clock: () => number, wall = clock) {
    this.clock = clock
    this.wall = wall
  }

  async now(): Promise<number> {
    return this.clock()
  }

  async leaseNow(): Promise<number> {
    return this.wall()
  }

  async changeMark(): Promise<number> {
    return this.commits
  }

  async create(tasks: readonly NewTask[]): Promise<readonly Creation[]> {
    // All that may throw happens before anything is written.
    const copies = tasks.map(copy)
    this.commits++
    return copies.map(({ task, policy, payloadHash }) => {
      const kept = this.tasks.get(nameOf(task))
      if (kept !== undefined)
        return { type: kept.payloadHash === payloadHash ? 'existing' : 'conflict', task: kept.task }
      this.policies.set(policy.hash, policy)
      this.tasks.set(nameOf(task), { payloadHash, task })
      return { type: 'created', task }
    })
  }

  async transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T> {
    return this.commit(decide(this.view(keys.gates ?? [], keys.tasks)))
  }

  async claim<T>(request: DueRequest, decide: (task: TaskRecord, view: View) => Decided<T>): Promise<readonly T[]> {
    const now = this.clock()
    const due = this.all()
      .filter((task) => isOf(task, request.queues) && isDue(task.status, task.dueAtMs, now))
      .filter(isNoneOf(request.except))
      .toSorted((a, b) => (a.dueAtMs as number) - (b.dueAtMs as number) || compareKeys(a, b))
      .slice(0, request.limit)
    const undo = this.remember(due)
    try {
      return due.map((task) => this.commit(decide(task, this.view(request.gates ?? [], [task]))))
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
    this.ownerRecords.set(owner.id, copy(owner))
  }

  async owners(): Promise<readonly OwnerRecord[]> {
    return [...this.ownerRecords.values()]
  }

  async removeOwner(id: string): Promise<void> {
    this.ownerRecords.delete(id)
  }

  async get(key: TaskKey): Promise<TaskRecord | undefined> {
    return this.tasks.get(nameOf(key))?.task
  }

  async list(filter: TaskFilter): Promise<readonly TaskRecord[]> {
    const { run, queue, statuses, owner, after, limit = Infinity } = filter
    return this.all()
      .filter(
        (task) =>
          (run === undefined || task.run === run) &&
          (queue === undefined || task.queue === queue) &&
          (statuses === undefined || statuses.includes(task.status)) &&
          (owner === undefined || task.owner === owner) &&
          (after === undefined || compareKeys(task, after) > 0),
      )
      .toSorted(compareKeys)
      .slice(0, limit)
  }

  async policy(hash: string): Promise<PolicyRecord | undefined> {
    return this.policies.get(hash)
  }

  async keepPolicy(policy: PolicyRecord): Promise<void> {
    this.policies.set(policy.hash, copy(policy))
  }

  async attempts(key: TaskKey): Promise<readonly AttemptRow[]> {
    return [...(this.attemptRows.get(nameOf(key)) ?? [])]
  }

  async gates(): Promise<readonly GateRecord[]> {
    return [...this.gateRecords.values()]
  }

  async deadLetters(run?: string): Promise<readonly DeadLetter[]> {
    return this.dead.filter((letter) => run === undefined || letter.run === run)
  }

  async events(afterSeq: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.log.filter(({ seq }) => seq > afterSeq).slice(0, limit)
  }

  async forget(finishedBeforeMs: number, limit: number): Promise<number> {
    const old = this.all()
      .filter(({ status, updatedAtMs }) => TERMINAL.has(status) && updatedAtMs < finishedBeforeMs)
      .slice(0, limit)
    for (const task of old) {
      this.tasks.delete(nameOf(task))
      this.attemptRows.delete(nameOf(task))
    }
    return old.length
  }

  async close(): Promise<void> {}

  private all(): TaskRecord[] {
    return [...this.tasks.values()].map(({ task }) => task)
  }

  private view(gates: readonly string[], tasks: readonly TaskKey[]): View {
    const names = new Set(tasks.map(nameOf))
    return {
      now: this.clock(),
      task: (key) => {
        if (!names.has(nameOf(key))) throw new Error(`Task ${key.run}/${key.id} was not named in the transaction`)
        return this.tasks.get(nameOf(key))?.task
      },
      gate: (key) => {
        if (!gates.includes(key)) throw new Error(`Gate ${key} was not named in the transaction`)
        return this.gateRecords.get(key)
      },
    }
  }

  /** The way back from what is committed about these tasks. */
  private remember(tasks: readonly TaskRecord[]): () => void {
    const rows = tasks.map((task) => this.attemptRows.get(nameOf(task)))
    const gates = [...this.gateRecords]
    const [letters, events] = [this.dead.length, this.log.length]
    return () => {
      for (const [index, task] of tasks.entries()) {
        ;(this.tasks.get(nameOf(task)) as Kept).task = task
        this.attemptRows.set(nameOf(task), rows[index] ?? [])
      }
      this.gateRecords.clear()
      for (const [key, gate] of gates) this.gateRecords.set(key, gate)
      this.dead.splice(letters)
      this.log.splice(events)
    }
  }

  /** All that may throw happens before anything is written. */
  private commit<T>(decided: Decided<T>): T {
    const { result, tasks = [], attempts = [], gates = [], dead = [], events = [] } = copyChanges(decided)
    this.commits++
    for (const task of tasks) {
      const kept = this.tasks.get(nameOf(task))
      if (kept === undefined) throw new Error(`Task ${task.run}/${task.id} does not exist`)
      kept.task = task
    }
    for (const row of attempts) {
      const rows = this.attemptRows.get(nameOf(row)) ?? []
      this.attemptRows.set(nameOf(row), [...rows, row])
    }
    for (const gate of gates) this.gateRecords.set(gate.key, gate)
    this.dead.push(...dead)
    for (const event of events) this.log.push({ ...event, seq: this.log.length + 1 })
    return result
  }
}

function copyChanges<T>({ result, ...changes }: Decided<T>): Decided<T> {
  return { ...copy(changes), result }
}

function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

function isOf(task: TaskRecord, queues: readonly QueueRef[]): boolean {
  return queues.some(({ queue, policyHash }) => task.queue === queue && task.policyHash === policyHash)
}

function isNoneOf(except: readonly TaskKey[] = []): (task: TaskRecord) => boolean {
  const names = new Set(except.map(nameOf))
  return (task) => names.size === 0 || !names.has(nameOf(task))
}

function isDue(status: TaskRecord['status'], dueAtMs: number | null, now: number): boolean {
  return status === 'waiting' && dueAtMs !== null && dueAtMs <= now
}

function nameOf({ run, id }: TaskKey): string {
  return `${run}\u0000${id}`
}

function compareKeys(a: TaskKey, b: TaskKey): number {
  if (a.run !== b.run) return a.run < b.run ? -1 : 1
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1
}
