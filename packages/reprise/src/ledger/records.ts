/**
 * What a ledger holds: plain data, the same in every store. Times are milliseconds since the epoch on the ledger's own
 * clock. Imports types of core only.
 *
 * Invariants: an unfinished task has exactly one of owner and due time, but for a parked one, which has both: its due
 * time is the end of its patience. A fence never falls. What is terminal stays so, within its generation.
 */
import type { StoredState } from '../core/state.js'
import type { AttemptResult, StopReason } from '../core/words.js'

/** A value that JSON can say. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export const SCOPE_KINDS = ['task', 'run'] as const

/** `task`: the tasks that a program registered under one name. `run`: the steps of one run of a workflow. */
export type ScopeKind = (typeof SCOPE_KINDS)[number]

/** What a task's id is unique in. Scopes of two kinds never collide, even if they have the same name. */
export interface Scope {
  /** `task` for tasks of programs, `run` for steps of runs. */
  readonly scopeKind: ScopeKind
  /** The task's name, or the id of the run. */
  readonly scope: string
}

/** What names a task within a ledger. */
export interface TaskKey extends Scope {
  /** Unique within the scope. */
  readonly id: string
}

export function keyOf({ scopeKind, scope, id }: TaskKey): TaskKey {
  return { scopeKind, scope, id }
}

/** The key of the task with this id in the scope. */
export function keyIn({ scopeKind, scope }: Scope, id: string): TaskKey {
  return { scopeKind, scope, id }
}

/** A task's key as one text, for maps. */
export function nameOf({ scopeKind, scope, id }: TaskKey | LedgerEvent): string {
  return `${scopeKind}\u0000${scope}\u0000${id}`
}

/** A task's key as people read it: `task charge/order-42`, `step nightly/fetch`. */
export function wordsOf({ scopeKind, scope, id }: TaskKey): string {
  return `${scopeKind === 'run' ? 'step' : 'task'} ${scope}/${id}`
}

/** The scope of a run's steps. */
export function scopeOfRun(id: string): Scope {
  return { scopeKind: 'run', scope: id }
}

export const TASK_STATUSES = ['waiting', 'running', 'parked', 'undecided', 'succeeded', 'failed', 'cancelled'] as const

/** `undecided`: interrupted, and only a person can say whether it happened. */
export type TaskStatus = (typeof TASK_STATUSES)[number]

export const FINISHED_STATUSES = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly TaskStatus[]

export type FinishedStatus = (typeof FINISHED_STATUSES)[number]

export const TERMINAL: ReadonlySet<TaskStatus> = new Set(FINISHED_STATUSES)

/** An error as data. */
export interface FailureRecord {
  /** The error's name. */
  readonly name: string
  /** Its message, shortened. */
  readonly message: string
  /** Its `code`; absent if it has none. */
  readonly code?: string
  /** The exit code of a command; absent if there is none. */
  readonly exitCode?: number
  /** The HTTP status of the error; absent if it has none. */
  readonly status?: number
  /** The error itself said that no further attempt will help; absent if it said nothing. */
  readonly retryable?: false
  /** The error itself said that the whole map must stop; absent if it said nothing. */
  readonly halt?: true
  /** The gate that did not let the next attempt start; absent if no gate ended the task. */
  readonly denial?: {
    /** The key of the gate: `budget:api`, `breaker:mail`. */
    readonly gate: string
    /** The gate's own word for it. */
    readonly reason: string
    /** What the budget threw in place of an answer; absent if it answered. */
    readonly message?: string
  }
}

/** How far the attempt in flight is known to have come. */
interface CurrentAttempt {
  /** 1..attempts of the policy. */
  readonly attempt: number
  /** When it started. */
  readonly startedAtMs: number
  /** Starts of this attempt: 1, and one more for every interruption. */
  readonly execution: number
  /** The slot of a half-open breaker that it holds; absent without one, and once somebody has given it back. */
  readonly probe?: ProbeSlot
  /** The id of the first task of the batch that the attempt is a part of; its own id for the first. Absent without batches. */
  readonly batch?: string
}

/** An execution that was charged as failed, since its process was taken for lost. */
interface LostExecution {
  /** The attempt that it was an execution of. */
  readonly attempt: number
  /** Which execution of the attempt. */
  readonly execution: number
  /** When it started. */
  readonly startedAtMs: number
  /** The wait before it. */
  readonly delayBeforeMs: number
  /** The process that was taken for lost. */
  readonly owner: string
}

