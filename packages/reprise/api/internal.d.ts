// reprise/internal: 130 names, 75 values and 55 types. Written by `npm run api`.
//
// values:
//   ANY_JSON, COUNT, DATACENTER_KIND, ENDED_RUN_STATUSES, FAILURE, FLAG, JOB_KIND, NUMBER, Place, TEXT,
//   acknowledgeLetter, addressOf, cancelTask, cancelledTask, changeGate, checkLedger, checkedReads, childId, classOf,
//   continueQueue, defineQueue, deliverHeld, describeError, didYouMean, durationCheck, editInput, endedTask,
//   expectJson, expectOptions, expectSoundGates, expectSoundTask, failureOf, faultsOfTasks, fields, fingerprint,
//   gateFaults, holderOf, isJsonObject, isNot, isProcessGone, isTransient, laneName, lastHeardOf, listOf, listQueues,
//   livingOwners, mapOf, nearest, oneOf, orNull, ownIdentity, ownerOf, pauseQueue, plainText, purgeLetters, queueKey,
//   queueTask, readDuration, redriveLetters, redriveWith, resetTask, retryWhileBusy, scopeOfRun, serveQueue,
//   setQueueMost, setQueueRate, shapeFaults, sharedLedger, shownJson, sinceSetBack, startTaskEarly, storeAwayLine,
//   storeBackLine, wakeQueues, whileHeld,
//
// types:
//   Actor, AllotmentRule, BatchContext, BatchMember, Changes, Charge, ChargeRequest, ClaimedTaskFunction,
//   ConductOptions, ConnectionFacts, CopiedCounts, CopiedRows, Definition, Delivery, DurableRun, EditOptions,
//   FaultPlace, GroupChange, HeldAttempt, HeldEnd, ItemQueue, JoinOptions, JoinedRun, JsonShape, LedgerCheck,
//   LedgerFault, LetterCountFilter, LetterDecision, LetterFilter, LetterPattern, LetterRef, LetterTotals, LostRows,
//   NewItem, OptionCheck, OtherOwner, PurgeOptions, QueueInput, QueueState, QueueTask, RedriveAnswer, RedriveOptions,
//   Redriven, RunStatus, SchemaState, Settled, StepHandle, StoreCheck, StoreFacts, StoredQueue, TableFacts, TaskClass,
//   TaskControl, TaskCount, TimeSpan,

import type {
  Budget, Observer, Policy, PolicyArgument, PolicyProblem, StopReason,
} from 'reprise'
import type {
  Allotment, AttemptRow, Checkpoint, CheckpointChange, ClosedLetter, DeadLetter, Durable, DurableContext, EventScope,
  FailureRecord, GateChange, GateRecord, Json, Ledger, LetterClosing, NewTask, OwnerIdentity, OwnerRecord, PolicyRecord,
  RunRecord, Scope, StatusCounts, TaskFilter, TaskFunction, TaskGroup, TaskHandle, TaskKey, TaskOptions, TaskRecord,
  TaskResult, TaskStatus, VerifyFunction,
} from 'reprise/durable'

export declare const ANY_JSON: JsonShape;

export interface Actor {
  readonly reason: string;
  readonly by?: string;
}

export interface AllotmentRule {
  key(task: TaskRecord): string;
  charge(gate: GateRecord | undefined, request: ChargeRequest): Charge;
  restore?(task: TaskRecord): Promise<void>;
  survey?(task: TaskRecord): Promise<Json>;
}

export interface BatchContext<C = Json> {
  readonly signal: AbortSignal;
  readonly lastCheckpoint?: Checkpoint<C> | undefined;
  checkpoint(this: void, value: C): Promise<void>;
  report(this: void, taskId: string, outcome: MemberOutcome): void;
}

export interface BatchMember<I> {
  readonly input: I;
  readonly context: Omit<DurableContext, 'checkpoint' | 'lastCheckpoint'>;
}

export declare const COUNT: JsonShape;

