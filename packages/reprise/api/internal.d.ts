// reprise/internal: 35 names, 15 values and 20 types. Written by `npm run api`.
//
// values:
//   ENDED_RUN_STATUSES, addressOf, checkLedger, classOf, describeError, durationCheck, expectOptions, failureOf,
//   faultsOfTasks, fingerprint, lastHeardOf, livingOwners, nearest, plainText, sharedLedger,
//
// types:
//   Changes, ConductOptions, ConnectionFacts, CopiedCounts, CopiedRows, DurableRun, FaultPlace, GroupChange,
//   LedgerCheck, LedgerFault, LostRows, OptionCheck, OtherOwner, RunStatus, SchemaState, StepHandle, StoreCheck,
//   StoreFacts, TableFacts, TaskClass,

import type {
  Budget, Observer, PolicyArgument,
} from 'reprise'
import type {
  AttemptRow, CheckpointChange, ClosedLetter, DeadLetter, Durable, EventScope, FailureRecord, GateRecord, Json, Ledger,
  NewTask, OwnerRecord, RunRecord, StatusCounts, TaskFunction, TaskHandle, TaskKey, TaskRecord, TaskResult, TaskStatus,
  VerifyFunction,
} from 'reprise/durable'

export interface Changes {
  readonly runs?: readonly RunChange[];
  readonly created?: readonly NewTask[];
  readonly tasks?: readonly TaskRecord[];
  readonly attempts?: readonly AttemptRow[];
  readonly gates?: readonly GateRecord[];
  readonly dead?: readonly DeadLetter[];
  readonly closedLetters?: readonly ClosedLetter[];
  readonly checkpoints?: readonly CheckpointChange[];
  readonly events?: readonly LedgerEvent[];
}

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

export declare class DurableRun {
  readonly id: string;
  stop(): Promise<void>;
  release(): void;
  get record(): RunRecord;
  definition(): Promise<Json>;
  tasks(statuses?: readonly TaskStatus[]): Promise<readonly TaskRecord[]>;
  results(): Promise<readonly TaskResult[]>;
  step<R>(id: string, policy: PolicyArgument, run: TaskFunction<null, R>, options?: StepOptions<R>): StepHandle<R>;
  skip(id: string, result: Json): Promise<boolean>;
  change({ detail, definition, fingerprint, because }: RunChangeInput): Promise<void>;
  finish(status: Exclude<RunStatus, 'running' | 'interrupted' | 'removing'>, detail?: Json): Promise<void>;
  leave(detail?: Json): Promise<void>;
}

export declare const ENDED_RUN_STATUSES: ReadonlySet<RunStatus>;

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

export interface LostRows {
  readonly table: string;
  readonly place: string;
  readonly reason: string;
}

export type OptionCheck = readonly [isValid: (value: unknown) => boolean, expected: string];

export interface OtherOwner extends Pick<OwnerRecord, 'host' | 'pid' | 'startedAtMs' | 'role' | 'site' | 'version' | 'slots' | 'running'> {
  readonly leaseLeftMs: number;
}

export type RunStatus = (typeof RUN_STATUSES)[number];

export interface SchemaState {
  readonly version: number;
  readonly newest: number;
}

export interface StepHandle<R> {
  run(): Promise<R>;
  status(): ReturnType<TaskHandle<null, R>['status']>;
  cancel(): Promise<void>;
  retryNow(): Promise<void>;
  reset(): Promise<void>;
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

export interface TableFacts {
  readonly name: string;
  readonly rows: number | null;
  readonly bytes: number | null;
}

export type TaskClass = 'fresh' | 'retrying' | 'undecided' | FinishedStatus;

export declare function addressOf(durable: Durable): string | undefined;

export declare function checkLedger(source: CopiedRows): Promise<LedgerCheck>;

export declare function classOf({ status, progress }: Pick<TaskRecord, 'status' | 'progress'>): TaskClass;

export declare function describeError(error: unknown, max?: number): string;

export declare function durationCheck(expected: string, leastMs?: number, mostMs?: number): OptionCheck;

export declare function expectOptions(subject: string, options: unknown, checks: Readonly<Record<string, OptionCheck>>, names?: OptionNames): void;

export declare function failureOf(error: unknown): FailureRecord;

export declare function faultsOfTasks(ledger: Ledger, tasks: readonly TaskRecord[]): Promise<FaultyTask[]>;

export declare function fingerprint(data: Json): string;

export declare function lastHeardOf(ledger: Pick<Ledger, 'leaseNow' | 'now' | 'owners'>, id: string): Promise<number | undefined>;

export declare function livingOwners(ledger: Pick<Ledger, 'leaseNow' | 'owners' | 'spans'>): Promise<ReadonlyMap<string, OtherOwner>>;

export declare function nearest(word: string, candidates: readonly string[]): string | undefined;

export declare function plainText(text: string, max?: number): string;

export declare function sharedLedger(durable: Durable): Ledger;

// Not exported, and referred to above.

// ledger/copied-tables
interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly order: readonly string[];
  readonly isDerived?: boolean;
}

// ledger/records
declare const FINISHED_STATUSES: readonly ["succeeded", "failed", "cancelled"];

// durable/ledger-check
type FaultRule = 'state' | 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9' | 'I10';

// durable/inspection
interface FaultyTask {
  readonly task: TaskRecord;
  readonly faults: readonly string[];
}

// ledger/records
type FinishedStatus = (typeof FINISHED_STATUSES)[number];

// ledger/records
declare const LEDGER_EVENTS: readonly ['resumed', 'interrupted', 'reset', 'cancelled', 'retry_now', 'decided', 'policy_accepted', 'compacted', 'migrated', 'run_started', 'run_resumed', 'run_finished', 'run_changed', 'gate_changed'];

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

// core/options
interface OptionNames {
  readonly others?: readonly string[];
  readonly required?: readonly string[];
}

// ledger/records
declare const RUN_STATUSES: readonly ['running', 'interrupted', 'succeeded', 'completed_with_failures', 'failed', 'cancelled', 'removing'];

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
