/**
 * Durable tasks for programs: registered by name, kept in a ledger, executed by any process that has a free slot. Imports
 * core, the runtime's environment, the ledger's port and its own layer.
 */
import { randomUUID } from 'node:crypto'
import { PolicyError } from '../core/errors.js'
import { IN_CODE, normalizePolicy } from '../core/normalize.js'
import type { BreakerInput, Policy, PolicyArgument } from '../core/policy.js'
import type { LedgerAnalytics } from '../ledger/analytics.js'
import { LedgerError } from '../ledger/errors.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Json, OwnerIdentity, TaskKey, TaskRecord } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import { systemClock } from '../runtime/system-clock.js'
import { Adoption, type RefusedTask, type SkippedTask } from './adoption.js'
import { BoundedEnd } from './bounded-end.js'
import { type Definition, type Recordable, takenUpAtMs, type TaskFunction } from './definition.js'
import type { Refusals } from './refusals.js'
import { TaskRefusedError } from './errors.js'
import { expectOptions, FLAG } from '../core/options.js'
import { isNot } from '../core/problems.js'
import { gatesOfNow } from './clock-step.js'
import { GateBook } from './gate-book.js'
import { type Identity, ownIdentity } from './identity.js'
import type { OtherOwner } from './other-owners.js'
import { Ownership } from './ownership.js'
import { isTransient } from './persistence.js'
import { recordOf } from './policy-record.js'
import { RunBudgets } from './run-budgets.js'
import { Runs } from './runs.js'
import { Retention, retentionOf, type RetentionSettings, type Swept } from './retention.js'
import { Sweeper } from './sweeper.js'
import { Takeover } from './takeover.js'
import { TaskChanges } from './task-changes.js'
import { interruptRule, readTaskOptions, type TaskOptions } from './task-options.js'
import { expectId, type TaskHandle, Tasks } from './tasks.js'
import { Waiters } from './waiters.js'
import { Watching } from './watching.js'
import { Worker } from './worker.js'

export interface DurableSettings {
  readonly concurrency: number
  readonly leaseMs: number
  readonly policyChange: 'refuse' | 'accept'
  /** By key; in place of what policies say of the breaker with that key. */
  readonly breakers?: Readonly<Record<string, BreakerInput>>
  /** Told when the ledger fails and nobody else is; an unhandled rejection when absent, which ends the process. */
  readonly onFailure?: (error: unknown) => void
  /** How long what is over is kept. */
  readonly retention?: RetentionSettings
  /** Who this is, where it is not simply this process. */
  readonly identity?: Identity
  /** What other processes and people are told of it. */
  readonly about?: OwnerIdentity
  /** Where the ledger was opened. A function, so that a password in it is not printed with the object. */
  readonly address?: () => string
}

/** Options of `resume`. */
export interface ResumeOptions {
  /**
   * Takes over from processes that still hold their lease too; what they do with those tasks is not written any more.
   * @default false
   * @example { force: true }
   */
  readonly force?: boolean
}

/** What a resume found and did. */
export interface Resumption {
  /** Taken over from lost owners. */
  readonly resumed: number
  /** Waiting for their time, those just taken over among them. */
  readonly waiting: number
  /** Written before there was a retry state: they have a fresh one now. */
  readonly migrated: number
  /** Left as they are, since this program's policy is not theirs: at most 1,000 for each name of tasks. */
  readonly skipped: readonly SkippedTask[]
  /** How many were left as they are for that reason. */
  readonly skippedCount: number
  /** Left as they are, since what the ledger says of them cannot be. */
  readonly refused: readonly RefusedTask[]
  /** Interrupted, and only a person can say whether they happened: see `decide`. */
  readonly undecided: readonly TaskKey[]
  /** Processes that hold a lease; what they own goes on there. */
  readonly others: readonly OtherOwner[]
  /** How long it took. */
  readonly elapsedMs: number
}

const STOPPED = 'This process takes no more work'

/** Of Node. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Durable tasks on one store: what `openDurable` resolves to. */
export class Durable {
  private readonly ledger: Ledger
  private readonly environment: Environment
  private readonly settings: DurableSettings
  private readonly waiters = new Waiters()
  private readonly worker: Worker
  private readonly ownership: Ownership
  private readonly adoption: Adoption
  private readonly watching: Watching
  private readonly tasks: Tasks
  private readonly changes: TaskChanges
  /** Tasks that follow each other, conducted by one process at a time. */
  readonly runs: Runs
  private readonly retention: Retention
  private readonly sweeper: Sweeper
  private readonly ending: BoundedEnd
  /** Of policies that name a breaker whose settings were given apart: what they are with it. */
  private readonly withSharedBreakers = new WeakMap<Policy, Policy>()
  private failure: unknown = undefined
  /** Somebody has heard of the failure. */
  private isTold = false
  private closing: Promise<void> | undefined = undefined
  private working: Promise<void> | undefined = undefined
  private endWork: (error?: unknown) => void = () => undefined
  private stopListening: () => void = () => undefined

