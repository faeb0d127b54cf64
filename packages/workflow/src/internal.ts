/**
 * `@reprise/workflow/internal`: what `@reprise/cli` needs of the package and nobody else should use: the parts that
 * `loadWorkflow` and `runWorkflow` are made of, control of runs from outside, views, and care of files. No promise of
 * stability: a name here may change or go in any release. Re-exports only.
 */
export {
  type BudgetDefinition,
  type BudgetDefinitions,
  BUDGETS_KEY,
  readBudgetFlag,
  readBudgetSection,
} from './document/budget-section.js'
export { isWorkflow } from './document/policy-file.js'
export { POLICY_FIELDS, type PolicyField, type PolicyFlag } from './document/policy-fields.js'
export { readTogether, ReportedError } from './document/problem.js'
export { cureForMissing } from './document/files-beside.js'
export { NO_FILE, readText, STDIN } from './document/read-text.js'
export { parseSource, type Source } from './document/source.js'
export { kebabCase, snakeCase } from './document/spelling.js'
export { type Explanation, explain } from './explain/explanation.js'
export { type ExplainedAttempt, waitLimitMs } from './explain/facts.js'
export { matcherWords, summarize } from './explain/summary.js'
export { faultOfSecrets } from './masking/secret-fault.js'
export { secretPlaces } from './masking/secret-places.js'
export { describeDifference } from './plan/difference-text.js'
export { attemptsOf } from './plan/attempts.js'
export { fallbackId, isFallbackId } from './plan/fallback.js'
export { type FoundPolicy, type PolicyFile, notesOf, readPolicies, stepNotes } from './plan/found-policies.js'
export { pickOnly, pickStep } from './plan/pick-step.js'
export { stepsOf } from './plan/plan.js'
export { policyInput } from './plan/policy-input.js'
export { planFromDocument, planOf } from './plan/plan-of.js'
export { BLIND_READERS, type Readers } from './plan/readers.js'
export { killCommands } from './process/keeper.js'
export { type AttemptInput, StdinError, StdinSpool } from './process/stdin-spool.js'
export type { StepAttempt } from './run/attempt-output.js'
export { cleanableRuns, removeRuns } from './run/clean-runs.js'
export { cancelRun, type PlanReader, retryStepNow } from './run/control.js'
export { execCommand, type ExecInput } from './run/exec-command.js'
export { placeOf, placesElsewhere } from './run/places.js'
export { recordedFile, recordedPlan } from './run/recorded-plan.js'
export { checkResume, type Refusal, type ResumeCheck, type ResumeChoices } from './run/resume-check.js'
export { type ResumeInput, resumeRun } from './run/resume-run.js'
export { RunClock } from './run/run-clock.js'
export type { RunPlace } from './run/run-record.js'
export type { RunSettings } from './run/session.js'
export { newRunId, startRun } from './run/start-run.js'
export { chooseCompared } from './simulate/compared.js'
export type { FieldWords } from './simulate/field-words.js'
export { readFilePolicy } from './simulate/file-policy.js'
export { scenarioWithUnits, scenarioWords } from './simulate/scenario-words.js'
export { runSimulation, type SimulatedPolicy, type Simulation } from './simulate/simulation.js'
export { limitsOf, type UnderTest, underTest } from './simulate/under-test.js'
export { endOfFile, lastLineIn } from './state/last-line.js'
export { isId } from './state/names.js'
export { lookIfThere } from './state/own-files.js'
export { expectOwnStore } from './state/own-store.js'
export { type LogEntry, StateDirectory } from './state/state-directory.js'
export { statePathFor } from './state/state-path.js'
export { fillKnown } from './values/template.js'
export { readersFor } from './values/document-readers.js'
export { breakerViews, budgetViews } from './view/gates.js'
export { type RunReader, viewRetrying, viewRun } from './view/read-runs.js'
export { RunWatcher } from './view/run-watcher.js'
export {
  type AttemptView,
  type BreakerView,
  type BudgetView,
  type ResumePreview,
  type RetryingView,
  RUN_STATES,
  type RunDetail,
  STEP_STATES,
  type StepView,
} from './view/views.js'
export { isShownTime, roundedDuration, timeWords, waitedText } from './words/duration.js'
export {
  attemptsText,
  failureLines,
  failureReason,
  failureText,
  plural,
  skipText,
  stopWords,
} from './words/failure-words.js'
export { byteText, countText, factor, percent, plainNumber, possible } from './words/figures.js'
export { meanOf, resample, roundUp, timeTicks } from './words/scale.js'
