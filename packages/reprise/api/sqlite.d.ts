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
  PolicyRecord, QueueRef, RunFilter, RunRecord, RunRemoval, Scope, StatusCounts, StoredEvent, Tally, TallyFilter,
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
  claim<T>(request: DueRequest, decide: (task: TaskRecord, view: View) => Decided<T>): Promise<readonly T[]>;
  nextDueAtMs(queues: readonly QueueRef[], except?: readonly TaskKey[]): Promise<number | null>;
  heartbeat(owner: OwnerRecord): Promise<void>;
  owners(): Promise<readonly OwnerRecord[]>;
  taskOwners(): Promise<readonly string[]>;
  removeOwner(id: string): Promise<void>;
  threadHeartbeat(): ThreadHeartbeat | undefined;
  get(key: TaskKey): Promise<TaskRecord | undefined>;
  list(filter: TaskFilter): Promise<readonly TaskRecord[]>;
  checkpoint({ scopeKind, scope, id }: TaskKey): Promise<Json | undefined>;
  run(id: string): Promise<RunRecord | undefined>;
  runs(filter: RunFilter): Promise<readonly RunRecord[]>;
  definition(run: string): Promise<Json | undefined>;
  policy(hash: string): Promise<PolicyRecord | undefined>;
  keepPolicy({ hash, policy }: PolicyRecord): Promise<void>;
  attempts(key: TaskKey): Promise<readonly AttemptRow[]>;
  attemptsOfRun(run: string): Promise<readonly AttemptRow[]>;
  results(run: string): Promise<readonly TaskResult[]>;
  countTasks(run: string): Promise<StatusCounts>;
  attemptCounts(keys: readonly TaskKey[]): Promise<readonly AttemptCounts[]>;
  tally(name: string): Promise<Tally>;
  tallies(filter: TallyFilter): Promise<readonly NamedTally[]>;
  gates(): Promise<readonly GateRecord[]>;
  deadLetters(scope?: Scope): Promise<readonly DeadLetter[]>;
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