export interface Changes {
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

export type Charge = {
  readonly type: 'granted';
  readonly gate: GateRecord;
  readonly isFree?: boolean;
} | {
  readonly type: 'denied';
  readonly reason: string;
  readonly denial?: Json;
} | {
  readonly type: 'postponed';
  readonly waitMs: number;
  readonly gate?: GateRecord;
};

export interface ChargeRequest {
  readonly task: TaskRecord;
  readonly now: number;
  readonly surveyed: Json | undefined;
}

export type ClaimedTaskFunction = (input: Json, context: DurableContext, claimed: TaskRecord) => unknown;

export interface ConductOptions {
  readonly budgets?: ReadonlyMap<string, Budget>;
  readonly observer?: Observer;
  readonly policyChange?: 'refuse' | 'accept';
}

export interface ConnectionFacts {
  readonly own: number;
  readonly used: number;
  readonly most: number;
}

export type CopiedCounts = Readonly<Record<string, number>>;

export type CopiedRows = AsyncIterable<{
  readonly table: CopiedTable;
  readonly rows: readonly SqlRow[];
}>;

export declare const DATACENTER_KIND = "job-datacenter";

export interface Definition extends Scope {
  readonly name: string;
  readonly queue: string;
  readonly conductor?: Conductor;
  readonly policyChange?: 'refuse' | 'accept';
  readonly idempotencyScope?: string;
  readonly policy: Policy;
  readonly record: PolicyRecord;
  readonly run: TaskFunction<never, unknown, never>;
  readonly runClaimed?: ClaimedTaskFunction;
  readonly onRecorded?: (claimed: TaskRecord, isKept: boolean) => void;
  readonly most?: number | undefined;
  readonly rate?: QueueRate | undefined;
  readonly hasForeignGate?: boolean;
  readonly whenDenied?: WhenDenied | undefined;
  readonly onInterrupt: InterruptRule;
  readonly verify: VerifyFunction<never, unknown, never> | undefined;
  readonly keepsNoLetters?: boolean;
  readonly takenUpAtMs?: number;
  readonly group?: TaskGroup;
  readonly tally?: (task: TaskRecord) => string | undefined;
  readonly allot?: Allotment | AllotmentRule;
  readonly prefersOthers?: boolean;
  readonly batch?: BatchRule | undefined;
}

export type Delivery = 'accepted' | 'accepted_late' | 'refused';

export declare class DurableRun {
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

export declare const ENDED_RUN_STATUSES: ReadonlySet<RunStatus>;

export interface EditOptions extends Actor {
  readonly input: unknown;
}

export declare const FAILURE: JsonShape;

export declare const FLAG: JsonShape;

export type FaultPlace =
(TaskKey & {
  readonly type: 'task';
  readonly runState: 'open' | 'ended' | 'missing' | null;
}) | {
  readonly type: 'run';
  readonly run: string;
  readonly isEnded: boolean;
} | {
  readonly type: 'gate';
  readonly kind: GateRecord['kind'];
  readonly key: string;
} | {
  readonly type: 'tally';
  readonly name: string;
} | {
  readonly type: 'ledger';
};

export interface GroupChange {
  readonly before: TaskRecord;
  readonly after: TaskRecord;
  readonly from: TaskClass;
  readonly to: TaskClass;
}

export interface HeldAttempt extends TaskKey {
  readonly generation: number;
  readonly attempt: number;
  readonly owner: string;
  readonly fence: number;
}

export interface HeldEnd {
  readonly end: Extract<ExecutionEnd, {
    type: 'value' | 'error';
  }>;
  readonly endedAgoMs: number;
}

export declare class ItemQueue<I> {
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

export declare const JOB_KIND = "job";

export interface JoinOptions extends ConductOptions {
  readonly sinceMs?: number;
}

export declare class JoinedRun {
  readonly id: string;
  readonly record: RunRecord;
  readonly owner: string;
  readonly release: () => void;
  items<I, R>(lane: string, policy: PolicyArgument, run: TaskFunction<I, R>, options?: ItemQueueOptions<I, R>): ItemQueue<I>;
}

export type JsonShape = (value: unknown, place: string, faults: string[]) => void;

export interface LedgerCheck {
  readonly runs: number;
  readonly tasks: number;
  readonly faults: readonly LedgerFault[];
  readonly notes: readonly LedgerFault[];
}

export interface LedgerFault {
  readonly rule: FaultRule;
  readonly place: FaultPlace;
  readonly message: string;
  readonly excess?: number;
}

export interface LetterCountFilter {
  readonly scopes?: readonly Scope[];
  readonly isOpen?: boolean;
  readonly signature?: string;
  readonly untilMs?: number;
}

export type LetterDecision = {
  readonly answer: 'done';
  readonly result: Json;
} | {
  readonly answer: 'rerun';
};

export interface LetterFilter extends ScopeFilter {
  readonly id?: string;
  readonly isOpen?: boolean;
  readonly signature?: string;
  readonly after?: Pick<DeadLetter, 'atMs' | 'scopeKind' | 'scope' | 'id' | 'generation'>;
  readonly limit?: number;
}

export interface LetterPattern {
  readonly signature: string;
  readonly letters: number;
  readonly firstAtMs: number;
  readonly reasons: readonly Pick<LetterCount, 'stopReason' | 'isFinal' | 'letters'>[];
  readonly scopes: readonly Scope[];
  readonly last: DeadLetter;
}

export type LetterRef = Pick<DeadLetter, 'scopeKind' | 'scope' | 'id' | 'generation'>;

export interface LetterTotals {
  readonly kinds: number;
  readonly counts: readonly LetterCount[];
}

export interface LostRows {
  readonly table: string;
  readonly place: string;
  readonly reason: string;
}

export declare const NUMBER: JsonShape;

export interface NewItem<I> {
  readonly id: string;
  readonly input: I;
}

export type OptionCheck = readonly [isValid: (value: unknown) => boolean, expected: string];

export interface OtherOwner extends Pick<OwnerRecord, 'host' | 'pid' | 'startedAtMs' | 'role' | 'site' | 'version' | 'slots' | 'running'> {
  readonly leaseLeftMs: number;
}

export declare class Place {
  readonly path: string;
  readonly report: Report;
  constructor(path: string, report: Report);
  at(key: string): Place;
  item(index: number): Place;
  fail(message: string, suggestion?: string): undefined;
  note(sentence: string): void;
}

export interface PurgeOptions {
  readonly untilMs: number;
  readonly batch?: number;
}

export interface QueueInput {
  readonly queue: string;
  readonly name: string;
  readonly policy: PolicyArgument;
  readonly run: TaskFunction<never, unknown>;
  readonly runClaimed?: ClaimedTaskFunction;
  readonly onRecorded?: (claimed: TaskRecord, isKept: boolean) => void;
  readonly group?: TaskGroup;
  readonly allot?: AllotmentRule;
  readonly onInterrupt?: 'rerun' | 'charge';
  readonly prefersOthers?: boolean;
  readonly keepsNoLetters?: boolean;
}

export interface QueueState {
  readonly most?: number;
  readonly paused?: boolean;
  readonly closed?: boolean;
  readonly servers?: Readonly<Record<string, number>>;
  readonly rate?: QueueRate;
  readonly bucket?: {
    readonly tokens: number;
    readonly atMs: number;
  };
}

export interface QueueTask {
  readonly run: string;
  readonly id: string;
  readonly input: Json;
  readonly dueAtMs: number;
  readonly deadlineAtMs?: number | null;
  readonly seed: number;
  readonly correlationId?: string;
}

export type RedriveAnswer = 'redriven' | 'done_before' | 'undecided' | 'not_found' | 'needs_program';

export interface RedriveOptions extends Actor {
  readonly redriveId?: string;
  readonly charged?: boolean;
  readonly undecided?: boolean;
  readonly decision?: LetterDecision;
  readonly queue?: string;
}

export interface Redriven extends TaskKey {
  readonly answer: RedriveAnswer;
}

export type RunStatus = (typeof RUN_STATUSES)[number];

export interface SchemaState {
  readonly version: number;
  readonly newest: number;
}

export interface Settled extends Changes {
  readonly task: TaskRecord;
}

export interface StepHandle<R> {
  run(): Promise<R>;
  status(): ReturnType<TaskHandle<null, R>['status']>;
  cancel(): Promise<void>;
  retryNow(): Promise<void>;
  takeOver(): Promise<void>;
  reset(): Promise<void>;
  again(): Promise<void>;
  decide(answer: 'done' | 'rerun', result?: R): Promise<void>;
}

export interface StoreCheck {
  readonly kind: 'sqlite' | 'postgres';
  readonly version: string;
  readonly schema: SchemaState;
  readonly bytes: number;
  readonly damage: readonly StoreDamage[];
}

export interface StoreFacts {
  readonly kind: 'sqlite' | 'postgres';
  readonly name: string;
  readonly version: string;
  readonly schema: SchemaState;
  readonly bytes: number;
  readonly tables: readonly TableFacts[];
  readonly content: StoreContent | undefined;
  readonly connections: ConnectionFacts | null;
  readonly isReplica: boolean;
  readonly durability: Readonly<Record<string, string>>;
}

export interface StoredQueue {
  readonly queue: string;
  readonly most: number | null;
  readonly rate: QueueRate | null;
  readonly isPaused: boolean;
}

export declare const TEXT: JsonShape;

export interface TableFacts {
  readonly name: string;
  readonly rows: number | null;
  readonly bytes: number | null;
}

export type TaskClass = 'fresh' | 'retrying' | 'undecided' | FinishedStatus;

export type TaskControl = {
  readonly answer: 'done' | 'unfit';
  readonly status: TaskRecord['status'];
} | {
  readonly answer: 'not_found' | 'grouped';
} | {
  readonly answer: 'granted';
  readonly budget: string;
};

export interface TaskCount {
  readonly status: TaskStatus;
  readonly hasFailed: boolean;
  readonly hasBegun: boolean;
  readonly isInFlight: boolean;
  readonly tasks: number;
}

export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export declare function acknowledgeLetter(ledger: Ledger, letter: LetterRef, options: Actor): Promise<boolean>;

export declare function addressOf(durable: Durable): string | undefined;

declare function cancel(task: TaskRecord, now: number): Settled;

export declare function cancelTask(ledger: Ledger, key: TaskKey, actor: Actor): Promise<TaskControl>;

export declare function changeGate(ledger: Ledger, key: string, action: GateAction, actor: Actor, decide: Change): Promise<GateChange>;

export declare function checkLedger(source: CopiedRows, runCheck?: RunCheck, rowCheck?: RowCheck): Promise<LedgerCheck>;

export declare function checkedReads(ledger: Ledger): Ledger;

export declare function childId(parent: string, id: string): string;

export declare function classOf({ status, progress }: Pick<TaskRecord, 'status' | 'progress'>): TaskClass;

export declare function continueQueue(ledger: Ledger, queue: string, options: Actor): Promise<GateChange>;

export declare function defineQueue(input: QueueInput): Definition;

export declare function deliverHeld(durable: Durable, definition: Definition, held: HeldAttempt, end: HeldEnd): Promise<Delivery>;

export declare function describeError(error: unknown, max?: number): string;

export declare function didYouMean(word: unknown, candidates: readonly string[]): string | undefined;

export declare function durationCheck(expected: string, leastMs?: number, mostMs?: number): OptionCheck;

export declare function editInput(ledger: Ledger, key: TaskKey, options: EditOptions): Promise<Json>;

declare function ended(task: TaskRecord, status: 'succeeded' | 'failed', stopReason: StopReason | null, now: number): Settled;

export declare function expectJson(value: unknown, place: string): Json;

export declare function expectOptions(subject: string, options: unknown, checks: Readonly<Record<string, OptionCheck>>, names?: OptionNames): void;

export declare function expectSoundGates(ledger: Pick<Ledger, 'name'>, gates: readonly GateRecord[]): void;

export declare function expectSoundTask(task: TaskRecord): void;

export declare function failureOf(error: unknown): FailureRecord;

export declare function faultsOfTasks(ledger: Ledger, tasks: readonly TaskRecord[]): Promise<FaultyTask[]>;

export declare function fields(required: Readonly<Record<string, JsonShape>>, optional?: Readonly<Record<string, JsonShape>>): JsonShape;

export declare function fingerprint(data: Json): string;

export declare function gateFaults({ kind, state, settings }: GateRecord): string[];

export declare function holderOf(durable: Durable, owner: string): Promise<{
  readonly owner: OtherOwner;
  readonly isSeen: boolean;
} | undefined>;

export declare function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>>;

export declare function isNot(value: unknown, expected: string): string;

export declare function isProcessGone(identity: string): boolean;

export declare function isTransient(error: unknown): boolean;

export declare function laneName(run: string, lane: string): string;

export declare function lastHeardOf(ledger: Pick<Ledger, 'leaseNow' | 'now' | 'owners' | 'list'>, id: string): Promise<number | undefined>;

export declare function listOf(shape: JsonShape): JsonShape;

export declare function listQueues(ledger: Ledger): Promise<readonly StoredQueue[]>;

export declare function livingOwners(ledger: Pick<Ledger, 'leaseNow' | 'owners' | 'spans'>): Promise<ReadonlyMap<string, OtherOwner>>;

export declare function mapOf(shape: JsonShape): JsonShape;

export declare function nearest(word: string, candidates: readonly string[]): string | undefined;

export declare function oneOf(words: readonly string[]): JsonShape;

export declare function orNull(shape: JsonShape): JsonShape;

export declare function ownIdentity(about?: OwnerIdentity): Identity;

export declare function ownerOf(durable: Durable): string;

export declare function pauseQueue(ledger: Ledger, queue: string, options: Actor): Promise<GateChange>;

export declare function plainText(text: string, max?: number): string;

export declare function purgeLetters(ledger: Ledger, options: PurgeOptions): Promise<number>;

export declare function queueKey(queue: string): string;

export declare function queueTask(definition: Definition, input: QueueTask, now: number): NewTask;

export declare function readDuration(value: unknown, acceptNumber?: boolean): number | string;

export declare function redriveLetters(ledger: Ledger, letters: readonly LetterRef[], options: RedriveOptions, program?: RedriveProgram): Promise<readonly Redriven[]>;

export declare function redriveWith(durable: Durable, letters: readonly LetterRef[], options: RedriveOptions): Promise<readonly Redriven[]>;

declare function reset(task: TaskRecord, policyHash: string, seed: number, now: number, redrive?: RedriveGrant): Settled;

export declare function retryWhileBusy<T>(write: () => Promise<T>, isEnough: () => boolean, onFailed?: () => void): Promise<T>;

export declare function scopeOfRun(id: string): Scope;

export declare function serveQueue(durable: Durable, definition: Definition): Promise<void>;

export declare function setQueueMost(ledger: Ledger, queue: string, options: Actor & {
  readonly most: number | null;
}): Promise<GateChange>;

export declare function setQueueRate(ledger: Ledger, queue: string, options: Actor & {
  readonly rate: RateInput | null;
}): Promise<GateChange>;

export declare function shapeFaults(shape: JsonShape, value: unknown, place: string): string[];

export declare function sharedLedger(durable: Durable): Ledger;

export declare function shownJson(value: unknown): string;

export declare function sinceSetBack(task: TaskRecord, now: number): TaskRecord;

export declare function startTaskEarly(ledger: Ledger, key: TaskKey, actor: Actor): Promise<TaskControl>;

export declare function storeAwayLine(store: string, reason: string): string;

export declare function storeBackLine(store: string, awayMs: number): string;

export declare function wakeQueues(durable: Durable): void;

export declare function whileHeld(isSeen: boolean, leaseLeftMs: number): string;

export { cancel as cancelledTask }

export { ended as endedTask }

export { reset as resetTask }

// Not exported, and referred to above.

// durable/batch
type BatchFunction<I> = (members: readonly BatchMember<I>[], context: BatchContext) => unknown;

// durable/batch
interface BatchRule<I = never> {
  readonly most: number;
  readonly apart?: (this: void, task: TaskRecord) => string;
  readonly run: BatchFunction<I>;
}

// durable/gate-control
type Change = (gate: GateRecord, now: number) => {
  readonly after: Json;
  readonly amount?: number;
};

// durable/definition
interface Conductor {
  readonly fence: number | null;
  readonly correlationId?: string;
  isStopped: boolean;
}

// ledger/copied-tables
interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly order: readonly string[];
  readonly isDerived?: boolean;
}

// durable/execution
type ExecutionEnd = {
  readonly type: 'value';
  readonly value: unknown;
} | {
  readonly type: 'error';
  readonly error: unknown;
} | {
  readonly type: 'attempt_timeout';
  readonly error: unknown;
} | {
  readonly type: 'call_timeout';
  readonly error: unknown;
  readonly started: boolean;
} | {
  readonly type: 'stopped';
  readonly started: boolean;
};

// ledger/records
declare const FINISHED_STATUSES: readonly ["succeeded", "failed", "cancelled"];

// durable/ledger-check
type FaultRule = 'state' | 'history' | 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9' | 'I10';

// durable/inspection
interface FaultyTask {
  readonly task: TaskRecord;
  readonly faults: readonly string[];
}

// ledger/records
type FinishedStatus = (typeof FINISHED_STATUSES)[number];

// durable/gate-control
type GateAction = 'reset' | 'trip' | 'grant' | 'limit' | 'pace' | 'pause' | 'continue';

// durable/identity
type Identity = Omit<OwnerRecord, 'startedAtMs' | 'leaseUntilMs' | 'leaseMs' | 'slots' | 'running' | 'queues'>;

// ledger/records
interface InputChange extends TaskKey {
  readonly input: Json;
}

// durable/policy-record
type InterruptRule = 'rerun' | 'charge' | 'fail' | 'verify';

// durable/item-queue
interface ItemQueueOptions<I, R> extends Omit<TaskOptions<I, R>, 'whenDenied'> {
  readonly name?: string;
  readonly keepsLetters?: boolean;
  readonly isApart?: boolean;
  readonly batch?: BatchRule<I>;
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

// durable/batch
type MemberOutcome = {
  readonly value: unknown;
} | {
  readonly error: unknown;
};

// core/options
interface OptionNames {
  readonly others?: readonly string[];
  readonly required?: readonly string[];
}

// ledger/queue-limit
interface QueueRate {
  readonly perSecond: number;
  readonly burst: number;
}

// ledger/records
declare const RUN_STATUSES: readonly ['running', 'interrupted', 'succeeded', 'completed_with_failures', 'failed', 'cancelled', 'removing'];

// durable/queue-gate
interface RateInput {
  readonly perSecond: number;
  readonly burst?: number;
}

// durable/transitions
interface RedriveGrant {
  readonly uncharged: boolean;
  readonly queue?: string | undefined;
  readonly detail: Readonly<Record<string, Json>>;
}

// durable/redrive
interface RedriveProgram {
  definitionOf(queue: string): Definition | undefined;
  redrive(definition: Definition, letter: LetterRef, options: RedriveOptions): Promise<RedriveAnswer>;
  wake(): void;
}

// core/problems
interface Report {
  readonly problems: PolicyProblem[];
  readonly notes: string[];
  readonly needsUnits?: boolean;
}

// ledger/filters
interface ResultPage {
  readonly after?: string;
  readonly limit?: number;
}

// durable/ledger-check
type RowCheck = (row: GateRecord) => readonly string[];

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

// durable/ledger-check
type RunCheck = (run: RunRecord, definition: Json) => readonly string[];

// ledger/records
declare const SCOPE_KINDS: readonly ['task', 'run'];

// ledger/filters
interface ScopeFilter {
  readonly scopeKind?: ScopeKind;
  readonly scope?: string;
}

// ledger/records
type ScopeKind = (typeof SCOPE_KINDS)[number];

// ledger/rows
type SqlRow = Readonly<Record<string, SqlValue>>;

// ledger/rows
type SqlValue = number | string | null;

// durable/durable-run
interface StepOptions<R> {
  readonly onInterrupt?: 'rerun' | 'fail' | {
    readonly verify: VerifyFunction<null, R>;
  };
  readonly name?: string;
}

// ledger/store-facts
interface StoreContent {
  readonly nowMs: number;
  readonly tasks: StatusCounts;
  readonly oldestDueAtMs: number | null;
  readonly owners: readonly OwnerRecord[];
  readonly deadLetters: number;
}

// ledger/store-facts
interface StoreDamage {
  readonly place: string;
  readonly problem: string;
  readonly cure: string | null;
}

// durable/definition
type WhenDenied = 'end' | 'hold';
