// reprise/internal/postgres: 5 names, 5 values and 0 types. Written by `npm run api`.
//
// values:
//   checkPostgres, copyPostgres, inspectPostgres, pendingPostgresSql, restorePostgres,

import type {
  CopiedCounts, CopiedRows, StoreCheck, StoreFacts,
} from 'reprise/internal'

export declare function checkPostgres(given: string, take: (rows: CopiedRows) => Promise<void>): Promise<StoreCheck>;

export declare function copyPostgres(given: string, take: (rows: CopiedRows) => Promise<CopiedCounts>): Promise<CopiedCounts>;

export declare function inspectPostgres(given: string): Promise<StoreFacts>;

export declare function pendingPostgresSql(given: string): Promise<readonly string[]>;

export declare function restorePostgres(given: string, source: CopiedRows): Promise<CopiedCounts>;
