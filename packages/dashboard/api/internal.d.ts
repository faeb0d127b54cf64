// @reprise/dashboard/internal: 5 names, 4 values and 1 types. Written by `npm run api`.
//
// values:
//   ListenError, checkedGate, metricsPage, serveMetrics,
//
// types:
//   Listening,

import type {
  GateOptions,
} from '@reprise/dashboard'
import type {
  JobMetric,
} from '@reprise/jobs'

export declare class ListenError extends Error {
}

export interface Listening {
  readonly url: string;
  readonly port: number | undefined;
  close(): Promise<void>;
}

export declare function checkedGate(options: GateOptions): {
  readonly address: ListenAddress;
  readonly publicUrl: URL | undefined;
  readonly known: Tokens | null;
  readonly token: string | undefined;
};

export declare function metricsPage(source: MetricsSource): () => Promise<string>;

export declare function serveMetrics(page: () => Promise<string>, address: ListenAddress): Promise<Listening>;

// Not exported, and referred to above.

// serve/tokens
type Bearer = Omit<Token, 'secret'>;

// serve/listen
type ListenAddress = {
  readonly host: string;
  readonly port: number;
} | {
  readonly socket: string;
};

// serve/metrics-page
interface MetricsSource {
  metrics(): Promise<readonly JobMetric[]>;
}

// serve/tokens
interface Token {
  readonly access: TokenAccess;
  readonly name: string;
  readonly secret: string;
}

// serve/tokens
type TokenAccess = 'view' | 'act';

// serve/tokens
declare class Tokens {
  find(authorization: string | null): Bearer | undefined;
}
