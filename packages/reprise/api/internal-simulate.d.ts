// reprise/internal/simulate: 2 names, 1 values and 1 types. Written by `npm run api`.
//
// values:
//   completeScenario,
//
// types:
//   CompleteScenario,

import type {
  FaultKind, ScenarioInput, ServiceShape,
} from 'reprise/simulate'

export type CompleteScenario = ScenarioInput & Readonly<Record<'serviceShape', ServiceShape> & Record<'fault', FaultKind>> & Readonly<Record<'keyed' | 'ignoresSignal', boolean>> & Readonly<Record<CompletedNumber, number>>;

export declare function completeScenario(input?: ScenarioInput): CompleteScenario;

// Not exported, and referred to above.

// simulate/scenario
type CompletedNumber = ('clients' | 'load' | 'capacity' | 'serviceTime' | 'queue' | 'before' | 'during' | 'after') | ('errorRate' | 'faultShare' | 'burst' | 'restartAt' | 'neighbours');
