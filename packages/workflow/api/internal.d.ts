// @reprise/workflow/internal: 265 names, 189 values and 76 types. Written by `npm run api`.
//
// values:
//   BLIND_READERS, DEFAULT_STORE, EventFollower, Findings, LATEST, LISTED_RUNS, LiveEvents, MAP_VALUES,
//   MAP_VALUE_ALIASES, NO_FILE, OperationError, POLICY_FIELDS, RUN_STATES, ReportedError, RunClock, RunWatcher, STDIN,
//   STEP_STATES, StateDirectory, StdinError, StdinSpool, TextError, WorktreesRefusedError, acknowledge, attemptsOf,
//   attemptsText, backUp, breakerViews, budgetViews, byteText, cancelDurableTask, cancelRun, canonicalSortKey,
//   checkInstallation, checkResume, checkStore, chooseCompared, chooseLetters, cleanTrees, cleanableRuns, continueMap,
//   countText, cureForMissing, dataOf, decideDurableTask, deniedText, denierOf, describeDifference, editLetter,
//   endOfFile, endOfRun, eventPages, execCommand, expectAttempt, expectContent, expectEditable, expectFound,
//   expectKept, expectLetterData, expectNewRun, expectNoSecrets, expectOpen, expectOwnStore, expectSecrets,
//   expectUndecided, expectUsableGates, explain, factor, failureLines, failureReason, failureText, fallbackId, fileOf,
//   fillKnown, findEndedRun, findItem, findLetter, findLoggedStep, findMap, findOpenMap, findRun, findStep, findTask,
//   follow, foundLetters, haltText, hasTasks, ifKept, interruptedRun, isConducted, isFallbackId, isId, isJob,
//   isOnServer, isShownTime, isWorkflow, jobSchema, jsonText, kebabCase, killCommands, letterCondition, letterDetail,
//   letterGroups, letterStats, letterView, limitsOf, loadPlan, logsOfRun, mapsOf, matcherWords, meanOf, migrateStore,
//   newRunId, noStoreMessage, pageOfItems, parseSource, partChoice, pauseMap, pendingMigration, percent, phasesIn,
//   pickStep, plainNumber, planFromDocument, planOf, planToEnd, plural, policyInput, possible, prepareAgent,
//   prepareRedrive, prepareResume, previewItems, readBudgetFlag, readBudgetSection, readFilePolicy, readJobFields,
//   readMapRate, readParams, readPlan, readPolicies, readText, readTogether, readersFor, recordedPlan, redriveRun,
//   removeRuns, resample, restore, resumeRun, retryStepNow, retryTaskNow, roundUp, roundedDuration, runEnvironment,
//   runReader, runSimulation, salvage, scenarioWithUnits, scenarioWords, scopesNamed, scopesOfRun, serveAsAgent,
//   setMap, skipText, startRun, stateDirectoryOf, statePathFor, stepsOf, stopWords, storeReport, storeWithoutPassword,
//   taskDetail, taskPage, timeTicks, timeWords, underTest, validateSource, viewItem, viewRetrying, viewRun,
//   viewRunPage, viewSummary, waitLimitMs, waitedText, wholeOf, withDates, withEnvFiles, withLedger,
//
// types:
//   AgentCounts, AgentEnd, AgentEvent, AgentSettings, AttemptInput, AttemptView, BreakerView, BudgetDefinition,
//   BudgetView, ChosenLetters, ChosenRun, Cure, DoctorCheck, ExecInput, ExplainedAttempt, Explanation, FailureGroup,
//   FieldWords, FoundLetter, FoundPolicy, ItemDetail, ItemPage, ItemState, ItemView, ItemsPreview, LetterChoice,
//   LetterCursor, LetterDetail, LetterGroup, LetterSelection, LetterStats, LetterView, LogEntry, MapLimits, MapPlan,
//   MapPreview, MapProgressView, MapSettings, MapView, OpenMap, OperationProblem, OwnerView, PhasePlan, PlanReader,
//   PolicyField, PolicyFile, PolicyFlag, PreparedResume, PreviewInput, Readers, RedriveChoices, RedriveOutcome,
//   Refusal, ResumeCheck, ResumeChoices, ResumeInput, ResumePreview, RetryingView, RunDetail, RunExcerpt, RunPage,
//   RunReader, RunSettings, ServableRun, SimulatedPolicy, Simulation, Source, StepAttempt, StepView, StoreHint,
//   StoreStatus, TaskDetail, TaskView, UnderTest, ValidatedFile, Validation,

import type {
  EventView, HaltReason, InputError, JsonSchema, MapCounts, OutputListener, Plan, Problem, RunEnd, RunEvent, RunState,
  RunView, StepPlan, StepState,
} from '@reprise/workflow'
import type {
  Budget, DurationInput, ErrorCode, NormalizedPolicy, Observer, Policy, PolicyInput, RepriseError, StopReason,
} from 'reprise'
import type {
  AttemptRow, DeadLetter, Durable, FailureRecord, GateChange, Json, Ledger, LetterClosing, RunRecord, Scope,
  StoredEvent, TaskKey, TaskRecord, TaskStatus,
} from 'reprise/durable'
import type {
  Actor, ConnectionFacts, CopiedCounts, LetterDecision, LetterRef, OtherOwner, RedriveOptions, SchemaState, TableFacts,
  TimeSpan,
} from 'reprise/internal'
import type {
  CompleteScenario,
} from 'reprise/internal/simulate'
import type {
  Salvage,
} from 'reprise/internal/sqlite'
import type {
  Limits, Report, ScenarioInput, Subject,
} from 'reprise/simulate'
import type {
  Node,
} from 'yaml'

export interface AgentCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly interrupted: number;
}

export interface AgentEnd {
  readonly reason: LeaveReason;
  readonly state: string | null;
  readonly attempts: AgentCounts;
}

export type AgentEvent = (Told & {
  readonly type: 'agent_started';
  readonly name: string;
  readonly parallel: number;
  readonly pid: number;
  readonly host: string;
  readonly version: string;
}) | (Told & {
  readonly type: 'agent_idle';
  readonly reason: IdleReason;
}) | (Told & {
  readonly type: 'map_joined';
  readonly step: string;
  readonly counts: MapCounts;
  readonly conductor: {
    readonly pid: number;
    readonly host: string;
  };
}) | (Told & {
  readonly type: 'item_attempt_finished';
  readonly step: string;
  readonly item: string;
  readonly attempt: number;
  readonly outcome: AttemptRow['outcome'];
  readonly durationMs: number | null;
  readonly failure: FailureRecord | null;
}) | (Told & {
  readonly type: 'map_note';
  readonly step: string;
  readonly message: string;
}) | (Told & {
  readonly type: 'map_left';
  readonly step: string;
}) | (Told & {
  readonly type: 'agent_finished';
  readonly reason: LeaveReason;
  readonly state: string | null;
  readonly attempts: AgentCounts;
});

export interface AgentSettings {
  readonly store: string;
  readonly stateDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly parallel: number;
  readonly cwd?: string;
  readonly grace?: DurationInput;
  readonly lease?: DurationInput;
  readonly listener?: (event: AgentEvent) => void;
  readonly observer?: Observer;
  readonly signal?: AbortSignal;
  readonly expectFit: (plan: Plan, run: RunRecord) => void;
  readonly expectVersion: (run: string, version: string, conductor: OtherOwner) => void;
}

export interface AttemptInput {
  readonly input: CommandInput;
  readonly close: () => void;
}

export interface AttemptView {
  readonly generation: number;
  readonly attempt: number;
  readonly execution: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: string;
  readonly delayBeforeMs: number;
  readonly failure: FailureRecord | null;
  readonly log: string | null;
}

export declare const BLIND_READERS: Readers;

export interface BreakerView {
  readonly name: string;
  readonly state: 'closed' | 'open' | 'half_open';
  readonly failures: number;
  readonly failureThreshold: number | null;
  readonly halfOpenAtMs: number | null;
  readonly lastFailureAtMs: number | null;
}

export interface BudgetDefinition {
  readonly type: BudgetType;
  readonly options: BudgetOptions;
  readonly make: () => Budget;
}

export interface BudgetView {
  readonly name: string;
  readonly type: string | null;
  readonly state: Json;
}

export interface ChosenLetters {
  readonly redriveId: string;
  readonly selection: LetterSelection;
  readonly runs: readonly ChosenRun[];
  readonly tasks: readonly LetterRef[];
  readonly undecided: number;
  readonly undecidedSteps: readonly {
    readonly run: string;
    readonly step: string;
  }[];
  readonly others: number;
}

