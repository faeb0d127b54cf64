// reprise: 84 names, 31 values and 53 types. Written by `npm run api`.
//
// values:
//   AttemptTimeoutError, BreakerOpenError, BreakerStateError, BudgetDeniedError, BudgetError, BudgetRegistry,
//   CallTimeoutError, NoPolicyError, OptionsError, PolicyError, RepriseError, ResultError, RetryBudgetExhaustedError,
//   adaptiveBudget, allOf, concurrencyBudget, countBudget, createExecutor, delayAfter, formatDuration, isRepriseError,
//   normalizePolicy, parseDuration, perKey, ratioBudget, recommended, retry, systemClock, timelineOf, tokenBucket,
//   unlimited,
//
// types:
//   AdaptiveBudget, AdaptiveBudgetOptions, AllOf, AnyRepriseError, AttemptContext, AttemptOutcome, AttemptRecord,
//   BackoffInput, BreakerInput, Budget, BudgetDescription, BudgetRequest, CallOptions, Clock, ConcurrencyBudget,
//   ConcurrencyBudgetOptions, CountBudget, CountBudgetOptions, Decision, DurationInput, ErrorByCode, ErrorCode,
//   Executor, ExecutorOptions, FailureContext, HedgeInput, Inspection, Jitter, MatcherInput, NormalizeOptions,
//   NormalizedPolicy, Observer, Operation, OptionProblem, PerKeyBudget, PerKeyOptions, Policy, PolicyArgument,
//   PolicyInput, PolicyProblem, Random, RatioBudget, RatioBudgetOptions, Recommended, RepriseEvent, RetryOptions,
//   RetryPredicate, StopReason, Timeline, Timer, TokenBucket, TokenBucketOptions, Unlimited,

import type {
  Backoff, Breaker, BreakerPolicy, BudgetRef, HedgePolicy, Matcher,
} from 'reprise/core'

export declare class AdaptiveBudget implements Budget {
  readonly maxParkMs: number;
  get inFlight(): number;
  get parked(): number;
  allowAttempt(request: BudgetRequest): Decision;
  conclude(request: BudgetRequest, outcome: AttemptOutcome): void;
  park(request: BudgetRequest, wake: (grant: Decision) => void): () => void;
  wakeAtMs(): number;
  poll(now: number, random: Random): void;
  describe(): BudgetDescription;
  snapshot(): AdaptiveBudgetState;
  restore(state: unknown): void;
}

export interface AdaptiveBudgetOptions {
  readonly bulkhead?: boolean | undefined;
  readonly strict?: boolean | undefined;
  readonly maxPark?: DurationInput | undefined;
  readonly maxParked?: number | undefined;
}

export declare class AllOf implements Budget {
  readonly members: readonly Budget[];
  readonly settle?: NonNullable<Budget['settle']>;
  readonly conclude?: NonNullable<Budget['conclude']>;
  allowAttempt(request: BudgetRequest): Decision;
  peek(request: BudgetRequest): boolean;
  denialReason(request: BudgetRequest): string;
  nextAllowedAtMs(request: BudgetRequest): number | undefined;
  describe(): BudgetDescription;
  snapshot(): readonly unknown[];
  restore(state: unknown): void;
}

export type AnyRepriseError = ErrorByCode[ErrorCode];

export interface AttemptContext {
  readonly attempt: number;
  readonly launch: number;
  readonly kind: AttemptKind;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly previousError?: unknown;
  readonly remainingMs?: number | undefined;
}

export interface AttemptOutcome {
  readonly result: Exclude<AttemptResult, 'denied'>;
  readonly latencyMs: number;
  readonly won: boolean;
  readonly now: number;
  readonly error?: unknown;
}

export interface AttemptRecord {
  readonly attempt: number;
  readonly launch: number;
  readonly kind: AttemptKind;
  readonly hedge: boolean;
  readonly startMs: number;
  readonly endMs: number;
  readonly delayBeforeMs: number;
  readonly parkedMs: number;
  readonly outcome: AttemptResult;
  readonly won: boolean;
  readonly error?: unknown;
  readonly budget?: string | undefined;
  readonly budgetAllowed: boolean;
  readonly budgetReason: string;
  readonly breaker?: BreakerPhase | undefined;
}

export declare class AttemptTimeoutError extends RepriseError {
  readonly code: 'attempt_timeout';
  readonly timeoutMs: number;
  readonly attempt: number;
  readonly launch: number;
  constructor(key: string, attempt: number, timeoutMs: number, launch?: number);
  get name(): string;
}

