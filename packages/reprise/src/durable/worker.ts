/**
 * Runs the tasks that are due: claims them, executes, and writes how each attempt ended together with what follows. One
 * timer for the next due time, and a bounded poll behind it for what other processes add. Imports core, the runtime's
 * environment, the ledger's port and its own layer.
 *
 * Invariants: an attempt starts after its intent was committed; of what a lost owner would write, nothing is written,
 * since the fence has moved. At most `concurrency` attempts run.
 */
import type { Decision } from '../core/budget.js'
import type { Timer } from '../core/time.js'
import type { Changes, Decided, Ledger, View } from '../ledger/ledger.js'
import type { TaskKey, TaskRecord } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import { attemptEndOf } from './attempt-end.js'
import type { Definition } from './definition.js'
import { contextOf, Execution, type ExecutionEnd } from './execution.js'
import type { GateBook } from './gate-book.js'
import { Parked } from './parked.js'
import { NO_BUDGET } from '../core/gate.js'
import { type AttemptEnd, begin, type Begun, interrupt, settle } from './transitions.js'
import type { InterruptRule } from './policy-record.js'
import { isOver, nameOf, type Waiters } from './waiters.js'

export interface WorkerParts {
  readonly ledger: Ledger
  readonly environment: Environment
  readonly gates: GateBook
  readonly waiters: Waiters
  readonly owner: string
  readonly concurrency: number
  /** Whether the process that wrote the task's wait is gone. */
  readonly isResumed: (task: TaskRecord) => boolean
  /** The ledger cannot be used any more. */
  readonly onFailure: (error: unknown) => void
}

export interface Running {
  readonly definition: Definition
  readonly task: TaskRecord
  readonly era: number
  readonly execution: Execution
}

const ASKS_NOBODY = {
  breaker: undefined,
  attempts: Infinity,
  resumed: false,
  maxParkMs: undefined,
  ask: () => NO_BUDGET,
}

/** How often to look for what others have added. */
const POLL_MS = 1000

export class Worker implements Timer {
  readonly definitions: Map<string, Definition>
  readonly parts: WorkerParts
  private readonly running = new Map<string, Running>()
  private readonly parked = new Map<string, Parked>()
  /** Writes that may still begin something. */
  private readonly pending = new Set<Promise<unknown>>()
  /** Attempts that may begin once a write has been committed. */
  private reserved = 0
  /** Something may be due that there was no room for. */
  private starved = false
  private claiming = false
  private again = false
  private stopped = false
  private scheduledAtMs = Infinity
  private poll: NodeJS.Timeout | undefined = undefined
  private idle: (() => void)[] = []

  constructor(parts: WorkerParts, definitions: Map<string, Definition>) {
    this.parts = parts
    this.definitions = definitions
  }

  begin(): void {
    this.poll = setInterval(() => this.wake(), POLL_MS)
    this.poll.unref()
    this.wake()
  }

  /** Whether another attempt may run now. */
  get hasRoom(): boolean {
    return !this.stopped && this.running.size + this.reserved < this.parts.concurrency
  }

  /** Keeps room for an attempt whose intent is being written; `unreserve` gives it back, before the attempt takes it. */
  reserve(): boolean {
    if (!this.hasRoom) return false
    this.reserved++
    return true
  }

  unreserve(): void {
    this.reserved--
    this.roomCameFree()
  }

  /** A stop waits for it. */
  track<T>(work: Promise<T>): Promise<T> {
    const done = work.finally(() => this.pending.delete(done))
    this.pending.add(done)
    return done
  }

  /** Something may be due. Looked at once this turn's promises have run: of many that end at once, all have left room. */
  wake(): void {
    if (this.stopped || this.again) return
    this.again = true
    if (!this.claiming) process.nextTick(() => void this.track(this.claimDue()).catch(this.parts.onFailure))
  }

  /** The due time has come. */
  fire(): void {
    this.scheduledAtMs = Infinity
    this.wake()
  }

  /** No new attempts from now on; resolves when those that run have ended. */
  async drain(): Promise<void> {
    this.stopped = true
    clearInterval(this.poll)
    this.parts.environment.cancel(this)
    await Promise.all([...this.parked.values()].map((one) => one.release()))
    while (this.running.size > 0 || this.pending.size > 0) {
      if (this.pending.size > 0) await Promise.allSettled(this.pending)
      else await new Promise<void>((resolve) => this.idle.push(resolve))
    }
  }

  /** The ledger is gone: nothing can be written, so nothing is waited for. */
  halt(reason: unknown): void {
    this.stopped = true
    clearInterval(this.poll)
    this.parts.environment.cancel(this)
    for (const one of this.parked.values()) one.abandon()
    for (const { execution } of this.running.values()) execution.stop(reason)
  }

  /** Tells running attempts to stop, and records that they were interrupted on purpose. */
  async stop(reason: unknown): Promise<void> {
    this.stopped = true
    for (const { execution } of this.running.values()) execution.stop(reason)
    await this.drain()
  }

