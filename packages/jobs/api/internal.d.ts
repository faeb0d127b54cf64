// @reprise/jobs/internal: 86 names, 45 values and 41 types. Written by `npm run api`.
//
// values:
//   COMPLETION_REASONS, DATACENTER_ENDS, DATACENTER_WORDS, DEFAULT_OPERATOR_SETTINGS, DENIAL_REASONS, JOB_EVENTS,
//   JOB_FIELDS, JOB_ROUTES, JOB_SCHEMAS, LATE_RESULT_POLICIES, MAX_WAIT_SECONDS, OPERATOR_VARIABLES, OUTCOMES,
//   acceptLateResult, afterSuccess, askAgain, bodyFields, cancelsStragglers, checkJobRequest, countsTowardMinimum,
//   datacenterEnd, datacentersOfJob, dispatchExpiresAtMs, effectiveSettings, evaluateCompletion, exitCodeOf,
//   explainJob, grantRetry, idFromKey, isDatacenterName, jobResult, newJobId, newRetryBudget, openJobsWith,
//   openWorkflows, operationsOf, paramsAt, parkDelayMs, readJobFile, readJobRequest, readOperatorSettings,
//   rebuiltRetryBudget, schemaOf, stricterOf, verdictOf,
//
// types:
//   BudgetStatus, Caller, Clamp, CompletedJob, CompletedJobRecord, Completion, CompletionReason, CompletionState,
//   DatacenterEnd, DatacenterReport, DatacenterStanding, DatacenterStatus, Denial, DenialReason, EffectiveSettings,
//   JobEventName, JobExplanation, JobFile, JobListRequest, JobOperationName, JobOperations, JobOutcome, JobRequest,
//   JobWorkflow, LateAnswer, LateResultPolicy, ParkedAnswer, RetryAnswer, RetryBudgetState, Route, RouteAccess,
//   RouteField, Schema, Waiting, WorkerView, WorkflowCounts, WorkflowEnd, WorkflowResult, WorkflowRetries,
//   WorkflowSource, WorkflowStatus,

import type {
  DatacenterView, JobEventPage, JobResult, JobStatus, JobSummary, Jobs, JobsOptions, OperatorSettings,
} from '@reprise/jobs'
import type {
  Plan,
} from '@reprise/workflow'
import type {
  Source,
} from '@reprise/workflow/internal'
import type {
  Clock, OptionProblem, PolicyInput,
} from 'reprise'
import type {
  Json, Ledger,
} from 'reprise/durable'

export interface BudgetStatus {
  readonly datacenter: string | null;
  readonly total: number;
  readonly used: number;
  readonly remaining: number;
  readonly grants: number;
  readonly refunds: number;
}

export declare const COMPLETION_REASONS: readonly ['all_dcs_reported', 'min_dcs_reached', 'deadline_expired', 'cancelled', 'timeout'];

export interface Caller {
  readonly by: string;
  readonly signal?: AbortSignal;
}

export interface Clamp {
  readonly field: string;
  readonly requested: number;
  readonly effective: number;
  readonly sentence: string;
}

export interface CompletedJob {
  readonly settings: EffectiveSettings;
  readonly completion: Completion;
  readonly version: number;
  readonly datacenters: readonly DatacenterStanding[];
}

export interface CompletedJobRecord {
  readonly id: string;
  readonly name: string;
  readonly targets: readonly string[];
  readonly settings: EffectiveSettings;
  readonly aggregate: Readonly<Record<string, AggregateKind>>;
  readonly completion: Completion;
  readonly submittedAtMs: number;
  readonly completedAtMs: number;
  readonly version: number;
}

export interface Completion {
  readonly kind: 'complete';
  readonly reason: CompletionReason;
  readonly outcome: JobOutcome;
  readonly success: boolean;
  readonly minDcsMet: boolean;
}

export type CompletionReason = (typeof COMPLETION_REASONS)[number];

export interface CompletionState {
  readonly settings: EffectiveSettings;
  readonly submittedAtMs: number;
  readonly isCancelled: boolean;
  readonly datacenters: readonly DatacenterStanding[];
}

export declare const DATACENTER_ENDS: readonly ['completed', 'completed_with_failures', 'failed', 'cancelled'];

export declare const DATACENTER_WORDS = "the name of a datacenter: 1 to 63 letters, digits, `.`, `_` and `-`, a letter or digit first, such as `eu-west-1`";

