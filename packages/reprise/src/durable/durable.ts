/**
 * Durable tasks for programs: registered by name, kept in a ledger, run by whichever process has hands. Imports core, the
 * runtime's environment, the ledger's port and its own layer.
 */
import { randomUUID } from 'node:crypto'
import { normalizePolicy } from '../core/normalize.js'
import type { Policy, PolicyInput } from '../core/policy.js'
import type { StopReason } from '../core/words.js'
import type { Creation, Ledger, NewTask } from '../ledger/ledger.js'
import {
  type AttemptRow,
  type Json,
  type TaskKey,
  type TaskRecord,
  type TaskStatus,
  TERMINAL,
} from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import { Adoption, type SkippedTask } from './adoption.js'
import type { Definition, TaskFunction } from './definition.js'
import { RecordedFailureError, TaskRefusedError } from './errors.js'
import { GateBook } from './gate-book.js'
import { expectJson } from './json.js'
import { Ownership } from './ownership.js'
import { fingerprint, type InterruptRule, recordOf } from './policy-record.js'
import { cancel, freshProgress, reset, resolve, retryNow, type Settled } from './transitions.js'
import { isOver, Waiters } from './waiters.js'
import { Watch } from './watch.js'
import { Worker } from './worker.js'

export interface DurableSettings {
  readonly concurrency: number
  readonly leaseMs: number
  readonly policyChange: 'refuse' | 'accept'
}

export interface TaskOptions {
  readonly onInterrupt?: InterruptRule
}

export interface RunOptions {
  /** What makes it the same task when it is asked for again; a new one when absent. */
  readonly id?: string
}

export interface TaskState {
  readonly id: string
  readonly state: TaskStatus
  readonly generation: number
  readonly attempts: number
  readonly attemptsAllowed: number
  readonly nextAttemptAtMs: number | null
  readonly totalDelayMs: number
  readonly stopReason: StopReason | null
  readonly correlationId: string
  readonly history: readonly AttemptRow[]
}

export interface Resumption {
  /** Taken over from lost owners. */
  readonly resumed: number
  /** Waiting for their time. */
  readonly waiting: number
  /** Left as they are, since this program's policy is not theirs. */
  readonly skipped: readonly SkippedTask[]
  /** Interrupted, and only a person can say whether they happened: see `decide`. */
  readonly undecided: readonly TaskKey[]
}

export interface TaskHandle<I, R> {
  /** Runs it, joins it, or gives its recorded result; rejects with its recorded failure. */
  run(input: I, options?: RunOptions): Promise<R>
  /** Records it; some process runs it. */
  start(input: I, options?: RunOptions): Promise<{ readonly id: string }>
  status(id: string): Promise<TaskState | undefined>
  cancel(id: string): Promise<void>
  retryNow(id: string): Promise<void>
  /** Grants a fresh set of attempts to one that has ended without success. */
  reset(id: string): Promise<void>
  /** Says what became of an attempt that nobody knows the end of. */
  decide(id: string, answer: 'done' | 'rerun'): Promise<void>
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

export class Durable {
  private readonly ledger: Ledger
  private readonly environment: Environment
  private readonly waiters = new Waiters()
  private readonly worker: Worker
  private readonly ownership: Ownership
  private readonly gates: GateBook
  private readonly adoption: Adoption
  private readonly watch: Watch
  private failure: unknown = undefined
  private closed = false

  private constructor(ledger: Ledger, environment: Environment, settings: DurableSettings, gates: GateBook) {
    this.ledger = ledger
    this.environment = environment
    const onFailure = (error: unknown): void => this.fail(error)
    const definitions = new Map<string, Definition>()
    const onTaken = (): void => this.worker.wake()
    this.ownership = new Ownership({ ledger, gates, definitions, leaseMs: settings.leaseMs, onFailure, onTaken })
    const { waiters } = this
    const owner = this.ownership.identity.id
    const { concurrency } = settings
    const isResumed = (task: TaskRecord): boolean => this.ownership.isResumed(task)
    const parts = { ledger, environment, gates, waiters, owner, concurrency, onFailure, isResumed }
    this.worker = new Worker(parts, definitions)
    this.watch = new Watch({ ledger, waiters, onFailure, isHere: (key) => this.worker.isHere(key) })
    this.gates = gates
    this.adoption = new Adoption(ledger, settings.policyChange)
  }

  static async open(ledger: Ledger, environment: Environment, settings: DurableSettings): Promise<Durable> {
    const durable = new Durable(ledger, environment, settings, new GateBook(environment, await ledger.gates()))
    await durable.ownership.begin()
    durable.worker.begin()
    return durable
  }

