/**
 * `@reprise/jobs`: jobs over datacenters for programs. Re-exports only: functions, and the types of what they are given
 * and return.
 */
export type { JobRetryOptions } from './drive/retry-job.js'
export { type ChangeOptions, Job, Jobs, type JobsOptions, openJobs, type WaitOptions } from './jobs.js'
export type { JobResult } from './rules/job-result.js'
export type { OperatorSettings } from './rules/operator-settings.js'
export type { SubmitOptions } from './submit/submit-job.js'
export type { JobMetric, MetricOptions } from './view/job-metrics.js'
export type { DatacenterView, JobStatus, JobSummary } from './view/job-views.js'
export type { JobFilter } from './view/read-job.js'
export type { JobEventFilter, JobEventPage, JobEventView } from './view/read-job-events.js'
export type { JobContext, JobHandler, JobOutputs } from './work/job-handler.js'
export type { JobWorker, WorkOptions } from './work/worker.js'
export type { WorkerNote, WorkerNoteKind } from './work/worker-notes.js'
