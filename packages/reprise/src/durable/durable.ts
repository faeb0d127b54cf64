/**
 * Durable tasks for programs: registered by name, kept in a ledger, run by whichever process has hands. Imports core, the
 * runtime's environment, the ledger's port and its own layer.
 */
import { randomUUID } from 'node:crypto'
import { OptionsError, PolicyError } from '../core/errors.js'
import { normalizePolicy } from '../core/normalize.js'
import type { BreakerInput, Policy, PolicyArgument } from '../core/policy.js'
import { isNot } from '../core/problems.js'
import type { LedgerAnalytics } from '../ledger/analytics.js'
import { LedgerError } from '../ledger/errors.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Json, OwnerIdentity, TaskKey, TaskRecord } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import { systemClock } from '../runtime/system-clock.js'
import { Adoption, type RefusedTask, type SkippedTask } from './adoption.js'
import type { Definition, Recordable, TaskFunction, VerifyFunction } from './definition.js'
import { TaskRefusedError } from './errors.js'
import { expectOptions, FLAG } from '../core/options.js'
import { GateBook } from './gate-book.js'
import { type Identity, ownIdentity } from './identity.js'
import type { OtherOwner } from './other-owners.js'
import { Ownership } from './ownership.js'
import { willPass } from './persistence.js'
import { type InterruptRule, recordOf } from './policy-record.js'
import { Runs } from './runs.js'
import { Retention, retentionOf, type RetentionSettings, type Swept } from './retention.js'
import { Sweeper } from './sweeper.js'
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
}

export interface TaskOptions<I, R> {
  /**
   * What becomes of an attempt whose process was lost while it ran: it runs again (the default), a person decides
   * (`fail`), or the program looks whether it happened (`verify`).
   */
  readonly onInterrupt?: 'rerun' | 'fail' | { readonly verify: VerifyFunction<I, R> }
}

export interface ResumeOptions {
  /** Takes over from processes that still hold their lease too; what they do with those tasks is not written any more. */
  readonly force?: boolean
}

export interface Resumption {
  /** Taken over from lost owners. */
  readonly resumed: number
  /** Waiting for their time, those just taken over among them. */
  readonly waiting: number
  /** Written before there was a retry state: they have a fresh one now. */
  readonly migrated: number
  /** Left as they are, since this program's policy is not theirs. */
  readonly skipped: readonly SkippedTask[]
  /** Left as they are, since what the ledger says of them cannot be. */
  readonly refused: readonly RefusedTask[]
  /** Interrupted, and only a person can say whether they happened: see `decide`. */
  readonly undecided: readonly TaskKey[]
  /** Processes that hold a lease; what they own goes on there. */
  readonly others: readonly OtherOwner[]
  readonly elapsedMs: number
}

const STOPPED = 'This process takes no more work'

/** So long attempts that were told to end may take, whatever the lease. */
const LEAST_END_MS = 60_000
/** So long a ledger that does not answer is waited for at the end. */
const MOST_WAIT_MS = 5000