export interface ChosenRun {
  readonly run: string;
  readonly steps: string[];
  readonly maps: Map<string, number>;
  left: number;
}

export type Cure = {
  readonly type: 'install_node';
  readonly version: string;
} | {
  readonly type: 'update_reprise';
} | {
  readonly type: 'make_writable';
  readonly path: string;
} | {
  readonly type: 'run_as_owner';
  readonly uid: number;
} | {
  readonly type: 'migrate_store' | 'salvage_store';
} | {
  readonly type: 'restore_store';
  readonly isInPlace: boolean;
} | {
  readonly type: 'cancel_task';
  readonly name: string;
  readonly id: string;
} | {
  readonly type: 'cancel_run' | 'remove_run';
  readonly run: string;
} | {
  readonly type: 'reset_breaker' | 'reset_budget';
  readonly name: string;
} | {
  readonly type: 'grant_budget';
  readonly name: string;
  readonly amount: number;
} | {
  readonly type: 'advice';
  readonly text: string;
};

export declare const DEFAULT_STORE = "sqlite:.reprise/ledger.db";

export interface DoctorCheck {
  readonly area: 'installation' | 'store' | 'state';
  readonly state: 'ok' | 'note' | 'fault';
  readonly severity: FaultSeverity | null;
  readonly rule: string | null;
  readonly place: string | null;
  readonly message: string;
  readonly cure: Cure | null;
}

export declare class EventFollower {
  constructor(ledger: Ledger, run: string);
  news(): AsyncGenerator<readonly EventView[]>;
}

export interface ExecInput {
  readonly argv: readonly string[];
  readonly policy: Policy;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly grace: DurationInput;
  readonly signal: AbortSignal;
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Uint8Array, attempt: number) => void | Promise<void>;
  readonly observer: Observer;
  readonly openStdin?: () => Promise<AttemptInput>;
}

export interface ExplainedAttempt {
  readonly attempt: number;
  readonly waitMs: number;
  readonly minWaitMs: number;
  readonly maxWaitMs: number;
  readonly waitedMs: number;
  readonly minWaitedMs: number;
  readonly maxWaitedMs: number;
  readonly budgetShare: number | null;
}

export interface Explanation {
  readonly step: string | null;
  readonly role: PolicyRole;
  readonly summary: string;
  readonly until: string | null;
  readonly policy: Policy;
  readonly attempts: readonly ExplainedAttempt[];
  readonly stop: Stop;
  readonly mostWaitedMs: number;
  readonly longestMs: number | null;
  readonly starts: MapStarts | null;
  readonly hints: readonly Hint[];
  readonly notes: readonly string[];
}

export interface FailureGroup {
  readonly signature: string;
  readonly items: number;
  readonly failed: number;
  readonly recovered: number;
  readonly example: {
    readonly item: string;
    readonly message: string;
  } | null;
}

export type FieldWords = (field: string, value?: string) => string;

export declare class Findings {
  readonly source: Source;
  readonly problems: Problem[];
  constructor(source: Source);
  fail(located: LocatedValue, message: string, suggestion?: string, atKey?: boolean): undefined;
  failWithin(located: LocatedValue, part: TextPart, message: string, suggestion?: string, otherwise?: string): void;
  done(): void;
}

export interface FoundLetter {
  readonly letter: DeadLetter;
  readonly task: TaskRecord | undefined;
}

export interface FoundPolicy extends NormalizedPolicy {
  readonly step: string | null;
  readonly name: string | null;
  readonly role: PolicyRole;
  readonly until?: string;
  readonly starts: MapStarts | null;
}

export interface ItemDetail extends StepView {
  readonly run: string;
  readonly key: string;
  readonly index: number;
  readonly value: Json;
  readonly result: Json;
}

export interface ItemPage {
  readonly run: string;
  readonly map: string;
  readonly counts: MapCounts;
  readonly state: ItemState | null;
  readonly items: readonly ItemView[];
  readonly next: string | null;
}

export type ItemState = 'pending' | 'running' | 'retrying' | 'succeeded' | 'skipped' | 'dead' | 'cancelled' | 'undecided';

export interface ItemView {
  readonly item: string;
  readonly key: string;
  readonly index: number;
  readonly state: ItemState;
  readonly generation: number;
  readonly attempts: number;
  readonly attemptsAllowed: number;
  readonly nextAttemptAtMs: number | null;
  readonly stopReason: StopReason | null;
  readonly failure: FailureRecord | null;
  readonly updatedAtMs: number;
}

export type ItemsPreview = {
  readonly total: number;
  readonly chosen: number;
} | {
  readonly why: string;
};

export declare const LATEST = "latest";

export declare const LISTED_RUNS = 10;

export type LetterChoice = 'dead' | 'all' | 'undecided';

export type LetterCursor = Pick<DeadLetter, 'atMs' | 'scopeKind' | 'scope' | 'id' | 'generation'>;

export interface LetterDetail extends LetterView {
  readonly data: Json;
  readonly generations: readonly GenerationView[];
  readonly changes: readonly ChangeView[];
  readonly compactedAttempts: number;
}

export interface LetterGroup {
  readonly signature: string;
  readonly count: number;
  readonly retryableShare: number;
  readonly firstFailedAtMs: number;
  readonly lastFailedAtMs: number;
  readonly places: readonly string[];
  readonly lastMessage: string;
  readonly example: string;
}

export interface LetterSelection {
  readonly scopes?: readonly Scope[];
  readonly isOpen?: boolean;
  readonly signature?: string;
  readonly names?: ReadonlySet<string>;
  readonly where?: LetterCondition;
  readonly untilMs?: number;
  readonly withTasks?: boolean;
  readonly after?: LetterCursor;
  readonly wanted?: number;
}

export interface LetterStats {
  readonly open: number;
  readonly closed: number;
  readonly undecided: number;
  readonly retryable: number;
  readonly groups: number;
  readonly byKind: Readonly<Record<LetterKind, number>>;
  readonly closedBy: Readonly<Partial<Record<LetterClosing, number>>>;
  readonly oldestFailedAtMs: number | null;
  readonly newestFailedAtMs: number | null;
}

export interface LetterView extends LetterPlace {
  readonly letter: string;
  readonly id: string;
  readonly key: string | null;
  readonly state: 'dead' | 'undecided' | 'closed';
  readonly generation: number;
  readonly attempts: number | null;
  readonly failedAtMs: number;
  readonly stopReason: StopReason;
  readonly failure: FailureRecord | null;
  readonly signature: string;
  readonly retry: RetryAdvice;
  readonly closed: {
    readonly closedAtMs: number;
    readonly by: LetterClosing;
  } | null;
  readonly correlationId: string | null;
}

export declare class LiveEvents {
  constructor(ledger: Ledger, run: string, tell: (event: EventView) => void, options?: LiveEventOptions);
  hear(event: RunEvent): void;
  flushed(mostIdleMs?: number): Promise<void>;
}

export interface LogEntry extends AttemptName {
  readonly run: string;
  readonly step: string;
  readonly path: string;
  readonly bytes: number;
}

export declare const MAP_VALUES: readonly ['total', 'succeeded', 'failed', 'skipped', 'dead', 'cancelled', 'undecided', 'pending', 'results', 'results_file'];

export declare const MAP_VALUE_ALIASES: Readonly<Record<string, (typeof MAP_VALUES)[number]>>;

export interface MapLimits {
  readonly maxParallel?: number;
  readonly rate?: MapRate | null;
  readonly maxFailures?: number;
}

export interface MapPlan {
  readonly kind: 'map';
  readonly id: string;
  readonly name: string;
  readonly when: string | null;
  readonly onFailure: 'stop' | 'continue';
  readonly input: MapInput;
  readonly selection: ItemSelection;
  readonly maxParallel: number;
  readonly rate: MapRate | null;
  readonly batch: number;
  readonly isolation: 'none' | 'directory' | 'worktree';
  readonly policy: PolicyInput;
  readonly onInterrupt: InterruptAction;
  readonly checkpoint: 'none' | 'step';
  readonly keepLogs: 'all' | 'failures' | 'none';
  readonly template: readonly StepPlan[];
  readonly onItemError: readonly StepPlan[];
  readonly errors: MapErrorPolicy;
}

export interface MapPreview {
  readonly map: string;
  readonly isRead: boolean;
  readonly total: number;
  readonly kept: number;
  readonly pending: number;
  readonly retrying: number;
  readonly interrupted: number;
  readonly onInterrupt: 'rerun' | 'fail' | 'verify';
  readonly failed: number;
  readonly undecided: number;
  readonly cancelled: number;
  readonly reset: number;
}

