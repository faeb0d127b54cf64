// @reprise/workflow: 26 names, 10 values and 16 types. Written by `npm run api`.
//
// values:
//   InputError, ResumeRefusedError, StateError, loadWorkflow, policySchema, resumeWorkflow, runWorkflow, viewEvents,
//   viewRuns, workflowSchema,
//
// types:
//   EventView, HaltReason, JsonSchema, LoadOptions, MapCounts, OutputListener, Plan, Problem, ResumeWorkflowOptions,
//   RunEnd, RunEvent, RunState, RunView, RunWorkflowOptions, StepPlan, StepState,

import type {
  BreakerInput, DurationInput, ErrorCode, PolicyInput, RepriseError, StopReason,
} from 'reprise'
import type {
  Durable, FailureRecord, Json, Ledger,
} from 'reprise/durable'

export interface EventView {
  readonly timeMs: number;
  readonly type: string;
  readonly run: string;
  readonly step: string | null;
  readonly attempt: number | null;
  readonly attemptsAllowed: number | null;
  readonly correlationId: string | null;
  readonly detail: Json;
}

export type HaltReason = ItemHalt | FailureLimitHalt | FailureShareHalt | ExitCodeHalt | CancelHalt;

export declare class InputError extends ReportedError {
  readonly code: 'invalid_input';
  constructor(problems: readonly Problem[], text?: string);
  get name(): string;
}

export type JsonSchema = Readonly<Record<string, Json>>;

export interface LoadOptions {
  readonly file?: string;
}

export interface MapCounts {
  readonly total: number;
  readonly pending: number;
  readonly running: number;
  readonly retrying: number;
  readonly succeeded: number;
  readonly skipped: number;
  readonly dead: number;
  readonly cancelled: number;
  readonly undecided: number;
}

