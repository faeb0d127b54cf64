/**
 * One run, as its conductor sees it: steps that are recorded before they begin and are given back once they have ended.
 * Who takes up a run calls its steps in the same order again; what has ended does not run again. Imports the ledger's
 * port and its own layer.
 */
import { randomUUID } from 'node:crypto'
import { normalizePolicy } from '../core/normalize.js'
import type { Budget } from '../core/budget.js'
import type { Observer } from '../core/event.js'
import type { Policy, PolicyArgument } from '../core/policy.js'
import type { Changes, Ledger, ResultPage, TaskFilter, TaskResult } from '../ledger/ledger.js'
import {
  type Json,
  keyIn,
  type LedgerEvent,
  type RunRecord,
  type RunStatus,
  scopeOfRun,
  type TaskKey,
  type TaskRecord,
  type TaskStatus,
} from '../ledger/records.js'
import type { Adoption } from './adoption.js'
import type { BoundedEnd } from './bounded-end.js'
import {
  type Conductor,
  type Definition,
  expectConductor,
  type TaskFunction,
  type VerifyFunction,
} from './definition.js'
import { TaskRefusedError } from './errors.js'
import { expectJson } from './json.js'
import type { Ownership } from './ownership.js'
import { recordOf } from './policy-record.js'
import { ItemQueue, type ItemQueueOptions } from './item-queue.js'
import { expectId, type TaskHandle, type Tasks } from './tasks.js'
import { freshProgress, takenUp } from './transitions.js'
import { isOver, type Waiters } from './waiters.js'
import type { Worker } from './worker.js'

export interface StepOptions<R> {
  /**
   * What becomes of an attempt whose process was lost while it ran: see `TaskOptions`.
   * @default 'rerun'
   * @example { onInterrupt: 'fail' }
   */
  readonly onInterrupt?:
    | 'rerun'
    | 'fail'
    | {
        /** Looks whether the interrupted attempt happened. */
        readonly verify: VerifyFunction<null, R>
      }
  /** What observers are told it is called. @default the step's id @example { name: 'Fetch prices' } */
  readonly name?: string
}

/** A step of a run; `run` begins it, joins it, or gives what is recorded of it. */
export interface StepHandle<R> {
  /** Runs the step, joins it, or gives its recorded result. @example const rows = await step.run() */
  run(): Promise<R>
  /** What is known of the step; undefined if it has not begun. @example const status = await step.status() */
  status(): ReturnType<TaskHandle<null, R>['status']>
  /** Cancels the step; its attempt is aborted if it runs. @example await step.cancel() */
  cancel(): Promise<void>
  /** Ends the wait of the step: its next attempt starts at once. @example await step.retryNow() */
  retryNow(): Promise<void>
  /** Records an attempt that a lost process left as interrupted, and starts nothing. @example await step.takeOver() */
  takeOver(): Promise<void>
  /** Grants a fresh set of attempts to a step that has ended without success. @example await step.reset() */
  reset(): Promise<void>
  /** Grants a fresh set of attempts to a step that has ended, however it did: it runs again. @example await step.again() */
  again(): Promise<void>
  /** Says whether an interrupted attempt of an undecided step happened. @example await step.decide('rerun') */
  decide(answer: 'done' | 'rerun', result?: R): Promise<void>
}

export interface RunChangeInput {
  /** What the run's kind wants to know again. @default as it is @example { detail: { done: 3 } } */
  readonly detail?: Json
  /** What the run runs from now on. @default as it is @example { definition: { steps: ['fetch'] } } */
  readonly definition?: Json
  /** The fingerprint of the new definition. @default as it is @example { fingerprint: '9f2c' } */
  readonly fingerprint?: string
  /**
   * What the event `run_changed` tells of the change.
   * @default no event is recorded
   * @example { because: { accepted: 'by hand' } }
   */
  readonly because?: Json
}

export interface RunParts {
  readonly ledger: Ledger
  readonly worker: Worker
  readonly waiters: Waiters
  /** By queue: tasks of these are claimed. */
  readonly definitions: Map<string, Definition>
  readonly tasks: Tasks
  readonly adoption: Adoption
  readonly ownership: Ownership
  readonly ending: BoundedEnd
  readonly owner: string
  readonly policyOf: (name: string, input: PolicyArgument) => Policy
  readonly interruptRule: <R>(
    name: string,
    options: StepOptions<R>,
  ) => { rule: Definition['onInterrupt']; verify: VerifyFunction<null, R> | undefined }
  readonly expectOpen: () => void
}

