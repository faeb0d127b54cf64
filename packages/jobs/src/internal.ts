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
export { openJobsWith } from './jobs.js'
export type { BudgetStatus, DatacenterStatus, WorkerView, WorkflowStatus } from './view/job-views.js'
