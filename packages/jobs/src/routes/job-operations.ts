/**
 * What can be asked of jobs from outside, each with one answer: of a ledger (`operations.ts`) or, by the same routes, of a
 * gate. Answers are what commands print with `--json`. Types.
 */
import type { JobResult } from '../rules/job-result.js'
import type { OperatorSettings } from '../rules/operator-settings.js'
import type { SubmittedJob } from '../submit/submit-job.js'
import type { DatacenterView, JobStatus, JobSummary, WorkerView } from '../view/job-views.js'
import type { JobEventPage } from '../view/read-job-events.js'

/** Who asks. */
export interface Caller {
  /** The name of the token or of the user: changes are recorded with it. */
  readonly by: string
  /** Ends waiting. */
  readonly signal?: AbortSignal
}

interface OfJob {
  readonly id: string
}

export interface JobListRequest {
  readonly state?: JobSummary['state']
  readonly limit?: number
  /** `next` of the list before. */
  readonly cursor?: string
}

/** The settings that were asked for. */
export interface JobSettingsAnswer {
  readonly environment: OperatorSettings
  /** null: nobody has written any. */
  readonly store: OperatorSettings | null
  /** The stricter of the two. */
  readonly effective: OperatorSettings
}

export interface JobOperations {
  submitJob(
    request: { readonly job: unknown },
    caller: Caller,
  ): Promise<Omit<SubmittedJob, 'id'> & { readonly job: string }>
  /** `next`: where the list goes on; null at its end. */
  listJobs(
    request: JobListRequest,
    caller: Caller,
  ): Promise<{ readonly jobs: readonly JobSummary[]; readonly next: string | null }>
  showJob(request: OfJob, caller: Caller): Promise<JobStatus>
  /** null: the job has not completed. */
  jobResult(request: OfJob & { readonly wait_seconds?: number }, caller: Caller): Promise<JobResult | null>
  jobEvents(
    request: OfJob & { readonly after?: number; readonly limit?: number },
    caller: Caller,
  ): Promise<JobEventPage>
  cancelJob(request: OfJob, caller: Caller): Promise<{ readonly job: string; readonly cancelled: boolean }>
  retryJob(
    request: OfJob & { readonly only_failed?: boolean; readonly datacenter?: string },
    caller: Caller,
  ): Promise<{ readonly job: string; readonly retried: true }>
  listDatacenters(request: object, caller: Caller): Promise<{ readonly datacenters: readonly DatacenterView[] }>
  listWorkers(
    request: object,
    caller: Caller,
  ): Promise<{ readonly workers: readonly (WorkerView & { readonly datacenter: string })[] }>
  disableDatacenter(
    request: { readonly name: string; readonly reason?: string },
    caller: Caller,
  ): Promise<{ readonly datacenter: string; readonly disabled: string | null }>
  enableDatacenter(
    request: { readonly name: string },
    caller: Caller,
  ): Promise<{ readonly datacenter: string; readonly disabled: string | null }>
  showSettings(request: object, caller: Caller): Promise<JobSettingsAnswer>
  writeSettings(request: object, caller: Caller): Promise<JobSettingsAnswer>
}

export type JobOperationName = keyof JobOperations
