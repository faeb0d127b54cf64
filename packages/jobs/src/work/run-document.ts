/**
 * Runs the document of a workflow in a ledger local to the worker: its steps cost the job's ledger nothing, and what has
 * ended of it stays there. A retry of the job starts the document anew; a second execution of one attempt continues it.
 * Imports the library and the workflows.
 */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { InputError, loadWorkflow, type Plan, resumeWorkflow, type RunEnd, runWorkflow } from '@reprise/workflow'
import { isRepriseError } from 'reprise'
import { type Durable, type Json, LedgerError, openDurable } from 'reprise/durable'
import { fingerprint } from 'reprise/internal'
import type { WorkflowSource } from '../rules/job-workflow.js'
import { type JobContext, type JobOutputs, RefusedError, UnfitWorkflowError } from './job-handler.js'

export interface DocumentSettings {
  /** Where relative paths of documents begin. */
  readonly dir: string
  /** What commands inherit, secrets among it. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The worker's own ledger. */
  readonly localStore: string
}

type DocumentSource = Extract<WorkflowSource, { readonly kind: 'document' }>

export class DocumentRunner {
  private readonly settings: DocumentSettings
  private opened: Promise<Durable> | undefined = undefined

  constructor(settings: DocumentSettings) {
    this.settings = settings
  }

  async run(
    source: DocumentSource,
    params: Readonly<Record<string, Json>>,
    context: JobContext & { readonly generation: number },
  ): Promise<JobOutputs> {
    const plan = await this.planOf(source, context.workflow)
    const durable = await this.local()
    const runId = innerRunId(context)
    const end = await this.perform(plan, params, context, { durable, runId })
    return outputsOfRun(durable, runId, end)
  }

  /** Stops nothing that runs: whoever started it has its signal. */
  async close(): Promise<void> {
    await (await this.opened)?.close()
  }

  private async planOf({ text, file }: DocumentSource, workflow: string): Promise<Plan> {
    try {
      return await loadWorkflow(text, { file: path.join(this.settings.dir, path.basename(file ?? `${workflow}.yaml`)) })
    } catch (error) {
      throw new UnfitWorkflowError(`The document of ${workflow} is wrong: ${messageOf(error)}`, { cause: error })
    }
  }

  private local(): Promise<Durable> {
    this.opened ??= this.open().catch((error: unknown) => {
      this.opened = undefined
      throw new RefusedError(`The worker cannot keep its own records: ${messageOf(error)}`, { cause: error })
    })
    return this.opened
  }

  private open(): Promise<Durable> {
    const { localStore } = this.settings
    const file = /^sqlite:(.+)$/s.exec(localStore)?.[1]
    if (file !== undefined) mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    return openDurable(localStore, { synchronous: 'normal', identity: { role: 'worker-steps' } })
  }

  private async perform(
    plan: Plan,
    params: Readonly<Record<string, Json>>,
    { jobId, datacenter, signal }: JobContext,
    { durable, runId }: { readonly durable: Durable; readonly runId: string },
  ): Promise<RunEnd> {
    const own = { REPRISE_JOB_ID: jobId, REPRISE_DATACENTER: datacenter }
    const options = { durable, env: { ...this.settings.env, ...own }, signal }
    try {
      const [before] = await durable.runs.list({ idPrefix: runId, limit: 1 })
      if (before?.id === runId) return await resumeWorkflow(plan, runId, options)
      return await runWorkflow(plan, { ...options, runId, params })
    } catch (error) {
      // A secret that is missing here, or a disk that is full, may be no trouble elsewhere.
      if (error instanceof InputError || error instanceof LedgerError)
        throw new RefusedError(messageOf(error), { cause: error })
      if (isRepriseError(error, 'invalid_options')) throw new UnfitWorkflowError(messageOf(error), { cause: error })
      throw error
    }
  }
}

/** One for each attempt, and short whatever the names are. */
function innerRunId({ jobId, datacenter, workflow, generation, attempt }: JobContext & { generation: number }): string {
  return `${fingerprint([jobId, datacenter, workflow]).slice(0, 24)}.${generation}.${attempt}`
}

async function outputsOfRun(durable: Durable, runId: string, end: RunEnd): Promise<JobOutputs> {
  if (end.state === 'succeeded' || end.state === 'completed_with_failures') {
    return end.outputs ?? {}
  }
  if (end.state === 'interrupted') throw new RefusedError('The worker stopped before the workflow had ended')
  if (end.outputsError !== undefined) throw new UnfitWorkflowError(`outputs: ${end.outputsError}`)
  const run = await durable.runs.find(runId)
  const failed = (await run.tasks(['failed', 'undecided'])).find(({ id }) => id === end.failedStep)
  const why = failed?.progress.lastFailure?.message ?? end.stopReason ?? end.state
  throw Object.assign(new Error(`step ${end.failedStep ?? '?'}: ${why}`), {
    name: 'WorkflowFailedError',
    code: end.stopReason ?? end.state,
    ...(end.stopReason === 'not_retryable' && { retryable: false }),
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
