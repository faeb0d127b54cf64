/**
 * The attempts that run in this process: each is executed after its intent was committed, and how it ended is written
 * together with what follows. Imports core and its own layer.
 *
 * Invariant: what an attempt would write after its task was taken over is not written, since the fence has moved.
 */
import type { Decided, View } from '../ledger/ledger.js'
import { nameOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import { attemptEndOf, errorOfEnd, verificationOf } from './attempt-end.js'
import type { Started } from './beginning.js'
import { type Definition, isConducted, runsOf } from './definition.js'
import { checkpointWriter, lastCheckpointOf } from './checkpoints.js'
import { contextOf, type DurableContext, Execution, type ExecutionEnd } from './execution.js'
import { persistently } from './persistence.js'
import { type AttemptEnd, interrupt, settle, type Settled, verified } from './transitions.js'
import type { Worker } from './worker.js'

interface Running {
  readonly definition: Definition
  readonly task: TaskRecord
  readonly epoch: number
  readonly execution: Execution
}

type Operation = Definition['run']

/** What was written at the end of an attempt: what it led to, and the next one if that is due at once. */
interface Concluded {
  readonly settled: Settled
  readonly next: Started | undefined
}

export class RunningAttempts {
  private readonly worker: Worker
  private readonly running = new Map<string, Running>()

  constructor(worker: Worker) {
    this.worker = worker
  }

  get size(): number {
    return this.running.size
  }

  has(key: TaskKey): boolean {
    return this.running.has(nameOf(key))
  }

  /** Tells one, or all of them, to stop. */
  stop(reason: unknown, key?: TaskKey): void {
    if (key !== undefined) this.running.get(nameOf(key))?.execution.stop(reason)
    else for (const { execution } of this.running.values()) execution.stop(reason)
  }

  /** Its intent is committed. */
  execute(definition: Definition, task: TaskRecord, epoch: number): void {
    const { environment, onFailure } = this.worker.parts
    const execution = new Execution(environment.clock)
    const running = { definition, task, epoch, execution }
    this.running.set(nameOf(task), running)
    this.worker.slots.occupy()
    const { deadlineAtMs } = task.progress.retry
    const remainingMs = remainingOf(deadlineAtMs, definition, task.updatedAtMs)
    const { ledger } = this.worker.parts
    const checkpoint = checkpointWriter(ledger, task, () => this.worker.stopped)
    const context = contextOf(definition, task, () => execution.signal, remainingMs, checkpoint)
    const { attemptTimeoutMs, timeoutMs } = definition.policy
    const limits = { attemptTimeoutMs, remainingMs, timeoutMs }
    const { verify, run, name } = definition
    const isLooking = task.progress.unverified === true
    if (!isLooking) this.worker.telling.began(definition, task)
    // The policy may have changed since: what would have looked is gone, and what is to be done without it is known.
    const look = verify ?? (() => (definition.onInterrupt === 'rerun' ? 'rerun' : 'unknown'))
    const operation = isLooking ? look : run
    // What was decided just before a stop does not begin any more.
    if (this.worker.stopped) execution.stop(new Error('The process stops'))
    else execution.run(() => this.call(operation, running, context), name, context.attempt, limits)
    void execution.ended
      .then((end) => (isLooking ? this.concludeLook(running, end) : this.conclude(running, end)))
      .finally(() => this.leave(running))
      .catch(onFailure)
  }

  /** With the task's last checkpoint, which is read only where there is one. */
  private call(operation: Operation, { task, execution }: Running, context: DurableContext): unknown {
    if (task.progress.checkpoint === undefined) return operation(task.input as never, context as DurableContext<never>)
    const { ledger, onFailure } = this.worker.parts
    return lastCheckpointOf(ledger, task, () => this.worker.stopped).then(
      (lastCheckpoint) => {
        Object.defineProperty(context, 'lastCheckpoint', { value: lastCheckpoint, enumerable: true })
        return operation(task.input as never, context as DurableContext<never>)
      },
      (error: unknown) => {
        // Not a failure of the attempt: nothing of it has begun.
        execution.stop(error, false)
        onFailure(error)
      },
    )
  }

  /** What follows has taken its own slot by now. */
  private leave(running: Running): void {
    this.remove(running)
    this.worker.slots.give()
    this.worker.checkIdle()
  }

  /** Tells attempts whose task was cancelled or taken over by another process. */
  async stopLost(): Promise<void> {
    const { ledger } = this.worker.parts
    // All at once: a store that is far away is asked once.
    const looks = Array.from(this.running.values(), async ({ task, execution }) => {
      const now = await ledger.get(task)
      if (now?.fence !== task.fence) execution.stop(new Error('The task was cancelled, or another process has it'))
    })
    await Promise.all(looks)
  }

  // ── the end of an attempt ──────────────────────────────────────────────────────────────────────

  private async conclude(running: Running, end: ExecutionEnd): Promise<void> {
    const { definition, task } = running
    const { gates, environment } = this.worker.parts
    const attemptEnd =
      end.type === 'stopped'
        ? undefined
        : attemptEndOf(definition, end, task.progress.retry.launched, environment.clock.wallMs())
    const rule = end.type === 'stopped' && !end.started ? 'rerun' : definition.onInterrupt
    let informed = false
    const after = await this.write(running, (current, now, isFresh) => {
      this.tellBreaker(running, current, attemptEnd, now)
      if (!informed || isFresh) this.tellBudget(running, attemptEnd, now)
      informed = true
      const retryGates = gates.retryGates(definition, current, now)
      if (attemptEnd !== undefined) return settle(current, definition.policy, attemptEnd, retryGates, now)
      return interrupt(current, definition.policy, rule, true, retryGates, now)
    })
    if (after === undefined) return
    this.tellEnd(running, end, attemptEnd, after)
    this.follow(after)
  }

  private async concludeLook(running: Running, end: ExecutionEnd): Promise<void> {
    const { definition } = running
    const { gates } = this.worker.parts
    const found = verificationOf(end)
    const after = await this.write(running, (current, now) => {
      const retryGates = gates.retryGates(definition, current, now)
      if (found !== undefined) {
        const changes = verified(current, found, definition.policy, retryGates, now)
        gates.giveUp(definition, current, changes.task, now)
        return changes
      }
      return interrupt(current, definition.policy, 'verify', true, retryGates, now)
    })
    if (after === undefined) return
    if (after.next === undefined) this.worker.telling.followed(definition, after.settled.task)
    this.follow(after)
  }

  /** The outcome, and the next attempt with it if that is due at once; undefined if somebody took the task over. */
  private async write(
    running: Running,
    change: (task: TaskRecord, now: number, isFresh: boolean) => Settled,
  ): Promise<Concluded | undefined> {
    const { definition, task } = running
    const { ledger, gates } = this.worker.parts
    const keys = { tasks: [task], gates: gates.keysOf(definition), runs: runsOf(definition) }
    const decide = (view: View): Decided<Concluded | undefined> => {
      const current = view.task(task)
      if (current?.fence !== task.fence || current.owner !== task.owner) return { result: undefined }
      const isFresh = gates.refresh(definition, view)
      const concluded = this.withNext(definition, change(current, view.now, isFresh), view)
      return { ...changesOf(concluded), gates: gates.records(definition), result: concluded }
    }
    // What an attempt did is not forgotten because somebody holds the store for long.
    const after = await persistently(
      () => ledger.transact(keys, decide),
      () => this.worker.stopped,
    )
    this.remove(running)
    if (after === undefined) this.lost(running)
    else gates.committed(definition)
    return after
  }

  private withNext(definition: Definition, settled: Settled, view: View): Concluded {
    const { task } = settled
    const { now } = view
    const isDue = task.status === 'waiting' && (task.dueAtMs as number) <= now
    if (!isDue || this.worker.stopped || !isConducted(definition, view)) return { settled, next: undefined }
    return { settled, next: this.worker.beginning.start(definition, task, now) }
  }

  private follow({ settled, next }: Concluded): void {
    if (next !== undefined) this.worker.follow(next)
    else this.worker.rested(settled.task)
  }

  private tellEnd(running: Running, end: ExecutionEnd, attemptEnd: AttemptEnd | undefined, after: Concluded): void {
    const { telling } = this.worker
    if (!telling.listens) return
    const { definition, task } = running
    if (attemptEnd === undefined) {
      telling.interrupted(definition, task, true)
      return
    }
    const error = errorOfEnd(end, attemptEnd)
    const { task: settled } = after.settled
    const outcome = { outcome: attemptEnd.result, ...(error !== undefined && { error }) }
    telling.finished(definition, task, outcome, settled.updatedAtMs)
    telling.followed(definition, settled, error)
  }

  /** The task may have begun again here meanwhile. */
  private remove(running: Running): void {
    const name = nameOf(running.task)
    if (this.running.get(name) === running) this.running.delete(name)
  }

  /** Whoever took the task has its grant too, and has given the slot of its breaker back. */
  private lost({ definition, task }: Running): void {
    const { gates } = this.worker.parts
    this.worker.taken(task)
    if (!this.worker.isHere(task)) gates.lost(definition, task, this.worker.ledgerMs)
  }

  private tellBreaker(running: Running, current: TaskRecord, end: AttemptEnd | undefined, now: number): void {
    const { definition, task, epoch } = running
    // Somebody took this process for lost, and gave the slot back: the next probe speaks in its place.
    if (task.progress.current?.probe !== undefined && current.progress.current?.probe === undefined) return
    const breaker = this.worker.parts.gates.breakerOf(definition)
    if (end === undefined) breaker?.giveBack(epoch)
    else if (end.result === 'success') breaker?.success(epoch)
    else breaker?.failure(epoch, now)
  }

  /** One that was interrupted keeps its grant, for whoever carries it on. */
  private tellBudget({ definition, task }: Running, end: AttemptEnd | undefined, now: number): void {
    if (end === undefined) return
    const { result } = end
    const latencyMs = now - (task.progress.current?.startedAtMs ?? now)
    this.worker.parts.gates.settle(definition, task, { result, latencyMs, won: result === 'success', now })
  }
}

/** `now`: when it began. Never more than the whole: the clock may have been set back since. */
function remainingOf(deadlineAtMs: number | null, { policy }: Definition, now: number): number | undefined {
  return deadlineAtMs === null ? undefined : Math.min(deadlineAtMs - now, policy.timeoutMs ?? Infinity)
}

function changesOf({ settled, next }: Concluded): Settled {
  if (next === undefined) return settled
  return {
    ...next,
    attempts: [...(settled.attempts ?? []), ...(next.attempts ?? [])],
    dead: [...(settled.dead ?? []), ...(next.dead ?? [])],
    events: [...(settled.events ?? []), ...(next.events ?? [])],
  }
}
