/**
 * Finds the tasks that are due and claims them: one timer for the next due time, and a bounded poll behind it for what
 * other processes add. Tasks whose state cannot be are passed over and named once. Imports core's types and its own
 * layer.
 */
import type { Timer } from '../core/time.js'
import { rankOf } from '../ledger/claim-order.js'
import { QueueTurns } from '../ledger/fair-share.js'
import type { Decided, Ledger, QueueRef, View } from '../ledger/ledger.js'
import { queueKey } from '../ledger/queue-limit.js'
import type { TaskKey, TaskRecord } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import type { Activity } from './activity.js'
import type { Denied, Started, TaskAdmission } from './admission.js'
import { ruleOf } from './allotment.js'
import { type AvoidedPorts, AvoidedRetries } from './avoided-retries.js'
import { ClaimedShare } from './claimed-share.js'
import type { Claimed, Seated } from './claimed.js'
import { asksNothing, type Definition, isConducted, runsOf } from './definition.js'
import { TaskRefusedError } from './errors.js'
import type { GateBook } from './gate-book.js'
import type { Holds } from './holds.js'
import type { LedgerClock } from './ledger-clock.js'
import { startPlain } from './plain.js'
import { faultsOfQueue, paceOf, refsOf } from './queue-gate.js'
import { Refusals, type Unsound } from './refusals.js'
import type { Slots } from './slots.js'
import { faultsOfState, lacksState } from './state-check.js'
import type { TaskEvents } from './task-events.js'
import { inOneCommit } from './together.js'
import { type TaskView, type TaskWriter, type Transitioned } from './task-writer.js'
import { type OpenBatch, OpenBatches } from './open-batches.js'
import { askAgain, type Begun, migrate, seedOf, type Settled, withBatch } from './transitions.js'
import { isOver, type Waiters } from './waiters.js'

/** How often to look for tasks that other processes have added. */
const POLL_MS = 1000
/** At most this many tasks in one claim: other processes write between two transactions. */
const MAX_BATCH = 500

export interface DuePorts extends AvoidedPorts {
  readonly ledger: Ledger
  readonly environment: Environment
  readonly gates: GateBook
  readonly holds: Holds
  /** By queue. */
  readonly definitions: Map<string, Definition>
  readonly slots: Slots
  readonly writer: TaskWriter
  readonly admission: TaskAdmission
  readonly events: TaskEvents
  readonly waiters: Waiters
  readonly activity: Activity
  readonly clock: LedgerClock
  /** A claim of this task was committed. */
  readonly follow: (definition: Definition, started: Started) => void
  /** The same for tasks that were claimed together. */
  readonly followBatch: (definition: Definition, started: readonly Started[]) => void
  /** Other processes may have added tasks, or taken some. */
  readonly look: () => void
  /** False while the outcome of an attempt waits for a store that was away. */
  readonly mayClaim: () => boolean
  /** Tasks of the queue that this process runs or holds in line. */
  readonly runningIn: (queue: string) => number
  /** Tasks in line are kept in memory: no more of them than may run are taken out of the ledger. */
  readonly hasRoomInLine: () => boolean
  readonly onFailure: (error: unknown) => void
  /** Whether a task that was written last at this time had been left by another process. */
  readonly wasWaiting: (updatedAtMs: number) => boolean
}

export class DueTasks implements Timer {
  private readonly ports: DuePorts
  /** Tasks that are left as they are. */
  readonly refusals: Refusals
  private readonly turns = new QueueTurns()
  private readonly avoided: AvoidedRetries
  /** Tasks that had waited since before this process, and were begun here since the last resume. */
  private begunSince = 0
  private claiming = false
  private again = false
  /** The last claim took all there was room for. */
  private hasLeftOver = false
  private scheduledAtMs = Infinity
  private poll: NodeJS.Timeout | undefined = undefined

  constructor(ports: DuePorts) {
    this.ports = ports
    this.avoided = new AvoidedRetries(ports)
    this.refusals = new Refusals(ports)
  }

  begin(): void {
    this.poll = setInterval(() => this.ports.look(), POLL_MS)
    this.poll.unref()
  }

  end(): void {
    clearInterval(this.poll)
    this.ports.environment.cancel(this)
  }

  /** The due time has come. */
  fire(): void {
    this.scheduledAtMs = Infinity
    if (!this.ports.activity.isStopped) this.wake()
  }

  /** How many tasks that were waiting when this process came it has begun with, since this was asked last. */
  takeBegun(): number {
    const count = this.begunSince
    this.begunSince = 0
    return count
  }

  /** Something may be due. Looked at when this turn's promises have run: of many that end at once, all have left room. */
  wake(): void {
    if (this.again) return
    this.again = true
    if (this.claiming) return
    const { activity, onFailure } = this.ports
    process.nextTick(() => void activity.track(this.claim()).catch(onFailure))
  }

