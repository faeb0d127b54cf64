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
import { keyOf, nameOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import type { Activity } from './activity.js'
import type { Denied, Started, TaskAdmission } from './admission.js'
import { ruleOf } from './allotment.js'
import { type AvoidedPorts, AvoidedRetries } from './avoided-retries.js'
import { type Definition, isConducted, runsOf } from './definition.js'
import { TaskRefusedError } from './errors.js'
import type { GateBook } from './gate-book.js'
import type { Holds } from './holds.js'
import type { LedgerClock } from './ledger-clock.js'
import { mostNamed, paceOf } from './queue-gate.js'
import type { Slots } from './slots.js'
import { faultsOfState, lacksState } from './state-check.js'
import type { TaskEvents } from './task-events.js'
import { inOneCommit, type TaskView, type TaskWriter, type Transitioned } from './task-writer.js'
import { askAgain, migrate, seedOf, type Settled } from './transitions.js'
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
  /** Other processes may have added tasks, or taken some. */
  readonly look: () => void
  /** Tasks in line are kept in memory: no more of them than may run are taken out of the ledger. */
  readonly hasRoomInLine: () => boolean
  readonly onFailure: (error: unknown) => void
}

type Claimed =
  | Started
  /** Another process conducts its run. */
  | { readonly lost: TaskRecord }
  | { readonly faults: readonly string[]; readonly task: TaskRecord }
  | Denied
  /** Its queue has a rate, and no start is left for now: it was left alone. */
  | { readonly paced: TaskRecord; readonly waitMs: number }
  /** Others are preferred for it: it was left alone. */
  | { readonly avoided: TaskRecord; readonly waitMs: number }
  /** Its end changes its group, or its start a count, whose rows the claim does not have: it was left alone. */
  | { readonly left: TaskRecord }
  | { readonly error: unknown }

interface Refused {
  readonly key: TaskKey
  readonly faults: readonly string[]
}

export class DueTasks implements Timer {
  private readonly ports: DuePorts
  private readonly refused = new Map<string, Refused>()
  private readonly turns = new QueueTurns()
  private readonly avoided: AvoidedRetries
  private claiming = false
  private again = false
  /** The last claim took all there was room for. */
  private hasLeftOver = false
  private scheduledAtMs = Infinity
  private poll: NodeJS.Timeout | undefined = undefined