export interface MapProgressView {
  readonly counts: MapCounts;
  readonly recovered: number;
  readonly perSecond: number | null;
  readonly etaMs: number | null;
  readonly running: readonly RunningItemView[];
  readonly heldBy: {
    readonly gate: string;
    readonly reason: string;
  } | null;
  readonly isPaused: boolean;
  readonly agents: readonly MapAgentView[];
}

export interface MapSettings {
  readonly part?: PartChoice;
  readonly stdin?: () => AsyncIterable<Uint8Array>;
  readonly jobLog?: string;
  readonly force?: boolean;
  readonly maxFailures?: number;
  readonly maxParallel?: number;
  readonly resetRetries?: boolean;
  readonly redrive?: ItemRedrive;
}

export interface MapView {
  readonly state: RunState;
  readonly counts: MapCounts;
  readonly recovered: number | null;
  readonly perSecond: number | null;
  readonly maxParallel: number;
  readonly perSecondAllowed: number | null;
  readonly maxFailures: number | null;
  readonly isPaused: boolean;
  readonly isPart: boolean;
  readonly halted: HaltReason | null;
  readonly agents: readonly MapAgentView[];
  readonly running: readonly MapRunningItem[];
  readonly failures: readonly FailureGroup[];
  readonly resultsFile: string | null;
}

export declare const NO_FILE = "no such file";

export interface OpenMap {
  readonly run: string;
  readonly map: MapPlan;
  readonly mapRun: string;
}

export declare class OperationError extends RepriseError {
  readonly code: 'operation';
  readonly kind: OperationErrorKind;
  readonly problem: OperationProblem;
  readonly suggestion: string | undefined;
  constructor(kind: OperationErrorKind, problem: OperationProblem, message: string, suggestion?: string);
  get name(): string;
}

export type OperationProblem = {
  readonly code: 'invalid_address' | 'address_without_store';
} | {
  readonly code: 'no_store';
  readonly isOnServer: boolean;
} | {
  readonly code: 'file_exists' | 'no_backup';
  readonly file: string;
} | {
  readonly code: 'no_sqlite_file' | 'store_refused';
} | {
  readonly code: 'no_runs';
} | {
  readonly code: 'no_interrupted_run';
  readonly failed: string | null;
} | {
  readonly code: 'unknown_run';
  readonly near: string | undefined;
} | {
  readonly code: 'step_of_last_run';
  readonly step: string;
} | {
  readonly code: 'ambiguous_run';
  readonly found: readonly StartedRun[];
  readonly nowMs: number;
} | {
  readonly code: 'run_is_job';
  readonly job: string;
} | {
  readonly code: 'several_interrupted_runs';
  readonly runs: readonly string[];
} | {
  readonly code: 'run_exists' | 'run_not_ended' | 'run_locked';
  readonly run: string;
} | {
  readonly code: 'unknown_step';
  readonly run: string;
  readonly near: string | undefined;
} | {
  readonly code: 'unknown_attempt';
  readonly run: string;
  readonly step: string;
} | {
  readonly code: 'missing_directory';
  readonly directory: string;
} | {
  readonly code: 'other_version';
  readonly run: string;
} | {
  readonly code: 'unknown_map' | 'map_not_open' | 'several_maps';
  readonly run: string;
} | {
  readonly code: 'unknown_item';
  readonly run: string;
  readonly map: string;
} | {
  readonly code: 'map_stopped';
  readonly run: string;
  readonly maxFailures: number | null;
} | {
  readonly code: 'wrong_condition' | 'wrong_input' | 'unknown_group';
} | {
  readonly code: 'unknown_letter';
  readonly near: string | undefined;
} | {
  readonly code: 'ambiguous_letter';
  readonly letters: readonly string[];
} | {
  readonly code: 'letter_not_open' | 'no_letter_data';
  readonly letter: string;
} | {
  readonly code: 'letter_undecided' | 'letter_not_undecided';
  readonly letter: string;
} | {
  readonly code: 'undecided_step';
  readonly run: string;
  readonly step: string;
} | {
  readonly code: 'no_letters' | 'run_cancelled' | 'not_repeatable';
  readonly run: string | null;
} | {
  readonly code: 'unknown_task';
} | {
  readonly code: 'task_not_possible';
  readonly task: string;
} | {
  readonly code: 'missing_params' | 'missing_secrets';
  readonly names: readonly string[];
} | {
  readonly code: 'wrong_param';
  readonly name: string;
  readonly text: string;
} | {
  readonly code: 'unknown_param' | 'short_secrets' | 'recorded_secret';
};

export interface OwnerView {
  readonly host: string;
  readonly pid: number;
  readonly startedAtMs: number;
  readonly state: 'alive' | 'lost';
  readonly leaseLeftMs: number;
  readonly role: string | null;
  readonly site: string | null;
  readonly version: string | null;
  readonly slots: number | null;
  readonly running: number | null;
}

export declare const POLICY_FIELDS: readonly PolicyField[];

export type PhasePlan = StepPlan | MapPlan;

export type PlanReader = (ledger: Ledger, run: RunRecord) => Promise<Plan>;

export interface PolicyField {
  readonly name: string;
  readonly inFiles?: string;
  readonly doc: string;
  readonly note?: string;
  readonly shape?: Shape;
  readonly default?: Json;
  readonly absent?: string;
  readonly absentInCode?: string;
  readonly isRequired?: true;
  readonly examples: readonly Json[];
  readonly inStep?: StepWords;
  readonly code?: string;
  readonly flag?: PolicyFlag;
}

export interface PolicyFile {
  readonly isWorkflow: boolean;
  readonly steps: number;
  readonly policies: readonly FoundPolicy[];
  readonly unread: readonly string[];
}

export interface PolicyFlag {
  readonly value: '<n>' | '<time>' | '<word>' | '[word]' | '<matchers>';
  readonly note?: string;
  readonly choices?: readonly string[];
}

export interface PreparedResume {
  readonly record: RunRecord;
  readonly plan: Plan;
  readonly check: ResumeCheck;
  readonly choices: ResumeChoices;
  readonly nowMs: number;
}

export interface PreviewInput extends Pick<MapSettings, 'part' | 'stdin'> {
  readonly params: Readonly<Record<string, Json>>;
  readonly env: Readonly<Record<string, string>>;
  readonly documentDir: string;
}

export declare const RUN_STATES: readonly ['running', 'interrupted', 'succeeded', 'completed_with_failures', 'failed', 'cancelled'];

export interface Readers {
  readonly template: TextReader;
  readonly shell: TextReader;
  checkExpression(text: string): References;
  checkValue(text: string): References;
  jsonPath(text: string): TextProblem | null;
  readonly isBlind?: boolean;
}

export interface RedriveChoices extends Actor {
  readonly undecided: boolean;
  readonly decision?: LetterDecision;
  readonly reduce: boolean;
  readonly acceptChanges: boolean;
  readonly canary?: number;
  readonly parallel?: number;
  readonly rate?: MapRate;
}

export interface RedriveOutcome {
  readonly mapRun: string;
  readonly redriven: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly left: number;
  readonly undecided: number;
  readonly isCanaryFailed: boolean;
}

export interface Refusal {
  readonly kind: RefusalReason;
  readonly message: string;
  readonly answers: readonly Partial<ResumeChoices>[];
  readonly hasLetters?: boolean;
  readonly breakers?: readonly string[];
  readonly isBudgetEmpty?: boolean;
  readonly hasUndecidedItems?: boolean;
  readonly differences?: readonly Difference[];
  readonly faults?: readonly string[];
}

export declare abstract class ReportedError extends RepriseError {
  readonly problems: readonly Problem[];
  readonly text: string;
  constructor(code: ErrorCode, problems: readonly Problem[], text?: string);
}

export interface ResumeCheck {
  readonly run: RunRecord;
  readonly preview: ResumePreview;
  readonly refusals: readonly Refusal[];
  readonly isDone: boolean;
  readonly isChanged: boolean;
  readonly differences: readonly Difference[];
}

export interface ResumeChoices {
  readonly resetRetries: boolean;
  readonly acceptChanges: boolean;
  readonly done: readonly string[];
  readonly rerun: readonly string[];
  readonly from?: string;
  readonly force: boolean;
  readonly maxFailures?: number;
  readonly maxParallel?: number;
}

export interface ResumeInput {
  readonly choices: ResumeChoices;
  readonly check: Pick<ResumeCheck, 'run' | 'isChanged' | 'differences'>;
}

