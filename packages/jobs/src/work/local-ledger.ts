/**
 * A worker's own ledger, a SQLite file on its disk: the steps of the workflows that it runs, and for each which attempt of
 * the job's ledger they belong to. An attempt is noted before its steps begin and forgotten when its end is in the job's
 * ledger, so what is noted and has ended is what a successor of the worker has to deliver. Imports the library and the
 * workflows.
 *
 * Invariants: one worker at a time has the file. It belongs to one store of jobs: attempts of another store are neither
 * delivered nor forgotten.
 */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { RunEnd } from '@reprise/workflow'
import {
  cleanableRuns,
  endOfRun,
  planToEnd,
  removeRuns,
  StateDirectory,
  statePathFor,
} from '@reprise/workflow/internal'
import { isRepriseError } from 'reprise'
import { type Durable, type GateRecord, type Ledger, LedgerError, openDurable } from 'reprise/durable'
import { type HeldAttempt, holderOf, scopeOfRun, sharedLedger } from 'reprise/internal'
import { countIn, type Fields, fieldsOf, textIn } from '../record/damaged-record.js'

/** An attempt of a workflow that this worker has claimed. */
export interface HeldWorkflow extends HeldAttempt {
  /** The run of its steps here. */
  readonly runId: string
  readonly jobId: string
  readonly datacenter: string
  /** Where its task waits for its attempts. */
  readonly queue: string
}

/** Of the run that says who has the file. */
const OWNER_RUN = 'worker'
const HELD = 'record:held/'
/** How long runs of steps are kept for people after their results have been delivered. */
const KEPT_MS = 86_400_000
const LOOK_MS = 250

export interface LocalLedgerOptions {
  /** Where it is: `sqlite:PATH`. */
  readonly address: string
  /** The id of the store of jobs. */
  readonly store: string
  readonly leaseMs: number
}

export class LocalLedger {
  readonly durable: Durable
  private readonly ledger: Ledger
  private readonly address: string

  private constructor(durable: Durable, address: string) {
    this.durable = durable
    this.ledger = sharedLedger(durable)
    this.address = address
  }

  /**
   * Rejects with a `LedgerError` if another worker has the file, if it has results for another store, or if it cannot be
   * opened. A worker on another machine that has stopped without leaving is waited for until its lease is over.
   */
  static async open({ address, store, leaseMs }: LocalLedgerOptions): Promise<LocalLedger> {
    const file = /^sqlite:(.+)$/s.exec(address)?.[1]
    if (file !== undefined) makeDirectoryFor(file)
    const durable = await openDurable(address, {
      synchronous: 'normal',
      lease: leaseMs,
      identity: { role: 'worker-steps' },
      // Whoever uses it next is told.
      onFailure: () => undefined,
    })
    const local = new LocalLedger(durable, address)
    try {
      await local.claim(store, Date.now() + leaseMs + LOOK_MS)
      return local
    } catch (error) {
      await durable.close()
      throw error
    }
  }

  /** Noted before the steps begin. */
  async hold({ runId, ...held }: HeldWorkflow): Promise<void> {
    const key = HELD + runId
    const state = { ...held }
    await this.ledger.transact({ tasks: [], gates: [key] }, () => ({
      gates: [{ key, kind: 'record', state }],
      result: undefined,
    }))
  }

  /** Its end is in the job's ledger, or nobody needs it: the steps stay for a day, to be looked at. */
  async release(runId: string): Promise<void> {
    // A row of a gate goes with a run: this one names no run that there is.
    await this.ledger.removeRun(`${runId}/held`, 1, [HELD + runId])
  }

  /** The same for steps that have not ended: nobody goes on with them. */
  async abandon(runId: string): Promise<void> {
    const run = await this.ledger.run(runId)
    if (run !== undefined && endOfRun(run) === undefined && run.status !== 'removing')
      await this.durable.runs.cancel(runId)
    await this.release(runId)
  }

  /** Attempts that are noted, in the order of their ids. */
  async held(): Promise<readonly HeldWorkflow[]> {
    const gates = await this.ledger.gates()
    return gates.filter(({ key }) => key.startsWith(HELD)).map(heldOf)
  }