export declare const DEFAULT_OPERATOR_SETTINGS: OperatorSettings;

export declare const DENIAL_REASONS: readonly ['job_budget_exhausted', 'workflow_budget_exhausted', 'dispatch_attempts_exhausted', 'retry_budget_missing'];

export type DatacenterEnd = (typeof DATACENTER_ENDS)[number];

export interface DatacenterReport {
  readonly name: string;
  readonly end: DatacenterEnd;
  readonly counts: WorkflowCounts;
  readonly reportedAtMs: number;
  readonly isLate: boolean;
  readonly isCounted: boolean;
  readonly workflows: readonly WorkflowResult[];
}

export interface DatacenterStanding {
  readonly name: string;
  readonly end: DatacenterEnd | null;
  readonly reportedAtMs: number | null;
  readonly hasLivingWorker: boolean;
  readonly silentForMs?: number | undefined;
}

export interface DatacenterStatus {
  readonly name: string;
  readonly state: 'waiting' | 'running' | 'suspected' | DatacenterEnd;
  readonly counts: WorkflowCounts;
  readonly workers: number;
  readonly reportedAtMs: number | null;
  readonly isLate: boolean;
  readonly isCounted: boolean;
  readonly workflows: readonly WorkflowStatus[];
}

export interface Denial {
  readonly reason: DenialReason;
  readonly used: number;
  readonly total: number;
}

export type DenialReason = (typeof DENIAL_REASONS)[number];

export interface EffectiveSettings {
  readonly retryBudget: number;
  readonly retryBudgetPerWorkflow: number;
  readonly budgetScope: 'job' | 'datacenter';
  readonly retryBudgetCounts: 'all' | 'wasted';
  readonly onBudgetExhausted: 'fail' | 'park';
  readonly maxDispatchAttempts: number | null;
  readonly dispatchTimeoutMs: number | null;
  readonly bestEffort: boolean;
  readonly minDcs: number;
  readonly deadlineMs: number | null;
  readonly settleMs: number;
  readonly strictMinDcs: boolean;
  readonly datacenterSuccess: 'any' | 'all';
  readonly timeoutMs: number | null;
  readonly lateResultPolicy: LateResultPolicy;
  readonly stragglers: 'run' | 'cancel';
  readonly checkIntervalMs: number;
}

export declare const JOB_EVENTS: readonly ['RetryBudgetExhausted', 'BestEffortCompletion', 'LateDatacenterResult', 'JobSubmitted', 'JobCompleted', 'JobUpdated', 'JobRetried'];

export declare const JOB_FIELDS: readonly ["job_id", "idempotency_key", "name", "workflows", "datacenters", "retries", "retry_budget", "retry_budget_per_workflow", "budget_scope", "retry_budget_counts", "on_budget_exhausted", "max_dispatch_attempts", "dispatch_timeout", "best_effort", "best_effort_min_dcs", "best_effort_deadline_seconds", "best_effort_settle_seconds", "strict_min_dcs", "datacenter_success", "timeout", "late_result_policy", "stragglers", "aggregate"];

export declare const JOB_ROUTES: readonly JobRoute[];

export declare const JOB_SCHEMAS: {
  readonly SubmittedJob: Readonly<Record<string, import("reprise/durable").Json>>;
  readonly JobList: Readonly<Record<string, import("reprise/durable").Json>>;
  readonly JobStatus: Readonly<Record<string, import("reprise/durable").Json>>;
  readonly JobResult: Readonly<Record<string, import("reprise/durable").Json>>;
  readonly JobEvents: Readonly<Record<string, import("reprise/durable").Json>>;
  readonly CancelledJob: Readonly<Record<string, import("reprise/durable").Json>>;
  readonly RetriedJob: Readonly<Record<string, import("reprise/durable").Json>>;
  readonly DatacenterList: Readonly<Record<string, import("reprise/durable").Json>>;
  readonly WorkerList: Readonly<Record<string, import("reprise/durable").Json>>;
  readonly ChangedDatacenter: Readonly<Record<string, import("reprise/durable").Json>>;
  readonly JobSettings: Readonly<Record<string, import("reprise/durable").Json>>;
};

export type JobEventName = (typeof JOB_EVENTS)[number];

