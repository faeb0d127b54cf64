/**
 * What a program asks of its tasks: run or record one, look at it, change it. Imports core, the ledger's port and its own
 * layer.
 */
import { randomUUID } from 'node:crypto'
import { OptionsError } from '../core/errors.js'
import { isNot } from '../core/problems.js'
import type { Random } from '../core/time.js'
import { initialState, snapshot } from '../core/state.js'
import type { StopReason } from '../core/words.js'
import { LedgerError } from '../ledger/errors.js'
import type { Creation, Ledger, NewTask, TransactionClient } from '../ledger/ledger.js'
import {
  type AttemptRow,
  type FailureRecord,
  type Json,
  keyIn,
  type TaskKey,
  type TaskProgress,
  type TaskRecord,
  type TaskStatus,
} from '../ledger/records.js'
import { isStopped } from './activity.js'
import type { Adoption } from './adoption.js'
import { type Definition, expectConductor } from './definition.js'
import { RecordedFailureError, TaskRefusedError } from './errors.js'
import { expectOptions, type OptionCheck } from '../core/options.js'
import { expectJson } from './json.js'
import { isTransient } from './persistence.js'
import { fingerprint } from './policy-record.js'
import { hasQueueGate } from './queue-gate.js'
import { createWithin, startOptionsOf } from './start-within.js'
import { faultsOfState } from './state-check.js'
import { faultsOfShape } from './task-shape.js'
import type { TaskChanges } from './task-changes.js'
import { freshProgress, seedOf } from './transitions.js'
import { isOver, type Waiters } from './waiters.js'
import type { Watching } from './watching.js'
import type { Worker } from './worker.js'

/** How a task is asked for, by `run` as by `start`. */
export interface TaskStartOptions {
  /**
   * What makes it the same task when it is asked for again: 1 to 200 characters.
   * @default a new random id
   * @example { id: 'order-42' }
   */
  readonly id?: string
}

/** How a task is asked for by `start`. */
export interface StartOptions extends TaskStartOptions {
  /**
   * On PostgreSQL: records the task in the transaction of this client, which leads to the database of the store. The task
   * is there once the transaction is committed, and processes that work on the store hear of it then.
   * @default a transaction of its own
   * @example { id: 'order-42', client }
   */
  readonly client?: TransactionClient
}

/** One task of `startAll`. */
export interface StartInput<I> extends TaskStartOptions {
  /** What its function is given. */
  readonly input: I
}

/** A task as `status` tells it. */
export interface TaskState {
  /** Its id. */
  readonly id: string
  /** What becomes of it now. */
  readonly state: TaskStatus
  /** 1, and one more for every reset. */
  readonly generation: number
  /** Attempts begun in this generation. */
  readonly attempts: number
  /** Attempts that the policy allows. */
  readonly attemptsAllowed: number
  /** When the next attempt starts; of a parked task, when it gives up. */
  readonly nextAttemptAtMs: number | null
  /** The sum of its waits in this generation. */
  readonly totalDelayMs: number
  /** Why it ended without success; null otherwise. */
  readonly stopReason: StopReason | null
  /** The word of the budget that denied the next attempt, with the stop reason `budget_denied`; else null. */
  readonly budgetReason: string | null
  /**
   * What its last failed attempt failed with; null if none failed. Its `denial` names the gate that ended the task; where a
   * gate denied the first attempt, the denial is the failure.
   */
  readonly lastFailure: FailureRecord | null
  /** Joins its events, over processes and resets. */
  readonly correlationId: string
  /** Its attempts, of all generations; with an attempt that a gate denied, which `attempts` does not count. */
  readonly history: readonly AttemptRow[]
}

