// reprise/testing: 12 names, 4 values and 8 types. Written by `npm run api`.
//
// values:
//   faultyLedger, ledgerContract, seededRandom, virtualClock,
//
// types:
//   ContractCase, FaultPlan, FaultyLedger, LedgerFault, LedgerOperation, LedgerUnderTest, LedgerVerb, VirtualClock,

import type {
  Clock, DurationInput, Random,
} from 'reprise'
import type {
  Ledger,
} from 'reprise/durable'

export interface ContractCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

export interface FaultPlan {
  readonly failAt?: number | ((operation: LedgerOperation) => LedgerFault | undefined);
  readonly kind?: LedgerFault;
  readonly error?: (operation: LedgerOperation) => unknown;
  readonly lasting?: boolean;
  readonly delay?: (operation: LedgerOperation) => PromiseLike<unknown> | undefined;
}

export interface FaultyLedger extends Ledger {
  readonly operations: readonly LedgerOperation[];
  readonly faults: readonly LedgerOperation[];
}

export type LedgerFault = 'before' | 'after';

export interface LedgerOperation {
  readonly verb: LedgerVerb;
  readonly index: number;
  readonly count: number;
}

export interface LedgerUnderTest {
  readonly ledger: Ledger;
  readonly setTime: (ms: number) => void;
}

export type LedgerVerb = Exclude<keyof Ledger, 'name' | 'spans'>;

export interface VirtualClock extends Clock {
  advance(duration: DurationInput): Promise<void>;
  runAll(): Promise<void>;
  sleep(duration: DurationInput, signal?: AbortSignal): Promise<void>;
  readonly pending: number;
}

export declare function faultyLedger(ledger: Ledger, plan: FaultPlan): FaultyLedger;

export declare function ledgerContract(open: () => Promise<LedgerUnderTest>): readonly ContractCase[];

export declare function seededRandom(seed: number): Random;

export declare function virtualClock(options?: {
  readonly startMs?: number;
}): VirtualClock;
