/**
 * Finds the tasks that are due and claims them: one timer for the next due time, and a bounded poll behind it for what
 * other processes add. Tasks whose state cannot be are passed over and named once. Imports core's types and its own
 * layer.
 */
import type { Timer } from '../core/time.js'
import { QueueTurns } from '../ledger/fair-share.js'
import type { Decided, QueueRef, View } from '../ledger/ledger.js'
import { keyOf, nameOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import type { Started } from './beginning.js'
import { type Definition, isConducted, runsOf } from './definition.js'
import { TaskRefusedError } from './errors.js'
import { faultsOfState, lacksState } from './state-check.js'
import { migrate, seedOf } from './transitions.js'
import type { Worker } from './worker.js'

/** How often to look for what others have added. */
const POLL_MS = 1000
/** So many at a time: others write between two transactions. */
const MAX_BATCH = 500

type Claimed =
  | Started
  /** Somebody else conducts its run. */
  | { readonly lost: TaskRecord }
  | { readonly faults: readonly string[]; readonly task: TaskRecord }
  | { readonly error: unknown }

interface Refused {
  readonly key: TaskKey
  readonly faults: readonly string[]
}

export class DueTasks implements Timer {
  private readonly worker: Worker
  private readonly refused = new Map<string, Refused>()
  private readonly turns = new QueueTurns()
  private claiming = false
  private again = false
  /** The last claim took all there was room for. */
  private hasLeftOver = false
  private scheduledAtMs = Infinity
  private poll: NodeJS.Timeout | undefined = undefined

  constructor(worker: Worker) {
    this.worker = worker
  }

  begin(): void {
    this.poll = setInterval(() => this.worker.look(), POLL_MS)
    this.poll.unref()
  }

  end(): void {
    clearInterval(this.poll)
    this.worker.parts.environment.cancel(this)
  }

  /** The due time has come. */
  fire(): void {
    this.scheduledAtMs = Infinity
    this.worker.wake()
  }

  /** Why it was found to be impossible, if it was. */
  faultsOf(key: TaskKey): readonly string[] {
    return this.refused.get(nameOf(key))?.faults ?? []
  }

  refuse(definition: Definition, task: TaskRecord, faults: readonly string[]): void {
    if (this.refused.has(nameOf(task))) return
    this.refused.set(nameOf(task), { key: keyOf(task), faults })
    this.worker.telling.refused(definition, task, faults)
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
    const { track, parts } = this.worker
    process.nextTick(() => void track(this.claim()).catch(parts.onFailure))
  }

  private async claim(): Promise<void> {
    if (this.claiming) return
    this.claiming = true
    try {
      while (this.again && !this.worker.stopped) {
        this.again = false
        await this.lookOnce()
      }
    } finally {
      this.claiming = false
      this.again = false
    }
  }

  /** A claim keeps all the room there is until it is committed: only made if something is due, or was left over. */
  private async lookOnce(): Promise<void> {
    const { slots, parts } = this.worker
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
    const dueAtMs = queues.length === 0 ? null : await parts.ledger.nextDueAtMs(queues, this.except())
    if (dueAtMs === null || this.worker.stopped) return
    const now = await parts.ledger.now()
    this.worker.heardTime(now)
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

  /** By a delay, since the ledger's clock need not be this process's. */
  scheduleIn(delayMs: number): void {
    const { slots, stopped, parts } = this.worker
    if (stopped) return
    const dueAtMs = parts.environment.exactMs() + delayMs
    // A slot that comes free looks again by itself.
    if (slots.free === 0) slots.starve()
    if (slots.free === 0 || dueAtMs >= this.scheduledAtMs) return
    parts.environment.cancel(this)
    this.scheduledAtMs = dueAtMs
    parts.environment.schedule(this, dueAtMs)
  }

  /** Whether there was any. */
  private async claimSome(): Promise<boolean> {
    const { slots, definitions, parts } = this.worker
    const queues = this.queues()
    if (queues.length === 0) return false
    const limit = Math.min(slots.free, MAX_BATCH)
    const gates = [...new Set([...definitions.values()].flatMap((definition) => parts.gates.keysOf(definition)))]
    const runs = [...new Set([...definitions.values()].flatMap(runsOf))]
    const request = { queues, limit, gates: gates.toSorted(), runs, except: this.except() }
    slots.take(limit)
    try {
      const claimed = await parts.ledger.claim(request, (task, view) => this.claimOne(task, view))
      this.follow(claimed)
      this.hasLeftOver = claimed.length === limit
      return claimed.length > 0
    } finally {
      slots.give(limit)
    }
  }

  private follow(claimed: readonly Claimed[]): void {
    const { worker } = this
    for (const one of claimed) {
      if ('task' in one) this.turns.serve(one.task.queue)
      if ('faults' in one) this.refuse(worker.definitions.get(one.task.queue) as Definition, one.task, one.faults)
      else if ('lost' in one) this.leave(one.lost)
      else if ('epoch' in one) worker.follow(one)
    }
    for (const one of claimed) if ('error' in one) throw one.error
  }

  /** Whoever waits for it here hears that it is not this process's any more. */
  private leave(task: TaskRecord): void {
    const { definitions, parts } = this.worker
    definitions.delete(task.queue)
    const message = `Run ${task.scope} was taken over by another process`
    parts.waiters.gone(task, new TaskRefusedError('run_lost', message))
  }

  /** What was claimed before it is committed with it, so it does not throw. */
  private claimOne(task: TaskRecord, view: View): Decided<Claimed> {
    const { definitions, beginning, parts } = this.worker
    const definition = definitions.get(task.queue) as Definition
    if (!isConducted(definition, view)) return { result: { lost: task } }
    try {
      const older = lacksState(task) ? migrate(task, seedOf(parts.environment.random), view.now) : undefined
      const known = older?.task ?? task
      const faults = faultsOfState(known, definition.policy.attempts)
      if (faults.length > 0) return { result: { faults, task } }
      parts.gates.refresh(definition, view)
      const begun = beginning.start(definition, known, view.now)
      const events = [...(older?.events ?? []), ...(begun.events ?? [])]
      return { ...begun, events, gates: parts.gates.records(definition), result: begun }
    } catch (error) {
      return { result: { error } }
    }
  }

  /** Those first that were served longest ago. */
  private queues(): readonly QueueRef[] {
    const { definitions, parts, hasRoomInLine } = this.worker
    const claimed = [...definitions.values()].filter((one) => hasRoomInLine || parts.gates.isShared(one))
    return this.turns.inOrder(claimed.map(({ queue, record }) => ({ queue, policyHash: record.hash })))
  }

  private except(): readonly TaskKey[] {
    return Array.from(this.refused.values(), ({ key }) => key)
  }
}