  task<I extends Json, R>(
    name: string,
    policy: PolicyInput | Policy,
    run: TaskFunction<I, R>,
    options: TaskOptions = {},
  ): TaskHandle<I, R> {
    expectId('task name', name)
    if (this.worker.definitions.has(name)) throw new TypeError(`There is a task ${name} already`)
    if (typeof run !== 'function') throw new TypeError(`The task ${name} needs a function`)
    const { onInterrupt = 'rerun' } = options
    const normal = normalizePolicy(policy).policy
    if (normal.hedge !== undefined) throw new TypeError(`The task ${name} cannot hedge: hedges live within one process`)
    const record = recordOf(normal, onInterrupt)
    const definition: Definition = {
      name,
      policy: normal,
      record,
      run,
      onInterrupt,
    }
    this.worker.definitions.set(name, definition)
    this.worker.wake()
    return this.handle<I, R>(definition)
  }

  /** Takes over what lost processes left, and looks at what waits. */
  async resume(): Promise<Resumption> {
    this.expectOpen()
    const resumed = await this.ownership.takeOver(randomUUID())
    const skipped: SkippedTask[] = []
    const undecided: TaskKey[] = []
    let waiting = 0
    for (const definition of this.worker.definitions.values()) {
      const found = await this.adoption.lookAtWaiting(definition)
      waiting += found.waiting
      skipped.push(...found.skipped)
      const open = await this.ledger.list({ queue: definition.name, statuses: ['undecided'] })
      undecided.push(...open.map(({ run, id }) => ({ run, id })))
    }
    this.worker.wake()
    return { resumed, waiting, skipped, undecided }
  }

  /** No new attempts; resolves when those that run have ended. */
  async drain(): Promise<void> {
    await this.worker.drain()
  }

  /** Stops: attempts that run are told, and recorded as interrupted on purpose, so that others go on with them. */
  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private closing: Promise<void> | undefined = undefined

  private async end(): Promise<void> {
    this.closed = true
    const reason = new TaskRefusedError('closed', 'The durable tasks were closed')
    try {
      if (this.failure === undefined) {
        await this.worker.stop(reason)
        await this.ownership.end()
      }
    } finally {
      this.waiters.failAll(this.failure ?? reason)
      this.watch.stop()
      await this.ledger.close()
    }
  }

  // ── tasks ──────────────────────────────────────────────────────────────────────────────────────

  private handle<I extends Json, R>(definition: Definition): TaskHandle<I, R> {
    const key = (id: string): TaskKey => ({ run: definition.name, id })
    return {
      run: async (input, options) => (await this.run(definition, input, options?.id)) as R,
      start: async (input, options) => {
        const { task } = await this.create(definition, input, options?.id, false)
        this.worker.wake()
        return { id: task.id }
      },
      status: (id) => this.status(definition, key(id)),
      cancel: (id) =>
        this.change(definition, id, (task, now) => (TERMINAL.has(task.status) ? undefined : cancel(task, now))),
      retryNow: (id) => this.change(definition, id, hasten),
      reset: (id) => this.change(definition, id, (task, now) => this.resetTask(definition, task, now)),
      decide: (id, answer) => this.change(definition, id, (task, now) => decideTask(task, answer, now)),
    }
  }

  private async run(definition: Definition, input: Json, id: string | undefined): Promise<Json> {
    const { ended, task } = await this.worker.track(this.begin(definition, input, id))
    if (isOver(task)) return resultOf(task)
    return resultOf(await ended)
  }

  /** Records it, and begins with it at once if there is room. */
  private async begin(
    definition: Definition,
    input: Json,
    id: string | undefined,
  ): Promise<{ task: TaskRecord; ended: Promise<TaskRecord> }> {
    const isFree = definition.policy.budget === undefined && definition.policy.breaker === undefined
    const hasRoom = isFree && this.worker.reserve()
    let creation: Creation
    try {
      creation = await this.create(definition, input, id, hasRoom)
    } catch (error) {
      if (hasRoom) this.worker.unreserve()
      throw error
    }
    const { type, task } = creation
    const ended = isOver(task) ? Promise.resolve(task) : this.waiters.wait(task)
    // Who asks for it hears of a failure; before that it is nobody's.
    ended.catch(() => undefined)
    if (type === 'created' && task.status === 'running') this.worker.follow({ task, era: 0 })
    if (hasRoom) this.worker.unreserve()
    if (task.status !== 'running') this.worker.wake()
    if (!isOver(task)) this.watch.begin()
    return { task, ended }
  }