/** What a process brings along for a run that it conducts; gone when the run is released. */
export interface ConductOptions {
  /**
   * Budgets that the steps of the run name, beside those of the process. Runs that use one name share its budget.
   * @default none
   * @example { budgets: new Map([['api', ratioBudget()]]) }
   */
  readonly budgets?: ReadonlyMap<string, Budget>
  /**
   * Gets the events of this process, those of other runs and tasks too.
   * @default none
   * @example { observer: { onEvent: (event) => console.log(event.type) } }
   */
  readonly observer?: Observer
  /**
   * What to do with steps that were recorded with another policy.
   * @default that of `openDurable`
   * @example { policyChange: 'accept' }
   */
  readonly policyChange?: 'refuse' | 'accept'
}

/** How this process came to conduct the run. */
export interface Conducting extends Pick<ConductOptions, 'policyChange'> {
  /** Takes back what was brought along; once. */
  readonly release: () => void
  /** Of the resume; undefined if it began the run. */
  readonly resumeId: string | undefined
  readonly force: boolean
}

/** Of steps that are recorded and never run. */
const SKIPPED_POLICY = /* @__PURE__ */ normalizePolicy({ attempts: 1 }).policy

export class DurableRun {
  /** The id of the run. */
  readonly id: string
  private readonly parts: RunParts
  private current: RunRecord
  private readonly conducting: Conducting | undefined
  private readonly conductor: Conductor
  /** Steps that a caller waits for, by queue. */
  private readonly active = new Map<string, TaskKey>()

  constructor(parts: RunParts, record: RunRecord, conducting: Conducting | undefined) {
    this.parts = parts
    this.id = record.id
    this.current = record
    this.conducting = conducting
    this.conductor = { fence: record.fence, correlationId: record.correlationId, isStopped: false }
  }

  /**
   * Attempts of its steps are told to end and recorded as interrupted on purpose, and callers that wait for a step are
   * refused with `closed`. Other runs and tasks of this process go on. The run itself is left or finished afterwards.
   * Waits 10 seconds for a store that does not answer, then rejects with a `LedgerError`: the stop is not recorded.
   * @example
   * const run = await durable.runs.take('nightly-1')
   * await run.stop()
   * await run.leave()
   */
  async stop(): Promise<void> {
    const { worker, waiters } = this.parts
    const reason = new TaskRefusedError('closed', `This process stops run ${this.id}`)
    this.conductor.isStopped = true
    try {
      await this.inTime(worker.stopConducted(this.conductor, reason))
    } finally {
      for (const key of this.active.values()) waiters.gone(key, reason)
    }
  }

  private async inTime(work: Promise<unknown>): Promise<void> {
    const { ending } = this.parts
    if (!(await ending.waitFor(work))) throw ending.failure(`the stop of run ${this.id} is not recorded`)
  }

  /**
   * Takes back what the run has added to this process: its budgets and its observer.
   * @example
   * const run = await durable.runs.take('nightly-1')
   * run.release()
   */
  release(): void {
    this.conducting?.release()
  }

  /** As this process knows it. */
  get record(): RunRecord {
    return this.current
  }

  /** What it runs, as it was written. @example const document = await run.definition() */
  async definition(): Promise<Json> {
    return (await this.parts.ledger.definition(this.id)) ?? null
  }

  /**
   * In the order of their ids; those of some statuses, or all. `page`: where to continue, and how many at most.
   * @example const failed = await run.tasks(['failed'])
   */
  async tasks(
    statuses?: readonly TaskStatus[],
    page: Pick<TaskFilter, 'after' | 'limit'> = {},
  ): Promise<readonly TaskRecord[]> {
    return this.parts.ledger.list({ ...scopeOfRun(this.id), ...(statuses && { statuses }), ...page })
  }

  /**
   * What its steps that succeeded have given, in the order of their ids; all of it, or a page.
   * @example const results = await run.results({ limit: 1000 })
   */
  async results(page?: ResultPage): Promise<readonly TaskResult[]> {
    return this.parts.ledger.results(this.id, page)
  }

  /**
   * A step of the run, as a durable task: its id is unique within the run.
   * @example const rows = await run.step('fetch', { attempts: 5 }, () => fetchPrice('tea')).run()
   */
  step<R>(id: string, policy: PolicyArgument, run: TaskFunction<null, R>, options: StepOptions<R> = {}): StepHandle<R> {
    this.parts.expectOpen()
    expectId('step', id)
    const definition = this.definitionOf(id, policy, run, options)
    const handle = this.parts.tasks.handle<null, R>(definition)
    return {
      run: () => this.runStep(definition, id, () => handle.run(null, { id })),
      status: () => handle.status(id),
      cancel: () => handle.cancel(id),
      retryNow: () => handle.retryNow(id),
      takeOver: () => this.takeOverLost(definition, id),
      reset: () => handle.reset(id),
      again: () => this.parts.tasks.again(definition, id),
      decide: (answer, result) => handle.decide(id, answer, result),
    }
  }

