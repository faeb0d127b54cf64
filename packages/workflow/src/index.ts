/** What the package exports. Re-exports only. */
export {
  type BudgetDefinition,
  type BudgetDefinitions,
  budgetOf,
  BUDGETS_KEY,
  readBudgetFlag,
  readBudgetSection,
} from './document/budget-section.js'
export { type JsonSchema, policySchema, workflowSchema } from './document/json-schema.js'
export { isWorkflow } from './document/policy-file.js'
export { byPlace, InputError, type Problem, readTogether, ReportedError } from './document/problem.js'
export { readText, STDIN } from './document/read-text.js'
export { parseSource, type Source } from './document/source.js'
export { camelCase, kebabCase, snakeCase } from './document/spelling.js'
export { fingerprintOf } from './plan/build-plan.js'
export { describeDifference } from './plan/difference-text.js'
export { type Difference, differencesOf } from './plan/differences.js'
export { type FoundPolicy, type PolicyFile, readPolicies } from './plan/found-policies.js'
export { pickOnly, pickStep } from './plan/pick-step.js'
export { planFromDocument, planOf } from './plan/plan-of.js'
export * from './plan/plan.js'
export { BLIND_READERS, type Readers, type References, type TextReader } from './plan/readers.js'
export * from './run/run-event.js'
export { breakerViews, budgetViews } from './view/gates.js'
export * from './view/views.js'
export type { OutputListener, StepAttempt } from './run/attempt-output.js'
export { execCommand, type ExecInput } from './run/exec-command.js'
export { cancelRun, type PlanReader, retryStepNow } from './run/control.js'
export { cleanableRuns, removeRuns } from './run/clean-runs.js'
export type { RunEnd } from './run/conductor.js'
export {
  checkResume,
  type Refusal,
  type RefusalReason,
  type ResumeCheck,
  type ResumeChoices,
} from './run/resume-check.js'
export { type ResumeInput, resumeRun } from './run/resume-run.js'
export { placeOf, placesElsewhere } from './run/places.js'
export { RunClock } from './run/run-clock.js'
export type { RunPlace } from './run/run-record.js'
export type { RunSettings } from './run/session.js'
export { fallbackId } from './plan/fallback.js'
export { newRunId, type NewRunInput, startRun } from './run/start-run.js'
export { SHORTEST_SECRET } from './masking/secret-forms.js'
export { type SecretPlace, secretPlaces } from './masking/secret-places.js'
export { killCommands } from './process/keeper.js'
export { type AttemptInput, StdinError, StdinSpool } from './process/stdin-spool.js'
export { fillKnown } from './values/template.js'
export { readersFor } from './values/document-readers.js'
export { isId } from './state/names.js'
export { endOfFile, lastLineIn } from './state/last-line.js'
export { expectOwnStore } from './state/own-store.js'
export { type LogEntry, StateDirectory } from './state/state-directory.js'
export { statePathFor } from './state/state-path.js'
export { StateError } from './state/state-error.js'
export { viewEvents } from './view/read-events.js'
export { type RunReader, viewRetrying, viewRun, viewRuns } from './view/read-runs.js'
export { RunWatcher } from './view/run-watcher.js'
