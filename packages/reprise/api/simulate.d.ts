// reprise/simulate: 11 names, 4 values and 7 types. Written by `npm run api`.
//
// values:
//   FAULT_KINDS, SERVICE_SHAPES, simulate, wellKnown,
//
// types:
//   BudgetMaker, FaultKind, Limits, Report, ScenarioInput, ServiceShape, Subject,

import type {
  Budget, DurationInput, PolicyArgument, Random,
} from 'reprise'

export type BudgetMaker = (random: Random) => Budget;

export declare const FAULT_KINDS: readonly ['none', 'hang', 'refuse', 'capacity', 'slow', 'errors', 'flap', 'overload'];

export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Limits {
  readonly attemptTimeout?: DurationInput;
  readonly timeout?: DurationInput;
}

export interface Report {
  readonly name: string;
  readonly calls: number;
  readonly attempts: number;
  readonly amplification: {
    readonly worst: number;
    readonly mean: number;
  };
  readonly recoveryMs: number | null;
  readonly backMs: number | null;
  readonly success: {
    readonly total: number;
    readonly during: number;
    readonly after: number;
    readonly throughout: number;
  };
  readonly parts: {
    readonly hit: PartFigures;
    readonly rest: PartFigures;
  } | null;
  readonly goodput: number | null;
  readonly wasted: number;
  readonly extra: number;
  readonly latencyMs: {
    readonly p50: number;
    readonly p99: number;
  };
  readonly seconds: {
    readonly calls: readonly number[];
    readonly attempts: readonly number[];
    readonly useful: readonly number[];
  };
}

export declare const SERVICE_SHAPES: readonly ['exponential', 'fixed', 'lognormal', 'long-tail'];

export interface ScenarioInput {
  readonly clients?: number | undefined;
  readonly load?: number | undefined;
  readonly capacity?: number | undefined;
  readonly serviceTime?: DurationInput | undefined;
  readonly serviceShape?: ServiceShape | undefined;
  readonly queue?: DurationInput | undefined;
  readonly fault?: FaultKind | undefined;
  readonly amount?: number | undefined;
  readonly before?: DurationInput | undefined;
  readonly during?: DurationInput | undefined;
  readonly after?: DurationInput | undefined;
  readonly errorRate?: number | undefined;
  readonly faultShare?: number | undefined;
  readonly keyed?: boolean | undefined;
  readonly burst?: number | undefined;
  readonly restartAt?: DurationInput | undefined;
  readonly ignoresSignal?: boolean | undefined;
  readonly neighbours?: number | undefined;
}

export type ServiceShape = (typeof SERVICE_SHAPES)[number];

export interface Subject {
  readonly name: string;
  readonly title?: string;
  readonly policy: PolicyArgument;
  readonly budgets?: Readonly<Record<string, BudgetMaker>>;
  readonly source?: string;
}

export declare function simulate(input: ScenarioInput, subject: Subject, seed: number): Report;

export declare function wellKnown(limits?: Limits): readonly Subject[];

// Not exported, and referred to above.

// simulate/report
interface PartFigures {
  readonly calls: number;
  readonly amplification: number;
  readonly success: number;
}
