// reprise/sqlite: 5 names, 2 values and 3 types. Written by `npm run api`.
//
// values:
//   SQLITE_DRIVERS, openSqlite,
//
// types:
//   SqliteDriverName, SqliteLedger, SqliteOptions,

import type {
  Clock,
} from 'reprise'
import type {
  AttemptCounts, AttemptRow, CompactRequest, Compacted, Creation, DeadLetter, Decided, DueRequest, EventScope,
  ForgetRequest, Forgotten, GateRecord, Json, Keys, Ledger, LedgerAnalytics, NamedTally, NewTask, OwnerRecord,
  PolicyRecord, QueueRef, RunFilter, RunRecord, RunRemoval, Seat, StatusCounts, StoredEvent, Tally, TallyFilter,
  TaskFilter, TaskKey, TaskRecord, TaskResult, ThreadHeartbeat, View,
} from 'reprise/durable'

export declare const SQLITE_DRIVERS: readonly ['node:sqlite', 'better-sqlite3', '@photostructure/sqlite'];

export type SqliteDriverName = (typeof SQLITE_DRIVERS)[number];

export declare class SqliteLedger implements Ledger {
  readonly name: string;
  readonly spans = "machine";
  readonly analytics: LedgerAnalytics;
  now(): Promise<number>;
  leaseNow(): Promise<number>;
  changeMark(): Promise<number>;
  listen: () => Promise<() => void>;
  create(tasks: readonly NewTask[]): Promise<readonly Creation[]>;
  transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T>;
  claim<T>(request: DueRequest, decide: ClaimDecision<T>): Promise<readonly T[]>;
  nextDueAtMs(queues: readonly QueueRef[], except?: readonly TaskKey[]): Promise<number | null>;
  heartbeat(owner: OwnerRecord): Promise<void>;
  owners(): Promise<readonly OwnerRecord[]>;
  taskOwners(): Promise<readonly string[]>;
  removeOwner(id: string): Promise<void>;
  threadHeartbeat(): ThreadHeartbeat | undefined;
  get(key: TaskKey): Promise<TaskRecord | undefined>;
  list(filter: TaskFilter): Promise<readonly TaskRecord[]>;
  retrying(filter?: RetryingFilter): Promise<readonly TaskRecord[]>;
  countWaiting(queue: string): Promise<readonly WaitingCount[]>;
  waiting(filter: WaitingFilter): Promise<readonly TaskRecord[]>;
  survey(filter: SurveyFilter): Promise<SurveyPage>;
  checkpoint({ scopeKind, scope, id }: TaskKey): Promise<Json | undefined>;
  run(id: string): Promise<RunRecord | undefined>;
  runs(filter: RunFilter): Promise<readonly RunRecord[]>;
  definition(run: string): Promise<Json | undefined>;
  policy(hash: string): Promise<PolicyRecord | undefined>;
  keepPolicy({ hash, policy }: PolicyRecord): Promise<void>;
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
  forget(request: ForgetRequest): Promise<Forgotten>;
  removeRun(id: string, limit: number, gates?: readonly string[]): Promise<RunRemoval>;
  compact(request: CompactRequest): Promise<Compacted>;
  close(): Promise<void>;
}

export interface SqliteOptions {
  readonly clock?: Clock | undefined;
  readonly driver?: SqliteDriverName;
  readonly synchronous?: 'full' | 'normal';
  readonly create?: boolean;
  readonly readOnly?: boolean;
}

export declare function openSqlite(file: string, options?: SqliteOptions): Promise<SqliteLedger>;

// Not exported, and referred to above.

// ledger/filters
interface AttemptPage {
  readonly after?: Pick<AttemptRow, 'id' | 'generation' | 'attempt' | 'execution'>;
  readonly limit?: number;
}

// ledger/ledger-writer
type ClaimDecision<T> = (task: TaskRecord, view: View, seat: Seat) => Decided<T>;

// ledger/filters
interface LetterFilter extends ScopeFilter {
  readonly id?: string;
  readonly isOpen?: boolean;
  readonly signature?: string;
  readonly after?: Pick<DeadLetter, 'atMs' | 'scopeKind' | 'scope' | 'id' | 'generation'>;
  readonly limit?: number;
}

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

// ledger/records
declare const SCOPE_KINDS: readonly ['task', 'run'];

// ledger/filters
interface ScopeFilter {
  readonly scopeKind?: ScopeKind;
  readonly scope?: string;
}

// ledger/records
type ScopeKind = (typeof SCOPE_KINDS)[number];

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
