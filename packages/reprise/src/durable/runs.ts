/**
 * Runs: tasks that follow each other under one name, conducted by one process at a time. Whoever conducts has the run's
 * fence; who has lost it begins nothing more and writes nothing. Imports the ledger's port and its own layer.
 */
import { randomUUID } from 'node:crypto'
import type { Ledger, RunFilter } from '../ledger/ledger.js'
import type { Json, RunRecord } from '../ledger/records.js'
import { type Conducting, type ConductOptions, DurableRun, runEvent, type RunParts } from './durable-run.js'
import type { RunBudgets } from './run-budgets.js'
import type { Environment } from '../runtime/environment.js'
import { TaskRefusedError } from './errors.js'
import { expectJson } from './json.js'
import { JoinedRun, type JoinOptions } from './joined-run.js'
import { lastHeardOf, type OtherOwner } from './other-owners.js'
import type { Ownership } from './ownership.js'
import { expectId } from './tasks.js'

export interface NewRun {
  /** Unique within the store: up to 128 letters, digits, dots, dashes and underscores. */
  readonly id: string
  /**
   * The run that it is a part of: its own id is then `PARENT/ID`.
   * @default it stands alone
   * @example { parent: 'nightly-1' }
   */
  readonly parent?: string
  /** Whose it is: what a program calls its own. */
  readonly kind: string
  /** Its name for people; runs may share it. */
  readonly name: string
  /** What it runs; kept with it, and given to whoever takes it up again. */
  readonly definition: Json
  /** Whether a later program would run the same. */
  readonly fingerprint: string
  /**
   * What the run's kind wants to know again: short, since every step reads it.
   * @default null
   * @example { detail: { done: 0 } }
   */
  readonly detail?: Json
}

export interface TakeOptions extends ConductOptions {
  /**
   * Takes it from a process that still holds its lease too; what that one does with the run is not written any more.
   * @default false
   * @example { force: true }
   */
  readonly force?: boolean
  /**
   * The run's fence as it was when it was read: if it has changed since, the run is not taken.
   * @default not compared
   * @example { fence: 3 }
   */
  readonly fence?: number
}

export interface RunsParts extends RunParts {
  readonly environment: Environment
  readonly budgets: RunBudgets
  readonly ledger: Ledger
  readonly ownership: Ownership
  readonly owner: string
}

export class Runs {
  private readonly parts: RunsParts

  constructor(parts: RunsParts) {
    this.parts = parts
  }

  /**
   * Begins a run, conducted by this process; refused if the id is taken.
   * @example
   * const { id } = await durable.runs.start({
   *   id: 'nightly-1',
   *   kind: 'report',
   *   name: 'nightly',
   *   definition: { steps: ['fetch'] },
   *   fingerprint: '9f2c',
   * })
   */
  async start(
    { id: ownId, parent, kind, name, definition, fingerprint, detail = null }: NewRun,
    options: ConductOptions = {},
  ): Promise<DurableRun> {
    const { ledger, owner } = this.parts
    this.parts.expectOpen()
    expectId('run', ownId)
    if (parent !== undefined) expectId('run', parent)
    for (const [what, text] of Object.entries({ kind, name, fingerprint })) expectKeepable(what, text)
    const id = parent === undefined ? ownId : childId(parent, ownId)
    const kept = { definition: expectJson(definition, 'definition'), detail: expectJson(detail, 'detail') }
    const begin = (): Promise<RunRecord> =>
      ledger.transact({ tasks: [], runs: [id] }, (view) => {
        if (view.run(id) !== undefined) throw new TaskRefusedError('conflict', `There is a run ${id} already`)
        const run: RunRecord = {
          id,
          kind,
          name,
          status: 'running',
          owner,
          fence: 1,
          resumes: 0,
          fingerprint,
          detail: kept.detail,
          correlationId: randomUUID(),
          createdAtMs: view.now,
          updatedAtMs: view.now,
          endedAtMs: null,
        }
        const events = [runEvent('run_started', run, view.now, { kind, name })]
        return { runs: [{ run, definition: kept.definition }], events, result: run }
      })
    return this.conduct(begin, options, { resumeId: undefined, force: false })
  }

  private async conduct(
    begin: () => Promise<RunRecord>,
    { policyChange, ...given }: ConductOptions,
    how: Pick<Conducting, 'resumeId' | 'force'>,
  ): Promise<DurableRun> {
    return this.bringing(given, async (release) => {
      return new DurableRun(this.parts, await begin(), { ...how, ...(policyChange && { policyChange }), release })
    })
  }

  /** What the run brings along is there before the run is: if it cannot be added, nothing is written. */
  private async bringing<T>(
    { budgets, observer }: Pick<ConductOptions, 'budgets' | 'observer'>,
    act: (release: () => void) => Promise<T>,
  ): Promise<T> {
    const releases: (() => void)[] = []
    const release = (): void => {
      for (const one of releases.splice(0)) one()
    }
    try {
      if (budgets !== undefined) releases.push(this.parts.budgets.add(budgets))
      if (observer !== undefined) releases.push(this.parts.environment.observe(observer))
      return await act(release)
    } catch (error) {
      release()
      throw error
    }
  }

  /**
   * A run that another process conducts, to execute tasks of its queues here as well.
   * @example const joined = await durable.runs.join('nightly-1/resize')
   */
  async join(id: string, options: JoinOptions = {}): Promise<JoinedRun> {
    const record = await this.expectRun(id)
    return this.bringing(options, async (release) => new JoinedRun(this.parts, record, options, release))
  }

