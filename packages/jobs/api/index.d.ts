// @reprise/jobs: 26 names, 3 values and 23 types. Written by `npm run api`.
//
// values:
//   Job, Jobs, openJobs,
//
// types:
//   ChangeOptions, DatacenterView, JobContext, JobEventFilter, JobEventPage, JobEventView, JobFilter, JobHandler,
//   JobMetric, JobOutputs, JobResult, JobRetryOptions, JobStatus, JobSummary, JobWorker, JobsOptions, MetricOptions,
//   OperatorSettings, SubmitOptions, WaitOptions, WorkOptions, WorkerNote, WorkerNoteKind,

import type {
  Clock, DurationInput, PolicyInput,
} from 'reprise'
import type {
  Durable, Json, Ledger, LedgerError,
} from 'reprise/durable'

export interface ChangeOptions {
  readonly by?: string;
}

export interface DatacenterView {
  readonly name: string;
  readonly disabled: string | null;
  readonly workers: readonly WorkerView[];
  readonly slots: number;
  readonly running: number;
  readonly lastHeartbeatAtMs: number | null;
}

export declare class Job implements SubmittedJob {
  readonly id: string;
  readonly isNew: boolean;
  readonly settings: SubmittedJob['settings'];
  readonly clamps: SubmittedJob['clamps'];
  constructor(jobs: Jobs, { id, isNew, settings, clamps }: SubmittedJob);
  result(options?: WaitOptions): Promise<JobResult>;
  status(): Promise<JobStatus>;
  cancel(options?: ChangeOptions): Promise<'cancelled' | 'completed'>;
  retry(options?: JobRetryOptions): Promise<void>;
}

export interface JobContext {
  readonly jobId: string;
  readonly datacenter: string;
  readonly workflow: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
}

export interface JobEventFilter {
  readonly job?: string;
  readonly limit?: number;
}

export interface JobEventPage {
  readonly events: readonly JobEventView[];
  readonly lastSeq: number;
}

export interface JobEventView {
  readonly seq: number;
  readonly event: JobEventName;
  readonly jobId: string;
  readonly atMs: number;
  readonly detail: Readonly<Record<string, Json>>;
}

export interface JobFilter {
  readonly state?: JobSummary['state'];
  readonly limit?: number;
  readonly after?: Pick<JobSummary, 'id' | 'submittedAtMs'>;
}

export type JobHandler = (params: Readonly<Record<string, Json>>, context: JobContext) => JobOutputs | void | PromiseLike<JobOutputs | void>;

export interface JobMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type JobOutputs = Readonly<Record<string, Json>>;

export interface JobResult {
  readonly jobId: string;
  readonly name: string;
  readonly outcome: JobOutcome;
  readonly success: boolean;
  readonly minDcsMet: boolean;
  readonly reason: CompletionReason;
  readonly version: number;
  readonly submittedAtMs: number;
  readonly completedAtMs: number;
  readonly durationMs: number;
  readonly reported: readonly string[];
  readonly completed: readonly string[];
  readonly failed: readonly string[];
  readonly missing: readonly string[];
  readonly stragglers: 'none' | 'running' | 'cancelled_after_completion';
  readonly ratio: number;
  readonly totals: JobTotals;
  readonly aggregates: Readonly<Record<string, Aggregate>>;
  readonly datacenters: readonly DatacenterResult[];
}

export interface JobRetryOptions {
  readonly onlyFailed?: boolean;
  readonly datacenter?: string;
  readonly by?: string;
}

export interface JobStatus extends JobSummary {
  readonly requested: Omit<JobRequest, 'workflows' | 'id' | 'payloadHash'>;
  readonly effective: EffectiveSettings;
  readonly clamps: readonly Clamp[];
  readonly budgets: readonly BudgetStatus[];
  readonly datacenters: readonly DatacenterStatus[];
  readonly waitsFor: string | null;
  readonly isMinimumUnreachable: boolean;
  readonly version: number;
}

export interface JobSummary {
  readonly id: string;
  readonly name: string;
  readonly state: JobState;
  readonly outcome: JobOutcome | null;
  readonly success: boolean | null;
  readonly reason: CompletionReason | null;
  readonly submittedAtMs: number;
  readonly completedAtMs: number | null;
  readonly targets: readonly string[];
  readonly reported: number;
}

export interface JobWorker {
  readonly datacenter: string;
  drain(): Promise<void>;
  close(): Promise<void>;
}

