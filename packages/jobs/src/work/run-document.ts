/**
 * Runs the document of a workflow in the worker's own ledger: its steps cost the job's ledger nothing, and go on while
 * that one is away. A retry of the job starts the document anew; a second execution of one attempt continues it, and finds
 * its end if it has ended. Imports the library and the workflows.
 */
import path from 'node:path'
import { InputError, loadWorkflow, type Plan, resumeWorkflow, type RunEnd, runWorkflow } from '@reprise/workflow'
import { isRepriseError } from 'reprise'
import { type Durable, type Json, LedgerError, type TaskRecord } from 'reprise/durable'
import { fingerprint } from 'reprise/internal'
import type { WorkflowSource } from '../rules/job-workflow.js'
import { type JobContext, type JobOutputs, RefusedError, UnfitWorkflowError } from './job-handler.js'
import type { HeldWorkflow, LocalLedger } from './local-ledger.js'

export interface DocumentSettings {
  /** Where relative paths of documents begin. */
  readonly dir: string
  /** What commands inherit, secrets among it. */
  readonly env: Readonly<Record<string, string | undefined>>
}

type DocumentSource = Extract<WorkflowSource, { readonly kind: 'document' }>

export class DocumentRunner {
  private readonly settings: DocumentSettings
  private readonly local: () => Promise<LocalLedger>

  /** `local`: opens the worker's own ledger, or waits for it. */
  constructor(settings: DocumentSettings, local: () => Promise<LocalLedger>) {
    this.settings = settings
    this.local = local
  }

  /** `claimed`: the task of the workflow, as this worker has claimed it. */
  async run(
    source: DocumentSource,
    params: Readonly<Record<string, Json>>,
    context: JobContext,
    claimed: TaskRecord,
  ): Promise<JobOutputs> {
    const plan = await this.planOf(source, context.workflow)
    const { jobId, datacenter, attempt } = context
    const held = heldWorkflow(claimed, { jobId, datacenter, attempt })
    const local = await refusing(this.local)
    await refusing(() => local.hold(held))
    const before = await refusing(() => local.endOf(held.runId))
    const end = before?.end ?? (await this.perform(plan, params, context, local.durable, held.runId))
    return outputsOfRun(local.durable, held.runId, end)
  }

  private async planOf({ text, file }: DocumentSource, workflow: string): Promise<Plan> {
    try {
      return await loadWorkflow(text, { file: path.join(this.settings.dir, path.basename(file ?? `${workflow}.yaml`)) })
    } catch (error) {
      throw new UnfitWorkflowError(`The document of ${workflow} is wrong: ${messageOf(error)}`, { cause: error })
    }
  }

  private async perform(
    plan: Plan,
    params: Readonly<Record<string, Json>>,
    { jobId, datacenter, signal }: JobContext,
    durable: Durable,
    runId: string,
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

/**
 * The run of the steps has an id of its own for each attempt of each job, and is short whatever the names are. A job that
 * was removed and submitted again under its id is another one.
 */
export function heldWorkflow(
  { scopeKind, scope, id, queue, generation, owner, fence, correlationId }: TaskRecord,
  { jobId, datacenter, attempt }: { readonly jobId: string; readonly datacenter: string; readonly attempt: number },
): HeldWorkflow {
  const runId = `${fingerprint([correlationId, jobId, datacenter, id]).slice(0, 24)}.${generation}.${attempt}`
  const of = { generation, attempt, owner: owner ?? '', fence }
  return { runId, scopeKind, scope, id, queue, jobId, datacenter, ...of }
}

/** What the steps gave; throws what the attempt fails with. */
export async function outputsOfRun(durable: Durable, runId: string, end: RunEnd): Promise<JobOutputs> {
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

/** What the worker's own ledger cannot do is no fault of the workflow: another worker may be able to run it. */
async function refusing<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw new RefusedError(`The worker cannot keep its own records: ${messageOf(error)}`, { cause: error })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