export interface JobExplanation {
  readonly name: string;
  readonly datacenters: readonly string[];
  readonly workflows: readonly {
    readonly name: string;
    readonly runs: string;
    readonly needs: readonly string[];
  }[];
  readonly settings: EffectiveSettings;
  readonly clamps: readonly Clamp[];
  readonly firstAttempts: number;
  readonly mostAttempts: number | null;
  readonly sentences: readonly string[];
}

export interface JobFile {
  readonly request: JobRequest;
  readonly submission: Readonly<Record<string, Json>>;
  readonly plans: ReadonlyMap<string, Plan>;
  readonly directory: string;
  readonly file: string;
  readonly notes: readonly string[];
}

export interface JobListRequest {
  readonly state?: JobSummary['state'];
  readonly limit?: number;
  readonly cursor?: string;
}

export type JobOperationName = keyof JobOperations;

export interface JobOperations {
  submitJob(request: {
    readonly job: unknown;
  }, caller: Caller): Promise<Omit<SubmittedJob, 'id'> & {
    readonly job: string;
  }>;
  listJobs(request: JobListRequest, caller: Caller): Promise<{
    readonly jobs: readonly JobSummary[];
    readonly next: string | null;
  }>;
  showJob(request: OfJob, caller: Caller): Promise<JobStatus>;
  jobResult(request: OfJob & {
    readonly wait_seconds?: number;
  }, caller: Caller): Promise<JobResult | null>;
  jobEvents(request: OfJob & {
    readonly after?: number;
    readonly limit?: number;
  }, caller: Caller): Promise<JobEventPage>;
  cancelJob(request: OfJob, caller: Caller): Promise<{
    readonly job: string;
    readonly cancelled: boolean;
  }>;
  retryJob(request: OfJob & {
    readonly only_failed?: boolean;
    readonly datacenter?: string;
  }, caller: Caller): Promise<{
    readonly job: string;
    readonly retried: true;
  }>;
  listDatacenters(request: object, caller: Caller): Promise<{
    readonly datacenters: readonly DatacenterView[];
  }>;
  listWorkers(request: object, caller: Caller): Promise<{
    readonly workers: readonly (WorkerView & {
      readonly datacenter: string;
    })[];
  }>;
  disableDatacenter(request: {
    readonly name: string;
    readonly reason?: string;
  }, caller: Caller): Promise<{
    readonly datacenter: string;
    readonly disabled: string | null;
  }>;
  enableDatacenter(request: {
    readonly name: string;
  }, caller: Caller): Promise<{
    readonly datacenter: string;
    readonly disabled: string | null;
  }>;
  showSettings(request: object, caller: Caller): Promise<JobSettingsAnswer>;
  writeSettings(request: object, caller: Caller): Promise<JobSettingsAnswer>;
}

export type JobOutcome = (typeof OUTCOMES)[number];

export interface JobRequest {
  readonly id: string | null;
  readonly idempotencyKey: string | null;
  readonly payloadHash: string;
  readonly name: string;
  readonly workflows: readonly JobWorkflow[];
  readonly datacenters: readonly string[];
  readonly allowsRetries: boolean;
  readonly retryBudget: number;
  readonly retryBudgetPerWorkflow: number;
  readonly budgetScope: 'job' | 'datacenter';
  readonly retryBudgetCounts: 'all' | 'wasted';
  readonly onBudgetExhausted: 'fail' | 'park';
  readonly maxDispatchAttempts: number | null;
  readonly dispatchTimeoutMs: number | null;
  readonly bestEffort: boolean;
  readonly minDcs: number;
  readonly deadlineMs: number;
  readonly settleMs: number;
  readonly strictMinDcs: boolean;
  readonly datacenterSuccess: 'any' | 'all';
  readonly timeoutMs: number | null;
  readonly lateResultPolicy: LateResultPolicy | null;
  readonly stragglers: 'run' | 'cancel';
  readonly aggregate: Readonly<Record<string, AggregateKind>>;
}

export interface JobWorkflow {
  readonly name: string;
  readonly source: WorkflowSource;
  readonly params: Readonly<Record<string, Json>>;
  readonly paramsByDatacenter: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly needs: readonly string[];
}

export declare const LATE_RESULT_POLICIES: readonly ['log_only', 'update_result'];

export type LateAnswer =
{
  readonly kind: 'logged';
} | {
  readonly kind: 'updated';
  readonly completion: Completion;
  readonly version: number;
};

export type LateResultPolicy = (typeof LATE_RESULT_POLICIES)[number];