export type BackoffInput = 'fixed' | 'linear' | 'exponential' | 'fibonacci' | {
  readonly fixed: NoParameters | null;
} | {
  readonly linear: LinearParameters | null;
} | {
  readonly exponential: ExponentialParameters | null;
} | {
  readonly fibonacci: NoParameters | null;
} | {
  readonly custom: DelayList | DelayFormula;
} | {
  readonly type: 'fixed' | 'fibonacci';
} | ({
  readonly type: 'linear';
} & LinearParameters) | ({
  readonly type: 'exponential';
} & ExponentialParameters) | ({
  readonly type: 'custom';
} & (DelayList | DelayFormula));

export interface BreakerInput {
  readonly key?: string;
  readonly failureThreshold?: number;
  readonly recoveryTimeout?: DurationInput;
  readonly halfOpenMaxCalls?: number;
}

export declare class BreakerOpenError extends RepriseError {
  readonly code: 'breaker_open';
  readonly breaker: string;
  constructor(key: string, breaker: string, options?: {
    readonly cause?: unknown;
  });
  get name(): string;
}

export declare class BreakerStateError extends RepriseError {
  readonly code: 'invalid_breaker_state';
  readonly breaker: string;
  constructor(breaker: string, state: unknown);
  get name(): string;
}

export interface Budget {
  allowAttempt(request: BudgetRequest): Decision;
  conclude?(request: BudgetRequest, outcome: AttemptOutcome): void;
  settle?(request: BudgetRequest, outcome: AttemptOutcome): void;
  peek?(request: BudgetRequest): boolean;
  denialReason?(request: BudgetRequest): string;
  nextAllowedAtMs?(request: BudgetRequest): number | undefined;
  park?(request: BudgetRequest, wake: (grant: Decision) => void): () => void;
  readonly maxParkMs?: number;
  wakeAtMs?(): number;
  poll?(now: number, random: () => number): void;
  describe?(): BudgetDescription;
  snapshot?(): unknown;
  restore?(state: unknown): void;
}

export declare class BudgetDeniedError extends RepriseError {
  readonly code: 'budget_denied';
  readonly key: string;
  readonly budget: string;
  readonly reason: string;
  readonly attempt: number;
  constructor(key: string, budget: string, reason: string, attempt: number, options?: {
    readonly cause?: unknown;
  });
  get name(): string;
}

export interface BudgetDescription {
  readonly type: string;
  readonly [limit: string]: unknown;
}

export declare class BudgetError extends RepriseError {
  readonly code: 'invalid_budget';
  readonly lastError?: unknown;
  constructor(message: string, options?: {
    readonly cause?: unknown;
    readonly lastError?: unknown;
  });
  get name(): string;
}

export declare class BudgetRegistry {
  version: number;
  register(name: string, budget: Budget): this;
  get(name: string): Budget | undefined;
  names(): readonly string[];
}

export interface BudgetRequest {
  readonly key: string;
  readonly attempt: number;
  readonly launch: number;
  readonly kind: AttemptKind;
  readonly ref: BudgetRef;
  readonly now: number;
  readonly deadlineMs: number;
  readonly attemptTimeoutMs?: number | undefined;
}

export interface CallOptions<T = unknown> {
  readonly signal?: AbortSignal | undefined;
  readonly policy?: PolicyArgument<T> | undefined;
}

export declare class CallTimeoutError extends RepriseError {
  readonly code: 'timeout';
  readonly timeoutMs: number;
  constructor(key: string, timeoutMs: number, options?: {
    readonly cause?: unknown;
  });
  get name(): string;
}

export interface Clock {
  wallMs(): number;
  monotonicMs(): number;
  schedule(timer: Timer, atMs: number): void;
  cancel(timer: Timer): void;
  turnMs?(): number;
  scheduleIn?(timer: Timer, delayMs: number): void;
  soon?(timer: Timer): void;
}

export declare class ConcurrencyBudget implements Budget {
  get inUse(): number;
  allowAttempt(request: BudgetRequest): Decision;
  settle(request: BudgetRequest, _outcome: AttemptOutcome): void;
  peek(request: BudgetRequest): boolean;
  describe(): BudgetDescription;
  snapshot(): ConcurrencyBudgetState;
  restore(state: unknown): void;
}

export interface ConcurrencyBudgetOptions {
  readonly max: number;
}