  private async claim(): Promise<void> {
    if (this.claiming) return
    this.claiming = true
    try {
      while (this.again && !this.ports.activity.isStopped) {
        this.again = false
        const nowMs = this.ports.environment.exactMs()
        this.ports.holds.expire(nowMs)
        this.avoided.expire(nowMs)
        await this.lookOnce()
      }
      this.scheduleHeld()
    } finally {
      this.claiming = false
      this.again = false
    }
  }

  /** A claim keeps all the room there is until it is committed: only made if something is due, or was left over. */
  private async lookOnce(): Promise<void> {
    const { slots, ledger, activity, clock, mayClaim } = this.ports
    if (!mayClaim()) return
    if (this.hasLeftOver) {
      if (slots.free === 0) {
        slots.starve()
        return
      }
      this.hasLeftOver = false
      await this.claimSome()
      // What is due after these is looked for.
      this.again = true
      return
    }
    const queues = this.queues()
    const dueAtMs = queues.length === 0 ? null : await ledger.nextDueAtMs(queues, this.except())
    if (dueAtMs === null || activity.isStopped) return
    const now = await ledger.now()
    clock.heard(now)
    if (dueAtMs > now) {
      // Whoever wakes us while we look is looked for at once.
      if (!this.again) this.scheduleIn(dueAtMs - now)
    } else if (slots.free > 0) {
      // More may be due than there was room for; what was passed over is not looked for again.
      if (await this.claimSome()) this.again = true
    } else {
      slots.starve()
    }
  }

  /** Looks again when the first gate allows attempts again, or the first retry is not left to others any more. */
  private scheduleHeld(): void {
    const { holds, environment } = this.ports
    const nextAtMs = Math.min(holds.nextAtMs, this.avoided.nextAtMs)
    if (nextAtMs < Infinity) this.scheduleIn(Math.max(0, nextAtMs - environment.exactMs()))
  }

  /** By a delay, since the ledger's clock need not be this process's. */
  scheduleIn(delayMs: number): void {
    const { slots, activity, environment } = this.ports
    if (activity.isStopped) return
    const dueAtMs = environment.exactMs() + delayMs
    // A slot that comes free looks again by itself.
    if (slots.free === 0) slots.starve()
    if (slots.free === 0 || dueAtMs >= this.scheduledAtMs) return
    environment.cancel(this)
    this.scheduledAtMs = dueAtMs
    environment.schedule(this, dueAtMs)
  }

  /** Whether there was any. */
  private async claimSome(): Promise<boolean> {
    const { slots, ledger, gates, holds } = this.ports
    // As they are now: the queue of a step is removed when its caller goes, perhaps while the claim is being written.
    const definitions = new Map(this.ports.definitions)
    const queues = this.queues()
    if (queues.length === 0) return false
    const together = Math.max(...queues.map(({ batch }) => batch?.most ?? 1))
    const limit = Math.min(slots.free, Math.max(1, Math.floor(MAX_BATCH / together)))
    const limits = queues.flatMap(({ queue, most }) => (most === undefined ? [] : queueKey(queue)))
    const all = [...definitions.values()]
    const gateKeys = [...new Set([...all.flatMap((one) => gates.keysOf(one)), ...limits])].toSorted()
    const [runs, isUngated] = [[...new Set(all.flatMap(runsOf))], all.every(asksNothing)]
    const { mark } = holds
    const onFull = (queue: string): void => {
      if (!holds.full(queue, queueKey(queue), mark)) this.again = true
    }
    const request = { queues, limit, gates: gateKeys, runs, except: this.except(), isUngated, onFull }
    slots.take(limit)
    try {
      const batches = new OpenBatches()
      const share = new ClaimedShare(this.ports)
      const seated = await ledger.claim<Seated>(request, (task, view, seat) => {
        const definition = definitions.get(task.queue) as Definition
        const plain = startPlain(this.ports.admission, definition, task, view.now)
        if (plain !== undefined) return { tasks: plain.tasks, result: { one: plain, place: seat.place } }
        if (share.isUsedUp(definition, task, view, seat))
          return { result: { one: { shared: task }, place: seat.place } }
        const decided = this.claimOne(definition, task, view, batches.enter(seat))
        if ('epoch' in decided.result && !isOver(decided.result.task)) share.take(task, seat)
        return { ...decided, result: { one: decided.result, place: seat.place } }
      })
      const claimed = seated.map(({ one }) => one)
      this.follow(seated, definitions)
      this.noteDenials(claimed, mark)
      await this.writeLeft(claimed)
      this.hasLeftOver = new Set(seated.map(({ place }) => place)).size === limit
      return claimed.length > 0
    } finally {
      slots.give(limit)
    }
  }