/** A kind of task, as `durable.task` gives it. `I`: the input, `R`: the result. */
export interface TaskHandle<I, R> {
  /**
   * Runs the task, joins it if it runs already, or gives its recorded result. Rejects with a `RecordedFailureError` if
   * it failed.
   * @example const receipt = await charge.run({ order: '42' }, { id: 'order-42' })
   */
  run(input: I, options?: TaskStartOptions): Promise<R>
  /**
   * Records the task and returns; a process that works on the store runs it.
   * @example const { id } = await charge.start({ order: '42' }, { id: 'order-42' })
   */
  start(input: I, options?: StartOptions): Promise<{ readonly id: string }>
  /**
   * Records many tasks, in few transactions, not in one. All inputs and ids are checked first, and nothing is recorded if
   * one is wrong. A task that exists stays as it is. If it exists with another input or with a policy that is refused, the
   * others of the list are recorded all the same, and then the call rejects with a `TaskRefusedError` that names it.
   * @example await charge.startAll(['42', '43'].map((order) => ({ id: `order-${order}`, input: { order } })))
   */
  startAll(tasks: readonly StartInput<I>[]): Promise<readonly { readonly id: string }[]>
  /** What is known of the task; undefined if there is none. @example const status = await charge.status('order-42') */
  status(id: string): Promise<TaskState | undefined>
  /**
   * Cancels the task; its attempt is aborted if it runs. A task that has ended stays as it is.
   * @example await charge.cancel('order-42')
   */
  cancel(id: string): Promise<void>
  /**
   * Ends the wait of the task: its next attempt starts at once. Rejects if it does not wait.
   * @example await charge.retryNow('order-42')
   */
  retryNow(id: string): Promise<void>
  /**
   * Grants a fresh set of attempts to a task that failed, was cancelled or is undecided.
   * @example await charge.reset('order-42')
   */
  reset(id: string): Promise<void>
  /**
   * Says whether an interrupted attempt of an undecided task happened. `result`: what it gave, null when absent.
   * @example await charge.decide('order-42', 'done', 'receipt-7')
   */
  decide(id: string, answer: 'done' | 'rerun', result?: R): Promise<void>
}

export interface TasksParts {
  readonly ledger: Ledger
  readonly worker: Pick<
    Worker,
    'activity' | 'clock' | 'isStopped' | 'slots' | 'admission' | 'events' | 'due' | 'isHere' | 'follow' | 'wake'
  >
  readonly changes: TaskChanges
  readonly adoption: Adoption
  readonly waiters: Waiters
  readonly watching: Watching
  readonly random: Random
  /** Looks for lost owners, unless that was done within the last second. */
  readonly lookForLost: () => void
  /** Throws if nothing may be asked any more. */
  readonly expectOpen: () => void
  /** The ledger cannot be used any more; `isTold`: the caller is told of it. */
  readonly onFailure: (error: unknown, isTold: boolean) => void
}

/** At most this many tasks in one transaction, and at most this many conflicting ids in one error. */
const [AT_ONCE, NAMED] = [1000, 10]

/** Of names of tasks, runs and steps, which are parts of commands and paths. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
/** Of tasks: any text without control characters and lone surrogates, which no store keeps as they are. */
const TASK_ID = /^[^\p{Cc}\p{Cs}]{1,200}$/u

export class Tasks {
  private readonly parts: TasksParts

  constructor(parts: TasksParts) {
    this.parts = parts
  }

  /** Grants a fresh set of attempts to a task that has ended, however it did. */
  again(definition: Definition, id: string): Promise<void> {
    return this.parts.changes.again(definition, id)
  }

  handle<I, R>(definition: Definition): TaskHandle<I, R> {
    const { changes } = this.parts
    return {
      run: async (input, options) => (await this.run(definition, input, idOf(definition, options))) as R,
      start: async (input, options) => {
        const { id, client } = startOptionsOf(definition, options)
        const { task } = await this.create(definition, input, id, client ?? false)
        if (client === undefined) this.parts.worker.wake()
        return { id: task.id }
      },
      startAll: (tasks) => this.startAll(definition, tasks),
      status: (id) => this.status(definition, keyIn(definition, id)),
      cancel: (id) => changes.cancel(definition, id),
      retryNow: (id) => changes.retryNow(definition, id),
      reset: (id) => changes.reset(definition, id),
      decide: (id, answer, result) => changes.decide(definition, id, answer, result),
    }
  }

  private async run(definition: Definition, input: unknown, id: string | undefined): Promise<Json> {
    const { worker } = this.parts
    const { ended, task } = await worker.activity.track(this.begin(definition, input, id))
    if (isOver(task)) return resultOf(task)
    return resultOf(await ended)
  }

  /** Records it, and begins with it at once if there is room. */
  private async begin(
    definition: Definition,
    input: unknown,
    id: string | undefined,
  ): Promise<{ task: TaskRecord; ended: Promise<TaskRecord> }> {
    const { worker, waiters, watching, onFailure } = this.parts
    const { policy } = definition
    const isFree = policy.budget === undefined && policy.breaker === undefined && !hasQueueGate(definition)
    const hasRoom = isFree && worker.slots.take()
    try {
      if (isStopped(worker.activity, definition)) await this.expectOver(definition, id)
      const { type, task } = await this.create(definition, input, id, hasRoom)
      if (type === 'existing') this.expectWillRun(definition, task)
      // Its process may be gone: the caller does not wait until the next look for lost owners.
      if (task.owner !== null && !worker.isHere(task) && type === 'existing') this.parts.lookForLost()
      const ended = isOver(task) ? Promise.resolve(task) : waiters.wait(task)
      // The caller gets this promise later: until then a rejection has no handler.
      ended.catch(() => undefined)
      if (type === 'created' && task.status === 'running') worker.follow(definition, { task, epoch: 0 })
      else if (task.status !== 'running') worker.wake()
      if (!isOver(task)) watching.begin()
      return { task, ended }
    } catch (error) {
      // It may have been recorded as running here, and nothing executes it: this process cannot go on.
      if (hasRoom && error instanceof LedgerError && !isTransient(error)) {
        onFailure(error, true)
      }
      throw error
    } finally {
      if (hasRoom) worker.slots.give()
    }
  }

