/** Functions that workers register to be run as workflows of jobs, and how an attempt says that it could not begin. Types and errors. */
import type { Json } from 'reprise/durable'

/** What a handler is handed beside its parameters. */
export interface JobContext {
  /** The id of the job. */
  readonly jobId: string
  /** The datacenter of this worker. */
  readonly datacenter: string
  /** The name of the workflow within the job. */
  readonly workflow: string
  /** 1, and one more for every retry. */
  readonly attempt: number
  /** Aborts when the job is cancelled or out of time, or the worker stops. */
  readonly signal: AbortSignal
  /** The same for all attempts of the workflow at this datacenter: hand it to what must not happen twice. */
  readonly idempotencyKey: string
}

/** What a workflow gives for aggregates and results; at most 64 kB as JSON. */
export type JobOutputs = Readonly<Record<string, Json>>

/**
 * Runs a workflow of a job. What it throws is retried within the job's budget, unless the error has `retryable: false`.
 * @example
 * const probe: JobHandler = async ({ url }, { signal }) => ({ status: (await fetch(String(url), { signal })).status })
 */
export type JobHandler = (
  params: Readonly<Record<string, Json>>,
  context: JobContext,
) => JobOutputs | void | PromiseLike<JobOutputs | void>

/** A worker claimed the workflow and could not begin: another one may be able to. It costs a retry. */
export class RefusedError extends Error {
  readonly code = 'refused'

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RefusedError'
  }
}

/** The same everywhere: no other worker and no later time would help. */
export class UnfitWorkflowError extends Error {
  readonly code = 'unfit'
  readonly retryable = false

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnfitWorkflowError'
  }
}

const MAX_OUTPUT_BYTES = 65_536

/** Throws if a ledger cannot keep them, or they are too long. */
export function outputsOf(value: unknown): JobOutputs {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw new UnfitWorkflowError(
      `A handler gives its outputs as an object such as { requests: 3 }, not ${JSON.stringify(value)}`,
    )
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > MAX_OUTPUT_BYTES)
    throw new UnfitWorkflowError(`The outputs have ${bytes} bytes, and at most ${MAX_OUTPUT_BYTES} are kept`)
  return value as JobOutputs
}