export interface ResumePreview {
  readonly run: string;
  readonly kept: number;
  readonly rerun: readonly PreviewStep[];
  readonly waiting: readonly (PreviewStep & {
    readonly nextAttemptAtMs: number | null;
  })[];
  readonly denied: readonly {
    readonly step: string;
    readonly reason: StopReason;
  }[];
  readonly reset: readonly string[];
  readonly repeated: readonly string[];
  readonly pending: number;
  readonly maps: readonly MapPreview[];
  readonly budgetLeft: readonly {
    readonly step: string;
    readonly expiresAtMs: number;
  }[];
  readonly warnings: readonly string[];
}

export interface RetryingView {
  readonly scopeKind: 'run' | 'task';
  readonly scope: string;
  readonly id: string;
  readonly state: 'retrying' | 'parked';
  readonly attempt: number;
  readonly attemptsAllowed: number;
  readonly nextAttemptAtMs: number | null;
  readonly waitedMs: number;
  readonly retryBudgetMs: number | null;
  readonly failure: FailureRecord | null;
}

export declare class RunClock {
  tell(event: RunEvent, timeMs?: number): void;
  at(nowMs: number): RunTimes;
}

export interface RunDetail extends RunView {
  readonly params: Readonly<Record<string, Json>>;
  readonly outputs: Readonly<Record<string, Json>> | null;
  readonly outputsError: string | null;
  readonly steps: readonly StepView[];
  readonly resumedAtMs: readonly number[];
  readonly sessions: readonly SessionView[];
}

export interface RunExcerpt extends RunDetail {
  readonly totals: Readonly<Record<'recovered' | 'failed' | 'undecided', number>>;
}

export interface RunPage extends RunDetail {
  readonly unlisted: number;
}

export interface RunReader {
  readonly ledger: Ledger;
  readonly planOf: (run: RunRecord) => Plan | Promise<Plan>;
  readonly logsOf: (run: string) => LogFinder;
  readonly lastLineIn: (log: string) => string;
  readonly viewMap: (run: string, map: MapPlan, look: MapViewOptions) => Promise<StepView>;
}

export interface RunSettings {
  readonly store: string | Durable;
  readonly stateDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly grace?: DurationInput;
  readonly listener?: Listener;
  readonly eventListener?: (event: EventView) => void;
  readonly areStepsTold?: boolean;
  readonly output?: OutputListener;
  readonly onOutput?: (stream: 'stdout' | 'stderr', bytes: Uint8Array, attempt: number) => void | Promise<void>;
  readonly atEnd?: (ledger: Ledger, end: RunEnd) => Promise<void>;
  readonly maps?: MapSettings;
  readonly signal?: AbortSignal;
}

export declare class RunWatcher {
  summary: RunExcerpt | undefined;
  isOver: boolean;
  constructor(reader: RunReader, run: string, options?: WatchOptions);
  look(): Promise<RunEvent[] | undefined>;
}

export declare const STDIN = "<stdin>";

export declare const STEP_STATES: readonly ['pending', 'running', 'retrying', 'parked', 'interrupted', 'undecided', 'succeeded', 'recovered', 'skipped', 'failed', 'cancelled'];

export interface ServableRun {
  readonly record: RunRecord;
  readonly plan: Plan;
}

export interface SimulatedPolicy extends Report {
  readonly title: string;
  readonly isSubject: boolean;
}

export interface Simulation {
  readonly scenario: CompleteScenario;
  readonly seed: number;
  readonly summary: string;
  readonly policies: readonly [SimulatedPolicy, ...SimulatedPolicy[]];
  readonly verdict: readonly string[];
  readonly notes: readonly string[];
}

export interface Source {
  readonly file: string;
  readonly text: string;
  readonly value: unknown;
  readonly root: Node | null;
  resolve(node: unknown): Node | undefined;
  problemAt(node: Node | undefined, details: Omit<Problem, 'file' | 'line' | 'column'>, skip?: number): Problem;
}

export declare class StateDirectory {
  readonly path: string;
  private constructor();
  static at(directory: string): StateDirectory;
  static open(directory: string): StateDirectory;
  logFile({ run, item, step }: StepPlace, attempt: AttemptName): string;
  openLog(place: StepPlace, attempt: AttemptName): AttemptLog;
  groupFile(place: StepPlace, attempt: AttemptName): string;
  mapDirectory(run: string, map: string): string;
  batchFiles({ run, item }: StepPlace, attempt: AttemptName): BatchFiles;
  removeBatches(run: string, map: string): void;
  shareLog(from: StepPlace, attempt: AttemptName, to: StepPlace, other: AttemptName): void;
  removeLog(place: StepPlace, attempt: AttemptName): void;
  logsOf(run: string, step?: string): LogEntry[];
  logsOfItem(run: string, item: ItemPlace): LogEntry[];
  groupFilesOf(run: string, place?: StepPlace): string[];
  get hasRuns(): boolean;
  runDirectory(run: string): string;
  removeRun(run: string): void;
  removeStep(run: string, step: string): void;
  runs(): string[];
  stepsOf(run: string, step?: string): string[];
}

export declare class StdinError extends RepriseError {
  readonly code: 'stdin';
  readonly retryable: false;
  readonly suggestion: string | undefined;
  constructor(message: string, suggestion?: string, cause?: unknown);
  get name(): string;
}

export declare class StdinSpool {
  constructor(source: AsyncIterable<string | Uint8Array>, options: SpoolOptions);
  awaitShort(mostMs: number): Promise<void>;
  open(): Promise<AttemptInput>;
  close(): Promise<void>;
}

export interface StepAttempt {
  readonly step: string;
  readonly attempt: number;
  readonly execution: number;
}

export interface StepView {
  readonly id: string;
  readonly name: string;
  readonly part?: HandlerPart;
  readonly kind: string;
  readonly state: StepState;
  readonly generation: number;
  readonly attempts: number;
  readonly attemptsAllowed: number;
  readonly nextAttemptAtMs: number | null;
  readonly activeMs: number;
  readonly waitedMs: number;
  readonly retryBudgetMs: number | null;
  readonly stopReason: StopReason | null;
  readonly failure: FailureRecord | null;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly correlationId: string | null;
  readonly log: string | null;
  readonly history: readonly AttemptView[];
  readonly map?: MapView | null;
}

export type StoreHint = {
  readonly code: 'older_schema' | 'newer_schema' | 'replica' | 'few_connections';
} | {
  readonly code: 'fsync_off' | 'full_page_writes_off' | 'synchronous_commit_off';
} | {
  readonly code: 'lost_holders';
  readonly count: number;
  readonly hasRuns: boolean;
} | {
  readonly code: 'overdue_in_stopped_run' | 'overdue_retry';
} | {
  readonly code: 'overdue_task';
  readonly id: string;
  readonly queue: string;
};

export interface StoreStatus {
  readonly address: string;
  readonly kind: 'sqlite' | 'postgres';
  readonly version: string;
  readonly schema: SchemaState;
  readonly bytes: number;
  readonly tables: readonly TableFacts[];
  readonly tasks: Readonly<Record<string, number>>;
  readonly oldestDueAtMs: number | null;
  readonly deadLetters: number;
  readonly owners: readonly OwnerView[];
  readonly connections: ConnectionFacts | null;
  readonly isReplica: boolean;
  readonly durability: Readonly<Record<string, string>>;
  readonly stateDirectory: string;
}

export interface TaskDetail extends TaskView {
  readonly input: Json;
  readonly result: Json;
  readonly history: readonly TaskAttempt[];
  readonly changes: readonly TaskChange[];
}

export interface TaskView {
  readonly task: string;
  readonly name: string;
  readonly id: string;
  readonly state: TaskStatus;
  readonly generation: number;
  readonly attempts: number;
  readonly attemptsAllowed: number;
  readonly nextAttemptAtMs: number | null;
  readonly waitedMs: number;
  readonly stopReason: StopReason | null;
  readonly failure: FailureRecord | null;
  readonly startedAtMs: number;
  readonly changedAtMs: number;
  readonly owner: {
    readonly pid: number;
    readonly host: string;
  } | null;
  readonly correlationId: string;
}

export declare class TextError extends SetupError {
  readonly offset: number;
  readonly suggestion: string | undefined;
  constructor(message: string, offset: number, suggestion?: string);
  get name(): string;
}

export interface UnderTest {
  readonly subject: Subject;
  readonly policy: Policy;
  readonly summary: string;
  readonly notes: readonly string[];
}

export interface ValidatedFile {
  readonly file: string;
  readonly ok: boolean;
  readonly kind: 'workflow' | 'policy' | 'job' | null;
  readonly steps?: number;
  readonly workflows?: number;
  readonly problems: readonly Problem[];
  readonly notes: readonly string[];
}