export declare class CountBudget implements Budget {
  get used(): number;
  get remaining(): number;
  grant(amount: number): void;
  allowAttempt(request: BudgetRequest): Decision;
  peek(request: BudgetRequest): boolean;
  denialReason(request: BudgetRequest): string;
  nextAllowedAtMs(request: BudgetRequest): number;
  describe(): BudgetDescription;
  snapshot(): CountBudgetState;
  restore(state: unknown): void;
}

export interface CountBudgetOptions {
  readonly total: number;
  readonly perKey?: number | undefined;
  readonly parent?: CountBudget | undefined;
}

export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
  readonly release?: ((outcome: AttemptOutcome) => void) | undefined;
}

export type DurationInput = string | number;

export interface ErrorByCode {
  budget_denied: BudgetDeniedError;
  retry_budget_exhausted: RetryBudgetExhaustedError;
  breaker_open: BreakerOpenError;
  attempt_timeout: AttemptTimeoutError;
  timeout: CallTimeoutError;
  no_policy: NoPolicyError;
  result_failed: ResultError;
  invalid_policy: PolicyError;
  invalid_options: OptionsError;
  invalid_budget: BudgetError;
  invalid_breaker_state: BreakerStateError;
}

export type ErrorCode = keyof ErrorByCode;

export interface Executor<Key extends string = string> {
  run<T>(key: Key, operation: Operation<T>, options?: CallOptions<NoInfer<T>>): Promise<T>;
  inspect<T>(key: Key, operation: Operation<T>, options?: CallOptions<NoInfer<T>>): Promise<Inspection<T>>;
  wrap<This, A extends unknown[], T>(key: Key, fn: (this: This, ...args: A) => T | PromiseLike<T>): (this: This, ...args: A) => Promise<T>;
  breaker(key: string): Breaker | undefined;
}

