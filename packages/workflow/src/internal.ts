/**
 * `@reprise/workflow/internal`: what our own packages need of this one and nobody else should use: the parts that
 * `loadWorkflow` and `runWorkflow` are made of, control of runs from outside, views, care of stores and files, and what
 * explains and simulates policies. No promise of stability: a name here may change or go in any release. Re-exports only.
 */
export { type BudgetDefinition, readBudgetFlag, readBudgetSection } from './document/budget-section.js'
export { Findings } from './document/findings.js'
export { isJob, readJobFields } from './document/job-file.js'
export { jobSchema } from './document/json-schema.js'
export { isWorkflow } from './document/policy-file.js'
export { POLICY_FIELDS, type PolicyField, type PolicyFlag } from './document/policy-fields.js'
export { readTogether, ReportedError, STDIN } from './document/problem.js'
export { cureForMissing } from './document/files-beside.js'
export { NO_FILE, readText } from './document/read-text.js'
export { parseSource, type Source } from './document/source.js'
export { follow, wholeOf } from './document/located.js'
export { kebabCase } from './document/spelling.js'
export { type Explanation, explain } from './explain/explanation.js'
export { type ExplainedAttempt, waitLimitMs } from './explain/facts.js'
export { matcherWords } from './explain/summary.js'
export { acknowledge, editLetter, expectEditable, expectLetterData } from './operate/letters/edit-letter.js'
export { expectOpen, expectUndecided, findLetter, scopesNamed } from './operate/letters/find-letter.js'
export { letterDetail, type LetterDetail } from './operate/letters/letter-detail.js'
export { type LetterGroup, letterGroups, letterStats, type LetterStats } from './operate/letters/letter-groups.js'
export {
  type FoundLetter,
  foundLetters,
  letterCondition,
  type LetterCursor,
  type LetterSelection,
  scopesOfRun,
} from './operate/letters/letter-pages.js'
export { cancelDurableTask, decideDurableTask, retryTaskNow } from './operate/tasks/change-task.js'
export { findTask, hasTasks, taskPage } from './operate/tasks/find-task.js'
export { type TaskDetail, taskDetail, type TaskView } from './operate/tasks/task-view.js'
export { dataOf, type LetterView, letterView } from './operate/letters/letter-view.js'
export {
  chooseLetters,
  type ChosenLetters,
  type ChosenRun,
  type LetterChoice,
  prepareRedrive,
  type RedriveChoices,
} from './operate/letters/prepare-redrive.js'
export { checkInstallation, checkStore, type DoctorCheck } from './operate/doctor.js'
export type { Cure } from './operate/doctor-cure.js'
export {
  expectNewRun,
  findEndedRun,
  findRun,
  interruptedRun,
  isConducted,
  LATEST,
  LISTED_RUNS,
} from './operate/find-run.js'
export { expectAttempt, findLoggedStep, findStep, logsOfRun } from './operate/find-step.js'
export { expectNoSecrets, expectSecrets, loadPlan, runEnvironment } from './operate/load-plan.js'
export { findItem, findMap, pageOfItems, viewItem } from './operate/map-items.js'
export { OperationError, type OperationProblem } from './operate/operation-error.js'
export { readParams } from './operate/params.js'
export { type PreparedResume, prepareResume } from './operate/prepare-resume.js'
export { runReader } from './operate/run-reader.js'
export { prepareAgent, serveAsAgent, type ServableRun } from './operate/serve-run.js'
export { continueMap, findOpenMap, type MapLimits, type OpenMap, pauseMap, setMap } from './operate/steer-map.js'
export { expectFound, expectKept, ifKept, stateDirectoryOf, withLedger } from './operate/store.js'
export { DEFAULT_STORE, fileOf, isOnServer, noStoreMessage, storeWithoutPassword } from './operate/store-address.js'
export { backUp, migrateStore, pendingMigration, restore, salvage } from './operate/store-care.js'
export { type OwnerView, type StoreHint, storeReport, type StoreStatus } from './operate/store-status.js'
export { type ValidatedFile, validateSource, type Validation } from './operate/validate-source.js'
export { describeDifference } from './plan/difference-text.js'
export { attemptsOf } from './plan/attempts.js'
export { fallbackId, isFallbackId } from './plan/fallback.js'
export { type FoundPolicy, type PolicyFile, readPolicies } from './plan/found-policies.js'
export { pickStep } from './plan/pick-step.js'
export type { MapPlan } from './plan/map-plan.js'
export { mapsOf, type PhasePlan, phasesIn, stepsOf } from './plan/plan.js'
export { MAP_VALUE_ALIASES, MAP_VALUES } from './plan/reference-check.js'
export { canonicalSortKey } from './plan/canonical-map.js'
export { policyInput } from './plan/policy-input.js'
export { readMapRate } from './plan/build-map.js'
export { planFromDocument, planOf } from './plan/plan-of.js'
export { BLIND_READERS, type Readers } from './plan/readers.js'
export { killCommands } from './process/keeper.js'
export { type AttemptInput, StdinError, StdinSpool } from './process/stdin-spool.js'
export type { StepAttempt } from './run/attempt-output.js'
export type { AgentEnd, AgentSettings } from './run/agent/agent.js'
export type { AgentCounts, AgentEvent } from './run/agent/agent-event.js'
export { cleanableRuns, removeRuns } from './run/clean-runs.js'
export { cleanTrees } from './run/clean-trees.js'
export { WorktreesRefusedError } from './workplaces/repository.js'
export { cancelRun, type PlanReader, retryStepNow } from './run/control.js'
export { execCommand, type ExecInput } from './run/exec-command.js'
export { haltText } from './run/map/halt-text.js'
export type { MapSettings } from './run/map/map-settings.js'
export { partChoice } from './run/map/part-choice.js'
export { type ItemsPreview, type PreviewInput, previewItems } from './run/map/preview-items.js'
export { expectUsableGates } from './run/expect-gates.js'
export { planToEnd, readPlan, recordedPlan } from './run/recorded-plan.js'
export { checkResume, denierOf, type Refusal, type ResumeCheck, type ResumeChoices } from './run/resume-check.js'
export { type ResumeInput, resumeRun } from './run/resume-run.js'
export { redriveRun } from './run/redrive-run.js'
export type { RedriveOutcome } from './run/map/redrive-items.js'
export { endOfRun } from './run/run-end.js'
export { RunClock } from './run/run-clock.js'
export type { ItemState, MapProgressView } from './view/map-views.js'
export type { RunSettings } from './run/session.js'
export { newRunId, startRun } from './run/start-run.js'
export { chooseCompared } from './simulate/compared.js'
export type { FieldWords } from './simulate/field-words.js'
export { readFilePolicy } from './simulate/file-policy.js'
export { scenarioWithUnits, scenarioWords } from './simulate/scenario-words.js'
export { runSimulation, type SimulatedPolicy, type Simulation } from './simulate/simulation.js'
export { limitsOf, type UnderTest, underTest } from './simulate/under-test.js'
export { endOfFile } from './state/last-line.js'
export { isId } from './state/names.js'
export { expectContent } from './run/lost-content.js'
export { expectOwnStore } from './state/own-store.js'
export { type LogEntry, StateDirectory } from './state/state-directory.js'
export { statePathFor } from './state/state-path.js'
export { TextError } from './values/setup-error.js'
export { fillKnown } from './values/template.js'
export { readersFor } from './values/document-readers.js'
export { breakerViews, budgetViews } from './view/gates.js'
export { EventFollower } from './view/event-follower.js'
export { eventPages } from './view/read-events.js'
export { type RunReader, viewRetrying, viewRun } from './view/read-runs.js'
export { LiveEvents } from './view/live-events.js'
export { type RunExcerpt, type RunPage, viewRunPage, viewSummary } from './view/run-excerpt.js'
export { RunWatcher } from './view/run-watcher.js'
export {
  type AttemptView,
  type BreakerView,
  type BudgetView,
  type FailureGroup,
  type ItemDetail,
  type ItemPage,
  type ItemView,
  type MapPreview,
  type MapView,
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
  deniedText,
  failureText,
  plural,
  skipText,
  stopWords,
} from './words/failure-words.js'
export { byteText, countText, factor, percent, plainNumber, possible } from './words/figures.js'
export { jsonText } from './words/json-text.js'
export { withDates } from './words/json-times.js'
export { meanOf, resample, roundUp, timeTicks } from './words/scale.js'
export { withEnvFiles } from './run/env-files.js'