/** One of those that a breaker lets through to see whether all is well again. */
export interface ProbeSlot {
  /** The breaker's key. */
  readonly breaker: string
  /** Since when, in the breaker's own count. */
  readonly epoch: number
}

/** The part of a task that changes with every attempt; kept as one value. */
export interface TaskProgress {
  /** The retry state. */
  readonly retry: StoredState
  /** The attempt that runs, or was running when its owner was lost; null between attempts. */
  readonly current: CurrentAttempt | null
  /** Interruptions of the current attempt that nobody ordered. */
  readonly interruptions: number
  /** How the last failed attempt failed; where a gate denied the first attempt, that denial. */
  readonly lastFailure: FailureRecord | null
  /** The owner that chose the wait. */
  readonly waitChosenBy?: string
  /** When it was taken up again, if it was resumed; see `RetryState.resumed`. */
  readonly resumedAtMs?: number
  /** Nobody knows how the interrupted attempt ended, and the program can look: it is asked before anything is run. */
  readonly unverified?: boolean
  /** It was a part of a batch that failed, and runs without others from now on. */
  readonly alone?: boolean
  /** The policy changed on the way: it may allow fewer attempts than were made. */
  readonly policyAccepted?: boolean
  /** The resume that brought it here, to join what is told about it. */
  readonly resumeId?: string
  /** Set by `retryNow`: the next attempt may start before its time. */
  readonly startEarly?: boolean
  /** Until the next claim: if its process lives after all, the result of this execution still counts. */
  readonly lost?: LostExecution
  /** Retries that were charged to the allotment of the task, over all its generations. */
  readonly allotted?: number
  /** The retry it waits for has not been charged yet: the allotment is asked again before it starts. */
  readonly unpaid?: true
  /** What the rule of the allotment keeps of the retry that it denied. */
  readonly budgetDenial?: Json
  /** Processes that failed the task last, where others are preferred for its retries. */
  readonly failedOn?: readonly string[]
  /** Retries of this generation are charged to no allotment: the task was redriven. */
  readonly uncharged?: boolean
  /** The task has a group, whose rows change with its class: only a program that defines the group may change it. */
  readonly grouped?: boolean
  /** A person has closed the dead letter of this generation: nothing is to be done. */
  readonly acknowledged?: boolean
  /** Why a budget denied the attempt that did not come, in its own word; the stop reason is `budget_denied` then. */
  readonly budgetReason?: string
  /** How its earlier generations ended, the first first; absent before the first reset. The last ones of very many. */
  readonly earlier?: readonly EndedGeneration[]
  /** The execution that wrote the task's checkpoint; absent without one. Its value is kept apart, since it may be long. */
  readonly checkpoint?: {
    /** The attempt that wrote it. */
    readonly attempt: number
    /** The execution of that attempt. */
    readonly execution: number
  }
}

/** How a generation of a task had ended when a fresh set of attempts was granted. */
export interface EndedGeneration {
  /** The generation. */
  readonly generation: number
  /** What had become of the task. */
  readonly status: TaskStatus
  /** Why it had ended without success; null otherwise. */
  readonly stopReason: StopReason | null
  /** Attempts begun in it. */
  readonly attempts: number
  /** The sum of its waits. */
  readonly waitedMs: number
  /** When it ended. */
  readonly endedAtMs: number
}

/** What a task's program keeps of how far it has come. */
export interface CheckpointChange extends TaskKey {
  /** Absent: the checkpoint is removed. */
  readonly value?: Json
}

/** An input that replaces the one a task was recorded with. What makes two submissions the same stays as it is. */
export interface InputChange extends TaskKey {
  /** What its function is given from now on. */
  readonly input: Json
}

/** A task as the ledger has it. */
export interface TaskRecord extends TaskKey {
  /** Where it waits for its attempts. */
  readonly queue: string
  /** 1, and one more for every reset. */
  readonly generation: number
  /** What becomes of it now. */
  readonly status: TaskStatus
  /** When it is to be taken up: null while it runs and once it has ended; of a parked task, when it gives up. */
  readonly dueAtMs: number | null
  /** The id of the process that has it; null if none has. */
  readonly owner: string | null
  /** Rises with every change of owner; a process with a smaller one writes nothing. */
  readonly fence: number
  /** The part that changes with every attempt. */
  readonly progress: TaskProgress
  /** The key of the policy as data: see `PolicyRecord`. */
  readonly policyHash: string
  /** What its function is given. */
  readonly input: Json
  /** Absent until it succeeded. */
  readonly result?: Json
  /** Why it ended without success; null otherwise. */
  readonly stopReason: StopReason | null
  /** The tally that counts it, from its creation to its removal; absent for none. Never changed. */
  readonly tally?: string
  /** Joins its events, over processes and resets. */
  readonly correlationId: string
  /** When it was recorded. */
  readonly createdAtMs: number
  /** When it last changed. */
  readonly updatedAtMs: number
  /** What of its history was removed for its length. The ledger's own: what a transaction says of it is not written. */
  readonly compacted?: Compaction
}