  /** How the steps ended, and how long ago; undefined if they have not. */
  async endOf(runId: string): Promise<{ readonly end: RunEnd; readonly endedAgoMs: number } | undefined> {
    const run = await this.ledger.run(runId)
    const end = run && endOfRun(run)
    if (run === undefined || end === undefined || end.state === 'cancelled') return undefined
    return { end, endedAgoMs: Math.max(0, (await this.ledger.now()) - (run.endedAtMs ?? run.updatedAtMs)) }
  }

  /** Removes steps and logs of what was delivered more than a day ago. */
  async sweep(keptMs = KEPT_MS): Promise<void> {
    const beforeMs = (await this.ledger.now()) - keptMs
    const held = new Set((await this.held()).map(({ runId }) => runId))
    const stale = await this.ledger.runs({ kind: 'workflow', statuses: ['running', 'interrupted'] })
    for (const { id, updatedAtMs, owner } of stale)
      if (updatedAtMs < beforeMs && !held.has(id) && owner === null) await this.durable.runs.cancel(id)
    const ended = await cleanableRuns(this.ledger, beforeMs)
    const state = StateDirectory.at(statePathFor(this.address, process.cwd()))
    const over = ended.filter(({ id }) => !held.has(id))
    await removeRuns(this.ledger, state, over, planToEnd)
  }

  close(): Promise<void> {
    return this.durable.close()
  }

  private async claim(store: string, untilMs: number): Promise<void> {
    const { runs } = this.durable
    for (;;) {
      try {
        const before = await this.ledger.run(OWNER_RUN)
        if (before === undefined) {
          const about = { kind: 'job-worker', name: OWNER_RUN, definition: null, fingerprint: '1' }
          await runs.start({ id: OWNER_RUN, ...about, detail: { store } })
          return
        }
        const run = await runs.take(OWNER_RUN, { fence: before.fence })
        await this.adopt(store, fieldsOf(before.detail, `the run ${OWNER_RUN} of ${this.address}`))
        await run.change({ detail: { store } })
        return
      } catch (error) {
        if (!isRepriseError(error, 'task_refused') || (error.kind !== 'locked' && error.kind !== 'conflict'))
          throw error
        const owner = (await this.ledger.run(OWNER_RUN))?.owner ?? ''
        const holder = await holderOf(this.durable, owner)
        if (holder !== undefined && (holder.isSeen || Date.now() >= untilMs)) throw this.inUse(holder.owner)
        await delay(LOOK_MS)
      }
    }
  }

  private async adopt(store: string, { store: other }: Fields): Promise<void> {
    if (other === store) return
    const held = await this.held()
    if (held.length === 0) return
    const results = held.length === 1 ? 'the result of 1 workflow' : `the results of ${held.length} workflows`
    throw new LedgerError(
      'refused',
      `${this.address} keeps ${results} for another store of jobs (${String(other)}, not ${store}): ` +
        `start the worker with that store to deliver them, or with another directory (--dir)`,
    )
  }

  private inUse({ pid, host }: { readonly pid: number; readonly host: string }): LedgerError {
    return new LedgerError(
      'refused',
      `${this.address} is used by another worker (process ${pid} on ${host}): give each worker a directory of its own (--dir)`,
    )
  }
}

function heldOf(gate: GateRecord): HeldWorkflow {
  const state = fieldsOf(gate.state ?? undefined, gate.key)
  const text = (name: string): string => textIn(state, name, gate.key)
  const count = (name: string): number => countIn(state, name, gate.key)
  return {
    runId: gate.key.slice(HELD.length),
    ...scopeOfRun(text('scope')),
    id: text('id'),
    jobId: text('jobId'),
    datacenter: text('datacenter'),
    queue: text('queue'),
    owner: text('owner'),
    fence: count('fence'),
    generation: count('generation'),
    attempt: count('attempt'),
  }
}

function makeDirectoryFor(file: string): void {
  const directory = path.dirname(file)
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new LedgerError('unusable', `The directory ${directory} of a worker cannot be made: ${why}`, error)
  }
}
