/** What people and programs see of jobs. Types. */
import type { Clamp, EffectiveSettings } from '../rules/clamp.js'
import type { CompletionReason, JobOutcome } from '../rules/completion.js'
import type { DatacenterEnd, WorkflowCounts } from '../rules/datacenter-end.js'
import type { JobRequest } from '../rules/job-request.js'
import type { DenialReason } from '../rules/retry-grant.js'

/** `completed`: the job is over, however it ended. */
type JobState = 'running' | 'completed'

/** One line of a list of jobs. */
export interface JobSummary {
  /** The id of the job. */
  readonly id: string
  /** For people. */
  readonly name: string
  /** Whether it is over. */
  readonly state: JobState
  /** null while it runs. */
  readonly outcome: JobOutcome | null
  /** null while it runs. */
  readonly success: boolean | null
  /** Why it is over; null while it runs. */
  readonly reason: CompletionReason | null
  /** When it was submitted. */
  readonly submittedAtMs: number
  /** null while it runs. */
  readonly completedAtMs: number | null
  /** Its datacenters. */
  readonly targets: readonly string[]
  /** Datacenters that have reported. */
  readonly reported: number
}

/** Everything that is known of a job. */
export interface JobStatus extends JobSummary {
  /** As it was requested; documents are left out. */
  readonly requested: Omit<JobRequest, 'workflows' | 'id' | 'payloadHash'>
  /** What holds for it. */
  readonly effective: EffectiveSettings
  /** Values that it did not get as they were requested. */
  readonly clamps: readonly Clamp[]
  /** One for the job, or one for each datacenter. */
  readonly budgets: readonly BudgetStatus[]
  /** In the order of the request. */
  readonly datacenters: readonly DatacenterStatus[]
  /** What the job waits for, in a sentence; null once it is over. */
  readonly waitsFor: string | null
  /** Too many datacenters have failed for the minimum to be reached. */
  readonly isMinimumUnreachable: boolean
  /** 1 at the completion, and one more with every late result that was taken in. */
  readonly version: number
}

export interface BudgetStatus {
  /** null: of the whole job. */
  readonly datacenter: string | null
  /** Retries that may be granted. */
  readonly total: number
  /** Grants less refunds. */
  readonly used: number
  /** What is left. */
  readonly remaining: number
  /** Retries granted, ever. */
  readonly grants: number
  /** Retries given back, ever. */
  readonly refunds: number
}

export interface DatacenterStatus {
  /** The name of the datacenter. */
  readonly name: string
  /** `waiting`: no workflow has begun. `suspected`: it has no worker that holds its lease, and has not ended. */
  readonly state: 'waiting' | 'running' | 'suspected' | DatacenterEnd
  /** Its workflows by how they ended. */
  readonly counts: WorkflowCounts
  /** Workers that hold their lease. */
  readonly workers: number
  /** When it reported; null: it has not. */
  readonly reportedAtMs: number | null
  /** Whether it reported after the completion. */
  readonly isLate: boolean
  /** Whether it is part of the result. */
  readonly isCounted: boolean
  /** In the order of their names. */
  readonly workflows: readonly WorkflowStatus[]
}

export interface WorkflowStatus {
  /** The name of the workflow. */
  readonly name: string
  /** `blocked`: waits for a workflow that it needs. `parked`: waits for the budget. */
  readonly state:
    | 'blocked'
    | 'waiting'
    | 'running'
    | 'retrying'
    | 'parked'
    | 'succeeded'
    | 'failed'
    | 'skipped'
    | 'cancelled'
  /** Attempts that were made. */
  readonly attempts: number
  /** Retries that the budget was charged for. */
  readonly charged: number
  /** When its next attempt is due; null: none is, or it may start now. */
  readonly nextAttemptAtMs: number | null
  /** Of the last failure, or why it was skipped. */
  readonly error: string | null
  /** Why there is no further attempt. */
  readonly denied: DenialStatus | null
  /** How its attempts ended, in order. */
  readonly history: readonly AttemptStatus[]
}

/** A budget that said no. */
interface DenialStatus {
  /** Which limit it was. */
  readonly reason: DenialReason
  /** Of the count that said no. */
  readonly used: number
  /** Its limit. */
  readonly total: number
}

interface AttemptStatus {
  /** 1, and one more for every retry. */
  readonly attempt: number
  /** How it ended. */
  readonly outcome: string
  /** When it started. */
  readonly startedAtMs: number
  /** When it ended, or its worker was found to be lost. */
  readonly endedAtMs: number
  /** The kind of failure: `refused`, `interrupted`, or the error's own code; null where nothing failed. */
  readonly class: string | null
  /** What it failed with; null where nothing failed. */
  readonly error: string | null
}

/** A datacenter, over all jobs. */
export interface DatacenterView {
  /** The name of the datacenter. */
  readonly name: string
  /** The operator's reason; null: it is enabled. */
  readonly disabled: string | null
  /** Every worker that has a row, living or not. */
  readonly workers: readonly WorkerView[]
  /** Workflows that its living workers may run at a time. */
  readonly slots: number
  /** Workflows that they ran at their last heartbeat. */
  readonly running: number
  /** Of all its workers that have a row; null: none has. */
  readonly lastHeartbeatAtMs: number | null
}

export interface WorkerView {
  /** The id of the process in the ledger. */
  readonly id: string
  /** The name of its machine. */
  readonly host: string
  /** The id of its process. */
  readonly pid: number
  /** Workflows that it may run at a time. */
  readonly slots: number
  /** Workflows that ran at its last heartbeat. */
  readonly running: number
  /** What it says of its version; null: nothing. */
  readonly version: string | null
  /** Whether it holds its lease. */
  readonly isLiving: boolean
  /** When it was last heard of. */
  readonly lastHeartbeatAtMs: number
}