export interface Validation {
  readonly result: ValidatedFile;
  readonly error?: InputError;
}

export declare class WorktreesRefusedError extends SetupError {
  readonly suggestion: string;
  constructor(message: string, suggestion: string);
  get name(): string;
}

export declare function acknowledge(ledger: Ledger, found: FoundLetter, actor: Actor): Promise<boolean>;

export declare function attemptsOf({ policy }: Pick<StepPlan, 'policy'>): number;

export declare function attemptsText(count: number): string;

export declare function backUp(store: string, target: string): Promise<number>;

export declare function breakerViews(ledger: Ledger, now: number): Promise<readonly BreakerView[]>;

export declare function budgetViews(ledger: Ledger): Promise<readonly BudgetView[]>;

export declare function byteText(bytes: number): string;

export declare function cancelDurableTask(ledger: Ledger, task: Found, actor: Actor): Promise<boolean>;

export declare function cancelRun(store: string, runId: string, planOf: PlanReader, state: StateDirectory): Promise<Cancelled>;

export declare function canonicalSortKey({ expression, isDescending }: SortKey): string;

export declare function checkInstallation(store: string): Promise<DoctorCheck[]>;

export declare function checkResume(ledger: Ledger, run: RunRecord, plans: ResumePlans, choices: ResumeChoices): Promise<ResumeCheck>;

export declare function checkStore(store: string): Promise<DoctorCheck[]>;

export declare function chooseCompared(text: string | undefined, known: readonly Subject[], under: string): readonly Subject[];

export declare function chooseLetters(ledger: Ledger, given: LetterSelection, choice: LetterChoice): Promise<ChosenLetters>;

export declare function cleanTrees(ledger: Ledger, state: StateDirectory, isDry: boolean, run?: string): Promise<LeftTrees>;

export declare function cleanableRuns(ledger: Ledger, beforeMs: number, ids?: readonly string[]): Promise<RunView[]>;

export declare function continueMap(ledger: Ledger, map: OpenMap, actor: Actor): Promise<GateChange[]>;

export declare function countText(count: number): string;

export declare function cureForMissing(name: string): string | undefined;

export declare function dataOf(task: TaskRecord): Json;

export declare function decideDurableTask(ledger: Ledger, task: Found, decision: LetterDecision, actor: Actor): Promise<void>;

export declare function deniedText(failure: FailureRecord | null): string;

export declare function denierOf(kind: 'breaker' | 'budget', failure: FailureRecord | null | undefined): string | undefined;

export declare function describeDifference(difference: Difference): string;

export declare function editLetter(ledger: Ledger, found: FoundLetter, data: Json, actor: Actor, env: Readonly<Record<string, string | undefined>>): Promise<Json>;

export declare function endOfFile(file: string, most: number): {
  readonly bytes: Uint8Array;
  readonly isCut: boolean;
};

export declare function endOfRun(run: RunRecord): RunEnd | undefined;

export declare function eventPages(ledger: Ledger, run: string, onStored?: (event: StoredEvent) => void): AsyncGenerator<readonly EventView[]>;

export declare function execCommand(input: ExecInput): Promise<void>;

export declare function expectAttempt({ id, attempts, history }: StepView, run: string, attempt: number): void;

export declare function expectContent(store: string, stateDirectory: string): Promise<void>;

export declare function expectEditable({ letter, task }: FoundLetter): string;

export declare function expectFound<T>(store: string, act: () => Promise<T | undefined>): Promise<T>;

export declare function expectKept(store: string): void;

export declare function expectLetterData(data: Json, name: string): void;

export declare function expectNewRun(store: string, id: string): Promise<void>;

export declare function expectNoSecrets({ secrets, document }: Plan, env: Readonly<Record<string, string | undefined>>, given?: Readonly<Record<string, Json>>): void;

export declare function expectOpen({ letter }: FoundLetter): DeadLetter;

export declare function expectOwnStore(store: string, stateDirectory: string): void;

export declare function expectSecrets({ secrets }: Plan, env: Readonly<Record<string, string | undefined>>): void;

export declare function expectUndecided(found: FoundLetter): void;

export declare function expectUsableGates(ledger: Ledger, plan: Plan, runId: string): Promise<void>;

export declare function explain(found: Omit<FoundPolicy, 'name'>): Explanation;

export declare function factor(value: number): string;

export declare function failureLines(failure: FailureRecord): string[];

export declare function failureReason(step: string | null, stopped: Stopped): string;

export declare function failureText(failure: FailureRecord | null, max?: number): string;

export declare function fallbackId({ id }: Pick<StepPlan, 'id'>): string;

export declare function fileOf(store: string): string | undefined;

export declare function fillKnown(data: Json, values: Values): Json;

export declare function findEndedRun(ledger: Ledger, named: string): Promise<string>;

export declare function findItem(ledger: Ledger, run: RunRecord, map: MapPlan, named: string): Promise<TaskRecord>;

export declare function findLetter(ledger: Ledger, named: string, key: string | undefined, within?: string): Promise<FoundLetter>;

export declare function findLoggedStep(reader: RunReader, id: string, named: string): Promise<StepView>;

export declare function findMap(ledger: Ledger, run: RunRecord, named: string): Promise<MapPlan | undefined>;

export declare function findOpenMap(ledger: Ledger, run: RunRecord, named: string | undefined): Promise<OpenMap>;

export declare function findRun(ledger: Ledger, named: string, { orStep }?: {
  readonly orStep?: boolean;
}): Promise<RunRecord>;

export declare function findStep(reader: RunReader, id: string, named: string): Promise<FoundStep>;

export declare function findTask(ledger: Ledger, named: string, id?: string): Promise<TaskRecord>;

export declare function follow(source: Source, located: LocatedValue, path: string): LocatedValue;

export declare function foundLetters(ledger: Ledger, selection: LetterSelection): AsyncGenerator<FoundLetter[]>;

export declare function haltText(reason: HaltReason): string;

export declare function hasTasks(ledger: Ledger): Promise<boolean>;

export declare function ifKept<T>(store: string, act: (ledger: Ledger) => Promise<T>): Promise<T | undefined>;

export declare function interruptedRun(ledger: Ledger): Promise<RunRecord>;

export declare function isConducted(ledger: Ledger, { owner }: Pick<RunRecord, 'owner'>): Promise<boolean>;

export declare function isFallbackId(id: string): boolean;

export declare function isId(id: unknown): boolean;

export declare function isJob({ value }: Pick<Source, 'value'>): boolean;

export declare function isOnServer(store: string): boolean;

export declare function isShownTime(ms: number): boolean;

export declare function isWorkflow({ value }: Source): boolean;

export declare function jobSchema(): JsonSchema;

export declare function jsonText(value: unknown, indent?: number): string;

export declare function kebabCase(name: string): string;

export declare function killCommands(): void;

export declare function letterCondition(text: string): Promise<LetterCondition>;

export declare function letterDetail(ledger: Ledger, found: FoundLetter, state: StateDirectory): Promise<LetterDetail>;

export declare function letterGroups(ledger: Ledger, selection: LetterSelection): Promise<LetterGroup[]>;

export declare function letterStats(ledger: Ledger, selection: LetterSelection): Promise<LetterStats>;

export declare function letterView(letter: DeadLetter, task: TaskRecord | undefined): LetterView;

export declare function limitsOf({ attemptTimeoutMs, timeoutMs }: Policy): Limits;

export declare function loadPlan(source: Source, name: string | null): Promise<LoadedPlan>;

export declare function logsOfRun(ledger: Ledger, record: RunRecord, store: string): Promise<RunLogs>;

export declare function mapsOf({ phases }: Pick<Plan, 'phases'>): readonly MapPlan[];

export declare function matcherWords(policy: Policy): string;

export declare function meanOf(values: readonly number[]): number;

export declare function migrateStore(store: string): Promise<void>;

export declare function newRunId(workflow: string, now: Date): string;

export declare function noStoreMessage(store: string): string;

export declare function pageOfItems(ledger: Ledger, run: RunRecord, map: MapPlan, selection: ItemSelection): Promise<ItemPage>;

export declare function parseSource(file: string, text: string): Source;

export declare function partChoice(input: PartInput): Promise<PartChoice>;

export declare function pauseMap(ledger: Ledger, map: OpenMap, actor: Actor): Promise<GateChange[]>;

export declare function pendingMigration(store: string): Promise<Migration>;

export declare function percent(share: number): string;

export declare function phasesIn({ phases }: Pick<Plan, 'phases'>, part: 'steps' | HandlerPart): readonly PhasePlan[];