/** History that is counted, and no longer there. */
export interface Compaction {
  /** Rows of attempts that were removed. */
  readonly attempts: number
  /** The last of them ended then. */
  readonly untilMs: number
}

/** A resolved policy, kept once for all tasks that have it. */
export interface PolicyRecord {
  /** The key of the policy. */
  readonly hash: string
  /** The policy, every default filled in. */
  readonly policy: Json
}

/** One start of an attempt that has ended or was interrupted, or that a gate denied (`failure.denial`). */
export interface AttemptRow extends TaskKey {
  /** The generation of the task. */
  readonly generation: number
  /** 1..attempts of the policy. */
  readonly attempt: number
  /** Starts of this attempt, this one included: above 1, an earlier one was interrupted. */
  readonly execution: number
  /** When it started. */
  readonly startedAtMs: number
  /** When it ended, or was found to be interrupted. */
  readonly endedAtMs: number
  /** How it ended. */
  readonly outcome: AttemptResult
  /** The wait before it. */
  readonly delayBeforeMs: number
  /** What it failed with; null if it did not fail. */
  readonly failure: FailureRecord | null
  /** The kind of failure, as it is counted; null where no operation failed. Kept, so that a store can group by it. */
  readonly signature: string | null
  /** The id of the process that ran it. */
  readonly owner: string
}

/** The kind of a job's run; commands of workflows leave these runs alone. */
export const JOB_KIND = 'job'
/** The kind of the run of one datacenter of a job. */
export const DATACENTER_KIND = 'job-datacenter'
/** Kinds of runs that no process conducts: every process serves their tasks. */
export const UNCONDUCTED_KINDS: ReadonlySet<string> = new Set([JOB_KIND, DATACENTER_KIND])

export const RUN_STATUSES = [
  'running',
  'interrupted',
  'succeeded',
  'completed_with_failures',
  'failed',
  'cancelled',
  'removing',
] as const

/** `interrupted`: stopped in order; one whose owner is lost still says `running`. `removing`: nobody takes it up any more. */
export type RunStatus = (typeof RUN_STATUSES)[number]

/** Statuses of a run that has a time of its end. One that failed can still be resumed. */
export const ENDED_RUN_STATUSES: ReadonlySet<RunStatus> = new Set([
  'succeeded',
  'completed_with_failures',
  'failed',
  'cancelled',
  'removing',
])

/** What groups tasks that follow each other: who conducts it, and how far it is. */
export interface RunRecord {
  /** Unique within the ledger. */
  readonly id: string
  /** Whose it is: `workflow`, or what a program calls its own. */
  readonly kind: string
  /** The name of the workflow, or what a program calls it. */
  readonly name: string
  /** What becomes of it now. */
  readonly status: RunStatus
  /** The id of the process that conducts it; null if none does. */
  readonly owner: string | null
  /** Rises with every change of owner; who has a smaller one writes nothing. */
  readonly fence: number
  /** How often somebody has taken it up again. */
  readonly resumes: number
  /** Of what it runs: whether a later program would run the same. */
  readonly fingerprint: string
  /** What its kind wants to know again; short, since every step reads it. */
  readonly detail: Json
  /** Joins its events. */
  readonly correlationId: string
  /** When it began. */
  readonly createdAtMs: number
  /** When it last changed. */
  readonly updatedAtMs: number
  /** When it ended; null if it has not. */
  readonly endedAtMs: number | null
}

/** A budget or breaker as its own snapshot, the limit of a queue (`QueueState`), or a row that a package keeps for itself. */
export interface GateRecord {
  /** The kind and the name: `breaker:mail`. */
  readonly key: string
  /** What it is. */
  readonly kind: 'budget' | 'breaker' | 'queue' | 'record'
  /** Its snapshot. */
  readonly state: Json
  /** What it was made with, for people to read; absent where that is not known. */
  readonly settings?: Json
  /** How often it was changed by hand; absent for never. A process that knows a smaller one takes the state as it is. */
  readonly manualRevision?: number
}

