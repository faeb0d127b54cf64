// reprise/durable: 100 names, 12 values and 88 types. Written by `npm run api`.
//
// values:
//   GateRefusedError, LedgerError, MemoryLedger, RecordedFailureError, TaskRefusedError, grantBudget, listGates,
//   openDurable, openLedger, resetBreaker, resetBudget, tripBreaker,
//
// types:
//   Allotment, AnalyticsFilter, AttemptCounts, AttemptRow, Checkpoint, CheckpointChange, ClosedLetter, CompactRequest,
//   Compacted, Creation, DeadLetter, Decided, DelaySpent, DueRequest, Durable, DurableContext, DurableOptions,
//   EventScope, FailurePattern, FailureRecord, ForgetRequest, Forgotten, GateChange, GateRecord, GateRefusal,
//   GrantOptions, Json, JsonOf, Keys, Ledger, LedgerAnalytics, LedgerOptions, LedgerProblem, LetterClosing,
//   MemoryLedgerOptions, NamedTally, NewTask, OwnerIdentity, OwnerRecord, PatternFilter, PolicyRecord, QueueRef,
//   Recordable, RecoveryFilter, RecoveryRate, RefusalKind, RefusedTask, ResetOptions, ResumeOptions, ResumeStats,
//   Resumption, RetentionInput, RunFilter, RunRecord, RunRemoval, Scope, Seat, SkippedTask, StartInput, StartOptions,
//   StatusCounts, StoreAvailability, StoredBreaker, StoredBudget, StoredEvent, StoredGates, Swept, Tally, TallyFilter,
//   TaskFilter, TaskFunction, TaskGroup, TaskHandle, TaskHistory, TaskKey, TaskOptions, TaskRecord, TaskResult,
//   TaskStartOptions, TaskState, TaskStatus, ThreadHeartbeat, Totals, TransactionClient, TripOptions, VerifyAnswer,
//   VerifyFunction, View,

import type {
  BreakerInput, Budget, Clock, DurationInput, ExecutorOptions, Observer, PolicyArgument, RepriseError, StopReason,
} from 'reprise'
import type {
  BreakerPolicy, BreakerState, StoredState,
} from 'reprise/core'

export interface Allotment {
  readonly budget: string;
  readonly total?: number;
  readonly perTask?: number;
  readonly reasons?: AllotmentReasons;
}

