/**
 * Runs: tasks that follow each other under one name, conducted by one process at a time. Whoever conducts has the run's
 * fence; who has lost it begins nothing more and writes nothing. Imports the ledger's port and its own layer.
 */
import { randomUUID } from 'node:crypto'
import type { Ledger, RunFilter } from '../ledger/ledger.js'
import type { Json, RunRecord } from '../ledger/records.js'
import { DurableRun, runEvent, type RunParts } from './durable-run.js'
import { TaskRefusedError } from './errors.js'
import { expectJson } from './json.js'
import { lastHeardOf, type OtherOwner } from './other-owners.js'
import type { Ownership } from './ownership.js'
import { expectId } from './tasks.js'

export interface NewRun {
  readonly id: string
  /** Whose it is: what a program calls its own. */
  readonly kind: string
  readonly name: string
  /** What it runs; kept with it, and given to whoever takes it up again. */
  readonly definition: Json
  /** Whether a later program would run the same. */
  readonly fingerprint: string
  /** What is short and changes. */
  readonly detail?: Json
}

export interface TakeOptions {
  /** Takes it from a process that still holds its lease too; what that one does with the run is not written any more. */
  readonly force?: boolean
  /** As it was when somebody looked: taken meanwhile, or removed, it is refused. */
  readonly fence?: number
}

export interface RunsParts extends RunParts {
  readonly ledger: Ledger
  readonly ownership: Ownership
  readonly owner: string
}

export class Runs {
  private readonly parts: RunsParts

  constructor(parts: RunsParts) {
    this.parts = parts
  }

  /** Begins a run, conducted by this process; refused if the id is taken. */
  async start({ id, kind, name, definition, fingerprint, detail = null }: NewRun): Promise<DurableRun> {
    const { ledger, owner } = this.parts
    this.parts.expectOpen()
    expectId('run', id)
    const kept = { definition: expectJson(definition, 'definition'), detail: expectJson(detail, 'detail') }
    const record = await ledger.transact({ tasks: [], runs: [id] }, (view) => {
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
    return new DurableRun(this.parts, record, { resumeId: undefined, force: false })
  }

  /** Takes up a run that nobody conducts any more, whatever became of it; refused while somebody does. */
  async take(id: string, { force = false, fence }: TakeOptions = {}): Promise<DurableRun> {
    const { ledger, owner } = this.parts
    const seen = await this.expectRun(id)
    if (!force) await this.expectFree(seen)
    const resumeId = randomUUID()
    // Of a process that was killed, nothing else says until when it conducted the run.
    const isLost = seen.status === 'running' && seen.owner !== null
    const heardOfAtMs = isLost ? await lastHeardOf(ledger, seen.owner ?? '') : undefined
    const record = await ledger.transact({ tasks: [], runs: [id] }, (view) => {
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
    return new DurableRun(this.parts, record, { resumeId, force })
  }

  /** A run to look at and to change tasks of, without conducting it. */
  async find(id: string): Promise<DurableRun> {
    return new DurableRun(this.parts, await this.expectRun(id), undefined)
  }

  list(filter: RunFilter = {}): Promise<readonly RunRecord[]> {
    this.parts.expectOpen()
    return this.parts.ledger.runs(filter)
  }

  /** Who conducts it now; undefined if nobody does, or if he is lost. */
  async conductorOf({ owner }: RunRecord): Promise<OtherOwner | undefined> {
    return owner === null ? undefined : this.parts.ownership.holderOf(owner)
  }

  /** Nobody begins anything of it any more; its tasks are cancelled one by one. False if it had ended. */
  async cancel(id: string): Promise<boolean> {
    await this.expectRun(id)
    return this.parts.ledger.transact({ tasks: [], runs: [id] }, (view) => {
      const run = view.run(id) as RunRecord
      if (run.endedAtMs !== null) return { result: false }
      const next: RunRecord = {
        ...run,
        status: 'cancelled',
        owner: null,
        fence: run.fence + 1,
        updatedAtMs: view.now,
        endedAtMs: view.now,
      }
      const events = [runEvent('run_finished', run, view.now, { status: 'cancelled' })]
      return { runs: [{ run: next }], events, result: true }
    })
  }

  private async expectRun(id: string): Promise<RunRecord> {
    this.parts.expectOpen()
    expectId('run', id)
    const run = await this.parts.ledger.run(id)
    if (run === undefined || run.status === 'removing') throw new TaskRefusedError('not_found', `There is no run ${id}`)
    return run
  }

  private async expectFree(run: RunRecord): Promise<void> {
    const holder = await this.conductorOf(run)
    if (holder === undefined) return
    const { pid, host, leaseLeftMs } = holder
    const since = new Date(run.updatedAtMs).toISOString()
    const lease = `without a further heartbeat its lease runs out in ${Math.ceil(leaseLeftMs / 1000)} s`
    throw new TaskRefusedError(
      'locked',
      `Run ${run.id} is being executed by process ${pid} on ${host} since ${since}; ${lease}`,
    )
  }
}