export declare function pickStep({ policies, isWorkflow }: PolicyFile, step: string, file: string): FoundPolicy;

export declare function plainNumber(value: number): string;

export declare function planFromDocument(document: Json, file: string | null, readers: Readers): Plan;

export declare function planOf(source: Source, readers: Readers): Plan;

export declare function planToEnd(ledger: Ledger, run: RunRecord): Promise<Plan>;

export declare function plural(count: number, noun: string, nouns?: string): string;

export declare function policyInput(policy: Policy): PolicyInput;

export declare function possible(share: number): string;

export declare function prepareAgent(ledger: Ledger, named: string, settings: Pick<AgentInput, 'env' | 'cwd'>): Promise<ServableRun>;

export declare function prepareRedrive(ledger: Ledger, chosen: ChosenRun, letters: ChosenLetters, choices: RedriveChoices, onMissingFile: (file: string) => void): Promise<PreparedRedrive>;

export declare function prepareResume(ledger: Ledger, record: RunRecord, given: ResumeChoices, onMissingFile: (file: string) => void): Promise<PreparedResume>;

export declare function previewItems(plan: Plan, map: MapPlan, given: PreviewInput, onItem: (item: Item, isChosen: boolean) => void | Promise<void>): Promise<ItemsPreview>;

export declare function readBudgetFlag(flag: string, text: string): BudgetDefinition;

export declare function readBudgetSection(source: Source): BudgetDefinitions;

export declare function readFilePolicy(source: Source, step: string | undefined): Promise<FilePolicy>;

export declare function readJobFields(findings: Findings): Json;

export declare function readMapRate(text: string): MapRate | undefined;

export declare function readParams(given: Iterable<readonly [name: string, text: string]>, { params }: Plan): Record<string, Json>;

export declare function readPlan(ledger: Ledger, run: RunRecord): Promise<Plan>;

export declare function readPolicies(source: Source, readers: Readers): PolicyFile;

export declare function readText(file: string, stdin?: AsyncIterable<string | Uint8Array>): Promise<{
  readonly file: string;
  readonly text: string;
}>;

export declare function readTogether<T extends readonly unknown[]>(...readers: {
  readonly [K in keyof T]: () => T[K];
}): T;

export declare function readersFor({ value, text }: Pick<Source, 'value' | 'text'>): Promise<Readers>;

export declare function recordedPlan(run: RunRecord, definition: Json): Plan;

export declare function redriveRun(plan: Plan, runId: string, input: RedriveInput, settings: RunSettings): Promise<RunEnd>;

export declare function removeRuns(ledger: Ledger, state: StateDirectory, runs: readonly RunView[], planOf: PlanReader): Promise<RunView[]>;

export declare function resample(values: readonly number[], parts: number): number[];

export declare function restore(store: string, source: string): Promise<CopiedCounts>;

export declare function resumeRun(plan: Plan, runId: string, input: ResumeInput, settings: RunSettings): Promise<RunEnd>;

export declare function retryStepNow(store: string, runId: string, stepId: string, planOf: PlanReader): Promise<void>;

export declare function retryTaskNow(ledger: Ledger, task: Found, actor: Actor): Promise<void>;

export declare function roundUp(value: number): number;

export declare function roundedDuration(ms: number): string;

export declare function runEnvironment<V extends Readonly<Record<string, string | undefined>>>(plan: Plan, run: RunRecord, env: V): V;

export declare function runReader(ledger: Ledger, store: string, plan?: Plan): RunReader;

export declare function runSimulation({ scenario: given, seed, under, compared, words }: SimulationInput, onProgress: (name: string, number: number, of: number) => void): Simulation;

export declare function salvage(store: string, target: string): Promise<Salvage | undefined>;

export declare function scenarioWithUnits(scenario: CompleteScenario): ScenarioInput;

export declare function scenarioWords(scenario: CompleteScenario): string;

export declare function scopesNamed(ledger: Ledger, named: string): Promise<Scope[]>;

export declare function scopesOfRun(ledger: Ledger, run: string): Promise<Scope[]>;

export declare function serveAsAgent({ record, plan }: ServableRun, settings: AgentInput): Promise<AgentEnd>;

export declare function setMap(ledger: Ledger, map: OpenMap, limits: MapLimits, actor: Actor): Promise<GateChange[]>;

export declare function skipText(reason: string): string;

export declare function startRun(plan: Plan, input: NewRunInput, settings: RunSettings): Promise<RunEnd>;

export declare function stateDirectoryOf(store: string): string;

export declare function statePathFor(store: string, cwd: string, environment?: Environment): string;

export declare function stepsOf({ phases }: Pick<Plan, 'phases'>): readonly StepPlan[];

export declare function stopWords(stopped: Stopped): string;

export declare function storeReport(store: string): Promise<StoreReport>;

export declare function storeWithoutPassword(store: string): string;

export declare function taskDetail(ledger: Ledger, task: TaskRecord): Promise<TaskDetail>;

export declare function taskPage(ledger: Ledger, { name, state, after, limit }: TaskSelection): Promise<{
  tasks: TaskView[];
  next: TaskRecord | undefined;
}>;

export declare function timeTicks(endSeconds: number, most: number): number[];

export declare function timeWords({ activeMs, waitedMs, downMs }: RunTimes): string[];

export declare function underTest(file: FilePolicy | undefined, given: GivenPolicy, words: FieldWords): UnderTest;

export declare function validateSource(name: string, open: () => Promise<Source>, readJob: JobReader): Promise<Validation>;

export declare function viewItem(ledger: Ledger, run: RunRecord, map: MapPlan, task: TaskRecord, store: string): Promise<ItemDetail>;

export declare function viewRetrying(ledger: Ledger, limit?: number): Promise<RetryingView[]>;

export declare function viewRun(reader: RunReader, id: string, { failures }?: {
  readonly failures?: number;
}): Promise<RunDetail | undefined>;

export declare function viewRunPage(reader: RunReader, run: RunRecord, most: number): Promise<RunPage | undefined>;

export declare function viewSummary(reader: RunReader, id: string, { most, failures }: {
  readonly most: number;
  readonly failures?: number;
}): Promise<RunExcerpt | undefined>;

export declare function waitLimitMs({ retryBudgetMs, timeoutMs }: Policy): number;

export declare function waitedText(waitedMs: number, budgetMs: number | null): string;

export declare function wholeOf(source: Source): LocatedValue;

export declare function withDates(value: unknown): unknown;

export declare function withEnvFiles<V extends Variables>({ envFiles }: Pick<Plan, 'envFiles'>, directory: string, env: V): V;

export declare function withLedger<T>(store: string, act: (ledger: Ledger) => Promise<T>): Promise<T>;

// Not exported, and referred to above.

// operate/serve-run
type AgentInput = Omit<AgentSettings, 'expectFit' | 'expectVersion'>;

// state/attempt-log
declare class AttemptLog {
  readonly path: string;
  write(_stream: 'stdout' | 'stderr', bytes: Uint8Array): void | Promise<void>;
  close(): Promise<void>;
}

// view/step-views
type AttemptMark = Pick<AttemptRow, 'generation' | 'attempt' | 'execution'>;

// state/names
interface AttemptName {
  readonly generation: number;
  readonly attempt: number;
  readonly execution: number;
}

// document/budget-types
declare const BUDGET_KINDS: {
  unlimited: BudgetKind;
  token_bucket: BudgetKind;
  ratio: BudgetKind;
  count: BudgetKind;
  concurrency: BudgetKind;
  adaptive: BudgetKind;
};

// state/state-directory
interface BatchFiles {
  readonly items: string;
  readonly results: string;
}

// document/budget-section
type BudgetDefinitions = ReadonlyMap<string, BudgetDefinition>;

// document/budget-types
interface BudgetKind {
  readonly make: (options: BudgetOptions) => Budget;
  readonly doc: string;
  readonly options: readonly Field[];
  readonly required: readonly string[];
}

// document/budget-types
type BudgetOptions = Readonly<Record<string, unknown>>;

// document/budget-types
type BudgetType = keyof typeof BUDGET_KINDS;

// run/control
interface Cancelled {
  readonly isNew: boolean;
  readonly isFinallyLeft: boolean;
}

// operate/letters/letter-detail
interface ChangeView {
  readonly type: string;
  readonly changedAtMs: number;
  readonly detail: Json;
}

// document/shape
type CheckedBy = 'retry' | 'template_retry' | 'item_retry' | 'breaker' | 'budget' | 'library';

// plan/map-plan
interface CommandInput {
  readonly kind: 'command';
  readonly action: ShellAction | RunAction;
  readonly format: InputFormat | null;
}