  // ── what is due ────────────────────────────────────────────────────────────────────────────────

  private async claimDue(): Promise<void> {
    this.claiming = true
    try {
      while (this.again && !this.stopped) {
        this.again = false
        await this.lookOnce()
      }
    } finally {
      this.claiming = false
      this.again = false
    }
  }

  /** A claim keeps all the room there is until it is committed: only made if something is due. */
  private async lookOnce(): Promise<void> {
    const { ledger } = this.parts
    const dueAtMs = await ledger.nextDueAtMs(this.queues())
    if (dueAtMs === null || this.stopped) return
    if (dueAtMs > (await ledger.now())) {
      // Whoever wakes us while we look is looked for at once.
      if (!this.again) this.scheduleAt(dueAtMs)
    } else if (this.hasRoom) {
      await this.claimSome()
      this.again = true
    } else {
      this.starved = true
    }
  }

  private async claimSome(): Promise<void> {
    const { ledger, concurrency, gates } = this.parts
    const queues = this.queues()
    if (queues.length === 0) return
    const limit = concurrency - this.running.size - this.reserved
    const keys = [...new Set([...this.definitions.values()].flatMap((definition) => gates.keysOf(definition)))]
    const request = { queues, limit, gates: keys.toSorted() }
    this.reserved += limit
    const claimed = await ledger
      .claim(request, (task, view) => this.claimIn(task, view))
      .finally(() => (this.reserved -= limit))
    for (const one of claimed) if ('task' in one) this.follow(one)
    for (const one of claimed) if ('error' in one) throw one.error
  }

  /** What was claimed before it is committed with it, so it does not throw. */
  private claimIn(task: TaskRecord, view: View): Decided<Begun | { readonly error: unknown }> {
    try {
      return this.beginIn(task, view)
    } catch (error) {
      return { result: { error } }
    }
  }

  private queues(): { queue: string; policyHash: string }[] {
    return [...this.definitions.values()].map(({ name, record }) => ({ queue: name, policyHash: record.hash }))
  }

  scheduleAt(dueAtMs: number | null): void {
    if (dueAtMs === null || this.stopped) return
    // A slot that comes free looks again by itself.
    if (!this.hasRoom) this.starved = true
    if (!this.hasRoom || dueAtMs >= this.scheduledAtMs) return
    const { environment } = this.parts
    environment.cancel(this)
    this.scheduledAtMs = dueAtMs
    environment.schedule(this, dueAtMs)
  }

  // ── an attempt ─────────────────────────────────────────────────────────────────────────────────

  private beginIn(task: TaskRecord, view: View): Decided<Begun> {
    const definition = this.definitions.get(task.queue) as Definition
    this.parts.gates.refresh(definition, view)
    const begun = this.beginWith(definition, task, view.now)
    return { ...begun, gates: this.parts.gates.records(definition), result: begun }
  }

  private beginWith(definition: Definition, task: TaskRecord, now: number): Begun {
    const { gates, owner } = this.parts
    const budget = gates.budgetOf(definition)
    const maxParkMs = budget?.park === undefined ? undefined : (budget.maxParkMs ?? 30_000)
    const begun = begin(
      task,
      owner,
      {
        breaker: gates.breakerOf(definition),
        attempts: definition.policy.attempts,
        resumed: this.parts.isResumed(task),
        maxParkMs,
        ask: () => gates.ask(definition, task, now),
      },
      now,
    )
    gates.giveUp(definition, task, begun.task, now)
    return begun
  }

  /** A task that was parked begins, with what the line gave it. */
  beginGranted(definition: Definition, task: TaskRecord, grant: Decision, now: number): Begun {
    const { gates, owner } = this.parts
    const { attempts } = definition.policy
    const breaker = gates.breakerOf(definition)
    return begin(task, owner, { breaker, attempts, resumed: false, maxParkMs: undefined, ask: () => grant }, now)
  }

  /** A new task as it is while its first attempt runs; for one that asks nobody. */
  beginFree(task: TaskRecord, now: number): TaskRecord {
    return begin(task, this.parts.owner, ASKS_NOBODY, now).task
  }

  /** Whether this process runs it, or will hear of its end. */
  isHere(key: TaskKey): boolean {
    return this.running.has(nameOf(key)) || this.parked.has(nameOf(key))
  }

  /** The task was taken from its attempt, which is told so. */
  abandon(key: TaskKey): void {
    this.running.get(nameOf(key))?.execution.stop(new Error('The task was cancelled'))
    this.parked.get(nameOf(key))?.abandon()
    this.parked.delete(nameOf(key))
  }

  /** What has been committed is done. */
  follow({ task, era }: Begun): void {
    const definition = this.definitions.get(task.queue) as Definition
    if (task.status === 'running') this.execute(definition, task, era)
    else if (task.status === 'parked') this.park(definition, task)
    else if (isOver(task)) this.parts.waiters.settled(task)
  }