  /** A process that stops gives what is recorded, and takes no more work. */
  private async expectOver(definition: Definition, id: string | undefined): Promise<void> {
    const { ledger, expectOpen } = this.parts
    expectOpen()
    const task = id === undefined ? undefined : await ledger.get(keyIn(definition, id))
    if (task !== undefined && isOver(task)) return
    const what = id === undefined ? `A task ${definition.name}` : `Task ${definition.name}/${id}`
    throw new TaskRefusedError('closed', `${what} would have to run, and this process takes no more work`)
  }

  /** Nobody waits for what will not happen. */
  private expectWillRun({ policy }: Definition, task: TaskRecord): void {
    if (isOver(task)) return
    const faults = [
      ...new Set([...this.parts.worker.due.refusals.faultsOf(task), ...faultsOfState(task, policy.attempts)]),
    ]
    if (faults.length > 0) throw TaskRefusedError.ofState(task, faults)
  }

  /**
   * True for `how`: begins with its first attempt where nobody has to be asked, so that it costs no second transaction.
   * A client: in its transaction.
   */
  private async create(
    definition: Definition,
    input: unknown,
    id: string = randomUUID(),
    how: boolean | TransactionClient = false,
  ): Promise<Creation> {
    const { ledger, worker, adoption, expectOpen } = this.parts
    expectOpen()
    expectTaskId(id, definition)
    const kept = copyOf(input)
    const now = await ledger.now()
    worker.clock.heard(now)
    const task = this.newTask(definition, kept, id, now, how === true)
    const isOwn = typeof how === 'boolean'
    const creation = await (isOwn ? this.record(definition, task) : createWithin(ledger, definition, how, task))
    // Whether a transaction of the program is committed is not known.
    if (creation.type === 'created' && isOwn) worker.events.created(definition, creation.task)
    if (creation.type === 'existing' && creation.task.policyHash !== definition.record.hash) {
      await adoption.expectPolicy(definition, creation.task)
      // As it is with the policy that was just accepted, which may allow fewer attempts than were made.
      return { type: 'existing', task: (await ledger.get(creation.task)) ?? creation.task }
    }
    if (creation.type !== 'conflict') return creation
    throw new TaskRefusedError('conflict', `Task ${definition.name}/${id} exists with another input`)
  }

  private async startAll(definition: Definition, given: readonly StartInput<unknown>[]): Promise<{ id: string }[]> {
    const { ledger, worker, expectOpen } = this.parts
    expectOpen()
    // All that may be refused comes first.
    if (!Array.isArray(given)) {
      throw new TypeError(`startAll of the task ${definition.name}: ${isNot(given, 'a list such as [{ input, id }]')}`)
    }
    const kept = given.map((one: StartInput<unknown>, index) => {
      const subject = `tasks[${index}] in startAll of the task ${definition.name}`
      expectOptions(subject, one, { id: ID, input: [() => true, ''] })
      const id = one.id ?? randomUUID()
      expectTaskId(id, definition, subject)
      return { id, input: copyOf(one.input, `tasks[${index}].input`) }
    })
    const now = await ledger.now()
    const tasks = kept.map(({ id, input }) => this.newTask(definition, input, id, now))
    const conflicts: string[] = []
    const refusals: unknown[] = []
    for (let first = 0; first < tasks.length; first += AT_ONCE) {
      const creations = await ledger.create(tasks.slice(first, first + AT_ONCE))
      conflicts.push(...(await this.recorded(definition, creations, refusals)))
    }
    worker.wake()
    if (refusals.length > 0) throw refusals[0]
    if (conflicts.length === 0) return tasks.map(({ task }) => ({ id: task.id }))
    const named = conflicts.slice(0, NAMED).join(', ')
    const which = conflicts.length > NAMED ? `${named} and ${conflicts.length - NAMED} more` : named
    const message = `Tasks ${definition.name} exist with another input: ${which}; the others are recorded`
    throw new TaskRefusedError('conflict', message)
  }