/** What a process says of itself, for people to read; nothing is decided by it. */
export interface OwnerIdentity {
  /** What it is: `worker`, `gate`, or what a program calls its own. @default not said @example { role: 'worker' } */
  readonly role?: string
  /** Where it runs: a datacenter. @default not said @example { site: 'eu' } */
  readonly site?: string
  /** The version of the program. @default not said @example { version: '1.4.2' } */
  readonly version?: string
}

/** A process that may own tasks. */
export interface OwnerRecord extends OwnerIdentity {
  /** Unique for each opening of a ledger. */
  readonly id: string
  /** The name of its machine. */
  readonly host: string
  /** The id of its process. */
  readonly pid: number
  /** When the process started, in the system's own unit: a pid that is used again has another. */
  readonly processStart: string
  /** Differs after each start of its machine. */
  readonly bootId: string
  /** When it opened the ledger. */
  readonly startedAtMs: number
  /** Until when it is believed to live, on the scale of `leaseNow`. */
  readonly leaseUntilMs: number
  /** How long its lease is after each renewal; absent in rows of older versions. */
  readonly leaseMs?: number
  /** Attempts that it may run at a time. */
  readonly slots?: number
  /** Queues of tasks that it serves and that any process may serve, in order; absent if they are very many. */
  readonly queues?: readonly string[]
  /** Attempts that ran when it last renewed its row. */
  readonly running?: number
}

/** @public `scripts/reference.mjs` lists them. */
export const LEDGER_EVENTS = [
  'resumed',
  'interrupted',
  'reset',
  'cancelled',
  'retry_now',
  'decided',
  'policy_accepted',
  'input_changed',
  'acknowledged',
  'compacted',
  'migrated',
  'run_started',
  'run_resumed',
  'run_finished',
  'run_changed',
  'gate_changed',
  'breaker_changed',
] as const

/** Whose events; both names are empty for an event that concerns no task and no run. */
export type EventScope = (Scope | { readonly scopeKind: ''; readonly scope: '' }) & {
  /**
   * Only events of this task; empty: only those of the run as a whole.
   * @default events of all tasks of the scope, and of the run itself
   * @example { scopeKind: 'run', scope: 'nightly-1', id: '' }
   */
  readonly id?: string
}

/** What happened beside attempts, which have rows of their own. */
export interface LedgerEvent {
  /** What happened. */
  readonly type: (typeof LEDGER_EVENTS)[number]
  /** Empty for an event that concerns no task and no run; `scope` and `id` are empty then. */
  readonly scopeKind: EventScope['scopeKind']
  /** The task's name, or the id of the run. */
  readonly scope: string
  /** The task; empty for an event that concerns the run as a whole. */
  readonly id: string
  /** When it happened. */
  readonly atMs: number
  /** Joins the events of one task or run. */
  readonly correlationId: string
  /** What else is known of it; its shape depends on the type. */
  readonly detail: Json
}

/** An event as the ledger has it. */
export interface StoredEvent extends LedgerEvent {
  /** Its place in the order of events. */
  readonly seq: number
}

/** `acknowledged`: a person has seen it, and nothing is to be done. */
export type LetterClosing = 'succeeded' | 'reset' | 'decided' | 'cancelled' | 'acknowledged'

/**
 * A task that failed or is undecided, kept for people to look at and to try again. It has one open letter; a generation of
 * a task has at most one letter, which stays when it is closed, and is opened again if the same generation fails later.
 */
export interface DeadLetter extends TaskKey {
  /** The generation that failed. */
  readonly generation: number
  /** When it failed. */
  readonly atMs: number
  /** The kind of failure, as it is counted. */
  readonly signature: string
  /** Why it was not retried. */
  readonly stopReason: StopReason
  /** The last failure; null if no attempt failed. */
  readonly failure: FailureRecord | null
  /** Absent while it is open. */
  readonly closed?: {
    /** When it was closed. */
    readonly atMs: number
    /** What closed it. */
    readonly by: LetterClosing
  }
}

/** The letter of this generation is closed, if there is one that is open. */
export interface ClosedLetter extends TaskKey {
  /** The generation of the task whose letter it is. */
  readonly generation: number
  /** When it is closed. */
  readonly atMs: number
  /** What closes it. */
  readonly by: LetterClosing
}
