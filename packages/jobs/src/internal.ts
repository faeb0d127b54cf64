/**
 * `@reprise/jobs/internal`: what our own packages need of this one and nobody else should use. No promise of stability: a
 * name here may change or go in any release. Re-exports only.
 */
export { explainJob, type JobExplanation } from './document/explain-job.js'
export { type JobFile, readJobFile } from './document/read-job-file.js'
export * from './rules/clamp.js'
export * from './rules/completion.js'
export * from './rules/datacenter-end.js'
export {
  cancelsStragglers,
  type CompletedJobRecord,
  type DatacenterReport,
  exitCodeOf,
  jobResult,
  type WorkflowEnd,
  type WorkflowResult,
} from './rules/job-result.js'
export { checkJobRequest, idFromKey, JOB_FIELDS, type JobRequest, readJobRequest } from './rules/job-request.js'
export { type JobWorkflow, paramsAt, type WorkflowSource } from './rules/job-workflow.js'
export { DATACENTER_WORDS, isDatacenterName } from './rules/field-readers.js'
export * from './rules/late-result.js'
export {
  DEFAULT_OPERATOR_SETTINGS,
  LATE_RESULT_POLICIES,
  type LateResultPolicy,
  OPERATOR_VARIABLES,
  readOperatorSettings,
  stricterOf,
} from './rules/operator-settings.js'
export * from './rules/retry-grant.js'
export { JOB_EVENTS, type JobEventName } from './drive/job-event.js'
export { datacentersOfJob, openJobsWith } from './jobs.js'
export { operationsOf } from './operations.js'
export type { Caller, JobListRequest, JobOperationName, JobOperations } from './routes/job-operations.js'
export { JOB_ROUTES, JOB_SCHEMAS, MAX_WAIT_SECONDS } from './routes/job-routes.js'
export { bodyFields, type Route, type RouteAccess, type RouteField, type Schema, schemaOf } from './routes/route.js'
export { newJobId } from './submit/submit-job.js'
export type { BudgetStatus, DatacenterStatus, WorkerView, WorkflowStatus } from './view/job-views.js'