  /**
   * Tells of those that are new; answers with the ids of those that exist with another input. Refused policies are collected:
   * one must not keep the rest of the list from being recorded.
   */
  private async recorded(
    definition: Definition,
    creations: readonly Creation[],
    refusals: unknown[],
  ): Promise<string[]> {
    const { worker, adoption } = this.parts
    const conflicts: string[] = []
    for (const { type, task } of creations) {
      if (type === 'created') worker.events.created(definition, task)
      else if (type === 'conflict') conflicts.push(task.id)
      else await adoption.expectPolicy(definition, task).catch((error: unknown) => refusals.push(error))
    }
    return conflicts
  }

  /** Of a run, only while this process conducts it. */
  private async record({ scope, conductor }: Definition, task: NewTask): Promise<Creation> {
    const { ledger } = this.parts
    if (conductor === undefined) return (await ledger.create([task]))[0] as Creation
    return ledger.transact<Creation>({ tasks: [task.task], runs: [scope] }, (view) => {
      expectConductor(view.run(scope), scope, conductor)
      const kept = view.task(task.task)
      if (kept !== undefined) return { result: { type: 'existing', task: kept } }
      return { created: [task], result: { type: 'created', task: task.task } }
    })
  }

  /** A task as it is recorded; `atOnce`: with its first attempt begun. */
  newTask(definition: Definition, input: Json, id: string, now: number, atOnce = false): NewTask {
    const { name, queue, scopeKind, scope, record } = definition
    const { worker } = this.parts
    const fresh = freshProgress(seedOf(this.parts.random))
    const progress = definition.group === undefined ? fresh : { ...fresh, grouped: true }
    const task: TaskRecord = {
      scopeKind,
      scope,
      id,
      queue,
      generation: 1,
      status: 'waiting',
      dueAtMs: now,
      owner: null,
      fence: 0,
      progress,
      policyHash: record.hash,
      input,
      stopReason: null,
      correlationId: randomUUID(),
      createdAtMs: now,
      updatedAtMs: now,
    }
    const tally = definition.tally?.(task)
    const counted = tally === undefined ? task : { ...task, tally }
    const begun = atOnce ? worker.admission.startUngated(definition, counted, now).task : counted
    return { task: begun, policy: record, payloadHash: fingerprint({ name, input }) }
  }

  private async status({ policy }: Definition, key: TaskKey): Promise<TaskState | undefined> {
    const { ledger, expectOpen } = this.parts
    expectOpen()
    const task = await ledger.get(key)
    if (task === undefined) return undefined
    const faults = faultsOfShape(task.progress)
    if (faults.length > 0) throw TaskRefusedError.ofState(task, faults)
    const { budgetReason = null } = task.progress
    // A task of an older version has neither before it goes on.
    const { retry = snapshot(initialState(null), 0), lastFailure = null } = task.progress as Partial<TaskProgress>
    return {
      id: task.id,
      state: task.status,
      generation: task.generation,
      attempts: retry.launched,
      attemptsAllowed: policy.attempts,
      nextAttemptAtMs: task.dueAtMs,
      totalDelayMs: retry.totalDelayMs,
      stopReason: task.stopReason,
      budgetReason,
      lastFailure,
      correlationId: task.correlationId,
      history: await ledger.attempts(key),
    }
  }
}

const ID: OptionCheck = [(id) => typeof id === 'string', 'a text']

function idOf({ name }: Definition, options: TaskStartOptions = {}): string | undefined {
  expectOptions(`the task ${name}`, options, { id: ID })
  return options.id
}

export function expectId(what: string, id: string): void {
  if (typeof id === 'string' && NAME.test(id)) return
  throw new TypeError(`${what} ${JSON.stringify(id)} must match ${NAME.source}`)
}

/** Steps have names: their ids are parts of paths. */
function expectTaskId(id: unknown, { conductor, name }: Definition, subject = `the task ${name}`): void {
  if (conductor !== undefined) return expectId('step', id as string)
  if (typeof id === 'string' && TASK_ID.test(id)) return
  const rule = 'a text of 1 to 200 characters, without control characters and lone surrogates'
  throw new OptionsError(subject, [{ path: 'id', message: isNot(id, rule) }])
}

/** Before anything is waited for: the caller may go on with his own. */
function copyOf(input: unknown, place = 'input'): Json {
  return JSON.parse(JSON.stringify(expectJson(input, place))) as Json
}

function resultOf(task: TaskRecord): Json {
  if (task.status === 'succeeded') return task.result ?? null
  throw new RecordedFailureError(task)
}