  private constructor(
    ledger: Ledger,
    environment: Environment,
    settings: DurableSettings,
    { gates, budgets }: { readonly gates: GateBook; readonly budgets: RunBudgets },
  ) {
    this.ledger = ledger
    this.environment = environment
    this.settings = settings
    const { waiters } = this
    const { concurrency, leaseMs } = settings
    const identity = settings.identity ?? ownIdentity(settings.about)
    const onFailure = (error: unknown, isTold = false): void => this.fail(error, isTold)
    const resumedAtMs = (task: TaskRecord): number | undefined =>
      takenUpAtMs(this.worker.definitions.get(task.queue), task) ?? this.ownership.resumedAtMs(task)
    const owner = identity.id
    this.ending = new BoundedEnd(ledger, leaseMs)
    const ports = { ledger, environment, gates, waiters, owner, concurrency, leaseMs, onFailure, resumedAtMs }
    this.worker = new Worker({
      ...ports,
      isLate: () => this.ownership.isLate,
      othersServing: (queue) => this.ownership.othersServing(queue),
      wasWaiting: (updatedAtMs) => this.ownership.wasThere(updatedAtMs),
    })
    const { worker } = this
    const { writer, events, definitions } = worker
    const refuse: Refusals['refuse'] = (definition, task, faults) =>
      worker.due.refusals.refuse(definition, task, faults)
    const takeover = new Takeover({ ledger, writer, events, waiters, definitions, refuse })
    this.ownership = new Ownership({
      ledger,
      identity,
      leaseMs,
      takeover,
      monotonicMs: () => environment.clock.monotonicMs(),
      track: worker.activity.track,
      onTaken: () => worker.wakeAll(),
      isSystemTime: environment.clock === systemClock,
      load: () => ({ slots: concurrency, running: worker.running }),
      hasTasks: () => definitions.size > 0,
      queues: () => worker.sharedQueues,
      onFailure,
    })
    this.adoption = new Adoption(ledger, settings.policyChange, environment.random)
    this.watching = new Watching({ ledger, waiters, onFailure, isHere: (key) => worker.isHere(key) })
    this.retention = new Retention(ledger, settings.retention ?? retentionOf())
    this.sweeper = new Sweeper({ retention: this.retention, onFailure })
    const { adoption, watching } = this
    const { random } = environment
    const lookForLost = (): void => this.ownership.lookSoon()
    const expectOpen = (): void => this.expectOpen()
    const common = { ledger, worker, adoption, waiters, random, expectOpen }
    this.changes = new TaskChanges(common)
    const { changes } = this
    this.tasks = new Tasks({ ...common, changes, watching, lookForLost, onFailure })
    const { tasks, ownership, ending } = this
    const policyOf = (name: string, input: PolicyArgument): Policy => this.policyOf(name, input)
    const known = { ...common, environment, budgets, definitions, tasks, ownership, owner, ending }
    this.runs = new Runs({ ...known, policyOf, interruptRule, expectOpen })
  }

  static async open(ledger: Ledger, environment: Environment, settings: DurableSettings): Promise<Durable> {
    const budgets = new RunBudgets(environment.budgets)
    const gates = new GateBook(environment, budgets, await gatesOfNow(ledger))
    const durable = new Durable(ledger, environment, settings, { gates, budgets })
    await durable.ownership.begin()
    durable.worker.begin()
    durable.sweeper.begin()
    const stopHints = await ledger.listen(() => durable.worker.hinted())
    const stopWatching = await ledger.watchAvailability?.(durable.worker.events.ofStore(ledger.name))
    durable.stopListening = () => {
      stopHints()
      stopWatching?.()
    }
    return durable
  }