// process/command
type CommandInput = string | {
  readonly descriptor: number;
} | {
  readonly feed: InputFeed;
};

// document/shape
interface DataShape {
  readonly kind: 'data';
  readonly reading?: Reading;
}

// plan/differences
type Difference =
{
  readonly kind: 'step_added';
  readonly step: string;
  readonly position: number;
} | {
  readonly kind: 'step_removed';
  readonly step: string;
  readonly position: number;
} | {
  readonly kind: 'step_moved';
  readonly step: string;
  readonly from: number;
  readonly to: number;
} | (ValueChange & {
  readonly kind: 'step_changed';
  readonly step: string;
}) | (ValueChange & {
  readonly kind: 'policy_changed';
  readonly step: string;
}) | (ValueChange & {
  readonly kind: 'document_changed';
});

// document/shape
interface DurationShape {
  readonly kind: 'duration';
  readonly isAboveZero?: boolean;
}

// document/shape
interface EitherShape {
  readonly kind: 'either';
  readonly of: readonly Shape[];
  readonly checkedBy?: CheckedBy;
}

// document/shape
interface EmptyShape {
  readonly kind: 'empty';
}

// state/state-path
type Environment = Readonly<Record<string, string | undefined>>;

// operate/doctor
type FaultSeverity = 'unusable' | 'refused';

// document/shape
interface Field {
  readonly name: string;
  readonly doc: string;
  readonly shape: Shape;
  readonly default?: string;
  readonly examples?: readonly Json[];
  readonly aliases?: readonly string[];
  readonly isRequired?: boolean;
  readonly needs?: string;
}

// document/shape
interface FieldsShape {
  readonly kind: 'fields';
  readonly title: string;
  readonly fields: readonly Field[];
  readonly oneOf?: readonly string[];
  readonly alsoOneOf?: readonly string[];
  readonly example: string;
  readonly isOpen?: boolean;
  readonly isCamelToo?: boolean;
  readonly checkedBy?: CheckedBy;
}

// plan/map-plan
interface FileInput {
  readonly kind: 'file';
  readonly path: string;
  readonly format: InputFormat | null;
}

// simulate/file-policy
interface FilePolicy {
  readonly title: string;
  readonly found: FoundPolicy;
  readonly budgets: BudgetDefinitions;
  readonly unread: readonly string[];
}

// document/shape
interface FlagShape {
  readonly kind: 'flag';
  readonly only?: boolean;
}

// document/shape
interface ForkShape {
  readonly kind: 'fork';
  readonly key: string;
  readonly value?: string;
  readonly matching: FieldsShape;
  readonly otherwise: FieldsShape;
}

// operate/tasks/change-task
type Found = Pick<TaskRecord, 'scopeKind' | 'scope' | 'id' | 'generation'>;

// operate/find-step
interface FoundStep {
  readonly run: RunDetail;
  readonly step: StepView;
}

// operate/letters/letter-detail
interface GenerationView {
  readonly generation: number;
  readonly stopReason: StopReason | null;
  readonly closedBy: LetterClosing | null;
  readonly attempts: readonly LetterAttempt[];
}

// simulate/under-test
interface GivenPolicy {
  readonly title: string;
  readonly fields: PolicyInput;
  readonly budget: BudgetDefinition | undefined;
}

// plan/map-plan
interface GlobInput {
  readonly kind: 'glob';
  readonly patterns: readonly string[];
}

// plan/plan
declare const HANDLER_PARTS: readonly ['on_failure', 'finally'];

// plan/plan
type HandlerPart = (typeof HANDLER_PARTS)[number];

// explain/hints
interface Hint {
  readonly code: string;
  readonly message: string;
}

// plan/map-plan
declare const INPUT_FORMATS: readonly ['json', 'ndjson', 'csv', 'tsv', 'lines'];

// run/agent/agent-event
type IdleReason = 'not_conducted' | 'no_map';

// process/command
type InputFeed = (into: InputStream) => Promise<void>;

// plan/map-plan
type InputFormat = (typeof INPUT_FORMATS)[number];

// process/command
interface InputStream {
  readonly destroyed: boolean;
  write(bytes: Uint8Array): boolean;
  end(): unknown;
  once(event: 'close' | 'drain', listener: () => void): unknown;
}

// plan/plan
type InterruptAction = 'rerun' | 'fail' | {
  readonly verify: ShellAction | RunAction;
};

// items/read-items
interface Item {
  readonly index: number;
  readonly key: string;
  readonly id: string;
  readonly value: Json;
}

// run/map/part-choice
interface ItemPart {
  takes(item: Item): boolean;
  expectFound(): void;
}

// state/step-place
interface ItemPlace {
  readonly map: string;
  readonly id: string;
}

// run/map/redrive-items
interface ItemRedrive {
  readonly isOnly: boolean;
  letters(ledger: Ledger, mapRun: string): AsyncIterable<readonly LetterRef[]> | undefined;
  readonly grant: Omit<RedriveOptions, 'queue' | 'charged'>;
  readonly canary?: number;
  readonly most?: number;
  readonly rate?: MapRate;
  readonly onEnd: (outcome: RedriveOutcome) => void;
}

// operate/map-items
interface ItemSelection {
  readonly state?: ItemState;
  readonly limit: number;
  readonly after?: string;
}

// plan/map-plan
interface ItemSelection {
  readonly jsonPath: string | null;
  readonly filter: string | null;
  readonly distinct: string | null;
  readonly sortBy: readonly SortKey[];
  readonly offset: number;
  readonly maxItems: number | null;
}

// operate/validate-source
type JobReader = (source: Source) => Promise<{
  readonly workflows: number;
  readonly notes: readonly string[];
}>;

// run/agent/agent-event
type LeaveReason = 'run_ended' | 'maps_ended' | 'stopped';

// workplaces/left-trees
interface LeftTrees {
  readonly trees: readonly string[];
  readonly branches: readonly string[];
}

// operate/letters/letter-detail
interface LetterAttempt {
  readonly attempt: number;
  readonly execution: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: AttemptRow['outcome'];
  readonly delayBeforeMs: number;
  readonly failure: FailureRecord | null;
  readonly signature: string | null;
  readonly log: string | null;
}

// operate/letters/letter-pages
interface LetterCondition {
  holdsFor(found: FoundLetter): boolean;
}

// operate/letters/letter-view
type LetterKind = 'item' | 'step' | 'task' | 'on_item_error';

// operate/letters/letter-view
interface LetterPlace {
  readonly kind: LetterKind;
  readonly run: string | null;
  readonly map: string | null;
}

// plan/map-plan
interface ListInput {
  readonly kind: 'list';
  readonly items: readonly Json[];
}

// document/shape
interface ListShape {
  readonly kind: 'list';
  readonly of: Shape;
  readonly least: number;
  readonly most?: number;
  readonly isUnique?: boolean;
}

// run/run-events
type Listener = (event: RunEvent) => void;

// view/live-events
interface LiveEventOptions {
  readonly isFromStart?: boolean;
}

// operate/load-plan
interface LoadedPlan {
  readonly plan: Plan;
  readonly documentDir: string;
  readonly notes: readonly string[];
  readonly shownFile: string;
}

// document/located
interface LocatedValue {
  readonly data: unknown;
  readonly path: string;
  readonly name?: string | undefined;
  readonly key?: Node | undefined;
  readonly node?: Node | undefined;
}

// view/step-views
type LogFinder = (step: string, attempt: AttemptMark) => string | null;

// operate/find-step
interface LogSelection {
  readonly step?: string | undefined;
  readonly attempt?: number | undefined;
  readonly item?: ItemPlace;
}

// view/map-views
interface MapAgentView {
  readonly pid: number;
  readonly host: string;
  readonly slots: number | null;
  readonly startedAtMs: number;
}

// plan/map-plan
interface MapErrorPolicy {
  readonly onItemFailure: 'dlq' | 'skip' | 'stop';
  readonly tolerate: Tolerance | null;
  readonly maxFailures: number | null;
  readonly failureThreshold: number | null;
  readonly halt: 'soon' | 'now';
  readonly haltOn: readonly number[];
  readonly maxRetries: number | null;
  readonly maxRetriesPerItem: number | null;
}

// plan/map-plan
type MapInput = FileInput | CommandInput | GlobInput | StdinInput | RangeInput | ProductInput | ListInput | ValueInput;

// plan/map-plan
interface MapRate {
  readonly count: number;
  readonly perMs: number;
}

// view/views
interface MapRunningItem {
  readonly item: string;
  readonly key: string;
  readonly attempt: number;
  readonly startedAtMs: number;
}