export interface ExecutorOptions {
  readonly policies?: Readonly<Record<string, PolicyArgument>>;
  readonly defaultPolicy?: PolicyArgument;
  readonly missingPolicyMode?: MissingPolicyMode;
  readonly strictKeys?: boolean;
  readonly budgets?: BudgetRegistry | Readonly<Record<string, Budget>>;
  readonly missingBudgetMode?: MissingBudgetMode;
  readonly recoverHookErrors?: boolean;
  readonly observers?: readonly Observer[];
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface FailureContext {
  readonly key: string;
  readonly attempt: number;
  readonly launch: number;
  readonly kind: AttemptKind;
}

export interface HedgeInput {
  readonly delay?: DurationInput;
  readonly percentile?: number;
  readonly maxHedges?: number;
  readonly cancelOnFirstTerminal?: boolean;
  readonly budget?: string | HedgeBudgetFields;
}

export type Inspection<T> = {
  readonly ok: true;
  readonly value: T;
  readonly timeline: Timeline;
} | {
  readonly ok: false;
  readonly error: unknown;
  readonly timeline: Timeline;
};

export type Jitter = 'none' | 'proportional' | 'full' | 'equal' | 'decorrelated';

export type MatcherInput = MatcherWord | '5xx' | `exit:${number}` | {
  readonly pattern: string;
} | {
  readonly exitCode: number | readonly number[];
} | {
  readonly exit_code: number | readonly number[];
} | RetryPredicate;

export declare class NoPolicyError extends RepriseError {
  readonly code: 'no_policy';
  readonly key: string;
  constructor(key: string, notes?: readonly string[]);
  get name(): string;
}

export interface NormalizeOptions {
  readonly defaultJitter?: Jitter;
  readonly needsUnits?: boolean;
}

export interface NormalizedPolicy {
  readonly policy: Policy;
  readonly notes: readonly string[];
}

export interface Observer {
  onEvent(event: RepriseEvent): void;
}

export type Operation<T> = (context: AttemptContext) => T | PromiseLike<T>;

export interface OptionProblem {
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string;
}

export declare class OptionsError extends RepriseError {
  readonly code: 'invalid_options';
  readonly subject: string;
  readonly problems: readonly OptionProblem[];
  constructor(subject: string, problems: readonly OptionProblem[]);
  get name(): string;
}

export declare class PerKeyBudget implements Budget {
  readonly maxParkMs?: number;
  park?: NonNullable<Budget['park']>;
  peek?: NonNullable<Budget['peek']>;
  denialReason?: NonNullable<Budget['denialReason']>;
  nextAllowedAtMs?(request: BudgetRequest): number | undefined;
  conclude?: NonNullable<Budget['conclude']>;
  settle?: NonNullable<Budget['settle']>;
  of(key: string): Budget | undefined;
  allowAttempt(request: BudgetRequest): Decision;
  wakeAtMs(): number;
  poll(now: number, random: Random): void;
  describe(): BudgetDescription;
  snapshot(): PerKeyState;
  restore(state: unknown): void;
}

export interface PerKeyOptions {
  readonly maxKeys?: number | undefined;
}

export interface Policy<T = unknown> {
  readonly attempts: number;
  readonly backoff: Backoff;
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  readonly jitter: Jitter;
  readonly jitterFactor: number;
  readonly retryOn: readonly Matcher[];
  readonly retryBudgetMs: number | undefined;
  readonly attemptTimeoutMs: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly maxRetryAfterMs: number;
  readonly budget: BudgetRef | undefined;
  readonly breaker: BreakerPolicy | undefined;
  readonly hedge: HedgePolicy | undefined;
  readonly failIf: ResultCheck<T>['failIf'] | undefined;
}

export type PolicyArgument<T = unknown> = PolicyInput<T> | Policy<T> | number | false;

export declare class PolicyError extends RepriseError {
  readonly code: 'invalid_policy';
  readonly problems: readonly PolicyProblem[];
  constructor(problems: readonly PolicyProblem[]);
  get name(): string;
}

export interface PolicyInput<T = unknown> {
  readonly attempts?: number;
  readonly backoff?: BackoffInput;
  readonly initialDelay?: DurationInput;
  readonly maxDelay?: DurationInput;
  readonly jitter?: boolean | Jitter;
  readonly jitterFactor?: number;
  readonly retryOn?: readonly MatcherInput[];
  readonly maxTotalDelay?: DurationInput;
  readonly retryBudget?: DurationInput;
  readonly attemptTimeout?: DurationInput;
  readonly timeout?: DurationInput;
  readonly maxRetryAfter?: DurationInput;
  readonly budget?: BudgetRefInput;
  readonly breaker?: BreakerInput;
  readonly hedge?: HedgeInput;
  failIf?(value: T): boolean;
}

export type PolicyProblem = OptionProblem;

export type Random = () => number;

export declare class RatioBudget implements Budget {
  allowAttempt(request: BudgetRequest): Decision;
  peek(request: BudgetRequest): boolean;
  nextAllowedAtMs(request: BudgetRequest): number;
  describe(): BudgetDescription;
  snapshot(): RatioBudgetState;
  restore(state: unknown): void;
}

export interface RatioBudgetOptions {
  readonly ratio?: number | undefined;
  readonly minPerSecond?: number | undefined;
  readonly window?: DurationInput | undefined;
}

export interface Recommended {
  readonly defaultPolicy: PolicyInput;
  readonly budgets: Readonly<Record<string, Budget>>;
}

export declare abstract class RepriseError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: {
    readonly cause?: unknown;
  });
  get [TIMELINE](): unknown;
  set [TIMELINE](source: unknown);
  get name(): string;
  get [BRAND](): true;
}

export type RepriseEvent = EventBase & ({
  readonly type: 'call_started';
} | {
  readonly type: 'attempt_started';
  readonly launch: number;
  readonly kind: AttemptKind;
  readonly delayBeforeMs: number;
  readonly parkedMs: number;
} | {
  readonly type: 'attempt_finished';
  readonly launch: number;
  readonly kind: AttemptKind;
  readonly outcome: Exclude<AttemptResult, 'denied'>;
  readonly durationMs: number;
  readonly won: boolean;
  readonly error?: unknown;
} | {
  readonly type: 'waiting';
  readonly delayMs: number;
  readonly nextAttempt: number;
  readonly error: unknown;
} | {
  readonly type: 'parked';
  readonly launch: number;
  readonly budget: string;
} | {
  readonly type: 'budget_decision';
  readonly launch: number;
  readonly kind: AttemptKind;
  readonly budget: string;
  readonly cost: number;
  readonly mode: 'gate' | 'peek' | 'grant';
  readonly allowed: boolean;
  readonly reason: string;
  readonly error?: unknown;
} | {
  readonly type: 'hedge_started';
  readonly launch: number;
} | {
  readonly type: 'hedge_cancelled';
  readonly launch: number;
} | {
  readonly type: 'breaker_changed';
  readonly breaker: string;
  readonly from: BreakerPhase;
  readonly to: BreakerPhase;
} | {
  readonly type: 'call_succeeded';
  readonly attemptsMade: number;
  readonly launches: number;
  readonly totalDelayMs: number;
  readonly elapsedMs: number;
} | {
  readonly type: 'call_failed';
  readonly stopReason: StopReason;
  readonly budgetReason?: string | undefined;
  readonly attemptsMade: number;
  readonly launches: number;
  readonly totalDelayMs: number;
  readonly elapsedMs: number;
  readonly error: unknown;
} | {
  readonly type: 'resumed';
  readonly from: string;
} | {
  readonly type: 'interrupted';
  readonly launch: number;
  readonly execution: number;
  readonly orderly: boolean;
} | {
  readonly type: 'reset';
  readonly generation: number;
} | {
  readonly type: 'dead_lettered';
  readonly signature: string;
} | {
  readonly type: 'state_refused';
  readonly faults: readonly string[];
} | {
  readonly type: 'restored';
  readonly resumed: number;
  readonly waiting: number;
  readonly migrated: number;
  readonly refused: number;
  readonly elapsedMs: number;
} | {
  readonly type: 'queue_held';
  readonly gate: string;
  readonly reason: string;
  readonly waitMs?: number;
} | {
  readonly type: 'queue_released';
  readonly gate: string;
} | {
  readonly type: 'store_away';
  readonly store: string;
  readonly reason: string;
} | {
  readonly type: 'store_back';
  readonly store: string;
  readonly awayMs: number;
});

