// @reprise/dashboard: 3 names, 1 values and 2 types. Written by `npm run api`.
//
// values:
//   openGate,
//
// types:
//   Gate, GateOptions,

import type {
  Jobs,
} from '@reprise/jobs'

export interface Gate {
  readonly url: string;
  readonly token: string | undefined;
  close(): Promise<void>;
}

export interface GateOptions {
  readonly port?: number;
  readonly host?: string;
  readonly publicUrl?: string;
  readonly socket?: string;
  readonly tokens?: string | false;
  readonly allowChanges?: boolean;
  readonly version?: string;
  readonly onFault?: (text: string) => void;
}

export declare function openGate(jobs: Jobs, options?: GateOptions): Promise<Gate>;