export declare const MAX_WAIT_SECONDS = 25;

export declare const OPERATOR_VARIABLES: readonly string[];

export declare const OUTCOMES: readonly ['complete', 'partial', 'below_minimum', 'failed'];

export type ParkedAnswer =
{
  readonly kind: 'granted';
  readonly budget: RetryBudgetState;
} | {
  readonly kind: 'probe';
  readonly budget: RetryBudgetState;
} | {
  readonly kind: 'waits';
  readonly dueAtMs: number;
};

export type RetryAnswer = {
  readonly kind: 'granted';
  readonly budget: RetryBudgetState;
} | {
  readonly kind: 'denied';
  readonly denial: Denial;
} | {
  readonly kind: 'parked';
  readonly denial: Denial;
  readonly dueAtMs: number;
};

export interface RetryBudgetState {
  readonly total: number;
  readonly used: number;
  readonly grants: number;
  readonly refunds: number;
  readonly probeIntervalMs: number;
  readonly nextProbeAtMs: number;
}

export interface Route<Operation extends string = string> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly operation: Operation;
  readonly summary: string;
  readonly access: RouteAccess;
  readonly inPath?: readonly RouteField[];
  readonly inQuery?: readonly RouteField[];
  readonly body?: readonly RouteField[] | {
    readonly whole: string;
    readonly schema: () => Schema;
    readonly example: Json;
  };
  readonly bodyLimit?: number;
  readonly type?: 'text/plain';
  readonly answer: Schema;
  readonly absent?: {
    readonly kind: string;
    readonly title: string;
  };
}

export type RouteAccess = 'open' | 'view' | 'act' | 'operate';

export interface RouteField {
  readonly name: string;
  readonly text: string;
  readonly type: 'text' | 'whole' | 'flag';
  readonly least?: number;
  readonly most?: number;
  readonly pattern?: string;
  readonly words?: readonly string[];
  readonly isRequired?: true;
  readonly example: string | number | boolean;
}

export type Schema = Readonly<Record<string, Json>>;

export interface Waiting {
  readonly kind: 'wait';
  readonly nextAtMs: number | null;
  readonly nextIs: 'settle' | 'deadline' | 'timeout' | null;
  readonly isMinimumUnreachable: boolean;
  readonly sentence: string;
}

export interface WorkerView {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly slots: number;
  readonly running: number;
  readonly version: string | null;
  readonly isLiving: boolean;
  readonly lastHeartbeatAtMs: number;
}

export interface WorkflowCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly cancelled: number;
}

export type WorkflowEnd = 'succeeded' | 'failed' | 'skipped' | 'cancelled';

export interface WorkflowResult {
  readonly name: string;
  readonly state: WorkflowEnd;
  readonly attempts: number;
  readonly retries: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number;
  readonly outputs: Readonly<Record<string, Json>>;
  readonly error: string | null;
  readonly denied: DenialReason | null;
}

export interface WorkflowRetries {
  readonly charged: number;
  readonly attempts: number;
}

export type WorkflowSource = {
  readonly kind: 'document';
  readonly text: string;
  readonly file: string | null;
} | {
  readonly kind: 'handler';
  readonly handler: string;
};

export interface WorkflowStatus {
  readonly name: string;
  readonly state: 'blocked' | 'waiting' | 'running' | 'retrying' | 'parked' | 'succeeded' | 'failed' | 'skipped' | 'cancelled';
  readonly attempts: number;
  readonly charged: number;
  readonly nextAttemptAtMs: number | null;
  readonly error: string | null;
  readonly denied: DenialStatus | null;
  readonly history: readonly AttemptStatus[];
}

export declare function acceptLateResult(job: CompletedJob, late: DatacenterStanding): LateAnswer;

export declare function afterSuccess(budget: RetryBudgetState, wasCharged: boolean, counts: EffectiveSettings['retryBudgetCounts']): {
  readonly budget: RetryBudgetState;
  readonly refunds: number;
};

export declare function askAgain(budget: RetryBudgetState, running: number, now: number, draw: number): ParkedAnswer;

export declare function bodyFields({ body }: Route): readonly RouteField[];

export declare function cancelsStragglers({ stragglers }: EffectiveSettings, { reason }: Completion): boolean;

export declare function checkJobRequest(value: unknown): {
  request?: JobRequest;
  problems: readonly OptionProblem[];
};