  /**
   * Registers a kind of task and gives the handle that runs it. `name` is up to 128 letters, digits, dots, dashes and
   * underscores, begins with a letter or digit, and is used once. Throws a `PolicyError` for a wrong policy.
   * @example
   * const send = durable.task('send', { attempts: 5 }, async ({ to }: { to: string }, { idempotencyKey }) => {
   *   return `sent to ${to} as ${idempotencyKey}`
   * })
   * await send.run({ to: 'ada' }, { id: 'welcome-ada' })
   */
  task<I, R, C = Json>(
    name: string,
    policy: PolicyArgument,
    run: TaskFunction<I, R, C> & Recordable<I, R, C>,
    options: TaskOptions<I, R> = {},
  ): TaskHandle<I, R> {
    if (this.closing !== undefined) throw new TaskRefusedError('closed', 'The durable tasks were closed')
    expectId('task name', name)
    if (this.worker.definitions.has(name))
      throw new TypeError(`There is a task ${name} already: register each name once, and share its handle`)
    if (typeof run !== 'function')
      throw new TypeError(`The third argument of task('${name}', policy, run): ${isNot(run, 'a function')}`)
    const normal = this.policyOf(name, policy)
    const { rule, verify, group, tally, allot, most, rate, whenDenied } = readTaskOptions(name, options, normal)
    const record = recordOf(normal, rule)
    const definition: Definition = {
      name,
      queue: name,
      scopeKind: 'task',
      scope: name,
      policy: normal,
      record,
      run,
      most,
      rate,
      whenDenied,
      onInterrupt: rule,
      verify,
      ...(group && { group }),
      ...(tally && { tally }),
      ...(allot && { allot }),
    }
    this.worker.register(definition)
    return this.tasks.handle<I, R>(definition)
  }

  /**
   * Takes over what lost processes left, and looks at what waits. Call it once all tasks are registered.
   * @example const { resumed, skipped } = await durable.resume()
   */
  async resume(options: ResumeOptions = {}): Promise<Resumption> {
    this.expectOpen()
    expectOptions('resume', options, { force: FLAG })
    const startMs = this.environment.exactMs()
    const { worker, ledger } = this
    worker.due.refusals.lookAgain()
    await this.ownership.tellQueues()
    const resumed = await this.ownership.takeOver(randomUUID(), options.force)
    const skipped: SkippedTask[] = []
    const refused: RefusedTask[] = []
    const undecided: TaskKey[] = []
    let [waiting, migrated, skippedCount] = [0, 0, 0]
    // What was due has been begun since the tasks were registered: it was waiting all the same.
    const begun = worker.due.takeBegun()
    for (const definition of worker.definitions.values()) {
      const found = await this.adoption.lookAtWaiting(definition)
      waiting += found.waiting
      migrated += found.migrated
      skipped.push(...found.skipped)
      skippedCount += found.skippedCount
      refused.push(...found.refused)
      for (const { task, faults } of found.refused) worker.due.refusals.refuse(definition, task, faults)
      const open = await ledger.list({ queue: definition.queue, statuses: ['undecided'] })
      undecided.push(...open.map(({ scopeKind, scope, id }) => ({ scopeKind, scope, id })))
    }
    // Also what is held: somebody may have mended its gate.
    worker.wakeAll()
    waiting += begun + worker.due.takeBegun()
    const others = await this.ownership.others()
    const elapsedMs = this.environment.exactMs() - startMs
    worker.events.restored({ resumed, waiting, migrated, refused: refused.length, elapsedMs })
    return { resumed, waiting, migrated, skipped, skippedCount, refused, undecided, others, elapsedMs }
  }

  /** Questions about many tasks: what fails, what recovers, what waiting costs. */
  get analytics(): LedgerAnalytics {
    this.expectOpen()
    return this.ledger.analytics
  }

  /**
   * Removes what the option `retention` does not keep, at once; the process also does so from time to time.
   * @example const { tasks, more } = await durable.sweep()
   */
  async sweep(): Promise<Swept> {
    this.expectOpen()
    return this.retention.sweep()
  }

  /**
   * Keeps the process running until `drain`, `stop` or `close`; rejects if the store fails.
   * @example
   * process.once('SIGTERM', () => void durable.drain())
   * await durable.work()
   */
  async work(): Promise<void> {
    this.expectOpen()
    this.working ??= new Promise((resolve, reject) => {
      // Without one that is waited for, a process whose tasks all wait for somebody else's would end.
      const timer = setInterval(() => undefined, LONGEST_TIMER_MS)
      const end = (settle: () => void): void => {
        clearInterval(timer)
        settle()
      }
      this.endWork = (error) => end(error === undefined ? resolve : () => reject(error))
    })
    return this.working
  }