  constructor(ports: DuePorts) {
    this.ports = ports
    this.avoided = new AvoidedRetries(ports)
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

  /** Why it was found to be impossible, if it was. */
  faultsOf(key: TaskKey): readonly string[] {
    return this.refused.get(nameOf(key))?.faults ?? []
  }

  refuse(definition: Definition, task: TaskRecord, faults: readonly string[]): void {
    if (this.refused.has(nameOf(task))) return
    this.refused.set(nameOf(task), { key: keyOf(task), faults })
    this.ports.events.refused(definition, task, faults)
  }

  /** Somebody may have mended it. */
  lookAgain(): void {
    this.refused.clear()
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
    const { slots, ledger, activity, clock } = this.ports
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
    const limit = Math.min(slots.free, MAX_BATCH)
    const limits = queues.flatMap(({ queue, most }) => (most === undefined ? [] : queueKey(queue)))
    const asked = [...definitions.values()].flatMap((definition) => gates.keysOf(definition))
    const gateKeys = [...new Set([...asked, ...limits])].toSorted()
    const runs = [...new Set([...definitions.values()].flatMap(runsOf))]
    const { mark } = holds
    const onFull = (queue: string): void => {
      if (!holds.full(queue, queueKey(queue), mark)) this.again = true
    }
    const request = { queues, limit, gates: gateKeys, runs, except: this.except(), onFull }
    slots.take(limit)
    try {
      const claimed = await ledger.claim(request, (task, view) => {
        return this.claimOne(definitions.get(task.queue) as Definition, task, view)
      })
      this.follow(claimed, definitions)
      this.noteDenials(claimed, mark)
      await this.writeLeft(claimed)
      this.hasLeftOver = claimed.length === limit
      return claimed.length > 0
    } finally {
      slots.give(limit)
    }
  }

  private follow(claimed: readonly Claimed[], definitions: ReadonlyMap<string, Definition>): void {
    const { follow } = this.ports
    for (const one of claimed) {
      if ('task' in one) this.turns.serve(one.task.queue)
      if ('faults' in one) this.refuse(definitions.get(one.task.queue) as Definition, one.task, one.faults)
      else if ('lost' in one) this.leave(one.lost)
      else if ('avoided' in one) this.avoided.add(one.avoided, this.ports.environment.exactMs() + one.waitMs)
      else if ('epoch' in one) follow(definitions.get(one.task.queue) as Definition, one)
    }
    for (const one of claimed) if ('error' in one) throw one.error
  }

  /** Queues with a task that was denied are held. */
  private noteDenials(claimed: readonly Claimed[], mark: number): void {
    const { holds, environment } = this.ports
    for (const one of claimed)
      if ('paced' in one) holds.pace(one.paced.queue, queueKey(one.paced.queue), one.waitMs, environment.exactMs())
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
  private claimOne(definition: Definition, task: TaskRecord, view: View): Decided<Claimed> {
    const { writer } = this.ports
    if (!isConducted(definition, view)) return { result: { lost: task } }
    try {
      const older = this.migrated(task, view.now)
      const known = older?.task ?? task
      const faults = faultsOfState(known, definition.policy.attempts)
      if (faults.length > 0) return { result: { faults, task } }
      const waitMs = this.avoided.waitMs(definition, known, view.now)
      if (waitMs > 0) return { result: { avoided: task, waitMs } }
      if (known.progress.unpaid) return { result: { left: task } }
      const pace = paceOf(definition, view)
      if (pace !== undefined && 'waitMs' in pace) return { result: { paced: task, waitMs: pace.waitMs } }
      let denied: Denied | undefined
      const start = ({ now }: TaskView): Transitioned<Claimed> | undefined => {
        const started = this.start(definition, known, older, now)
        if ('changes' in started) return started
        denied = started
        return undefined
      }
      const decided = writer.decideClaimed<Claimed>(definition, known, view, start)
      if (decided === undefined) return { result: denied ?? { left: task } }
      const hasStarted = 'epoch' in decided.result && !isOver(decided.result.task)
      return pace === undefined || !hasStarted ? decided : { ...decided, gates: [...(decided.gates ?? []), pace.gate] }
    } catch (error) {
      return { result: { error } }
    }
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
  ): Transitioned<Started> | Denied {
    const begun = this.ports.admission.start(definition, task, now)
    if ('denial' in begun) return begun
    return { changes: older === undefined ? begun : inOneCommit(older, begun), result: begun }
  }

  /** Tasks that are over before they begin (out of time, out of attempts, refused by a gate) end with their groups. */
  private async writeLeft(claimed: readonly Claimed[]): Promise<void> {
    const left = claimed.flatMap((one) => ('left' in one ? [one.left] : []))
    await Promise.all(left.map((task) => (task.progress.unpaid ? this.payAndStart(task) : this.endWithGroup(task))))
  }

  /** The retry is charged in the transaction that starts it: the claim had not locked the count. */
  private async payAndStart(task: TaskRecord): Promise<void> {
    const { definitions, writer, follow } = this.ports
    const definition = definitions.get(task.queue)
    if (definition === undefined) return
    const surveyed = (await (definition.allot && ruleOf(definition.allot).survey?.(task))) ?? null
    const started = await writer.write<Started | undefined>({
      definition,
      key: task,
      heldAs: task,
      mayRetry: true,
      surveyed,
      decide: (view) => {
        if (!view.isConducted) return undefined
        const asked = askAgain(view.task, view.retryGates, () => view.isFree, view.now)
        if (!asked.isPaid)
          return { changes: asked, result: isOver(asked.task) ? { ...asked, ...NOT_BEGUN } : undefined }
        const begun = this.start(definition, asked.task, undefined, view.now)
        return 'changes' in begun ? begun : undefined
      },
    })
    if (started !== undefined) follow(definition, started)
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
    return [...Array.from(this.refused.values(), ({ key }) => key), ...this.avoided.keys]
  }
}

/** Of a task that was over before it began. */
const NOT_BEGUN = { epoch: 0, asked: undefined } as const

/** None if all ranks are held. */
function refsOf(definition: Definition, ranks: readonly number[] | undefined): QueueRef[] {
  if (ranks?.length === 0) return []
  const { queue, record } = definition
  const most = mostNamed(definition)
  return [{ queue, policyHash: record.hash, ...(most !== undefined && { most }), ...(ranks && { ranks }) }]
}