  /**
   * Takes up a run that nobody conducts any more, whatever became of it; refused while somebody does.
   * @example const taken = await durable.runs.take('nightly-1')
   */
  async take(id: string, options: TakeOptions = {}): Promise<DurableRun> {
    const { force = false, fence } = options
    const { ledger, owner } = this.parts
    const seen = await this.expectRun(id)
    if (!force) await this.expectFree(seen)
    const resumeId = randomUUID()
    // Of a process that was killed, nothing else says until when it conducted the run.
    const isLost = seen.status === 'running' && seen.owner !== null
    const heardOfAtMs = isLost ? await lastHeardOf(ledger, seen.owner ?? '') : undefined
    const begin = (): Promise<RunRecord> =>
      ledger.transact({ tasks: [], runs: [id] }, (view) => {
        const run = view.run(id)
        if (run?.fence !== (fence ?? seen.fence))
          throw new TaskRefusedError('locked', `Run ${id} has just been taken by another process`)
        const next: RunRecord = {
          ...run,
          status: 'running',
          owner,
          fence: run.fence + 1,
          resumes: run.resumes + 1,
          updatedAtMs: view.now,
          endedAtMs: null,
        }
        const before = {
          from: run.owner,
          status: run.status,
          ...(heardOfAtMs !== undefined && { heardOfAtMs: Math.round(heardOfAtMs) }),
        }
        const events = [runEvent('run_resumed', run, view.now, { resumeId, ...before })]
        return { runs: [{ run: next }], events, result: next }
      })
    return this.conduct(begin, options, { resumeId, force })
  }

  /**
   * A run to look at and to change tasks of, without conducting it.
   * @example const found = await durable.runs.find('nightly-1')
   */
  async find(id: string): Promise<DurableRun> {
    return new DurableRun(this.parts, await this.expectRun(id), undefined)
  }

  /** Runs of the store, the latest first. @example const latest = await durable.runs.list({ limit: 20 }) */
  async list(filter: RunFilter = {}): Promise<readonly RunRecord[]> {
    this.parts.expectOpen()
    return this.parts.ledger.runs(filter)
  }

  /**
   * The process that conducts the run now; undefined if none does, or if it is lost.
   * @example const conductor = await durable.runs.conductorOf(run.record)
   */
  async conductorOf({ owner }: RunRecord): Promise<OtherOwner | undefined> {
    return owner === null ? undefined : (await this.parts.ownership.holderOf(owner))?.owner
  }

  /**
   * Nobody begins anything of it any more; its tasks are cancelled one by one. False if it had ended. `detailOf`: what its
   * kind wants to know of it afterwards, made of what it knew; undefined leaves the run as it is, and the answer is false.
   * It may be called several times.
   * @example const isCancelled = await durable.runs.cancel('nightly-1')
   */
  async cancel(id: string, detailOf: (detail: Json) => Json | undefined = (detail) => detail): Promise<boolean> {
    await this.expectRun(id)
    return this.parts.ledger.transact({ tasks: [], runs: [id] }, (view) => {
      const run = view.run(id) as RunRecord
      const detail = run.endedAtMs === null ? detailOf(run.detail) : undefined
      if (detail === undefined) return { result: false }
      const next: RunRecord = {
        ...run,
        status: 'cancelled',
        owner: null,
        fence: run.fence + 1,
        detail,
        updatedAtMs: view.now,
        endedAtMs: view.now,
      }
      const events = [runEvent('run_finished', run, view.now, { status: 'cancelled' })]
      return { runs: [{ run: next }], events, result: true }
    })
  }

  private async expectRun(id: string): Promise<RunRecord> {
    this.parts.expectOpen()
    expectRunId(id)
    const run = await this.parts.ledger.run(id)
    if (run === undefined || run.status === 'removing') throw new TaskRefusedError('not_found', `There is no run ${id}`)
    return run
  }

  private async expectFree(run: RunRecord): Promise<void> {
    const holder = run.owner === null ? undefined : await this.parts.ownership.holderOf(run.owner)
    if (holder === undefined) return
    const { pid, host, leaseLeftMs } = holder.owner
    const since = new Date(run.updatedAtMs).toISOString()
    const until = whileHeld(holder.isSeen, leaseLeftMs)
    throw new TaskRefusedError(
      'locked',
      `Run ${run.id} is being executed by process ${pid} on ${host} since ${since}. ${until}`,
    )
  }
}

/** Until when a process keeps a run, in sentences. `isSeen`: it exists on this machine. */
export function whileHeld(isSeen: boolean, leaseLeftMs: number): string {
  if (!isSeen) return `Without a further heartbeat its lease runs out in ${Math.ceil(leaseLeftMs / 1000)} s.`
  if (leaseLeftMs > 0) return 'The process exists, and keeps the run until it ends.'
  return 'The process exists, but its heartbeat is overdue: it may be stopped. It keeps the run until it ends or the run is taken by force.'
}

/** Every store keeps it as it is: PostgreSQL takes no U+0000, and UTF-8 has no lone surrogates. */
function expectKeepable(what: string, text: unknown): void {
  if (typeof text === 'string' && !/[\0\p{Cs}]/u.test(text)) return
  throw new TypeError(`${what} ${JSON.stringify(text)} of a run must be a text without U+0000 and lone surrogates`)
}

/** The id of a run that is a part of another one: `nightly-1/resize`. No run that stands alone has a slash in its id. */
export function childId(parent: string, id: string): string {
  return `${parent}/${id}`
}

/** Of a run that stands alone, or of a part of one. */
function expectRunId(id: string): void {
  const [first, second, ...others] = typeof id === 'string' ? id.split('/') : [id]
  if (others.length > 0) throw new TypeError(`run ${JSON.stringify(id)} must have at most one slash`)
  expectId('run', first as string)
  if (second !== undefined) expectId('run', second)
}