export declare function countsTowardMinimum(end: DatacenterEnd | null, datacenterSuccess: EffectiveSettings['datacenterSuccess']): boolean;

export declare function datacenterEnd(counts: WorkflowCounts): DatacenterEnd | null;

export declare function datacentersOfJob(ledger: Ledger, id: string): Promise<readonly string[]>;

export declare function dispatchExpiresAtMs({ dispatchTimeoutMs }: EffectiveSettings, submittedAtMs: number, firstClaimAtMs: number | null): number | null;

export declare function effectiveSettings(request: JobRequest, operator: OperatorSettings): {
  readonly settings: EffectiveSettings;
  readonly clamps: readonly Clamp[];
};

export declare function evaluateCompletion(state: CompletionState, now: number): Completion | Waiting;

export declare function exitCodeOf({ success, outcome, reason }: Pick<JobResult, 'success' | 'outcome' | 'reason'>): 0 | 1 | 3;

export declare function explainJob(request: JobRequest, operator: OperatorSettings): JobExplanation;

export declare function grantRetry(budget: RetryBudgetState | null, workflow: WorkflowRetries, limits: Limits, now: number, draw: number): RetryAnswer;

export declare function idFromKey(idempotencyKey: string): string;

export declare function isDatacenterName(value: unknown): value is string;

export declare function jobResult(job: CompletedJobRecord, reports: readonly DatacenterReport[]): JobResult;

export declare function newJobId(name: string): string;

export declare function newRetryBudget(total: number): RetryBudgetState;

export declare function openJobsWith(address: string | Ledger, options: JobsOptions, { policy, clock, worksFor, role }?: JobsEnvironment & JobsPlan): Promise<Jobs>;

export declare function openWorkflows({ total, succeeded, failed, skipped, cancelled }: WorkflowCounts): number;

export declare function operationsOf(jobs: Jobs): JobOperations;

export declare function paramsAt(workflow: JobWorkflow, datacenter: string): Readonly<Record<string, Json>>;

export declare function parkDelayMs(draw: number): number;

export declare function readJobFile(source: Source): Promise<JobFile>;

export declare function readJobRequest(value: unknown): JobRequest;

export declare function readOperatorSettings(env: Environment): OperatorSettings;

export declare function rebuiltRetryBudget(total: number, charges: readonly number[]): RetryBudgetState;

export declare function schemaOf({ type, least, most, pattern, words, example }: RouteField): Schema;

export declare function stricterOf(a: OperatorSettings, b: OperatorSettings): OperatorSettings;

export declare function verdictOf(state: Pick<CompletionState, 'settings' | 'datacenters'>, reason: CompletionReason): Pick<Completion, 'outcome' | 'success' | 'minDcsMet'>;

// Not exported, and referred to above.

// rules/job-request
declare const AGGREGATE_KINDS: readonly ['sum', 'min', 'max', 'mean', 'count', 'histogram'];

// rules/job-request
type AggregateKind = (typeof AGGREGATE_KINDS)[number];

// view/job-views
interface AttemptStatus {
  readonly attempt: number;
  readonly outcome: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly class: string | null;
  readonly error: string | null;
}

// view/job-views
interface DenialStatus {
  readonly reason: DenialReason;
  readonly used: number;
  readonly total: number;
}

// rules/operator-settings
type Environment = Readonly<Record<string, string | undefined>>;

// routes/job-routes
type JobRoute = Route<JobOperationName>;

// routes/job-operations
interface JobSettingsAnswer {
  readonly environment: OperatorSettings;
  readonly store: OperatorSettings | null;
  readonly effective: OperatorSettings;
}

// jobs
interface JobsEnvironment {
  readonly policy?: PolicyInput;
  readonly clock?: Clock;
}

// jobs
interface JobsPlan {
  readonly worksFor?: (ledger: Ledger) => Promise<readonly string[]>;
  readonly role?: string;
}

// rules/retry-grant
type Limits = Pick<EffectiveSettings, 'retryBudgetPerWorkflow' | 'maxDispatchAttempts' | 'onBudgetExhausted'>;

// routes/job-operations
interface OfJob {
  readonly id: string;
}

// submit/submit-job
interface SubmittedJob {
  readonly id: string;
  readonly isNew: boolean;
  readonly settings: EffectiveSettings;
  readonly clamps: readonly Clamp[];
}
