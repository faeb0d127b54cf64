/**
 * Runs attempts of workflows: functions of the program, and documents in the worker's own ledger. Opens that ledger, and
 * forgets an attempt in it once its end is in the job's ledger. Imports the library, the records and its own layer.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { type DurableContext, type Json, type Ledger, LedgerError, type TaskRecord } from 'reprise/durable'
import { retryWhileBusy } from 'reprise/internal'
import { workflowInputOf } from '../record/workflow-record.js'
import { paramsAt } from '../rules/job-workflow.js'
import { JobDefinitions } from './job-definitions.js'
import { type JobHandler, type JobOutputs, outputsOf, RefusedError, UnfitWorkflowError } from './job-handler.js'
import { type HeldWorkflow, LocalLedger } from './local-ledger.js'
import { DocumentRunner, heldWorkflow } from './run-document.js'
import { workerNote, type WorkerNote } from './worker-notes.js'

const SWEEP_MS = 3_600_000

export interface PerformerParts {
  /** Of jobs. */
  readonly ledger: Ledger
  readonly handlers: Readonly<Record<string, JobHandler>>
  readonly dir: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The worker's own ledger. */
  readonly local: { readonly address: string; readonly store: string; readonly leaseMs: number }
  readonly onNote: (note: WorkerNote) => void
  /** The worker's own ledger cannot be used: nothing more is to be claimed. */
  readonly onLocalFailure: (error: LedgerError) => void
}

export class Performer {
  private readonly parts: PerformerParts
  private readonly definitions: JobDefinitions
  private readonly documents: DocumentRunner
  private opened: Promise<LocalLedger> | undefined = undefined
  private sweep: NodeJS.Timeout | undefined = undefined
  /** Documents that run here, or have ended and are not recorded yet, by the ids of their runs. */
  private readonly running = new Map<string, Promise<unknown>>()
  private readonly pending = new Set<Promise<void>>()

  constructor(parts: PerformerParts) {
    const { ledger, dir, env } = parts
    this.parts = parts
    this.definitions = new JobDefinitions(ledger)
    this.documents = new DocumentRunner({ dir, env }, () => this.local())
  }

  /**
   * The worker's own ledger, opened now if it is there already or if documents are all that this worker runs: what is wrong
   * with it is told before anything is claimed. Otherwise undefined, and opened with the first document: workers that only
   * run functions may share a directory.
   */
  async openEarly(): Promise<LocalLedger | undefined> {
    const { handlers, local } = this.parts
    if (Object.keys(handlers).length === 0) return this.local()
    const isThere = existsSync(/^sqlite:(.+)$/s.exec(local.address)?.[1] ?? '')
    return isThere ? this.local().catch(unlessRefused) : undefined
  }

  async perform(input: Json, context: DurableContext, claimed: TaskRecord): Promise<JobOutputs> {
    const { taskId: workflow, attempt, idempotencyKey, signal } = context
    const { job: jobId, datacenter } = workflowInputOf({ input, scope: '', id: workflow })
    // The store may go away between the claim and this.
    const { request } = await retryWhileBusy(
      () => this.definitions.get(jobId),
      () => signal.aborted,
    )
    const found = request.workflows.find(({ name }) => name === workflow)
    if (found === undefined) throw new UnfitWorkflowError(`Job ${jobId} has no workflow ${workflow}`)
    const params = paramsAt(found, datacenter)
    const about = { jobId, datacenter, workflow, attempt, signal, idempotencyKey }
    const { source } = found
    if (source.kind === 'document') {
      const { runId } = heldWorkflow(claimed, about)
      const ran = this.documents.run(source, params, about, claimed).then(outputsOf)
      this.running.set(runId, ran)
      return ran
    }
    const { handlers } = this.parts
    const handler = Object.hasOwn(handlers, source.handler) ? handlers[source.handler] : undefined
    if (handler === undefined) throw new RefusedError(`This worker has no handler ${source.handler}`)
    return outputsOf(await handler(params, about))
  }

  /** The end of the attempt is in the job's ledger (`isKept`), or nobody needs it there. */
  recorded(claimed: TaskRecord, isKept: boolean): void {
    const { job: jobId, datacenter } = workflowInputOf(claimed)
    const { current, retry } = claimed.progress
    const attempt = current?.attempt ?? retry.launched
    const held = heldWorkflow(claimed, { jobId, datacenter, attempt })
    const ran = this.running.get(held.runId)
    if (ran === undefined) return
    const forgotten = this.forget(held, ran, isKept).finally(() => this.pending.delete(forgotten))
    this.pending.add(forgotten)
  }

  /** Everything that is recorded is forgotten here. */
  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending)
  }

  async close(): Promise<void> {
    await this.settled()
    clearInterval(this.sweep)
    await (await this.opened?.catch(() => undefined))?.close().catch(() => undefined)
  }

  private local(): Promise<LocalLedger> {
    this.opened ??= this.open().catch((error: unknown) => {
      this.opened = undefined
      throw error
    })
    return this.opened
  }

  private async open(): Promise<LocalLedger> {
    const local = await LocalLedger.open(this.parts.local)
    const sweep = (): void => void local.sweep().catch(() => undefined)
    this.sweep = setInterval(sweep, SWEEP_MS).unref()
    sweep()
    return local
  }

  private async forget(held: HeldWorkflow, ran: Promise<unknown>, isKept: boolean): Promise<void> {
    // An attempt that was stopped is not waited for by whoever records it.
    await ran.catch(() => undefined)
    if (this.running.get(held.runId) === ran) this.running.delete(held.runId)
    try {
      const local = await this.local()
      if (isKept) return await local.release(held.runId)
      const hasEnded = (await local.endOf(held.runId)) !== undefined
      await local.abandon(held.runId)
      if (hasEnded) this.parts.onNote(workerNote('refused', held))
    } catch (error) {
      // Told only now, so that the attempt that met it is recorded as refused and not as given back.
      this.tellFailure(error)
    }
  }

  /** A store that is only busy is asked again with the next document. */
  private tellFailure(error: unknown): void {
    if (error instanceof LedgerError && error.problem !== 'busy' && error.problem !== 'closed')
      this.parts.onLocalFailure(error)
  }
}

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof LedgerError) || error.problem !== 'refused') throw error
}

/** Beside the store of the worker's directory: one file for each datacenter. */
export function localAddress(dir: string, datacenter: string): string {
  return `sqlite:${path.join(dir, '.reprise', `jobs-worker-${datacenter}.db`)}`
}
