// reprise/postgres: 3 names, 1 values and 2 types. Written by `npm run api`.
//
// values:
//   openPostgres,
//
// types:
//   PostgresLedger, PostgresOptions,

import type {
  Clock,
} from 'reprise'
import type {
  AttemptCounts, AttemptRow, CompactRequest, Compacted, Creation, DeadLetter, Decided, DueRequest, EventScope,
  ForgetRequest, Forgotten, GateRecord, Json, Keys, Ledger, LedgerAnalytics, NamedTally, NewTask, OwnerRecord,
  PolicyRecord, QueueRef, RunFilter, RunRecord, RunRemoval, Seat, StatusCounts, StoreAvailability, StoredEvent, Tally,
  TallyFilter, TaskFilter, TaskKey, TaskRecord, TaskResult, ThreadHeartbeat, TransactionClient, View,
} from 'reprise/durable'

export declare class PostgresLedger implements Ledger {
  readonly name: string;
  readonly spans = "network";
  readonly analytics: LedgerAnalytics;
  now(): Promise<number>;
  leaseNow(): Promise<number>;
  changeMark(): Promise<number>;
  listen(heard: () => void): Promise<() => void>;
  watchAvailability(heard: (state: StoreAvailability) => void): Promise<() => void>;
  create(tasks: readonly NewTask[]): Promise<readonly Creation[]>;
  createWithin(client: TransactionClient, task: NewTask): Promise<Creation>;
  transact<T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T>;
  claim<T>(request: DueRequest, decide: ClaimDecision<T>): Promise<readonly T[]>;
  heartbeat(owner: OwnerRecord): Promise<void>;
  removeOwner(id: string): Promise<void>;
  threadHeartbeat(): ThreadHeartbeat | undefined;
  keepPolicy({ hash, policy }: PolicyRecord): Promise<void>;
  forget(request: ForgetRequest): Promise<Forgotten>;
  removeRun(id: string, limit: number, gates?: readonly string[]): Promise<RunRemoval>;
  compact(request: CompactRequest): Promise<Compacted>;
  nextDueAtMs(queues: readonly QueueRef[], except?: readonly TaskKey[]): Promise<number | null>;
  owners(): Promise<readonly OwnerRecord[]>;
  taskOwners(): Promise<readonly string[]>;
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
  close(): Promise<void>;
}

export interface PostgresOptions {
  readonly clock?: Clock | undefined;
  readonly create?: boolean;
  readonly migrate?: boolean;
  readonly prepare?: boolean;
}

export declare function openPostgres(given: string, options?: PostgresOptions): Promise<PostgresLedger>;

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
