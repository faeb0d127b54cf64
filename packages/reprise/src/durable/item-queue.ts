/**
 * Tasks of a run that any process may execute: the items of a map. They wait in a queue of their own (a *lane*), at most
 * `most` of them run at a time over all processes, and a gate that denies holds the queue and fails none of them. Imports
 * the ledger's port and its own layer.
 *
 * Invariants: only the process that conducts the run creates tasks. A lane that is closed begins nothing in this process
 * any more, and what ran here is recorded as interrupted on purpose; other processes go on.
 */
import type { PolicyArgument } from '../core/policy.js'
import type { NewTask } from '../ledger/ledger.js'
import { queueKey } from '../ledger/queue-limit.js'
import { type Json, keyIn, type RunRecord, type Scope, scopeOfRun, type TaskKey } from '../ledger/records.js'
import type { BatchRule } from './batch.js'
import { type Conductor, type Definition, expectConductor, type TaskFunction } from './definition.js'
import type { Conducting, RunParts } from './durable-run.js'
import { TaskRefusedError } from './errors.js'
import { recordOf } from './policy-record.js'
import { hasQueueGate, writeQueueGate } from './queue-gate.js'
import { readTaskOptions, type TaskOptions } from './task-options.js'

export interface ItemQueueOptions<I, R> extends Omit<TaskOptions<I, R>, 'whenDenied'> {
  /** What observers are told the tasks are called. @default the id of the run @example { name: 'resize' } */
  readonly name?: string
  /**
   * Whether a task that fails leaves a dead letter.
   * @default true
   * @example { keepsLetters: false }
   */
  readonly keepsLetters?: boolean
  /**
   * The tasks are apart from those of other lanes: an id may be used in both.
   * @default false
   * @example { isApart: true }
   */
  readonly isApart?: boolean
  /**
   * Tasks are handed to attempts together, in place of one by one.
   * @default every task has attempts of its own
   * @example { batch: { most: 50, run: (members) => console.log(members.length) } }
   */
  readonly batch?: BatchRule<I>
}

/** One item to be recorded. */
export interface NewItem<I> {
  /** Unique within the run. */
  readonly id: string
  /** What its function is given. */
  readonly input: I
}

/** How this process came to serve the lane. */
export interface LaneShare extends Pick<Conducting, 'resumeId' | 'force' | 'policyChange'> {
  /** When the run was taken up again: items that have waited since before are resumed. Undefined if it was not. */
  readonly takenUpAtMs: number | undefined
  /** Another process conducts the run: it makes the gate of the lane, and looks at what waits. */
  readonly isGuest: boolean
}

interface LaneInput<I, R> {
  readonly lane: string
  readonly policy: PolicyArgument
  readonly run: TaskFunction<I, R>
  readonly options: ItemQueueOptions<I, R>
}

export class ItemQueue<I> {
  /** The name of the queue, which its limits are kept under. */
  readonly queue: string
  private readonly parts: RunParts
  private readonly run: RunRecord
  private readonly taken: LaneShare
  private readonly definition: Definition
  private readonly share: Conductor = { fence: null, isStopped: false }
  private unlisten: () => void = () => undefined
  private opening: Promise<void> = Promise.resolve()

  constructor(
    parts: RunParts,
    run: RunRecord,
    taken: LaneShare,
    { lane, policy, run: perform, options }: LaneInput<I, unknown>,
  ) {
    this.parts = parts
    this.run = run
    this.taken = taken
    this.queue = laneName(run.id, lane)
    const { name = run.id, isApart = false, keepsLetters = true, batch, ...taskOptions } = options
    const normal = parts.policyOf(name, policy)
    const { rule, verify, group, tally, allot, most, rate } = readTaskOptions(name, taskOptions, normal)
    this.definition = {
      name,
      queue: this.queue,
      ...laneScope(run.id, lane, isApart),
      // A run's name may be used again; what it asks others to do once may be asked again then.
      idempotencyScope: run.correlationId,
      policy: normal,
      record: recordOf(normal, rule),
      run: perform,
      most,
      rate,
      whenDenied: 'hold',
      onInterrupt: rule,
      ...(!keepsLetters && { keepsNoLetters: true }),
      verify,
      conductor: this.share,
      ...(taken.isGuest && { hasForeignGate: true }),
      ...(taken.policyChange && { policyChange: taken.policyChange }),
      ...(taken.takenUpAtMs !== undefined && { takenUpAtMs: taken.takenUpAtMs }),
      ...(group && { group }),
      ...(tally && { tally }),
      ...(allot && { allot }),
      ...(batch && { batch }),
    }
  }

  /** What names the task with this id. @example const key = items.keyOf('0000000.a') */
  keyOf(id: string): TaskKey {
    return keyIn(this.definition, id)
  }

  /**
   * A task as it is recorded, for a group that creates it.
   * @example const created = items.newTask({ id: '0000000.a', input: { url: 'https://example.com/a' } }, Date.now())
   */
  newTask({ id, input }: NewItem<I>, now: number): NewTask {
    return this.parts.tasks.newTask(this.definition, input as Json, id, now)
  }