export interface AnalyticsFilter extends ScopeFilter {
  readonly queue?: string;
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

export interface AttemptCounts {
  readonly last: number;
  readonly ended: number;
}

export interface AttemptRow extends TaskKey {
  readonly generation: number;
  readonly attempt: number;
  readonly execution: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly outcome: AttemptResult;
  readonly delayBeforeMs: number;
  readonly failure: FailureRecord | null;
  readonly signature: string | null;
  readonly owner: string;
}

export interface Checkpoint<C> {
  readonly value: C;
  readonly attempt: number;
  readonly execution: number;
}

export interface CheckpointChange extends TaskKey {
  readonly value?: Json;
}

export interface ClosedLetter extends TaskKey {
  readonly generation: number;
  readonly atMs: number;
  readonly by: LetterClosing;
}

export interface CompactRequest {
  readonly maxHistoryPerTask?: number;
  readonly eventsBeforeMs?: number;
  readonly lettersBeforeMs?: number;
  readonly policiesBeforeMs?: number;
  readonly ownersBeforeMs?: number;
  readonly reclaim?: boolean;
  readonly limit: number;
}

export interface Compacted extends Omit<Forgotten, 'tasks'> {
  readonly tasks: number;
  readonly policies: number;
  readonly owners: number;
  readonly reclaimedBytes: number;
}

export interface Creation {
  readonly type: 'created' | 'existing' | 'conflict';
  readonly task: TaskRecord;
}

export interface DeadLetter extends TaskKey {
  readonly generation: number;
  readonly atMs: number;
  readonly signature: string;
  readonly stopReason: StopReason;
  readonly failure: FailureRecord | null;
  readonly closed?: {
    readonly atMs: number;
    readonly by: LetterClosing;
  };
}

export interface Decided<T> extends Changes {
  readonly result: T;
}

export interface DelaySpent extends Scope {
  readonly attempts: number;
  readonly waits: number;
  readonly totalMs: number;
  readonly meanMs: number;
  readonly maxMs: number;
}

export interface DueRequest {
  readonly queues: readonly QueueRef[];
  readonly limit: number;
  readonly gates?: readonly string[];
  readonly runs?: readonly string[];
  readonly except?: readonly TaskKey[];
  readonly isUngated?: boolean;
  readonly onFull?: (queue: string) => void;
}

export declare class Durable {
  readonly runs: Runs;
  task<I, R, C = Json>(name: string, policy: PolicyArgument, run: TaskFunction<I, R, C> & Recordable<I, R, C>, options?: TaskOptions<I, R>): TaskHandle<I, R>;
  resume(options?: ResumeOptions): Promise<Resumption>;
  get analytics(): LedgerAnalytics;
  sweep(): Promise<Swept>;
  work(): Promise<void>;
  drain(): Promise<void>;
  stop(): Promise<void>;
  close(): Promise<void>;
}

export interface DurableContext<C = Json> {
  readonly attempt: number;
  readonly launch: number;
  readonly kind: 'retry';
  readonly key: string;
  readonly signal: AbortSignal;
  readonly remainingMs?: number | undefined;
  readonly previousError?: Error | undefined;
  readonly taskId: string;
  readonly generation: number;
  readonly idempotencyKey: string;
  readonly correlationId: string;
  readonly execution: number;
  readonly lastCheckpoint?: Checkpoint<C> | undefined;
  checkpoint(this: void, value: C): Promise<void>;
}

export interface DurableOptions extends Shared {
  readonly concurrency?: number;
  readonly lease?: DurationInput;
  readonly policyChange?: 'refuse' | 'accept';
  readonly breakers?: Readonly<Record<string, BreakerInput>>;
  readonly retention?: RetentionInput;
  readonly identity?: OwnerIdentity;
  readonly onFailure?: (error: unknown) => void;
  readonly synchronous?: 'full' | 'normal';
}

export type EventScope = (Scope | {
  readonly scopeKind: '';
  readonly scope: '';
}) & {
  readonly id?: string;
};

export interface FailurePattern {
  readonly signature: string;
  readonly count: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly tasks: number;
  readonly recovered: number;
  readonly failed: number;
  readonly examples: readonly FailureExample[];
}

export interface FailureRecord {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly exitCode?: number;
  readonly status?: number;
  readonly retryable?: false;
  readonly halt?: true;
  readonly denial?: {
    readonly gate: string;
    readonly reason: string;
    readonly message?: string;
  };
}

export interface ForgetRequest {
  readonly status: FinishedStatus;
  readonly beforeMs: number;
  readonly limit: number;
}

export interface Forgotten {
  readonly tasks: number;
  readonly attempts: number;
  readonly events: number;
  readonly deadLetters: number;
}

export interface GateChange {
  readonly gate: string;
  readonly action: GateAction;
  readonly reason: string;
  readonly by?: string;
  readonly before: Json;
  readonly after: Json;
  readonly amount?: number;
}

export interface GateRecord {
  readonly key: string;
  readonly kind: 'budget' | 'breaker' | 'queue' | 'record';
  readonly state: Json;
  readonly settings?: Json;
  readonly manualRevision?: number;
}

export type GateRefusal = 'not_found' | 'nothing_to_grant' | 'state_refused';

export declare class GateRefusedError extends RepriseError {
  readonly code: 'gate_refused';
  readonly kind: GateRefusal;
  readonly gates: readonly string[];
  constructor(kind: GateRefusal, message: string, gates?: readonly string[]);
  get name(): string;
}

export interface GrantOptions {
  readonly reason: string;
  readonly amount: number;
}

export type Json = null | boolean | number | string | readonly Json[] | {
  readonly [key: string]: Json;
};

export type JsonOf<T> = unknown extends T ? T : T extends Json | undefined | void ? T : T extends Date ? 'a Date is not JSON: pass date.toISOString()' : T extends bigint | symbol | ((...args: never) => unknown) ? 'not JSON' : {
  [K in keyof T]: JsonOf<T[K]>;
};

export interface Keys {
  readonly tasks: readonly TaskKey[];
  readonly gates?: readonly string[];
  readonly runs?: readonly string[];
}

export interface Ledger extends LedgerWriter, LedgerReader, LedgerHousekeeping {
  readonly name: string;
  readonly spans: 'machine' | 'network';
  readonly analytics: LedgerAnalytics;
  now(): Promise<number>;
  leaseNow(): Promise<number>;
  changeMark(): Promise<number>;
  listen(heard: () => void): Promise<() => void>;
  watchAvailability?(heard: (state: StoreAvailability) => void): Promise<() => void>;
  close(): Promise<void>;
}

export interface LedgerAnalytics extends LedgerFigures {
  totals(filter?: AnalyticsFilter): Promise<Totals>;
  failurePatterns(filter?: PatternFilter): Promise<readonly FailurePattern[]>;
  recovery(filter?: RecoveryFilter): Promise<readonly RecoveryRate[]>;
  delays(filter?: AnalyticsFilter): Promise<readonly DelaySpent[]>;
  resumes(filter?: AnalyticsFilter): Promise<ResumeStats>;
  history(key: TaskKey): Promise<TaskHistory | undefined>;
}

export declare class LedgerError extends RepriseError {
  readonly code: 'ledger';
  readonly problem: LedgerProblem;
  constructor(problem: LedgerProblem, message: string, cause?: unknown);
  get name(): string;
}

export interface LedgerOptions extends Pick<DurableOptions, 'clock' | 'synchronous'> {
  readonly create?: boolean;
  readonly readOnly?: boolean;
}

export type LedgerProblem = 'unusable' | 'busy' | 'unreachable' | 'missing' | 'newer_format' | 'corrupt' | 'missing_driver' | 'closed' | 'refused';

export type LetterClosing = 'succeeded' | 'reset' | 'decided' | 'cancelled' | 'acknowledged';

export declare class MemoryLedger implements Ledger {
  readonly name = "memory:";
  readonly spans = "machine";
  readonly analytics: LedgerAnalytics;
  constructor(options?: MemoryLedgerOptions);
  now(): Promise<number>;
  leaseNow(): Promise<number>;
  changeMark(): Promise<number>;
  listen(): Promise<() => void>;
  create(tasks: readonly NewTask[]): Promise<readonly Creation[]>;
  transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T>;
  claim<T>(request: DueRequest, decide: ClaimDecision<T>): Promise<readonly T[]>;
  nextDueAtMs(queues: readonly QueueRef[], except?: readonly TaskKey[]): Promise<number | null>;
  heartbeat(owner: OwnerRecord): Promise<void>;
  owners(): Promise<readonly OwnerRecord[]>;
  taskOwners(): Promise<readonly string[]>;
  removeOwner(id: string): Promise<void>;
  get(key: TaskKey): Promise<TaskRecord | undefined>;
  list(filter: TaskFilter): Promise<readonly TaskRecord[]>;
  retrying(filter?: RetryingFilter): Promise<readonly TaskRecord[]>;
  countWaiting(queue: string): Promise<readonly WaitingCount[]>;
  waiting(filter: WaitingFilter): Promise<readonly TaskRecord[]>;
  survey(filter: SurveyFilter): Promise<SurveyPage>;
  checkpoint(key: TaskKey): Promise<Json | undefined>;
  run(id: string): Promise<RunRecord | undefined>;
  runs(filter: RunFilter): Promise<readonly RunRecord[]>;
  definition(run: string): Promise<Json | undefined>;
  policy(hash: string): Promise<PolicyRecord | undefined>;
  keepPolicy(policy: PolicyRecord): Promise<void>;
  attempts(key: TaskKey): Promise<readonly AttemptRow[]>;
  attemptsOfRun(run: string, page?: AttemptPage): Promise<readonly AttemptRow[]>;
  results(run: string, page?: ResultPage): Promise<readonly TaskResult[]>;
  countTasks(run: string): Promise<StatusCounts>;
  attemptCounts(keys: readonly TaskKey[]): Promise<readonly AttemptCounts[]>;
  tally(name: string): Promise<Tally>;
  tallies({ prefix, after, limit }: TallyFilter): Promise<readonly NamedTally[]>;
  gates(): Promise<readonly GateRecord[]>;
  deadLetters(filter?: LetterFilter): Promise<readonly DeadLetter[]>;
  events(afterSeq: number, limit: number, scope?: EventScope): Promise<readonly StoredEvent[]>;
  removeRun(id: string, limit: number, gates?: readonly string[]): Promise<RunRemoval>;
  forget(request: ForgetRequest): Promise<Forgotten>;
  compact(request: CompactRequest): Promise<Compacted>;
  close(): Promise<void>;
}

export interface MemoryLedgerOptions {
  readonly clock?: Clock | undefined;
}

export interface NamedTally extends Tally {
  readonly name: string;
}

export interface NewTask {
  readonly task: TaskRecord;
  readonly policy: PolicyRecord;
  readonly payloadHash: string;
}

export interface OwnerIdentity {
  readonly role?: string;
  readonly site?: string;
  readonly version?: string;
}

export interface OwnerRecord extends OwnerIdentity {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly processStart: string;
  readonly bootId: string;
  readonly startedAtMs: number;
  readonly leaseUntilMs: number;
  readonly leaseMs?: number;
  readonly slots?: number;
  readonly queues?: readonly string[];
  readonly running?: number;
}

export interface PatternFilter extends AnalyticsFilter {
  readonly limit?: number;
  readonly examples?: number;
}

export interface PolicyRecord {
  readonly hash: string;
  readonly policy: Json;
}

export interface QueueRef {
  readonly queue: string;
  readonly policyHash: string;
  readonly most?: number;
  readonly ranks?: readonly number[];
  readonly batch?: {
    readonly most: number;
    readonly apart?: ((this: void, task: TaskRecord) => string) | undefined;
  };
}

export type Recordable<I, R, C = null> = [I, R, C] extends [JsonOf<I>, JsonOf<R>, JsonOf<C>] ? unknown : {
  readonly notJson: {
    readonly input: JsonOf<I>;
    readonly result: JsonOf<R>;
    readonly checkpoint: JsonOf<C>;
  };
};

export declare class RecordedFailureError extends RepriseError {
  readonly code: 'recorded_failure';
  readonly stopReason: StopReason;
  readonly budgetReason: string | undefined;
  readonly attempts: number;
  readonly failure: FailureRecord | null;
  readonly task: TaskKey;
  constructor(task: TaskRecord);
  get name(): string;
}

export interface RecoveryFilter extends AnalyticsFilter {
  readonly generations?: 'all' | 'last';
}

export interface RecoveryRate {
  readonly attempt: number;
  readonly reached: number;
  readonly succeeded: number;
  readonly rate: number;
}

export type RefusalKind = 'conflict' | 'policy_changed' | 'not_found' | 'finished' | 'not_waiting' | 'not_failed' | 'state_refused' | 'locked' | 'run_lost' | 'task_lost' | 'closed';

export interface RefusedTask extends TaskKey {
  readonly faults: readonly string[];
  readonly task: TaskRecord;
}

export interface ResetOptions {
  readonly reason: string;
}

export interface ResumeOptions {
  readonly force?: boolean;
}

export interface ResumeStats {
  readonly interruptedTasks: number;
  readonly interruptions: number;
  readonly counted: number;
  readonly reExecutions: number;
  readonly resumedTasks: number;
  readonly resumes: number;
  readonly recovered: number;
  readonly resumedRuns: number;
  readonly runResumes: number;
}

export interface Resumption {
  readonly resumed: number;
  readonly waiting: number;
  readonly migrated: number;
  readonly skipped: readonly SkippedTask[];
  readonly skippedCount: number;
  readonly refused: readonly RefusedTask[];
  readonly undecided: readonly TaskKey[];
  readonly others: readonly OtherOwner[];
  readonly elapsedMs: number;
}

export interface RetentionInput {
  readonly succeeded?: DurationInput;
  readonly cancelled?: DurationInput;
  readonly failed?: DurationInput;
  readonly events?: DurationInput;
  readonly maxHistoryPerTask?: number;
}

export interface RunFilter {
  readonly idPrefix?: string;
  readonly name?: string;
  readonly kind?: string;
  readonly statuses?: readonly RunStatus[];
  readonly sinceMs?: number;
  readonly after?: Pick<RunRecord, 'id' | 'createdAtMs'>;
  readonly limit?: number;
}

export interface RunRecord {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly status: RunStatus;
  readonly owner: string | null;
  readonly fence: number;
  readonly resumes: number;
  readonly fingerprint: string;
  readonly detail: Json;
  readonly correlationId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly endedAtMs: number | null;
}

export interface RunRemoval extends Forgotten {
  readonly isDone: boolean;
}

export interface Scope {
  readonly scopeKind: ScopeKind;
  readonly scope: string;
}

export interface Seat {
  readonly place: number;
  readonly isFirst: boolean;
}

export interface SkippedTask extends TaskKey {
  readonly changes: ReturnType<typeof differences>;
}

export interface StartInput<I> extends TaskStartOptions {
  readonly input: I;
}

export interface StartOptions extends TaskStartOptions {
  readonly client?: TransactionClient;
}

export type StatusCounts = Readonly<Partial<Record<TaskStatus, number>>>;

export type StoreAvailability = {
  readonly isAway: true;
  readonly reason: string;
} | {
  readonly isAway: false;
  readonly awayMs: number;
};

export interface StoredBreaker {
  readonly name: string;
  readonly state: BreakerState;
  readonly lastFailureAtMs: number | null;
  readonly settings: BreakerSettings | null;
}

export interface StoredBudget {
  readonly name: string;
  readonly type: string | null;
  readonly settings: Json;
  readonly state: Json;
  readonly isGrantable: boolean;
}

export interface StoredEvent extends LedgerEvent {
  readonly seq: number;
}

export interface StoredGates {
  readonly breakers: readonly StoredBreaker[];
  readonly budgets: readonly StoredBudget[];
}

export interface Swept {
  readonly tasks: number;
  readonly attempts: number;
  readonly events: number;
  readonly deadLetters: number;
  readonly shortened: number;
  readonly policies: number;
  readonly owners: number;
  readonly reclaimedBytes: number;
  readonly more: boolean;
}

export interface Tally {
  readonly total: number;
  readonly fresh: number;
  readonly retrying: number;
  readonly undecided: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
}

export interface TallyFilter {
  readonly prefix?: string;
  readonly after?: string;
  readonly limit?: number;
}

export interface TaskFilter extends ScopeFilter {
  readonly queue?: string;
  readonly statuses?: readonly TaskStatus[];
  readonly hasFailed?: boolean;
  readonly sinceMs?: number;
  readonly owner?: string;
  readonly withInput?: boolean;
  readonly limit?: number;
  readonly after?: TaskKey;
}

export type TaskFunction<I, R, C = Json> = (input: I, context: DurableContext<C>) => R | PromiseLike<R>;

export interface TaskGroup {
  readonly classes?: readonly TaskClass[];
  keys(task: TaskRecord): GroupKeys;
  follow(view: View, change: GroupChange, now: number): Changes;
}

export interface TaskHandle<I, R> {
  run(input: I, options?: TaskStartOptions): Promise<R>;
  start(input: I, options?: StartOptions): Promise<{
    readonly id: string;
  }>;
  startAll(tasks: readonly StartInput<I>[]): Promise<readonly {
    readonly id: string;
  }[]>;
  status(id: string): Promise<TaskState | undefined>;
  cancel(id: string): Promise<void>;
  retryNow(id: string): Promise<void>;
  reset(id: string): Promise<void>;
  decide(id: string, answer: 'done' | 'rerun', result?: R): Promise<void>;
}

export interface TaskHistory extends TaskKey {
  readonly correlationId: string;
  readonly attempts: readonly AttemptRow[];
  readonly events: readonly StoredEvent[];
  readonly compacted: Compaction | null;
}

export interface TaskKey extends Scope {
  readonly id: string;
}

export interface TaskOptions<I, R> {
  readonly onInterrupt?: 'rerun' | 'charge' | 'fail' | {
    readonly verify: VerifyFunction<I, R>;
  };
  readonly group?: TaskGroup;
  readonly tally?: string | ((task: TaskRecord) => string | undefined);
  readonly allot?: Allotment;
  readonly most?: number;
  readonly rate?: {
    readonly perSecond: number;
    readonly burst?: number;
  };
  readonly whenDenied?: 'end' | 'hold';
}

export interface TaskRecord extends TaskKey {
  readonly queue: string;
  readonly generation: number;
  readonly status: TaskStatus;
  readonly dueAtMs: number | null;
  readonly owner: string | null;
  readonly fence: number;
  readonly progress: TaskProgress;
  readonly policyHash: string;
  readonly input: Json;
  readonly result?: Json;
  readonly stopReason: StopReason | null;
  readonly tally?: string;
  readonly correlationId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly compacted?: Compaction;
}

export declare class TaskRefusedError extends RepriseError {
  readonly code: 'task_refused';
  readonly kind: RefusalKind;
  readonly changes: readonly FieldChange[];
  constructor(kind: RefusalKind, message: string, changes?: readonly FieldChange[]);
  static ofState({ scope, id }: TaskKey, faults: readonly string[]): TaskRefusedError;
  get name(): string;
}

export interface TaskResult {
  readonly id: string;
  readonly result: Json;
  readonly failures: number;
}

export interface TaskStartOptions {
  readonly id?: string;
}

export interface TaskState {
  readonly id: string;
  readonly state: TaskStatus;
  readonly generation: number;
  readonly attempts: number;
  readonly attemptsAllowed: number;
  readonly nextAttemptAtMs: number | null;
  readonly totalDelayMs: number;
  readonly stopReason: StopReason | null;
  readonly budgetReason: string | null;
  readonly lastFailure: FailureRecord | null;
  readonly correlationId: string;
  readonly history: readonly AttemptRow[];
}

export type TaskStatus = (typeof TASK_STATUSES)[number];

export interface ThreadHeartbeat {
  readonly connect: string;
  readonly data: object;
}

export interface Totals {
  readonly tasks: number;
  readonly byStatus: Readonly<Partial<Record<TaskStatus, number>>>;
  readonly attempts: number;
  readonly compactedAttempts: number;
}

export interface TransactionClient {
  query(statement: object): Promise<object>;
}

export interface TripOptions {
  readonly reason: string;
  readonly recoveryTimeout?: DurationInput;
}

export type VerifyAnswer<R> = {
  readonly done: R;
} | 'rerun' | 'unknown';

export type VerifyFunction<I, R, C = Json> = (input: I, context: DurableContext<C>) => VerifyAnswer<R> | PromiseLike<VerifyAnswer<R>>;

export interface View {
  readonly now: number;
  task(key: TaskKey): TaskRecord | undefined;
  gate(key: string): GateRecord | undefined;
  run(id: string): RunRecord | undefined;
}

export declare function grantBudget(ledger: Ledger, name: string, options: GrantOptions): Promise<GateChange>;

export declare function listGates(ledger: Ledger): Promise<StoredGates>;

export declare function openDurable(address: string | Ledger, options?: DurableOptions): Promise<Durable>;

export declare function openLedger(address: string, options?: LedgerOptions): Promise<Ledger>;

export declare function resetBreaker(ledger: Ledger, name: string, options: ResetOptions): Promise<GateChange>;

export declare function resetBudget(ledger: Ledger, name: string, options: ResetOptions): Promise<GateChange>;

export declare function tripBreaker(ledger: Ledger, name: string, options: TripOptions): Promise<GateChange>;

// Not exported, and referred to above.

// core/words
declare const ATTEMPT_RESULTS: readonly ['success', 'failure', 'timeout', 'aborted', 'interrupted', 'denied'];

// durable/allotment
interface AllotmentReasons {
  readonly total?: string;
  readonly perTask?: string;
  readonly missing?: string;
}

// ledger/filters
interface AttemptPage {
  readonly after?: Pick<AttemptRow, 'id' | 'generation' | 'attempt' | 'execution'>;
  readonly limit?: number;
}

// core/words
type AttemptResult = (typeof ATTEMPT_RESULTS)[number];

// durable/batch
interface BatchContext<C = Json> {
  readonly signal: AbortSignal;
  readonly lastCheckpoint?: Checkpoint<C> | undefined;
  checkpoint(this: void, value: C): Promise<void>;
  report(this: void, taskId: string, outcome: MemberOutcome): void;
}

// durable/batch
type BatchFunction<I> = (members: readonly BatchMember<I>[], context: BatchContext) => unknown;

// durable/batch
interface BatchMember<I> {
  readonly input: I;
  readonly context: Omit<DurableContext, 'checkpoint' | 'lastCheckpoint'>;
}

// durable/batch
interface BatchRule<I = never> {
  readonly most: number;
  readonly apart?: (this: void, task: TaskRecord) => string;
  readonly run: BatchFunction<I>;
}

// durable/gate-control
type BreakerSettings = Omit<BreakerPolicy, 'key'>;

// ledger/ledger-writer
interface Changes {
  readonly runs?: readonly RunChange[];
  readonly created?: readonly NewTask[];
  readonly tasks?: readonly TaskRecord[];
  readonly attempts?: readonly AttemptRow[];
  readonly gates?: readonly GateRecord[];
  readonly dead?: readonly DeadLetter[];
  readonly closedLetters?: readonly ClosedLetter[];
  readonly inputs?: readonly InputChange[];
  readonly checkpoints?: readonly CheckpointChange[];
  readonly events?: readonly LedgerEvent[];
}

// ledger/ledger-writer
type ClaimDecision<T> = (task: TaskRecord, view: View, seat: Seat) => Decided<T>;

// ledger/records
interface Compaction {
  readonly attempts: number;
  readonly untilMs: number;
}

// durable/durable-run
interface ConductOptions {
  readonly budgets?: ReadonlyMap<string, Budget>;
  readonly observer?: Observer;
  readonly policyChange?: 'refuse' | 'accept';
}

// ledger/records
interface CurrentAttempt {
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly execution: number;
  readonly probe?: ProbeSlot;
  readonly batch?: string;
}

// durable/durable-run
declare class DurableRun {
  readonly id: string;
  stop(): Promise<void>;
  release(): void;
  get record(): RunRecord;
  definition(): Promise<Json>;
  tasks(statuses?: readonly TaskStatus[], page?: Pick<TaskFilter, 'after' | 'limit'>): Promise<readonly TaskRecord[]>;
  results(page?: ResultPage): Promise<readonly TaskResult[]>;
  step<R>(id: string, policy: PolicyArgument, run: TaskFunction<null, R>, options?: StepOptions<R>): StepHandle<R>;
  items<I, R>(lane: string, policy: PolicyArgument, run: TaskFunction<I, R>, options?: ItemQueueOptions<I, R>): ItemQueue<I>;
  skip(id: string, result: Json): Promise<boolean>;
  change({ detail, definition, fingerprint, because }: RunChangeInput): Promise<void>;
  finish(status: Exclude<RunStatus, 'running' | 'interrupted' | 'removing'>, detail?: Json): Promise<void>;
  leave(detail?: Json): Promise<void>;
}

// ledger/records
interface EndedGeneration {
  readonly generation: number;
  readonly status: TaskStatus;
  readonly stopReason: StopReason | null;
  readonly attempts: number;
  readonly waitedMs: number;
  readonly endedAtMs: number;
}

// ledger/records
declare const FINISHED_STATUSES: readonly ["succeeded", "failed", "cancelled"];

// ledger/analytics
interface FailureExample extends TaskKey {
  readonly generation: number;
  readonly attempt: number;
  readonly execution: number;
  readonly atMs: number;
  readonly message: string;
  readonly correlationId: string;
}

// durable/policy-record
interface FieldChange {
  readonly field: string;
  readonly from: Json;
  readonly to: Json;
}

// ledger/records
type FinishedStatus = (typeof FINISHED_STATUSES)[number];

// durable/gate-control
type GateAction = 'reset' | 'trip' | 'grant' | 'limit' | 'pace' | 'pause' | 'continue';

// durable/group
interface GroupChange {
  readonly before: TaskRecord;
  readonly after: TaskRecord;
  readonly from: TaskClass;
  readonly to: TaskClass;
}

// durable/group
type GroupKeys = Partial<Keys>;

// ledger/records
interface InputChange extends TaskKey {
  readonly input: Json;
}

// durable/item-queue
declare class ItemQueue<I> {
  readonly queue: string;
  keyOf(id: string): TaskKey;
  newTask({ id, input }: NewItem<I>, now: number): NewTask;
  create(items: readonly NewItem<I>[]): Promise<void>;
  resetAll(ids: readonly string[]): Promise<void>;
  open(signal?: AbortSignal): Promise<void>;
  makeGate(): Promise<void>;
  lookAtWaiting(): Promise<void>;
  lookForLost(): void;
  pause(): void;
  goOn(): void;
  retire(): void;
  get takenUpAtMs(): number | undefined;
  close(): Promise<void>;
  get gateKey(): string;
}

// durable/item-queue
interface ItemQueueOptions<I, R> extends Omit<TaskOptions<I, R>, 'whenDenied'> {
  readonly name?: string;
  readonly keepsLetters?: boolean;
  readonly isApart?: boolean;
  readonly batch?: BatchRule<I>;
}

// durable/joined-run
interface JoinOptions extends ConductOptions {
  readonly sinceMs?: number;
}

// durable/joined-run
declare class JoinedRun {
  readonly id: string;
  readonly record: RunRecord;
  readonly owner: string;
  readonly release: () => void;
  items<I, R>(lane: string, policy: PolicyArgument, run: TaskFunction<I, R>, options?: ItemQueueOptions<I, R>): ItemQueue<I>;
}

// ledger/records
declare const LEDGER_EVENTS: readonly ['resumed', 'interrupted', 'reset', 'cancelled', 'retry_now', 'decided', 'policy_accepted', 'input_changed', 'acknowledged', 'compacted', 'migrated', 'run_started', 'run_resumed', 'run_finished', 'run_changed', 'gate_changed', 'breaker_changed'];

// ledger/records
interface LedgerEvent {
  readonly type: (typeof LEDGER_EVENTS)[number];
  readonly scopeKind: EventScope['scopeKind'];
  readonly scope: string;
  readonly id: string;
  readonly atMs: number;
  readonly correlationId: string;
  readonly detail: Json;
}

// ledger/figures
interface LedgerFigures {
  tasksOfRun(run: string, exceptEnding?: string): Promise<readonly TaskCount[]>;
  lastSigns(run: string, startsMs: readonly number[]): Promise<readonly (number | null)[]>;
  waitedMs(run: string, request: WaitedRequest): Promise<number>;
  runHistory(run: string, page: RunTaskPage): Promise<readonly RunTask[]>;
  letterTotals(filter?: LetterCountFilter): Promise<LetterTotals>;
  letterPatterns(filter?: LetterCountFilter): Promise<readonly LetterPattern[]>;
}

// ledger/ledger-housekeeping
interface LedgerHousekeeping {
  forget(request: ForgetRequest): Promise<Forgotten>;
  removeRun(id: string, limit: number, gates?: readonly string[]): Promise<RunRemoval>;
  compact(request: CompactRequest): Promise<Compacted>;
}

// ledger/ledger-reader
interface LedgerReader {
  nextDueAtMs(queues: readonly QueueRef[], except?: readonly TaskKey[]): Promise<number | null>;
  owners(): Promise<readonly OwnerRecord[]>;
  taskOwners(): Promise<readonly string[]>;
  get(key: TaskKey): Promise<TaskRecord | undefined>;
  list(filter: TaskFilter): Promise<readonly TaskRecord[]>;
  checkpoint(key: TaskKey): Promise<Json | undefined>;
  retrying(filter?: RetryingFilter): Promise<readonly TaskRecord[]>;
  countWaiting(queue: string): Promise<readonly WaitingCount[]>;
  waiting(filter: WaitingFilter): Promise<readonly TaskRecord[]>;
  survey(filter: SurveyFilter): Promise<SurveyPage>;
  run(id: string): Promise<RunRecord | undefined>;
  runs(filter: RunFilter): Promise<readonly RunRecord[]>;
  definition(run: string): Promise<Json | undefined>;
  policy(hash: string): Promise<PolicyRecord | undefined>;
  attempts(key: TaskKey): Promise<readonly AttemptRow[]>;
  attemptsOfRun(run: string, page?: AttemptPage): Promise<readonly AttemptRow[]>;
  results(run: string, page?: ResultPage): Promise<readonly TaskResult[]>;
  countTasks(run: string): Promise<StatusCounts>;
  attemptCounts(keys: readonly TaskKey[]): Promise<readonly AttemptCounts[]>;
  tally(name: string): Promise<Tally>;
  tallies(filter: TallyFilter): Promise<readonly NamedTally[]>;
  gates(): Promise<readonly GateRecord[]>;
  deadLetters(filter?: LetterFilter): Promise<readonly DeadLetter[]>;
  events(afterSeq: number, limit: number, scope?: EventScope): Promise<readonly StoredEvent[]>;
}

// ledger/ledger-writer
interface LedgerWriter {
  create(tasks: readonly NewTask[]): Promise<readonly Creation[]>;
  createWithin?(client: TransactionClient, task: NewTask): Promise<Creation>;
  transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T>;
  claim<T>(request: DueRequest, decide: ClaimDecision<T>): Promise<readonly T[]>;
  heartbeat(owner: OwnerRecord): Promise<void>;
  removeOwner(id: string): Promise<void>;
  threadHeartbeat?(): ThreadHeartbeat | undefined;
  keepPolicy(policy: PolicyRecord): Promise<void>;
}

// ledger/figures
interface LetterCount {
  readonly scopeKind: ScopeKind;
  readonly parts: number;
  readonly stopReason: StopReason;
  readonly isFinal: boolean;
  readonly closedBy: LetterClosing | null;
  readonly letters: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

// ledger/figures
interface LetterCountFilter {
  readonly scopes?: readonly Scope[];
  readonly isOpen?: boolean;
  readonly signature?: string;
  readonly untilMs?: number;
}

// ledger/filters
interface LetterFilter extends ScopeFilter {
  readonly id?: string;
  readonly isOpen?: boolean;
  readonly signature?: string;
  readonly after?: Pick<DeadLetter, 'atMs' | 'scopeKind' | 'scope' | 'id' | 'generation'>;
  readonly limit?: number;
}

// ledger/figures
interface LetterPattern {
  readonly signature: string;
  readonly letters: number;
  readonly firstAtMs: number;
  readonly reasons: readonly Pick<LetterCount, 'stopReason' | 'isFinal' | 'letters'>[];
  readonly scopes: readonly Scope[];
  readonly last: DeadLetter;
}

// ledger/figures
interface LetterTotals {
  readonly kinds: number;
  readonly counts: readonly LetterCount[];
}

// ledger/records
interface LostExecution {
  readonly attempt: number;
  readonly execution: number;
  readonly startedAtMs: number;
  readonly delayBeforeMs: number;
  readonly owner: string;
}

// durable/batch
type MemberOutcome = {
  readonly value: unknown;
} | {
  readonly error: unknown;
};

// durable/item-queue
interface NewItem<I> {
  readonly id: string;
  readonly input: I;
}

// durable/runs
interface NewRun {
  readonly id: string;
  readonly parent?: string;
  readonly kind: string;
  readonly name: string;
  readonly definition: Json;
  readonly fingerprint: string;
  readonly detail?: Json;
}

// durable/other-owners
interface OtherOwner extends Pick<OwnerRecord, 'host' | 'pid' | 'startedAtMs' | 'role' | 'site' | 'version' | 'slots' | 'running'> {
  readonly leaseLeftMs: number;
}

// ledger/records
interface ProbeSlot {
  readonly breaker: string;
  readonly epoch: number;
}

// ledger/records
declare const RUN_STATUSES: readonly ['running', 'interrupted', 'succeeded', 'completed_with_failures', 'failed', 'cancelled', 'removing'];

// ledger/filters
interface ResultPage {
  readonly after?: string;
  readonly limit?: number;
}

// ledger/filters
interface RetryingFilter {
  readonly after?: Pick<TaskRecord, 'dueAtMs' | 'id' | 'scopeKind' | 'scope'>;
  readonly limit?: number;
}

// ledger/ledger-writer
interface RunChange {
  readonly run: RunRecord;
  readonly definition?: Json;
}

// durable/durable-run
interface RunChangeInput {
  readonly detail?: Json;
  readonly definition?: Json;
  readonly fingerprint?: string;
  readonly because?: Json;
}

// ledger/records
type RunStatus = (typeof RUN_STATUSES)[number];

// ledger/figures
interface RunTask {
  readonly task: TaskRecord;
  readonly attempts: readonly AttemptRow[];
}

// ledger/figures
interface RunTaskPage {
  readonly after?: Pick<TaskRecord, 'createdAtMs' | 'id'>;
  readonly limit: number;
}

// durable/runs
declare class Runs {
  start({ id: ownId, parent, kind, name, definition, fingerprint, detail }: NewRun, options?: ConductOptions): Promise<DurableRun>;
  join(id: string, options?: JoinOptions): Promise<JoinedRun>;
  take(id: string, options?: TakeOptions): Promise<DurableRun>;
  find(id: string): Promise<DurableRun>;
  list(filter?: RunFilter): Promise<readonly RunRecord[]>;
  conductorOf({ owner }: RunRecord): Promise<OtherOwner | undefined>;
  cancel(id: string, detailOf?: (detail: Json) => Json | undefined): Promise<boolean>;
}

// ledger/records
declare const SCOPE_KINDS: readonly ['task', 'run'];

// ledger/filters
interface ScopeFilter {
  readonly scopeKind?: ScopeKind;
  readonly scope?: string;
}

// ledger/records
type ScopeKind = (typeof SCOPE_KINDS)[number];

// open/open-durable
type Shared = Pick<ExecutorOptions, 'budgets' | 'missingBudgetMode' | 'observers' | 'clock' | 'random'>;

// durable/durable-run
interface StepHandle<R> {
  run(): Promise<R>;
  status(): ReturnType<TaskHandle<null, R>['status']>;
  cancel(): Promise<void>;
  retryNow(): Promise<void>;
  takeOver(): Promise<void>;
  reset(): Promise<void>;
  again(): Promise<void>;
  decide(answer: 'done' | 'rerun', result?: R): Promise<void>;
}

// durable/durable-run
interface StepOptions<R> {
  readonly onInterrupt?: 'rerun' | 'fail' | {
    readonly verify: VerifyFunction<null, R>;
  };
  readonly name?: string;
}

// ledger/filters
interface SurveyEnd {
  readonly dueAtMs: number;
  readonly id: string;
}

// ledger/filters
interface SurveyFilter extends WaitingRef {
  readonly nowMs: number;
  readonly attempts: number;
  readonly after?: SurveyEnd;
  readonly limit: number;
}

// ledger/ledger-reader
interface SurveyPage {
  readonly sound: number;
  readonly others: readonly TaskRecord[];
  readonly end: SurveyEnd | undefined;
}

// ledger/records
declare const TASK_STATUSES: readonly ['waiting', 'running', 'parked', 'undecided', 'succeeded', 'failed', 'cancelled'];

// durable/runs
interface TakeOptions extends ConductOptions {
  readonly force?: boolean;
  readonly fence?: number;
}

// ledger/tally
type TaskClass = 'fresh' | 'retrying' | 'undecided' | FinishedStatus;

// ledger/figures
interface TaskCount {
  readonly status: TaskStatus;
  readonly hasFailed: boolean;
  readonly hasBegun: boolean;
  readonly isInFlight: boolean;
  readonly tasks: number;
}

// ledger/records
interface TaskProgress {
  readonly retry: StoredState;
  readonly current: CurrentAttempt | null;
  readonly interruptions: number;
  readonly lastFailure: FailureRecord | null;
  readonly waitChosenBy?: string;
  readonly resumedAtMs?: number;
  readonly unverified?: boolean;
  readonly alone?: boolean;
  readonly policyAccepted?: boolean;
  readonly resumeId?: string;
  readonly startEarly?: boolean;
  readonly lost?: LostExecution;
  readonly allotted?: number;
  readonly unpaid?: true;
  readonly budgetDenial?: Json;
  readonly failedOn?: readonly string[];
  readonly uncharged?: boolean;
  readonly grouped?: boolean;
  readonly acknowledged?: boolean;
  readonly budgetReason?: string;
  readonly earlier?: readonly EndedGeneration[];
  readonly checkpoint?: {
    readonly attempt: number;
    readonly execution: number;
  };
}

// ledger/figures
interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

// ledger/figures
interface WaitedRequest {
  readonly periods: readonly TimeSpan[];
  readonly waits: readonly TimeSpan[];
  readonly runs: readonly TimeSpan[];
}

// ledger/ledger-reader
interface WaitingCount extends Omit<WaitingRef, 'queue'> {
  readonly tasks: number;
}

// ledger/filters
interface WaitingFilter extends WaitingRef {
  readonly after?: Pick<TaskRecord, 'dueAtMs' | 'id' | 'scopeKind' | 'scope'>;
  readonly limit?: number;
}

// ledger/filters
interface WaitingRef {
  readonly queue: string;
  readonly policyHash: string;
  readonly rank: number;
}

// durable/policy-record
declare function differences(from: Json, to: Json): FieldChange[];

declare module '../core/error-codes.js' {
  interface ErrorByCode {
    recorded_failure: RecordedFailureError;
    task_refused: TaskRefusedError;
    gate_refused: GateRefusedError;
  }
}

declare module '../core/error-codes.js' {
  interface ErrorByCode {
    ledger: LedgerError;
  }
}