  private park(definition: Definition, task: TaskRecord): void {
    const parked = new Parked(this, definition, task, (left) => {
      if (this.parked.get(nameOf(task)) === parked) this.parked.delete(nameOf(task))
      if (left !== undefined) this.follow(left)
    })
    if (this.stopped) {
      void parked.turnAway()
      return
    }
    this.parked.set(nameOf(task), parked)
    parked.join()
  }

  private execute(definition: Definition, task: TaskRecord, era: number): void {
    const { environment, onFailure } = this.parts
    const execution = new Execution(environment.clock)
    const running = { definition, task, era, execution }
    this.running.set(nameOf(task), running)
    const { deadlineAtMs } = task.progress.retry
    const remainingMs = deadlineAtMs === null ? undefined : deadlineAtMs - environment.exactMs()
    const context = contextOf(definition, task, execution, remainingMs)
    const limits = { attemptTimeoutMs: definition.policy.attemptTimeoutMs, remainingMs }
    // What was decided just before a stop does not begin any more.
    if (this.stopped) execution.stop(new Error('The process stops'))
    else execution.run(() => definition.run(task.input as never, context), definition.name, context.attempt, limits)
    void execution.ended.then((end) => this.conclude(running, end)).catch(onFailure)
  }

  private async conclude(running: Running, end: ExecutionEnd): Promise<void> {
    const { definition, task } = running
    const { ledger, gates } = this.parts
    const attemptEnd =
      end.type === 'stopped'
        ? undefined
        : attemptEndOf(definition, end, task.progress.retry.launched, this.parts.environment.clock.wallMs())
    const rule = end.type === 'stopped' && !end.started ? 'rerun' : definition.onInterrupt
    const keys = { tasks: [task], gates: gates.keysOf(definition) }
    let informed = false
    try {
      const after = await ledger.transact(keys, (view): Decided<Begun | undefined> => {
        const current = view.task(task)
        // Somebody took it over: what this attempt did is his to find out.
        if (current === undefined || current.fence !== task.fence) return { result: undefined }
        if (!informed) {
          gates.refresh(definition, view)
          this.inform(running, attemptEnd, view.now)
        }
        informed = true
        const changes = this.afterEnd(definition, rule, current, attemptEnd, view.now)
        return { ...changes, gates: gates.records(definition), result: { task: changes.task, era: changes.era } }
      })
      this.remove(running)
      if (after === undefined) this.lost(running)
      else this.follow(after)
      if (after?.task.status === 'waiting') this.scheduleAt(after.task.dueAtMs)
    } finally {
      this.remove(running)
      this.roomCameFree()
    }
  }

  /** The task may have begun again here meanwhile. */
  private remove(running: Running): void {
    const name = nameOf(running.task)
    if (this.running.get(name) === running) this.running.delete(name)
  }

  /** Whoever took the task has its grant too; a breaker's place is this process's own. */
  private lost({ definition, task, era }: Running): void {
    const { gates } = this.parts
    gates.breakerOf(definition)?.giveBack(era)
    if (!this.isHere(task)) gates.drop(task)
  }

  /** Breaker and budget hear how it ended. */
  private inform({ definition, task, era }: Running, end: AttemptEnd | undefined, now: number): void {
    const { gates } = this.parts
    const breaker = gates.breakerOf(definition)
    const result = end?.result ?? 'interrupted'
    if (result === 'success') breaker?.success(era)
    else if (end === undefined) breaker?.giveBack(era)
    else breaker?.failure(era, now)
    if (end === undefined) return
    const latencyMs = now - (task.progress.current?.startedAtMs ?? now)
    gates.settle(definition, task, { result, latencyMs, won: result === 'success', now })
  }

  /** The outcome, and the next attempt with it if that is due at once. */
  private afterEnd(
    definition: Definition,
    rule: InterruptRule,
    task: TaskRecord,
    end: AttemptEnd | undefined,
    now: number,
  ): Changes & Begun {
    const gates = this.parts.gates.retryGates(definition, task, now)
    if (end === undefined) {
      return { ...interrupt(task, definition.policy, rule, true, gates, now), era: 0 }
    }
    const settled = settle(task, definition.policy, end, gates, now)
    const isDue = settled.task.status === 'waiting' && (settled.task.dueAtMs as number) <= now
    if (!isDue || this.stopped) return { ...settled, era: 0 }
    const next = this.beginWith(definition, settled.task, now)
    return {
      ...next,
      attempts: [...(settled.attempts ?? []), ...(next.attempts ?? [])],
      dead: [...(settled.dead ?? []), ...(next.dead ?? [])],
    }
  }

  private roomCameFree(): void {
    if (this.running.size === 0) for (const resolve of this.idle.splice(0)) resolve()
    if (!this.starved || !this.hasRoom) return
    this.starved = false
    this.wake()
  }
}