  /**
   * Records tasks, in one transaction; those that exist stay as they are. Refused once somebody else conducts the run.
   * @example await items.create([{ id: '0000000.a', input: { url: 'https://example.com/a' } }])
   */
  async create(items: readonly NewItem<I>[]): Promise<void> {
    const { ledger } = this.parts
    const now = await ledger.now()
    const tasks = items.map((item) => this.newTask(item, now))
    await ledger.transact({ tasks: tasks.map(({ task }) => task), runs: [this.run.id] }, (view) => {
      expectConductor(view.run(this.run.id), this.run.id, this.run)
      return { created: tasks.filter(({ task }) => view.task(task) === undefined), result: undefined }
    })
  }

  /**
   * Grants a fresh set of attempts to tasks that failed or were cancelled; others stay as they are.
   * @example await items.resetAll(['0000000.a'])
   */
  async resetAll(ids: readonly string[]): Promise<void> {
    const handle = this.parts.tasks.handle<I, unknown>(this.definition)
    for (let first = 0; first < ids.length; first += RESETS_AT_ONCE) {
      const some = ids.slice(first, first + RESETS_AT_ONCE)
      await Promise.all(some.map((id) => handle.reset(id).catch(ignoreUnfailed)))
    }
  }

  /**
   * Executes the tasks of the lane in this process too, from now on; first takes over what lost processes left of them.
   * `signal`: closes the lane, before an attempt that ends for the same reason can be recorded as failed. If it is aborted
   * already, the lane only takes over.
   * @example await items.open()
   */
  open(signal?: AbortSignal): Promise<void> {
    this.stopAt(signal)
    this.opening = this.begin()
    return this.opening
  }

  private async begin(): Promise<void> {
    const { worker, ownership } = this.parts
    const { resumeId, force } = this.taken
    await this.makeGate()
    worker.register(this.definition)
    // A retry that this process leaves to another one that serves the lane is not resumed by that.
    await ownership.tellQueues()
    if (resumeId === undefined) return
    await ownership.takeOver(resumeId, force)
    await this.lookAtWaiting()
  }

  /** Makes the row that limits the lane, if it is missing; opening the lane does so too. @example await items.makeGate() */
  async makeGate(): Promise<void> {
    if (hasQueueGate(this.definition) && !this.taken.isGuest) await writeQueueGate(this.parts.ledger, this.definition)
  }

  /**
   * Looks at the tasks that wait, and takes those over to this program's policy that were recorded with another one: an
   * attempt of another process may have been in flight when the policy changed.
   * @example await items.lookAtWaiting()
   */
  async lookAtWaiting(): Promise<void> {
    const { worker, adoption } = this.parts
    const { refused } = await adoption.lookAtWaiting(this.definition)
    for (const { task, faults } of refused) worker.due.refusals.refuse(this.definition, task, faults)
    worker.wake()
  }

  /** Looks for lost processes, unless that was done within the last second. @example items.lookForLost() */
  lookForLost(): void {
    this.parts.ownership.lookSoon()
  }

  /** Begins nothing here until `goOn`; what runs here goes on. @example items.pause() */
  pause(): void {
    this.share.isStopped = true
  }

  /** Ends a pause. @example items.goOn() */
  goOn(): void {
    this.share.isStopped = false
    this.parts.worker.wake()
  }

  /**
   * Begins nothing more here; what runs here goes on, until `close`. Another definition of the lane may be opened.
   * @example items.retire()
   */
  retire(): void {
    this.share.isStopped = true
    this.parts.worker.unregister(this.definition)
  }

  /** When the run was taken up again; undefined if it was not. */
  get takenUpAtMs(): number | undefined {
    return this.taken.takenUpAtMs
  }

  /**
   * Begins nothing more here; attempts that run here are told to end, and recorded as interrupted on purpose.
   * @example await items.close()
   */
  async close(): Promise<void> {
    const { worker } = this.parts
    this.unlisten()
    this.share.isStopped = true
    await worker.stopConducted(this.share, new TaskRefusedError('closed', `This process stops ${this.run.id}`))
    // What it takes over has to be known until then. Whoever opened the lane hears of an error.
    await this.opening.catch(() => undefined)
    worker.unregister(this.definition)
  }

  private stopAt(signal: AbortSignal | undefined): void {
    // Whoever opened the lane closes it, and hears of an error then.
    const onAbort = (): void => void this.close().catch(() => undefined)
    signal?.addEventListener('abort', onAbort, { once: true })
    this.unlisten = () => signal?.removeEventListener('abort', onAbort)
    if (signal?.aborted === true) this.share.isStopped = true
  }

  /** The key of the row that limits and pauses the lane. */
  get gateKey(): string {
    return queueKey(this.queue)
  }
}

/** At most this many resets wait for one commit. */
const RESETS_AT_ONCE = 100

/** Somebody else has reset the task meanwhile, or it has succeeded. */
function ignoreUnfailed(error: unknown): void {
  if (!(error instanceof TaskRefusedError && error.kind === 'finished')) throw error
}

/** The name of the queue of a lane. */
export function laneName(run: string, lane: string): string {
  return `${run}/${lane}`
}

function laneScope(run: string, lane: string, isApart: boolean): Scope {
  return scopeOfRun(isApart ? laneName(run, lane) : run)
}