  /** `atOnce`: begins with its first attempt where nobody has to be asked, so that it costs no second transaction. */
  private async create(
    definition: Definition,
    input: Json,
    id: string = randomUUID(),
    atOnce = false,
  ): Promise<Creation> {
    this.expectOpen()
    expectId('id', id)
    const now = await this.ledger.now()
    const creation = (
      await this.ledger.create([this.newTask(definition, expectJson(input, 'input'), id, now, atOnce)])
    )[0]
    if (creation?.type === 'existing') await this.adoption.expectPolicy(definition, creation.task)
    if (creation?.type !== 'conflict') return creation as Creation
    throw new TaskRefusedError('conflict', `Task ${definition.name}/${id} exists with another input`)
  }

  private newTask(definition: Definition, input: Json, id: string, now: number, atOnce: boolean): NewTask {
    const { name, policy, record } = definition
    const deadline = policy.timeoutMs === undefined ? null : now + policy.timeoutMs
    const seed = Math.floor(this.environment.random() * 2 ** 32)
    const task: TaskRecord = {
      run: name,
      id,
      queue: name,
      generation: 1,
      status: 'waiting',
      dueAtMs: now,
      owner: null,
      fence: 0,
      progress: freshProgress(seed, deadline),
      policyHash: record.hash,
      input,
      stopReason: null,
      correlationId: randomUUID(),
      createdAtMs: now,
      updatedAtMs: now,
    }
    const begun = atOnce ? this.worker.beginFree(task, now) : task
    return { task: begun, policy: record, payloadHash: fingerprint({ name, input }) }
  }

  private async status({ policy }: Definition, key: TaskKey): Promise<TaskState | undefined> {
    const task = await this.ledger.get(key)
    if (task === undefined) return undefined
    const { retry } = task.progress
    return {
      id: task.id,
      state: task.status,
      generation: task.generation,
      attempts: retry.launched,
      attemptsAllowed: policy.attempts,
      nextAttemptAtMs: task.dueAtMs,
      totalDelayMs: retry.totalDelayMs,
      stopReason: task.stopReason,
      correlationId: task.correlationId,
      history: await this.ledger.attempts(key),
    }
  }

  private async change(
    definition: Definition,
    id: string,
    how: (task: TaskRecord, now: number) => Settled | undefined,
  ): Promise<void> {
    this.expectOpen()
    const { gates } = this
    const key: TaskKey = { run: definition.name, id }
    const after = await this.ledger.transact({ tasks: [key], gates: gates.keysOf(definition) }, (view) => {
      const task = view.task(key)
      if (task === undefined) throw new TaskRefusedError('not_found', `There is no task ${key.run}/${key.id}`)
      const changes = how(task, view.now)
      if (changes === undefined) return { result: undefined }
      gates.refresh(definition, view)
      gates.giveUp(definition, task, changes.task, view.now)
      return { ...changes, gates: gates.records(definition), result: changes.task }
    })
    if (after === undefined) return
    if (after.status === 'cancelled') this.worker.abandon(after)
    if (isOver(after)) this.waiters.settled(after)
    else this.worker.wake()
  }

  private resetTask({ policy }: Definition, task: TaskRecord, now: number): Settled {
    if (task.status === 'failed' || task.status === 'cancelled' || task.status === 'undecided') {
      return reset(task, policy, Math.floor(this.environment.random() * 2 ** 32), now)
    }
    throw new TaskRefusedError('finished', `Task ${task.run}/${task.id} is ${task.status}: there is nothing to reset`)
  }

  // ── the rest ───────────────────────────────────────────────────────────────────────────────────

  private expectOpen(): void {
    if (this.failure !== undefined) throw this.failure as Error
    if (this.closed) throw new TaskRefusedError('closed', 'The durable tasks were closed')
  }

  /** The ledger failed: nothing more is decided, and nobody waits for what nobody will know. */
  private fail(error: unknown): void {
    if (this.failure !== undefined || this.closed) return
    this.failure = error
    this.worker.halt(error)
    this.ownership.halt()
    this.waiters.failAll(error)
  }
}

function expectId(what: string, id: string): void {
  if (typeof id === 'string' && ID.test(id)) return
  throw new TypeError(`${what} ${JSON.stringify(id)} must match ${ID.source}`)
}

function resultOf(task: TaskRecord): Json {
  if (task.status === 'succeeded') return task.result ?? null
  throw new RecordedFailureError(task)
}

function hasten(task: TaskRecord, now: number): Settled {
  if (task.status === 'waiting') return retryNow(task, now)
  throw new TaskRefusedError('not_waiting', `Task ${task.run}/${task.id} is ${task.status}: nothing waits`)
}

function decideTask(task: TaskRecord, answer: 'done' | 'rerun', now: number): Settled {
  if (task.status === 'undecided') return resolve(task, answer, now)
  throw new TaskRefusedError('finished', `Task ${task.run}/${task.id} is ${task.status}: there is nothing to decide`)
}