/** Of Node. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

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
  /** Tasks that follow each other, conducted by one process at a time. */
  readonly runs: Runs
  private readonly retention: Retention
  private readonly sweeper: Sweeper
  /** Of policies that name a breaker whose settings were given apart: what they are with it. */
  private readonly withSharedBreakers = new WeakMap<Policy, Policy>()
  private failure: unknown = undefined
  /** Somebody has heard of the failure. */
  private isTold = false
  private closing: Promise<void> | undefined = undefined
  private working: Promise<void> | undefined = undefined
  private endWork: (error?: unknown) => void = () => undefined
  private stopListening: () => void = () => undefined

  private constructor(ledger: Ledger, environment: Environment, settings: DurableSettings, gates: GateBook) {
    this.ledger = ledger
    this.environment = environment
    this.settings = settings
    const { waiters } = this
    const { concurrency, leaseMs } = settings
    const identity = settings.identity ?? ownIdentity(settings.about)
    const onFailure = (error: unknown, isTold = false): void => this.fail(error, isTold)
    const resumedAtMs = (task: TaskRecord): number | undefined => this.ownership.resumedAtMs(task)
    const isLate = (): boolean => this.ownership.isLate
    const parts = {
      ledger,
      environment,
      gates,
      waiters,
      owner: identity.id,
      concurrency,
      onFailure,
      resumedAtMs,
      isLate,
    }
    this.worker = new Worker(parts, new Map())
    const monotonicMs = (): number => environment.clock.monotonicMs()
    const isSystemTime = environment.clock === systemClock
    this.ownership = new Ownership({ ledger, identity, leaseMs, monotonicMs, isSystemTime, onFailure }, this.worker)
    this.adoption = new Adoption(ledger, settings.policyChange, environment.random)
    this.watching = new Watching({ ledger, waiters, onFailure, isHere: (key) => this.worker.isHere(key) })
    this.retention = new Retention(ledger, settings.retention ?? retentionOf())
    this.sweeper = new Sweeper({ retention: this.retention, onFailure })
    const { worker, adoption, watching } = this
    const lookForLost = (): void => this.ownership.lookSoon()
    const expectOpen = (): void => this.expectOpen()
    this.tasks = new Tasks({ ledger, worker, adoption, watching, lookForLost, expectOpen })
    const { tasks, ownership } = this
    const policyOf = (name: string, input: PolicyArgument): Policy => this.policyOf(name, input)
    const known = { ledger, worker, tasks, adoption, ownership, owner: identity.id }
    this.runs = new Runs({ ...known, policyOf, interruptRule, expectOpen })
  }

  static async open(ledger: Ledger, environment: Environment, settings: DurableSettings): Promise<Durable> {
    const durable = new Durable(ledger, environment, settings, new GateBook(environment, await ledger.gates()))
    await durable.ownership.begin()
    durable.worker.begin()
    durable.sweeper.begin()
    durable.stopListening = await ledger.listen(() => durable.worker.wake())
    return durable
  }

  task<I, R, C = Json>(
    name: string,
    policy: PolicyArgument,
    run: TaskFunction<I, R, C> & Recordable<I, R, C>,
    options: TaskOptions<I, R> = {},
  ): TaskHandle<I, R> {
    if (this.closing !== undefined) throw new TaskRefusedError('closed', 'The durable tasks were closed')
    expectId('task name', name)
    if (this.worker.definitions.has(name)) throw new TypeError(`There is a task ${name} already`)
    if (typeof run !== 'function') throw new TypeError(`The task ${name} needs a function`)
    const normal = this.policyOf(name, policy)
    expectOptions(`the task ${name}`, options, { onInterrupt: [() => true, ''] })
    const { rule, verify } = interruptRule(name, options)
    const record = recordOf(normal, rule)
    const definition: Definition = {
      name,
      queue: name,
      scopeKind: 'task',
      scope: name,
      policy: normal,
      record,
      run,
      onInterrupt: rule,
      verify,
    }
    this.worker.definitions.set(name, definition)
    this.worker.wake()
    return this.tasks.handle<I, R>(definition)
  }

  /** Takes over what lost processes left, and looks at what waits. */
  async resume(options: ResumeOptions = {}): Promise<Resumption> {
    this.expectOpen()
    expectOptions('resume', options, { force: FLAG })
    const startMs = this.environment.exactMs()
    const { worker, ledger } = this
    worker.due.lookAgain()
    await this.ownership.tellQueues()
    const resumed = await this.ownership.takeOver(randomUUID(), options.force)
    const skipped: SkippedTask[] = []
    const refused: RefusedTask[] = []
    const undecided: TaskKey[] = []
    let [waiting, migrated] = [0, 0]
    for (const definition of worker.definitions.values()) {
      const found = await this.adoption.lookAtWaiting(definition)
      waiting += found.waiting
      migrated += found.migrated
      skipped.push(...found.skipped)
      refused.push(...found.refused)
      for (const { task, faults } of found.refused) worker.due.refuse(definition, task, faults)
      const open = await ledger.list({ queue: definition.queue, statuses: ['undecided'] })
      undecided.push(...open.map(({ scopeKind, scope, id }) => ({ scopeKind, scope, id })))
    }
    worker.wake()
    const others = await this.ownership.others()
    const elapsedMs = this.environment.exactMs() - startMs
    return { resumed, waiting, migrated, skipped, refused, undecided, others, elapsedMs }
  }

  /** Questions about many tasks: what fails, what recovers, what waiting costs. */
  get analytics(): LedgerAnalytics {
    this.expectOpen()
    return this.ledger.analytics
  }

  /** Removes what the option `retention` does not keep, at once; by itself that happens now and then. */
  sweep(): Promise<Swept> {
    this.expectOpen()
    return this.retention.sweep()
  }

  /** Keeps the process here until `drain` or `close`; rejects if the ledger fails. What a worker waits for. */
  work(): Promise<void> {
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

  /** No new attempts; resolves when those that run have ended. Who still waits for a task is told. */
  async drain(): Promise<void> {
    await this.worker.drain()
    this.watching.end()
    this.waiters.failAll(new TaskRefusedError('closed', STOPPED))
    this.endWork()
  }

  /** Attempts that run are told to end, and recorded as interrupted on purpose; nothing new begins. The ledger stays open. */
  async stop(): Promise<void> {
    if (this.failure === undefined) await this.worker.stop(new TaskRefusedError('closed', STOPPED))
    this.watching.end()
    this.waiters.failAll(new TaskRefusedError('closed', STOPPED))
    this.endWork()
  }

  /** Stops: attempts that run are told, and recorded as interrupted on purpose, so that others go on with them. */
  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private async end(): Promise<void> {
    const reason = new TaskRefusedError('closed', 'The durable tasks were closed')
    this.stopListening()
    try {
      if (this.failure === undefined) {
        // After a lease others go on, and nothing that is written here counts: then it is not waited for any longer. A
        // ledger that does not answer at all hears of nothing.
        const { answers, failure } = await this.askSoon()
        const mostMs = answers ? Math.max(this.settings.leaseMs, LEAST_END_MS) : MOST_WAIT_MS
        await within(mostMs, this.endInOrder(reason))
        if (failure !== undefined) throw failure as Error
      }
    } finally {
      this.waiters.failAll(this.failure ?? reason)
      this.watching.end()
      await this.ledger.close()
      this.endWork(this.failure)
    }
    if (this.failure !== undefined && !this.isTold) throw this.failure as Error
  }

  /** Whether the ledger answers, and whether it says that it has failed. */
  private async askSoon(): Promise<{ answers: boolean; failure?: unknown }> {
    let answer: { answers: boolean; failure?: unknown } = { answers: false }
    const asked = this.ledger.leaseNow().then(
      () => void (answer = { answers: true }),
      (error: unknown) => void (answer = willPass(error) ? { answers: false } : { answers: true, failure: error }),
    )
    await within(MOST_WAIT_MS, asked)
    return answer
  }

  private async endInOrder(reason: unknown): Promise<void> {
    await this.sweeper.end()
    await this.worker.stop(reason)
    try {
      await this.ownership.end()
    } catch (error) {
      // The row stays, and its lease runs out.
      if (!willPass(error)) throw error
    }
  }

  private policyOf(name: string, input: PolicyArgument): Policy {
    const { policy } = normalizePolicy(input)
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
    if (this.failure !== undefined || willPass(error)) return
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

/** Waits for it, but not for ever. */
async function within(mostMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, mostMs)))
  try {
    await Promise.race([work, enough])
  } finally {
    clearTimeout(timer)
    // What it says afterwards nobody hears.
    work.catch(() => undefined)
  }
}

/** Nobody listens: Node says so, and ends the process with a code that tells. */
function unhandled(failure: unknown): void {
  void Promise.reject(failure)
}

function interruptRule<I, R>(
  name: string,
  { onInterrupt = 'rerun' }: TaskOptions<I, R>,
): { rule: InterruptRule; verify: VerifyFunction<I, R> | undefined } {
  if (onInterrupt === 'rerun' || onInterrupt === 'fail') return { rule: onInterrupt, verify: undefined }
  const verify: unknown = (onInterrupt as { verify?: unknown } | null)?.verify
  if (typeof verify === 'function') return { rule: 'verify', verify: verify as VerifyFunction<I, R> }
  const message = isNot(onInterrupt, "'rerun', 'fail' or { verify: function }")
  throw new OptionsError(`the task ${name}`, [{ path: 'onInterrupt', message }])
}