  /**
   * Starts no new attempts; resolves when those that run have ended. Callers that still wait for a task are rejected
   * with a `TaskRefusedError`. Rejects with a `LedgerError` if the end of an attempt could not be recorded.
   * @example
   * await durable.drain()
   * await durable.close()
   */
  async drain(): Promise<void> {
    await this.worker.drain()
    this.leaveCallers()
    this.expectRecorded()
  }

  /**
   * Aborts the attempts that run and records them as interrupted on purpose; starts no new ones. The store stays open.
   * Waits 10 seconds for a store that does not answer; rejects with a `LedgerError` if the end of an attempt could not be
   * recorded.
   * @example await durable.stop()
   */
  async stop(): Promise<void> {
    try {
      if (this.failure === undefined)
        await this.ending.waitFor(this.worker.stop(new TaskRefusedError('closed', STOPPED)))
    } finally {
      this.leaveCallers()
    }
    this.expectRecorded()
  }

  private leaveCallers(): void {
    this.watching.end()
    this.waiters.failAll(new TaskRefusedError('closed', STOPPED))
    this.endWork()
  }

  /** That nothing was lost of attempts that ran here. A store that failed for good has been told of otherwise. */
  private expectRecorded(): void {
    const { unrecorded } = this.worker
    if (unrecorded === 0 || this.failure !== undefined) return
    const attempts = unrecorded === 1 ? 'how 1 attempt ended' : `how ${unrecorded} attempts ended`
    throw this.ending.failure(`${attempts} is not recorded`)
  }

  /**
   * Aborts the attempts that run, records them as interrupted on purpose, so that other processes continue them, and
   * closes the store. Waits 10 seconds for a store that does not answer; rejects with a `LedgerError` if the end of an
   * attempt could not be recorded.
   * @example await durable.close()
   */
  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private async end(): Promise<void> {
    const reason = new TaskRefusedError('closed', 'The durable tasks were closed')
    this.stopListening()
    try {
      if (this.failure === undefined) {
        await this.ending.waitFor(this.endInOrder(reason))
        this.expectRecorded()
      }
    } finally {
      this.waiters.failAll(this.failure ?? reason)
      this.watching.end()
      await this.ledger.close()
      this.endWork(this.failure)
    }
    if (this.failure !== undefined && !this.isTold) throw this.failure as Error
  }

  private async endInOrder(reason: unknown): Promise<void> {
    await this.sweeper.end()
    await this.worker.stop(reason)
    try {
      await this.ownership.end()
    } catch (error) {
      // The row stays, and its lease runs out.
      if (!isTransient(error)) throw error
    }
  }

  private policyOf(name: string, input: PolicyArgument): Policy {
    const { policy } = normalizePolicy(input, IN_CODE)
    if (policy.hedge !== undefined) {
      const message = `the task ${name} cannot hedge: hedges live within one process`
      throw new PolicyError([{ path: 'hedge', message }])
    }
    const key = policy.breaker?.key
    const shared = key === undefined ? undefined : this.settings.breakers?.[key]
    if (shared === undefined) return policy
    let known = this.withSharedBreakers.get(policy)
    if (known === undefined) {
      const { breaker } = normalizePolicy({ breaker: { ...shared, key: key as string } }).policy
      known = Object.freeze({ ...policy, breaker })
      this.withSharedBreakers.set(policy, known)
    }
    return known
  }

  private expectOpen(): void {
    if (this.failure !== undefined) {
      this.isTold = true
      throw this.failure as Error
    }
    if (this.closing !== undefined) throw new TaskRefusedError('closed', 'The durable tasks were closed')
  }

  /** The ledger failed: nothing more is decided, and nobody waits for what nobody will know. */
  private fail(error: unknown, isTold: boolean): void {
    // Somebody holds it, or it does not answer: what could not be written now is written later.
    if (this.failure !== undefined || isTransient(error)) return
    // Closed by ourselves, while somebody still waited for an answer.
    if (this.closing !== undefined && error instanceof LedgerError && error.problem === 'closed') return
    this.failure = error
    if (this.closing !== undefined) return
    this.worker.halt(error)
    this.ownership.halt()
    void this.sweeper.end()
    const waited = this.waiters.failAll(error) > 0
    this.isTold = isTold || waited || this.working !== undefined
    this.endWork(error)
    if (!this.isTold) (this.settings.onFailure ?? unhandled)(error)
  }
}

/** Nobody listens: Node says so, and ends the process with a code that tells. */
function unhandled(failure: unknown): void {
  void Promise.reject(failure)
}