  private follow(seated: readonly Seated[], definitions: ReadonlyMap<string, Definition>): void {
    const { follow, followBatch } = this.ports
    const batches = new Map<number, Started[]>()
    for (const { one, place } of seated) {
      if ('task' in one) this.turns.serve(one.task.queue)
      if ('faults' in one && 'task' in one)
        this.refusals.refuse(definitions.get(one.task.queue) as Definition, one.task, one.faults)
      else if ('unsound' in one) this.refusals.refuseGated(definitions.get(one.unsound.queue) as Definition, one)
      else if ('lost' in one) this.leave(one.lost)
      else if ('avoided' in one) this.avoided.add(one.avoided, this.ports.environment.exactMs() + one.waitMs)
      else if ('epoch' in one) {
        if (one.restedSinceMs !== undefined && this.ports.wasWaiting(one.restedSinceMs)) this.begunSince++
        const definition = definitions.get(one.task.queue) as Definition
        if (definition.batch === undefined || !isExecuted(one)) follow(definition, one)
        else batches.set(place, [...(batches.get(place) ?? []), one])
      }
    }
    for (const started of batches.values()) {
      const [first] = started
      if (first !== undefined) followBatch(definitions.get(first.task.queue) as Definition, started)
    }
    for (const { one } of seated) if ('error' in one) throw one.error
  }

  /** Queues with a task that was denied are held. */
  private noteDenials(claimed: readonly Claimed[], mark: number): void {
    const { holds, environment } = this.ports
    for (const one of claimed)
      if ('paced' in one) holds.pace(one.paced.queue, queueKey(one.paced.queue), one.waitMs, environment.exactMs())
    for (const one of claimed) if ('unsound' in one && !holds.full(one.unsound.queue, one.gate, mark)) this.again = true
    for (const one of claimed)
      if ('shared' in one && !holds.full(one.shared.queue, queueKey(one.shared.queue), mark)) this.again = true
    const denied = claimed.filter((one) => 'denial' in one)
    for (const { task, denial } of denied) {
      if (!holds.deny(task.queue, rankOf(task), denial, mark, environment.exactMs())) this.again = true
    }
    if (!holds.hasTold) return
    const isDenied = new Set(denied.map(({ task }) => task.queue))
    for (const one of claimed)
      if ('epoch' in one && !isDenied.has(one.task.queue)) holds.started(one.task.queue, one.asked !== undefined)
  }

  /** Callers that wait for the task here get an error: another process conducts the run. */
  private leave(task: TaskRecord): void {
    const { definitions, waiters } = this.ports
    // Whoever stopped the run tells them.
    if (definitions.get(task.queue)?.conductor?.isStopped === true) return
    definitions.delete(task.queue)
    const message = `Run ${task.scope} was taken over by another process`
    waiters.gone(task, new TaskRefusedError('run_lost', message))
  }

  /** The tasks claimed before this one are committed with it, so an error is an answer here. */
  private claimOne(definition: Definition, task: TaskRecord, view: View, batch: OpenBatch): Decided<Claimed> {
    const { writer } = this.ports
    if (!isConducted(definition, view)) return { result: { lost: task } }
    try {
      const older = this.migrated(task, view.now)
      const known = older?.task ?? task
      const faults = faultsOfState(known, definition.policy.attempts)
      if (faults.length > 0) return { result: { faults, task } }
      const waitMs = this.avoided.waitMs(definition, known, view.now)
      if (waitMs > 0) return { result: { avoided: task, waitMs } }
      const damage = faultsOfQueue(definition, view)
      if (damage !== undefined) return { result: { unsound: task, ...damage } }
      if (known.progress.unpaid) return { result: { left: task } }
      // A batch is one start: its first task takes it.
      const pace = batch.first === undefined ? paceOf(definition, view) : undefined
      if (pace !== undefined && 'waitMs' in pace) return { result: { paced: task, waitMs: pace.waitMs } }
      let denied: Denied | undefined
      const start = ({ now }: TaskView): Transitioned<Claimed> | undefined => {
        if (this.ports.gates.faultsOf(definition).length > 0) return undefined
        const started = this.start(definition, known, older, now, batch)
        if ('changes' in started) return started
        denied = started
        return undefined
      }
      const decided = writer.decideClaimed<Claimed>(definition, known, view, start)
      const unsound = this.unsound(definition, task, view.now)
      if (unsound !== undefined) return { result: unsound }
      if (decided === undefined) return { result: denied ?? { left: task } }
      const hasStarted = 'epoch' in decided.result && !isOver(decided.result.task)
      return pace === undefined || !hasStarted ? decided : { ...decided, gates: [...(decided.gates ?? []), pace.gate] }
    } catch (error) {
      return { result: { error } }
    }
  }