export declare class ResultError extends RepriseError {
  readonly code: 'result_failed';
  readonly value: unknown;
  constructor(key: string, value: unknown);
  get name(): string;
}

export declare class RetryBudgetExhaustedError extends RepriseError {
  readonly code: 'retry_budget_exhausted';
  constructor(key: string, usedMs: number, budgetMs: number, cause: unknown);
  get name(): string;
}

export type RetryOptions = Omit<CallOptions, 'policy'> & Omit<ExecutorOptions, 'policies' | 'defaultPolicy' | 'missingPolicyMode' | 'strictKeys'>;

export type RetryPredicate = (error: unknown, context: FailureContext) => boolean;

export type StopReason = (typeof STOP_REASONS)[number];

export interface Timeline {
  readonly key: string;
  readonly policy: Policy;
  readonly notes: readonly string[];
  readonly attempts: readonly AttemptRecord[];
  readonly stopReason?: StopReason | undefined;
  readonly budgetReason?: string | undefined;
  readonly totalDelayMs: number;
  readonly elapsedMs: number;
}

export interface Timer {
  fire(): void;
}

export declare class TokenBucket implements Budget {
  grant(amount: number, now: number): number;
  allowAttempt(request: BudgetRequest): Decision;
  peek(request: BudgetRequest): boolean;
  nextAllowedAtMs(request: BudgetRequest): number;
  describe(): BudgetDescription;
  snapshot(): TokenBucketState;
  restore(state: unknown): void;
}

export interface TokenBucketOptions {
  readonly capacity: number;
  readonly refillPerSecond: number;
  readonly chargeFirstAttempt?: boolean | undefined;
}

export type Unlimited = Required<Pick<Budget, 'allowAttempt' | 'peek'>>;

export declare function adaptiveBudget(options?: AdaptiveBudgetOptions): AdaptiveBudget;

export declare function allOf(...budgets: readonly Budget[]): AllOf;

export declare function concurrencyBudget(options: ConcurrencyBudgetOptions): ConcurrencyBudget;

export declare function countBudget(options: CountBudgetOptions): CountBudget;

export declare function createExecutor<Key extends string>(options: StrictOptions<Key>): Executor<Key>;
export declare function createExecutor(options?: ExecutorOptions): Executor;

export declare function delayAfter(policy: PolicyArgument, failures: number, random?: Random): number;

export declare function formatDuration(ms: number): string;

export declare function isRepriseError<C extends ErrorCode>(error: unknown, code: C): error is ErrorByCode[C];
export declare function isRepriseError(error: unknown): error is AnyRepriseError;

export declare function normalizePolicy(input: unknown, options?: NormalizeOptions): NormalizedPolicy;

export declare function parseDuration(text: DurationInput): number;

export declare function perKey(make: () => Budget, options?: PerKeyOptions): PerKeyBudget;

export declare function ratioBudget(options?: RatioBudgetOptions): RatioBudget;

export declare function recommended(changes?: PolicyInput): Recommended;

