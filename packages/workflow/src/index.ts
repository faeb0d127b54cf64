/**
 * `@reprise/workflow`: workflows for programs: read a document, run it, look at runs. Re-exports only: functions, and the
 * types of what they are given and return.
 */
export { type JsonSchema, policySchema, workflowSchema } from './document/json-schema.js'
export { InputError, type Problem } from './document/problem.js'
export type { Plan, StepPlan } from './plan/plan.js'
export type { OutputListener } from './run/attempt-output.js'
export type { RunEnd } from './run/conductor.js'
export { type LoadOptions, loadWorkflow } from './run/load-workflow.js'
export type { RunEvent } from './run/run-event.js'
export type { HaltReason, MapCounts } from './view/map-views.js'
export {
  ResumeRefusedError,
  type ResumeWorkflowOptions,
  resumeWorkflow,
  type RunWorkflowOptions,
  runWorkflow,
} from './run/run-workflow.js'
export { StateError } from './state/state-error.js'
export { viewEvents } from './view/read-events.js'
export { viewRuns } from './view/read-runs.js'
export type { EventView, RunState, RunView, StepState } from './view/views.js'