  /**
   * Tasks of the run that any process may execute, in a queue of their own. Nothing is executed before it is opened.
   * @example
   * const items = run.items('items', { attempts: 3 }, ({ url }: { url: string }) => fetch(url), { most: 8 })
   * await items.create([{ id: '0000000.a', input: { url: 'https://example.com/a' } }])
   * await items.open()
   */
  items<I, R>(
    lane: string,
    policy: PolicyArgument,
    run: TaskFunction<I, R>,
    options: ItemQueueOptions<I, R> = {},
  ): ItemQueue<I> {
    this.parts.expectOpen()
    expectId('lane', lane)
    const { fence } = this.expectConducting()
    const { resumeId, force, policyChange } = this.conducting as Conducting
    const takenUpAtMs = resumeId === undefined ? undefined : this.current.updatedAtMs
    const taken = { resumeId, force, takenUpAtMs, isGuest: false, ...(policyChange && { policyChange }) }
    return new ItemQueue(this.parts, { ...this.current, fence }, taken, { lane, policy, run, options })
  }

  /**
   * Records that a step is not needed, with what stands in its place; true if nothing of it had begun before.
   * @example const isNew = await run.skip('fetch', null)
   */
  async skip(id: string, result: Json): Promise<boolean> {
    const { ledger } = this.parts
    const conductor = this.expectConducting()
    expectId('step', id)
    const record = recordOf(SKIPPED_POLICY, 'rerun')
    const kept = expectJson(result, 'result')
    const key = keyIn(scopeOfRun(this.id), id)
    return ledger.transact({ tasks: [key], runs: [this.id] }, (view) => {
      expectConductor(view.run(this.id), this.id, conductor)
      const before = view.task(key)
      if (before !== undefined) return isUntouched(before) ? afterSkip(before, kept, view.now) : { result: false }
      const task = skippedTask(key, record.hash, kept, view.now)
      return { created: [{ task, policy: record, payloadHash: '' }], result: true }
    })
  }

  /**
   * Writes what has changed; refused once somebody else conducts the run.
   * @example await run.change({ detail: { done: 3 } })
   */
  async change({ detail, definition, fingerprint, because }: RunChangeInput): Promise<void> {
    await this.write(
      (run, now) => ({
        ...run,
        detail: detail === undefined ? run.detail : expectJson(detail, 'detail'),
        fingerprint: fingerprint ?? run.fingerprint,
        updatedAtMs: now,
      }),
      definition,
      because === undefined ? undefined : ['run_changed', because],
    )
  }

  /** Records how the run ended. @example await run.finish('succeeded') */
  async finish(status: Exclude<RunStatus, 'running' | 'interrupted' | 'removing'>, detail?: Json): Promise<void> {
    await this.write(
      (run, now) => ({ ...run, status, owner: null, detail: detail ?? run.detail, updatedAtMs: now, endedAtMs: now }),
      undefined,
      ['run_finished', { status }],
    )
  }

  /**
   * Stops conducting the run, so that another process may take it. Waits 10 seconds for a store that does not answer.
   * @example await run.leave()
   */
  async leave(detail?: Json): Promise<void> {
    const left = this.write(
      (run, now) => ({ ...run, status: 'interrupted', owner: null, detail: detail ?? run.detail, updatedAtMs: now }),
      undefined,
      ['run_finished', { status: 'interrupted' }],
    )
    await this.inTime(left)
  }

  private async write(
    how: (run: RunRecord, now: number) => RunRecord,
    definition: Json | undefined,
    event: readonly ['run_changed' | 'run_finished', Json] | undefined,
  ): Promise<void> {
    const conductor = this.expectConducting()
    this.current = await this.parts.ledger.transact({ tasks: [], runs: [this.id] }, (view) => {
      const run = how(expectConductor(view.run(this.id), this.id, conductor), view.now)
      const events = event === undefined ? [] : [runEvent(event[0], run, view.now, event[1])]
      return { runs: [{ run, ...(definition !== undefined && { definition }) }], events, result: run }
    })
  }

  private expectConducting(): Pick<RunRecord, 'fence' | 'correlationId'> {
    if (this.conducting !== undefined) return this.current
    throw new TaskRefusedError('run_lost', `Run ${this.id} is only looked at: take it to conduct it`)
  }