export declare class Jobs {
  readonly limits: OperatorSettings;
  constructor(parts: JobsParts);
  submit(request: unknown, options?: SubmitOptions): Promise<Job>;
  find(id: string): Promise<Job>;
  list(filter?: JobFilter): Promise<JobSummary[]>;
  status(id: string): Promise<JobStatus>;
  result(id: string): Promise<JobResult | undefined>;
  report(id: string, datacenter: string): Promise<DatacenterReport | undefined>;
  wait(id: string, { signal }?: WaitOptions): Promise<JobResult>;
  cancel(id: string, { by }?: ChangeOptions): Promise<'cancelled' | 'completed'>;
  retry(id: string, options?: JobRetryOptions): Promise<void>;
  work(options: WorkOptions): Promise<JobWorker>;
  datacenters(): Promise<DatacenterView[]>;
  disable(datacenter: string, reason: string | null, { by }?: ChangeOptions): Promise<void>;
  settings(): Promise<OperatorSettings | undefined>;
  writeSettings(): Promise<OperatorSettings>;
  metrics(options?: MetricOptions): Promise<JobMetric[]>;
  events(afterSeq: number, filter?: JobEventFilter): Promise<JobEventPage>;
  removeOld(): Promise<string[]>;
  close(): Promise<void>;
}

export interface JobsOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly retention?: DurationInput;
  readonly lease?: DurationInput;
}

export interface MetricOptions {
  readonly byJob?: boolean;
}

export interface OperatorSettings {
  readonly retryBudgetDefault: number;
  readonly retryBudgetMax: number;
  readonly retryBudgetPerWorkflowDefault: number;
  readonly retryBudgetPerWorkflowMax: number;
  readonly minDcsDefault: number;
  readonly deadlineDefaultMs: number;
  readonly deadlineMaxMs: number;
  readonly lateResultPolicy: LateResultPolicy;
  readonly checkIntervalMs: number;
}

export interface SubmitOptions {
  readonly isEmbedded?: boolean;
  readonly by?: string;
}

export interface WaitOptions {
  readonly signal?: AbortSignal;
}

export interface WorkOptions {
  readonly datacenter: string;
  readonly slots?: number;
  readonly handlers?: Readonly<Record<string, JobHandler>>;
  readonly dir?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly localStore?: string;
  readonly lease?: DurationInput;
  readonly version?: string;
  readonly onNote?: (note: WorkerNote) => void;
  readonly onFailure?: (error: LedgerError) => void;
}

export interface WorkerNote {
  readonly kind: WorkerNoteKind;
  readonly jobId: string;
  readonly datacenter: string;
  readonly workflow: string;
  readonly attempt: number;
  readonly message: string;
}

export type WorkerNoteKind = 'delivered' | 'delivered_late' | 'refused' | 'abandoned';

export declare function openJobs(address: string | Ledger, options?: JobsOptions): Promise<Jobs>;

// Not exported, and referred to above.

// rules/job-request
declare const AGGREGATE_KINDS: readonly ['sum', 'min', 'max', 'mean', 'count', 'histogram'];

// rules/aggregate
interface Aggregate {
  readonly kind: AggregateKind;
  readonly value: number | null;
  readonly buckets?: readonly Bucket[];
  readonly count: number;
  readonly ignored: number;
  readonly datacenters: readonly string[];
}

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

// rules/aggregate
interface Bucket {
  readonly upTo: number | null;
  readonly count: number;
}

// view/job-views
interface BudgetStatus {
  readonly datacenter: string | null;
  readonly total: number;
  readonly used: number;
  readonly remaining: number;
  readonly grants: number;
  readonly refunds: number;
}

// rules/completion
declare const COMPLETION_REASONS: readonly ['all_dcs_reported', 'min_dcs_reached', 'deadline_expired', 'cancelled', 'timeout'];

// rules/clamp
interface Clamp {
  readonly field: string;
  readonly requested: number;
  readonly effective: number;
  readonly sentence: string;
}

// rules/completion
type CompletionReason = (typeof COMPLETION_REASONS)[number];

// rules/datacenter-end
declare const DATACENTER_ENDS: readonly ['completed', 'completed_with_failures', 'failed', 'cancelled'];

// rules/retry-grant
declare const DENIAL_REASONS: readonly ['job_budget_exhausted', 'workflow_budget_exhausted', 'dispatch_attempts_exhausted', 'retry_budget_missing'];

