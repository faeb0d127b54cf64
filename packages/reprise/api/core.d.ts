// reprise/core: 25 names, 9 values and 16 types. Written by `npm run api`.
//
// values:
//   Breaker, admit, advance, decide, drawsOf, initialState, isRetryable, retryAfterMs, snapshot,
//
// types:
//   Admission, AllotmentDecision, Backoff, BreakerPolicy, BreakerState, BudgetRef, Draw, HedgePolicy, LaunchGates,
//   Matcher, Outcome, RetryGates, RetryState, RetryVerdict, StoredState, Verdict,

import type {
  Decision, FailureContext, Policy, RetryPredicate, StopReason,
} from 'reprise'

export type Admission = Start | {
  readonly type: 'park';
  readonly decision: Decision;
} | Stop;

export interface AllotmentDecision extends Decision {
  readonly postponeMs?: number;
}

export type Backoff = {
  readonly type: 'fixed';
} | {
  readonly type: 'linear';
  readonly incrementMs: number;
} | {
  readonly type: 'exponential';
  readonly base: number;
} | {
  readonly type: 'fibonacci';
} | {
  readonly type: 'custom';
  readonly delaysMs: readonly number[];
} | {
  readonly type: 'custom';
  readonly formula: string;
};

export declare class Breaker {
  readonly key: string;
  protected current: BreakerPhase;
  protected epoch: number;
  protected openUntilMs: number;
  protected openedAtMs: number;
  protected lastFailureAtMs: number | null;
  protected probes: number;
  protected successes: number;
  constructor(key: string, policy: BreakerPolicy, onChange?: BreakerListener);
  phase(now: number): BreakerPhase;
  get closed(): boolean;
  get idle(): boolean;
  refusesAt(atMs: number): boolean;
  admit(now: number): number;
  success(epoch: number): void;
  failure(epoch: number, now: number): void;
  giveBack(epoch: number): void;
  open(now: number): void;
  reset(): void;
  snapshot(): BreakerState;
  restore(state: BreakerState): void;
  hasSettings(settings: BreakerPolicy): boolean;
}

export interface BreakerPolicy {
  readonly key: string | undefined;
  readonly failureThreshold: number;
  readonly recoveryTimeoutMs: number;
  readonly halfOpenMaxCalls: number;
}

export interface BreakerState {
  readonly phase: BreakerPhase;
  readonly failures: number;
  readonly openUntilMs: number | null;
}

export interface BudgetRef {
  readonly name: string;
  readonly cost: number;
}

export type Draw = (failure: number) => number;

export interface HedgePolicy {
  readonly delayMs: number | undefined;
  readonly percentile: number | undefined;
  readonly maxHedges: number;
  readonly cancelOnFirstTerminal: boolean;
  readonly budget: BudgetRef | undefined;
  readonly shareBudget: boolean;
}

export interface LaunchGates {
  readonly aborted: boolean;
  readonly now: number;
  readonly dueMs?: number;
  readonly breaker: Breaker | undefined;
  ask(): Decision;
  readonly parks: boolean;
}

export type Matcher = MatcherWord | {
  readonly pattern: string;
} | {
  readonly exitCode: readonly number[];
} | RetryPredicate;

export type Outcome = {
  readonly type: 'success';
} | {
  readonly type: 'aborted';
} | {
  readonly type: 'failure';
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
};

export interface RetryGates {
  readonly breaker: Breaker | undefined;
  peek?(dueAtMs: number): boolean;
  allot?(): AllotmentDecision;
}

export interface RetryState {
  failures: number;
  launched: number;
  totalDelayMs: number;
  lastDelayMs: number;
  expiresAtMs: number | null;
  deadlineAtMs: number | null;
  resumed: boolean;
}

export interface RetryVerdict {
  readonly type: 'retry';
  readonly delayMs: number;
  readonly dueAtMs: number;
  readonly expiresAtMs: number | null;
  readonly postponed?: true;
}

export interface StoredState extends RetryState {
  readonly version: typeof STATE_VERSION;
  readonly seed: number;
}

export type Verdict = {
  readonly type: 'succeed';
} | RetryVerdict | StopVerdict;

export declare function admit(state: RetryState, gates: LaunchGates): Admission;

export declare function advance(state: RetryState, verdict: RetryVerdict): void;

export declare function decide(policy: Policy, state: RetryState, outcome: Outcome, now: number, draw: Draw, gates: RetryGates): Verdict;

export declare function drawsOf(seed: number): Draw;

export declare function initialState(deadlineAtMs: number | null): RetryState;

export declare function isRetryable(policy: Policy, error: unknown, context: FailureContext): boolean;

export declare function retryAfterMs(error: unknown, wallNowMs: number): number | undefined;

export declare function snapshot(state: RetryState, seed: number): StoredState;

// Not exported, and referred to above.

// core/breaker
type BreakerListener = (from: BreakerPhase, to: BreakerPhase) => void;

// core/words
type BreakerPhase = 'closed' | 'open' | 'half_open';

// core/policy
declare const MATCHER_WORDS: readonly ['network', 'timeout', 'server_error', 'rate_limit'];

// core/policy
type MatcherWord = (typeof MATCHER_WORDS)[number];

// core/state
declare const STATE_VERSION = 1;

// core/decide
interface Start {
  readonly type: 'start';
  readonly epoch: number;
  readonly breaker: BreakerPhase | undefined;
  readonly decision: Decision;
}

// core/decide
interface Stop {
  readonly type: 'stop';
  readonly reason: StopReason;
  readonly decision: Decision | undefined;
}

// core/decide
interface StopVerdict {
  readonly type: 'stop';
  readonly reason: StopReason;
  readonly budgetReason?: string;
}