export interface OutputListener {
  readonly onBytes?: (of: StepAttempt, stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>;
  readonly onEnd: (of: StepAttempt, log: string | null) => void;
  readonly onFailure?: (error: unknown) => void;
}

export interface Plan {
  readonly name: string;
  readonly file: string | null;
  readonly document: Json;
  readonly fingerprint: string;
  readonly params: Readonly<Record<string, Json>>;
  readonly env: Readonly<Record<string, string>>;
  readonly envFiles: readonly string[];
  readonly concurrency: ConcurrencyPlan | null;
  readonly timeoutMs: number | null;
  readonly secrets: readonly string[];
  readonly breakers: Readonly<Record<string, BreakerInput>>;
  readonly budgets: Readonly<Record<string, BudgetPlan>>;
  readonly outputs: Readonly<Record<string, Json>>;
  readonly maxRunLogBytes: number;
  readonly phases: readonly PhasePlan[];
}

export interface Problem {
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly path?: string;
  readonly message: string;
  readonly suggestion?: string;
}

export declare class ResumeRefusedError extends RepriseError {
  readonly code: 'resume_refused';
  readonly runId: string;
  readonly refusals: readonly Pick<Refusal, 'kind' | 'message'>[];
  constructor(runId: string, refusals: ResumeRefusedError['refusals']);
  get name(): string;
}

export interface ResumeWorkflowOptions extends WorkflowOptions, Partial<ResumeChoices> {
}

export interface RunEnd {
  readonly state: Exclude<RunState, 'running'>;
  readonly stopReason: StopReason | null;
  readonly failedStep: string | null;
  readonly undecided: readonly string[];
  readonly outputs?: Readonly<Record<string, Json>>;
  readonly outputsError?: string;
  readonly left?: number;
}

export type RunEvent = ({
  readonly type: 'run_started';
  readonly timeMs: number;
  readonly run: string;
  readonly name: string;
  readonly steps: readonly {
    readonly id: string;
    readonly name: string;
    readonly state: StepState;
  }[];
  readonly counts: Readonly<Partial<Record<StepState, number>>>;
  readonly resumes: number;
} & RunTimes) | (StepBase & {
  readonly type: 'attempt_started';
}) | (StepBase & {
  readonly type: 'attempt_failed';
  readonly durationMs: number;
  readonly failure: FailureRecord;
  readonly timedOut: boolean;
}) | (StepBase & {
  readonly type: 'waiting';
  readonly delayMs: number;
  readonly nextAttemptAtMs: number;
  readonly waitedMs: number;
  readonly retryBudgetMs: number | null;
  readonly failure: FailureRecord | null;
}) | (StepBase & {
  readonly type: 'parked';
  readonly budget: string;
}) | (StepBase & {
  readonly type: 'step_finished';
  readonly state: StepState;
  readonly durationMs: number;
  readonly waitedMs: number;
  readonly stopReason: StopReason | null;
  readonly failure: FailureRecord | null;
  readonly continued: boolean;
}) | (StepBase & {
  readonly type: 'step_skipped';
  readonly reason: string;
}) | (StepBase & {
  readonly type: 'fallback_started';
  readonly fallback: {
    readonly id: string;
    readonly name: string;
  };
}) | {
  readonly type: 'breaker_changed';
  readonly timeMs: number;
  readonly run: string;
  readonly breaker: string;
  readonly from: string;
  readonly to: string;
} | {
  readonly type: 'budget_denied';
  readonly timeMs: number;
  readonly run: string;
  readonly step: string;
  readonly budget: string;
  readonly reason: string;
} | {
  readonly type: 'store_away';
  readonly timeMs: number;
  readonly run: string;
  readonly store: string;
  readonly reason: string;
} | {
  readonly type: 'store_back';
  readonly timeMs: number;
  readonly run: string;
  readonly store: string;
  readonly awayMs: number;
} | (MapBase & {
  readonly type: 'map_started';
  readonly counts: MapCounts;
}) | (MapBase & {
  readonly type: 'map_progress';
} & MapProgressView) | (MapBase & {
  readonly type: 'item_failed';
  readonly item: string;
  readonly key: string;
  readonly attemptsMade: number;
  readonly stopReason: StopReason;
  readonly failure: FailureRecord | null;
}) | (MapBase & {
  readonly type: 'map_finished';
  readonly state: RunState;
  readonly counts: MapCounts;
  readonly recovered: number;
  readonly halted: HaltReason | null;
  readonly failure: FailureRecord | null;
  readonly resultsFile: string | null;
}) | {
  readonly type: 'group_waiting';
  readonly timeMs: number;
  readonly run: string;
  readonly group: string;
  readonly holder: string;
} | (MapBase & {
  readonly type: 'map_note';
  readonly message: string;
}) | (StepBase & {
  readonly type: 'output';
  readonly line: string;
}) | ({
  readonly type: 'run_finished';
  readonly timeMs: number;
  readonly run: string;
  readonly state: RunState;
  readonly stopReason: StopReason | null;
} & RunTimes);

export type RunState = (typeof RUN_STATES)[number];

export interface RunView extends RunTimes {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly file: string | null;
  readonly state: RunState;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly resumes: number;
  readonly stopReason: StopReason | null;
  readonly failedStep: string | null;
  readonly counts: Readonly<Partial<Record<StepState, number>>>;
  readonly items: MapCounts | null;
  readonly owner: OwnerView | null;
  readonly agents: readonly MapAgentView[];
}

export interface RunWorkflowOptions extends WorkflowOptions {
  readonly runId?: string;
  readonly params?: Readonly<Record<string, Json>>;
}

export declare class StateError extends RepriseError {
  readonly code: 'state';
  readonly path: string;
  readonly cure: string;
  readonly errno?: string;
  constructor(path: string, problem: string, cure: string, cause?: unknown);
  get name(): string;
}

export interface StepPlan {
  readonly kind: 'step';
  readonly id: string;
  readonly name: string;
  readonly part?: HandlerPart;
  readonly action: Action;
  readonly policy: PolicyInput;
  readonly onFailure: FailureAction;
  readonly onInterrupt: InterruptAction;
  readonly when: string | null;
  readonly until: string | null;
  readonly capture: Capture | null;
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string | null;
  readonly maxLogBytes: number;
}

export type StepState = (typeof STEP_STATES)[number];

export declare function loadWorkflow(text: string, { file }?: LoadOptions): Promise<Plan>;

export declare function policySchema(): JsonSchema;

export declare function resumeWorkflow(plan: Plan, runId: string, options: ResumeWorkflowOptions): Promise<RunEnd>;

export declare function runWorkflow(plan: Plan, options: RunWorkflowOptions): Promise<RunEnd>;

export declare function viewEvents(ledger: Ledger, run: string): Promise<EventView[]>;

export declare function viewRuns(ledger: Ledger, selection?: RunSelection): Promise<RunView[]>;

export declare function workflowSchema(): JsonSchema;

// Not exported, and referred to above.

// plan/plan
type Action = ShellAction | RunAction | HttpAction | ScriptAction | ClaudeAction | WriteFileAction;

// plan/plan
interface BudgetPlan {
  readonly type: string;
  readonly settings: Readonly<Record<string, Json>>;
}

// plan/plan
declare const CAPTURE_FORMATS: readonly ['text', 'json', 'lines', 'number'];

// view/map-views
interface CancelHalt {
  readonly kind: 'cancelled';
}

// plan/plan
interface Capture {
  readonly name: string;
  readonly format: CaptureFormat;
}

// plan/plan
type CaptureFormat = (typeof CAPTURE_FORMATS)[number];

// plan/plan
interface ClaudeAction {
  readonly kind: 'claude';
  readonly prompt: string;
  readonly program: string | null;
  readonly args: readonly string[];
}

// plan/map-plan
interface CommandInput {
  readonly kind: 'command';
  readonly action: ShellAction | RunAction;
  readonly format: InputFormat | null;
}

// plan/plan
interface ConcurrencyPlan {
  readonly group: string;
  readonly onConflict: 'refuse' | 'wait' | 'cancel_old';
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

// view/map-views
interface ExitCodeHalt {
  readonly kind: 'halt_on';
  readonly item: string;
  readonly exitCode: number | null;
}

// plan/plan
type FailureAction = 'stop' | 'continue' | {
  readonly fallback: ShellAction;
  readonly afterwards: 'continue' | 'fail';
};

// view/map-views
interface FailureLimitHalt {
  readonly kind: 'max_failures';
  readonly failed: number;
  readonly limit: number;
}

// view/map-views
interface FailureShareHalt {
  readonly kind: 'failure_threshold';
  readonly failed: number;
  readonly ended: number;
  readonly limit: number;
}

// plan/map-plan
interface FileInput {
  readonly kind: 'file';
  readonly path: string;
  readonly format: InputFormat | null;
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

// plan/plan
interface HttpAction {
  readonly kind: 'http';
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  readonly expect: HttpExpectation;
  readonly redirectOrigins: readonly string[];
}

// plan/plan
interface HttpExpectation {
  readonly status: readonly number[];
}

// plan/map-plan
declare const INPUT_FORMATS: readonly ['json', 'ndjson', 'csv', 'tsv', 'lines'];

// plan/map-plan
type InputFormat = (typeof INPUT_FORMATS)[number];

// plan/plan
type InterruptAction = 'rerun' | 'fail' | {
  readonly verify: ShellAction | RunAction;
};

// view/map-views
interface ItemHalt {
  readonly kind: 'stop';
  readonly item: string;
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

// plan/map-plan
interface ListInput {
  readonly kind: 'list';
  readonly items: readonly Json[];
}

// view/map-views
interface MapAgentView {
  readonly pid: number;
  readonly host: string;
  readonly slots: number | null;
  readonly startedAtMs: number;
}

// run/run-event
interface MapBase {
  readonly timeMs: number;
  readonly run: string;
  readonly step: string;
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
interface MapPlan {
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

// view/map-views
interface MapProgressView {
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

// plan/map-plan
interface MapRate {
  readonly count: number;
  readonly perMs: number;
}

// view/views
interface OwnerView {
  readonly host: string;
  readonly pid: number;
  readonly takenAtMs: number;
}

// plan/plan
type PhasePlan = StepPlan | MapPlan;

// plan/map-plan
interface ProductInput {
  readonly kind: 'product';
  readonly lists: readonly (readonly Json[])[];
}

// view/views
declare const RUN_STATES: readonly ['running', 'interrupted', 'succeeded', 'completed_with_failures', 'failed', 'cancelled'];

// plan/map-plan
interface RangeInput {
  readonly kind: 'range';
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

// run/resume-check
interface Refusal {
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

// run/resume-check
type RefusalReason = 'locked' | 'definition_changed' | 'exhausted' | 'inconsistent' | 'undecided' | 'not_possible';

// document/problem
declare abstract class ReportedError extends RepriseError {
  readonly problems: readonly Problem[];
  readonly text: string;
  constructor(code: ErrorCode, problems: readonly Problem[], text?: string);
}

// run/resume-check
interface ResumeChoices {
  readonly resetRetries: boolean;
  readonly acceptChanges: boolean;
  readonly done: readonly string[];
  readonly rerun: readonly string[];
  readonly from?: string;
  readonly force: boolean;
  readonly maxFailures?: number;
  readonly maxParallel?: number;
}

// plan/plan
interface RunAction {
  readonly kind: 'run';
  readonly argv: readonly string[];
}

// view/read-runs
interface RunSelection {
  readonly state?: RunState;
  readonly sinceMs?: number;
  readonly limit?: number;
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
declare const STEP_STATES: readonly ['pending', 'running', 'retrying', 'parked', 'interrupted', 'undecided', 'succeeded', 'recovered', 'skipped', 'failed', 'cancelled'];

// plan/plan
interface ScriptAction {
  readonly kind: 'script';
  readonly module: string;
  readonly export: string;
  readonly with: Json;
}

// plan/plan
interface ShellAction {
  readonly kind: 'shell';
  readonly command: string;
}

// plan/map-plan
interface SortKey {
  readonly expression: string;
  readonly isDescending: boolean;
}

// plan/map-plan
interface StdinInput {
  readonly kind: 'stdin';
  readonly format: InputFormat | null;
}

// run/attempt-output
interface StepAttempt {
  readonly step: string;
  readonly attempt: number;
  readonly execution: number;
}

// run/run-event
interface StepBase {
  readonly timeMs: number;
  readonly run: string;
  readonly step: string;
  readonly attempt: number;
  readonly attempts: number;
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

// run/run-workflow
interface WorkflowOptions {
  readonly durable: string | Durable;
  readonly stateDirectory?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly grace?: DurationInput;
  readonly onEvent?: (event: RunEvent) => void;
  readonly output?: OutputListener;
  readonly signal?: AbortSignal;
}

// plan/plan
interface WriteFileAction {
  readonly kind: 'write_file';
  readonly path: string;
  readonly content: Json;
  readonly mode: number | null;
}

declare module 'reprise' {
  interface ErrorByCode {
    invalid_input: InputError;
  }
}

declare module 'reprise' {
  interface ErrorByCode {
    resume_refused: ResumeRefusedError;
  }
}

declare module 'reprise' {
  interface ErrorByCode {
    state: StateError;
  }
}