// rules/datacenter-end
type DatacenterEnd = (typeof DATACENTER_ENDS)[number];

// rules/job-result
interface DatacenterReport {
  readonly name: string;
  readonly end: DatacenterEnd;
  readonly counts: WorkflowCounts;
  readonly reportedAtMs: number;
  readonly isLate: boolean;
  readonly isCounted: boolean;
  readonly workflows: readonly WorkflowResult[];
}

// rules/job-result
interface DatacenterResult {
  readonly name: string;
  readonly state: DatacenterEnd;
  readonly isLate: boolean;
  readonly reportedAtMs: number;
  readonly workflows: readonly WorkflowResult[];
}

// view/job-views
interface DatacenterStatus {
  readonly name: string;
  readonly state: 'waiting' | 'running' | 'suspected' | DatacenterEnd;
  readonly counts: WorkflowCounts;
  readonly workers: number;
  readonly reportedAtMs: number | null;
  readonly isLate: boolean;
  readonly isCounted: boolean;
  readonly workflows: readonly WorkflowStatus[];
}

// rules/retry-grant
type DenialReason = (typeof DENIAL_REASONS)[number];

// view/job-views
interface DenialStatus {
  readonly reason: DenialReason;
  readonly used: number;
  readonly total: number;
}

// rules/clamp
interface EffectiveSettings {
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

// drive/job-event
declare const JOB_EVENTS: readonly ['RetryBudgetExhausted', 'BestEffortCompletion', 'LateDatacenterResult', 'JobSubmitted', 'JobCompleted', 'JobUpdated', 'JobRetried'];

// drive/job-event
type JobEventName = (typeof JOB_EVENTS)[number];

// rules/completion
type JobOutcome = (typeof OUTCOMES)[number];

// rules/job-request
interface JobRequest {
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

// view/job-views
type JobState = 'running' | 'completed';

// rules/job-result
interface JobTotals {
  readonly workflows: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly cancelled: number;
  readonly attempts: number;
  readonly retries: number;
  readonly workflowDurationSumMs: number;
  readonly workflowDurationMaxMs: number;
}

// rules/job-workflow
interface JobWorkflow {
  readonly name: string;
  readonly source: WorkflowSource;
  readonly params: Readonly<Record<string, Json>>;
  readonly paramsByDatacenter: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly needs: readonly string[];
}

// jobs
interface JobsParts {
  readonly durable: Durable;
  readonly ledger: Ledger;
  readonly waking: WakingLedger;
  readonly operator: OperatorSettings;
  readonly policy: PolicyInput;
  readonly clock: Clock | undefined;
  readonly retentionMs: number | undefined;
}

// rules/operator-settings
declare const LATE_RESULT_POLICIES: readonly ['log_only', 'update_result'];

// rules/operator-settings
type LateResultPolicy = (typeof LATE_RESULT_POLICIES)[number];

// rules/completion
declare const OUTCOMES: readonly ['complete', 'partial', 'below_minimum', 'failed'];

// submit/submit-job
interface SubmittedJob {
  readonly id: string;
  readonly isNew: boolean;
  readonly settings: EffectiveSettings;
  readonly clamps: readonly Clamp[];
}

// drive/waking-ledger
declare class WakingLedger {
  readonly ledger: Ledger;
  serve(durable: Durable, queues: readonly string[]): void;
  leave(durable: Durable): void;
}

// view/job-views
interface WorkerView {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly slots: number;
  readonly running: number;
  readonly version: string | null;
  readonly isLiving: boolean;
  readonly lastHeartbeatAtMs: number;
}

// rules/datacenter-end
interface WorkflowCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly cancelled: number;
}

// rules/job-result
type WorkflowEnd = 'succeeded' | 'failed' | 'skipped' | 'cancelled';

// rules/job-result
interface WorkflowResult {
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

// rules/job-workflow
type WorkflowSource = {
  readonly kind: 'document';
  readonly text: string;
  readonly file: string | null;
} | {
  readonly kind: 'handler';
  readonly handler: string;
};

// view/job-views
interface WorkflowStatus {
  readonly name: string;
  readonly state: 'blocked' | 'waiting' | 'running' | 'retrying' | 'parked' | 'succeeded' | 'failed' | 'skipped' | 'cancelled';
  readonly attempts: number;
  readonly charged: number;
  readonly nextAttemptAtMs: number | null;
  readonly error: string | null;
  readonly denied: DenialStatus | null;
  readonly history: readonly AttemptStatus[];
}