export declare function retry<T>(operation: Operation<T>, policy?: PolicyArgument<NoInfer<T>>, options?: RetryOptions): Promise<T>;

export declare const systemClock: Clock;

export declare function timelineOf(error: unknown): Timeline | undefined;

export declare function tokenBucket(options: TokenBucketOptions): TokenBucket;

export declare function unlimited(): Unlimited;

// Not exported, and referred to above.

// core/words
declare const ATTEMPT_KINDS: readonly ['retry', 'hedge'];

// core/words
declare const ATTEMPT_RESULTS: readonly ['success', 'failure', 'timeout', 'aborted', 'interrupted', 'denied'];

// core/budgets/adaptive
interface AdaptiveBudgetState {
  readonly waste: number;
  readonly used: number;
  readonly rate: CallRateState;
  readonly window: AttemptWindowState;
  readonly worth: RetryWorthState;
}

// core/words
type AttemptKind = (typeof ATTEMPT_KINDS)[number];

// core/words
type AttemptResult = (typeof ATTEMPT_RESULTS)[number];

// core/budgets/attempt-window
type AttemptWindowState = UsualAnswersState;

// core/errors
declare const BRAND: unique symbol;

// core/words
type BreakerPhase = 'closed' | 'open' | 'half_open';

// core/policy
interface BudgetRefFields {
  readonly name: string;
  readonly cost?: number;
}

// core/policy
type BudgetRefInput = string | BudgetRefFields;

// core/budgets/call-rate
interface CallRateState {
  readonly perSecond: number;
  readonly atMs: number;
}

// core/budgets/concurrency
interface ConcurrencyBudgetState {
  readonly inUse: number;
}

// core/budgets/count
interface CountBudgetState {
  readonly used: number;
  readonly keys: ReadonlyArray<readonly [key: string, used: number]>;
  readonly granted?: number;
}

// core/policy
interface DelayFormula {
  readonly formula: string;
}

// core/policy
interface DelayList {
  readonly delays: readonly DurationInput[];
}

// core/event
interface EventBase {
  readonly timeMs: number;
  readonly key: string;
  readonly callId: number;
  readonly taskId?: string;
  readonly scopeKind?: 'task' | 'run';
  readonly scope?: string;
  readonly correlationId?: string;
  readonly resumeId?: string;
  readonly attempt: number;
  readonly attempts: number;
}

// core/policy
interface ExponentialParameters {
  readonly base?: number;
}

// core/policy
interface HedgeBudgetFields extends BudgetRefFields {
  readonly share?: boolean;
}

// core/policy
interface LinearParameters {
  readonly increment?: DurationInput;
}

// core/policy
declare const MATCHER_WORDS: readonly ['network', 'timeout', 'server_error', 'rate_limit'];

// core/policy
type MatcherWord = (typeof MATCHER_WORDS)[number];

// core/gate
type MissingBudgetMode = 'allow' | 'deny';

// runtime/executor-options
type MissingPolicyMode = 'fallback' | 'allow' | 'deny';

// core/policy
type NoParameters = Readonly<Record<string, never>>;

// core/budgets/per-key
interface PerKeyState {
  readonly keys: Readonly<Record<string, unknown>>;
}

// core/budgets/ratio
interface RatioBudgetState {
  readonly slots: readonly RatioSlotState[];
}

// core/budgets/ratio
type RatioSlotState = readonly [atMs: number, firsts: number, withdrawn: number];

// core/policy
interface ResultCheck<T> {
  failIf(value: T): boolean;
}

// core/budgets/retry-worth
interface RetryWorthState {
  readonly help: number;
  readonly firsts: number;
  readonly late: number;
  readonly value: number;
}

// core/words
declare const STOP_REASONS: readonly ['attempts_exhausted', 'retry_budget_exhausted', 'not_retryable', 'breaker_open', 'budget_denied', 'timeout', 'aborted', 'retry_after_too_long', 'interrupted', 'no_policy'];

// runtime/executor-options
interface StrictOptions<Key extends string> extends ExecutorOptions {
  readonly strictKeys: true;
  readonly policies: Readonly<Record<Key, PolicyArgument>>;
}

// core/errors
declare const TIMELINE: unique symbol;

// core/budgets/token-bucket
interface TokenBucketState {
  readonly tokens: number;
  readonly atMs: number;
}

// core/budgets/usual-answers
interface UsualAnswersState {
  readonly fastShare: number;
  readonly notFast: number;
  readonly notPrompt: number;
  readonly late: number;
  readonly spells: number;
}