  private definitionOf<R>(
    id: string,
    policy: PolicyArgument,
    run: TaskFunction<null, R>,
    options: StepOptions<R>,
  ): Definition {
    const { policyOf, interruptRule } = this.parts
    const name = options.name ?? id
    const normal = policyOf(name, policy)
    const { rule, verify } = interruptRule(name, options)
    return {
      name,
      queue: `${this.id}/${id}`,
      ...scopeOfRun(this.id),
      // A run's name may be used again; what it asks others to do once may be asked again then.
      idempotencyScope: this.current.correlationId,
      policy: normal,
      record: recordOf(normal, rule),
      run,
      onInterrupt: rule,
      verify,
      ...(this.conducting !== undefined && { conductor: this.conductor }),
      ...(this.conducting?.policyChange && { policyChange: this.conducting.policyChange }),
    }
  }

  /** Its queue is looked at as long as somebody waits for the step. */
  private runStep<R>(definition: Definition, id: string, run: () => Promise<R>): Promise<R> {
    return this.whileKnown(definition, id, async () => {
      await this.takeOver(definition, id)
      return run()
    })
  }

  /** The definition says what an interruption means for the step. As that of a stopped run, no claim starts the step. */
  private takeOverLost(definition: Definition, id: string): Promise<void> {
    const { ledger, ownership } = this.parts
    const stopped = { ...definition, conductor: { ...this.conductor, isStopped: true } }
    return this.whileKnown(stopped, id, async () => {
      const { resumeId, force } = this.conducting as Conducting
      if (resumeId === undefined) return
      // By force, tasks of living processes are taken too: not those of a process that has taken the run since.
      expectConductor(await ledger.run(this.id), this.id, this.expectConducting())
      await ownership.takeOver(resumeId, force)
    })
  }

  private async whileKnown<T>(definition: Definition, id: string, act: () => Promise<T>): Promise<T> {
    const { definitions } = this.parts
    this.expectConducting()
    if (definitions.has(definition.queue)) throw new TypeError(`Step ${id} of run ${this.id} runs already`)
    definitions.set(definition.queue, definition)
    this.active.set(definition.queue, keyIn(scopeOfRun(this.id), id))
    try {
      return await act()
    } finally {
      definitions.delete(definition.queue)
      this.active.delete(definition.queue)
    }
  }

  /** What a process that is gone left of the step. */
  private async takeOver(definition: Definition, id: string): Promise<void> {
    const { ledger, ownership, adoption, owner } = this.parts
    const { resumeId, force } = this.conducting as Conducting
    if (resumeId === undefined) return
    const task = await ledger.get(keyIn(scopeOfRun(this.id), id))
    if (task === undefined || isOver(task)) return
    if (task.owner !== null && task.owner !== owner) await ownership.takeOver(resumeId, force)
    await this.takeUp(task, this.current.updatedAtMs)
    const { refused } = await adoption.lookAtWaiting(definition)
    for (const { faults } of refused) throw TaskRefusedError.ofState(task, faults)
  }

  /** A resume of the run resumes its steps that wait, however orderly the run was stopped. */
  private async takeUp(key: TaskKey, atMs: number): Promise<void> {
    await this.parts.ledger.transact({ tasks: [key], runs: [this.id] }, (view) => {
      expectConductor(view.run(this.id), this.id, this.expectConducting())
      const task = view.task(key)
      const next = task?.status === 'waiting' ? takenUp(task, atMs) : task
      return next === undefined || next === task ? { result: undefined } : { tasks: [next], result: undefined }
    })
  }
}

/** What concerns the run as a whole. */
export function runEvent(type: LedgerEvent['type'], run: RunRecord, now: number, detail: Json): LedgerEvent {
  return { type, ...scopeOfRun(run.id), id: '', atMs: now, correlationId: run.correlationId, detail }
}

/** Of a step that was granted a fresh generation, nothing has begun. */
function isUntouched({ status, progress }: TaskRecord): boolean {
  return status === 'waiting' && progress.current === null && (progress.retry?.launched ?? 0) === 0
}

function afterSkip(task: TaskRecord, result: Json, now: number): Changes & { readonly result: true } {
  return { tasks: [{ ...task, status: 'succeeded', dueAtMs: null, result, updatedAtMs: now }], result: true }
}

function skippedTask(key: TaskKey, policyHash: string, result: Json, now: number): TaskRecord {
  return {
    ...key,
    queue: `${key.scope}/${key.id}`,
    generation: 1,
    status: 'succeeded',
    dueAtMs: null,
    owner: null,
    fence: 0,
    progress: freshProgress(0),
    policyHash,
    input: null,
    result,
    stopReason: null,
    correlationId: randomUUID(),
    createdAtMs: now,
    updatedAtMs: now,
  }
}
