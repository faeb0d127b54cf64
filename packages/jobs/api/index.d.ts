// @reprise/jobs: 1 names, 0 values and 1 types. Written by `npm run api`.
//
// types:
//   JobResult,

import type {
  Json,
} from 'reprise/durable'

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

// rules/aggregate
interface Bucket {
  readonly upTo: number | null;
  readonly count: number;
}

// rules/completion
declare const COMPLETION_REASONS: readonly ['all_dcs_reported', 'min_dcs_reached', 'deadline_expired', 'cancelled', 'timeout'];

// rules/completion
type CompletionReason = (typeof COMPLETION_REASONS)[number];

// rules/datacenter-end
declare const DATACENTER_ENDS: readonly ['completed', 'completed_with_failures', 'failed', 'cancelled'];

// rules/retry-grant
declare const DENIAL_REASONS: readonly ['job_budget_exhausted', 'workflow_budget_exhausted', 'dispatch_attempts_exhausted', 'retry_budget_missing'];

// rules/datacenter-end
type DatacenterEnd = (typeof DATACENTER_ENDS)[number];

// rules/job-result
interface DatacenterResult {
  readonly name: string;
  readonly state: DatacenterEnd;
  readonly isLate: boolean;
  readonly reportedAtMs: number;
  readonly workflows: readonly WorkflowResult[];
}

// rules/retry-grant
type DenialReason = (typeof DENIAL_REASONS)[number];

// rules/completion
type JobOutcome = (typeof OUTCOMES)[number];

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

// rules/completion
declare const OUTCOMES: readonly ['complete', 'partial', 'below_minimum', 'failed'];

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