  /** The gates of the task cannot be used: what they have granted in this transaction is not. */
  private unsound(definition: Definition, task: TaskRecord, now: number): Unsound | undefined {
    const { gates } = this.ports
    const faults = gates.faultsOf(definition)
    if (faults.length === 0) return undefined
    gates.revoke(definition, task, now)
    return { unsound: task, faults, gate: gates.keysOf(definition)[0] ?? '' }
  }

  /** A task that was written before there was a retry state, with a fresh one. */
  private migrated(task: TaskRecord, now: number): Settled | undefined {
    return lacksState(task) ? migrate(task, seedOf(this.ports.environment.random), now) : undefined
  }

  private start(
    definition: Definition,
    task: TaskRecord,
    older: Settled | undefined,
    now: number,
    batch?: OpenBatch,
  ): Transitioned<Started> | Denied {
    const admitted = this.ports.admission.start(definition, task, now)
    if ('denial' in admitted) return admitted
    const isPart = batch !== undefined && definition.batch !== undefined && isExecuted(admitted)
    const begun = isPart ? withBatch(admitted, batch.join(task.id)) : admitted
    const result = { ...begun, restedSinceMs: task.updatedAtMs }
    return { changes: older === undefined ? begun : inOneCommit(older, begun), result }
  }

  /** Tasks that are over before they begin (out of time, out of attempts, refused by a gate) end with their groups. */
  private async writeLeft(claimed: readonly Claimed[]): Promise<void> {
    const left = claimed.flatMap((one) => ('left' in one ? [one.left] : []))
    await Promise.all(left.map((task) => (task.progress.unpaid ? this.payAndStart(task) : this.endWithGroup(task))))
  }

  /** The retry is charged in the transaction that starts it: the claim had not locked the count. */
  private async payAndStart(task: TaskRecord): Promise<void> {
    const { definitions, writer, follow, holds, gates } = this.ports
    const definition = definitions.get(task.queue)
    if (definition === undefined) return
    const surveyed = (await (definition.allot && ruleOf(definition.allot).survey?.(task))) ?? null
    const { mark } = holds
    let faults: readonly string[] = []
    const started = await writer.write<Started | undefined>({
      definition,
      key: task,
      heldAs: task,
      mayRetry: true,
      surveyed,
      decide: (view) => {
        faults = view.isConducted ? view.gateFaults : []
        if (!view.isConducted || faults.length > 0) return undefined
        const asked = askAgain(view.task, view.retryGates, () => view.isFree, view.now)
        if (!asked.isPaid)
          return { changes: asked, result: isOver(asked.task) ? { ...asked, ...NOT_BEGUN } : undefined }
        const begun = this.start(definition, asked.task, undefined, view.now)
        return 'changes' in begun ? begun : undefined
      },
    })
    if (started !== undefined) follow(definition, started)
    if (faults.length === 0) return
    const gate = gates.keysOf(definition)[0] ?? ''
    if (!holds.full(task.queue, gate, mark)) this.again = true
    this.refusals.refuseGated(definition, { unsound: task, faults, gate })
  }

  private async endWithGroup(task: TaskRecord): Promise<void> {
    const { definitions, writer, follow } = this.ports
    const definition = definitions.get(task.queue)
    if (definition === undefined) return
    const ended = await writer.write<Started>({
      definition,
      key: task,
      heldAs: task,
      decide: ({ task: current, now, isConducted: isOurs }) => {
        if (!isOurs) return undefined
        const older = this.migrated(current, now)
        const started = this.start(definition, older?.task ?? current, older, now)
        // A task that may begin after all, or is held, is left to the next claim, which counts how many run.
        return 'changes' in started && isOver(started.result.task) ? started : undefined
      },
    })
    if (ended !== undefined) follow(definition, ended)
  }

  /** Those first that were served longest ago. */
  private queues(): readonly QueueRef[] {
    const { definitions, gates, holds, hasRoomInLine } = this.ports
    const hasRoom = hasRoomInLine()
    const open = [...definitions.values()].filter(
      (one) => one.conductor?.isStopped !== true && (hasRoom || gates.isShared(one)),
    )
    return this.turns.inOrder(open.flatMap((one) => refsOf(one, holds.openRanks(one.queue))))
  }

  private except(): readonly TaskKey[] {
    return [...this.refusals.keys, ...this.avoided.keys]
  }
}

/** Whether its function is called now: it neither stands in a line nor is looked into. */
function isExecuted({ task }: Begun): boolean {
  return task.status === 'running' && task.progress.unverified !== true
}

/** Of a task that was over before it began. */
const NOT_BEGUN = { epoch: 0, asked: undefined } as const