// plan/map-starts
interface MapStarts {
  readonly itemAttempts: number;
  readonly stepAttempts: number;
  readonly perItem: number;
  readonly items: number | null;
  readonly total: number | null;
  readonly maxRetries: number | null;
  readonly batch: number;
  readonly capturesForNone: boolean;
}

// view/read-runs
interface MapViewOptions {
  readonly isInterrupted: boolean;
  readonly failures: number;
  readonly nowMs: number;
  readonly sessions?: readonly TimeSpan[];
}

// operate/store-care
interface Migration {
  readonly schema: SchemaState;
  readonly sql: readonly string[];
}

// document/names
interface NameRule {
  readonly pattern: string;
  readonly said: string;
  readonly reserved?: readonly string[];
  readonly reservedEnd?: string;
  readonly filler?: string;
}

// document/shape
interface NamedShape {
  readonly kind: 'named';
  readonly rule: NameRule;
  readonly of: Shape;
  readonly example: string;
}

// run/start-run
interface NewRunInput {
  readonly runId: string;
  readonly cwd: string;
  readonly documentDir: string;
  readonly params: Readonly<Record<string, Json>>;
}

// document/shape
interface NumberShape {
  readonly kind: 'number';
  readonly isWhole: boolean;
  readonly least?: number;
  readonly most?: number;
  readonly isAbove?: boolean;
  readonly isBelow?: boolean;
}

// operate/operation-error
type OperationErrorKind = 'invalid' | 'not_found' | 'not_possible' | 'locked';

// run/map/part-choice
interface PartChoice {
  choose(values: Values): ItemPart;
}

// run/map/part-choice
interface PartInput {
  readonly sample?: number;
  readonly only?: readonly string[];
  readonly where?: string;
}

// plan/found-policies
type PolicyRole = 'alone' | 'step' | 'item' | 'template';

// operate/letters/prepare-redrive
interface PreparedRedrive {
  readonly record: RunRecord;
  readonly plan: Plan;
  input(onEnd: (outcome: RedriveOutcome) => void): RedriveInput;
}

// view/views
interface PreviewStep {
  readonly step: string;
  readonly attempt: number;
  readonly of: number;
}

// plan/map-plan
interface ProductInput {
  readonly kind: 'product';
  readonly lists: readonly (readonly Json[])[];
}

// plan/map-plan
interface RangeInput {
  readonly kind: 'range';
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

// document/shape
type Reading = 'template' | 'shell' | 'expression' | 'value' | 'sort_key' | 'json_path';

// run/redrive-run
interface RedriveInput {
  readonly steps: readonly string[];
  readonly items: Omit<ItemRedrive, 'isOnly'>;
  readonly repeatAfter?: string;
  readonly check: Pick<ResumeCheck, 'run' | 'isChanged' | 'differences'>;
}

// plan/readers
interface References {
  readonly names: readonly string[];
  readonly unset?: readonly string[];
  readonly numeric?: readonly string[];
  readonly problem?: TextProblem;
}

// run/resume-check
type RefusalReason = 'locked' | 'definition_changed' | 'exhausted' | 'inconsistent' | 'undecided' | 'not_possible';

// run/resume-check
interface ResumePlans {
  readonly now: Plan;
  before(): Plan;
}

// operate/letters/letter-view
interface RetryAdvice {
  readonly makesSense: boolean;
  readonly why: string;
}

// plan/plan
interface RunAction {
  readonly kind: 'run';
  readonly argv: readonly string[];
}

// operate/find-step
interface RunLogs {
  files(selection: LogSelection): readonly LogEntry[];
  readonly elsewhere: readonly RunPlace[];
}

// run/run-record
interface RunPlace {
  readonly host: string;
  readonly stateDirectory: string;
}

// view/views
interface RunTimes {
  readonly activeMs: number;
  readonly waitedMs: number;
  readonly downMs: number;
}

// view/map-views
interface RunningItemView {
  readonly item: string;
  readonly key: string;
  readonly attempt: number;
  readonly startedAtMs: number;
}

// view/views
interface SessionView {
  readonly startedAtMs: number;
  readonly lastSeenAtMs: number;
}

// values/setup-error
declare class SetupError extends Error {
  readonly code: string;
  readonly exitCode?: number;
  readonly retryable: false | 'if_listed';
  constructor(code: string, message: string, options?: {
    readonly cause?: unknown;
  });
  get name(): string;
}

// document/shape
type Shape = TextShape | WordsShape | NumberShape | FlagShape | DurationShape | DataShape | EmptyShape | ListShape | NamedShape | FieldsShape | EitherShape | ForkShape;

// plan/plan
interface ShellAction {
  readonly kind: 'shell';
  readonly command: string;
}

// simulate/simulation
interface SimulationInput {
  readonly scenario: ScenarioInput;
  readonly seed: number;
  readonly under: UnderTest;
  readonly compared: readonly Subject[];
  readonly words: FieldWords;
}

// plan/map-plan
interface SortKey {
  readonly expression: string;
  readonly isDescending: boolean;
}

// process/stdin-spool
interface SpoolOptions {
  readonly directory: string;
  readonly maxBytes?: number;
}

// operate/operation-error
interface StartedRun {
  readonly id: string;
  readonly createdAtMs: number;
}

// plan/map-plan
interface StdinInput {
  readonly kind: 'stdin';
  readonly format: InputFormat | null;
}

// state/step-place
interface StepPlace {
  readonly run: string;
  readonly item?: ItemPlace;
  readonly step: string;
}

// document/policy-fields
interface StepWords {
  readonly doc?: string;
  readonly note?: string;
  readonly absent?: string;
  readonly examples?: readonly Json[];
}

// explain/explanation
interface Stop {
  readonly attempt: number;
  readonly reason: StopReason;
  readonly sentence: string;
  readonly earliestAttempt: number;
  readonly latestAttempt: number;
}

// words/failure-words
interface Stopped {
  readonly stopReason: StopReason | null;
  readonly attemptsAllowed?: number;
  readonly failure?: FailureRecord | null;
  readonly state?: string;
}

// operate/store-status
interface StoreReport {
  readonly status: StoreStatus;
  readonly hints: readonly StoreHint[];
  readonly nowMs: number;
}

// operate/tasks/task-view
interface TaskAttempt extends Pick<AttemptRow, 'generation' | 'attempt' | 'execution' | 'startedAtMs' | 'endedAtMs' | 'outcome' | 'delayBeforeMs' | 'failure' | 'signature'> {
}

// operate/tasks/task-view
interface TaskChange {
  readonly type: string;
  readonly changedAtMs: number;
  readonly detail: Json;
}

// operate/tasks/find-task
interface TaskSelection {
  readonly name?: string;
  readonly state?: TaskStatus;
  readonly after?: Pick<TaskKey, 'scope' | 'id'>;
  readonly limit: number;
}

// document/located
interface TextPart {
  readonly written: string;
  readonly offset: number;
}

// plan/readers
interface TextProblem {
  readonly message: string;
  readonly offset: number;
  readonly suggestion?: string | undefined;
}

// plan/readers
interface TextReader {
  referencesIn(text: string, local?: ReadonlySet<string>): References;
  notesOn?(text: string): readonly string[];
}

// document/shape
interface TextShape {
  readonly kind: 'text';
  readonly reading?: Reading;
  readonly isPlain: boolean;
  readonly mayBeBlank: boolean;
  readonly rule?: NameRule;
  readonly isLine?: boolean;
  readonly isFree?: boolean;
  readonly libraryPattern?: string;
}

// run/agent/agent-event
interface Told {
  readonly timeMs: number;
  readonly run: string;
}

// plan/map-plan
type Tolerance = {
  readonly count: number;
} | {
  readonly share: number;
};

// plan/json-difference
interface ValueChange {
  readonly field: string;
  readonly from: Json;
  readonly to: Json;
}

// plan/map-plan
interface ValueInput {
  readonly kind: 'value';
  readonly reference: string;
}

// steps/step-context
type Values = Readonly<Record<string, Json>>;

// run/env-files
type Variables = Readonly<Record<string, string | undefined>>;

// view/run-watcher
interface WatchOptions {
  readonly areStepsTold?: boolean;
  readonly most?: number;
}

// document/shape
interface WordsShape {
  readonly kind: 'words';
  readonly words: readonly string[];
}

declare module 'reprise' {
  interface ErrorByCode {
    invalid_input: InputError;
  }
}

declare module 'reprise' {
  interface ErrorByCode {
    operation: OperationError;
  }
}

declare module 'reprise' {
  interface ErrorByCode {
    stdin: StdinError;
  }
}
