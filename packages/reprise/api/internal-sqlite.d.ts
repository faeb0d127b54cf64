// reprise/internal/sqlite: 12 names, 11 values and 1 types. Written by `npm run api`.
//
// values:
//   SCHEMA_VERSION, checkSqlite, copySqlite, expectSqliteLedger, inspectSqlite, missingDriverCure, pendingSqliteSql,
//   readSqlite, salvageSqlite, sqliteDrivers, writeSqliteCopy,
//
// types:
//   Salvage,

import type {
  CopiedCounts, CopiedRows, LostRows, StoreCheck, StoreFacts,
} from 'reprise/internal'
import type {
  SqliteDriverName,
} from 'reprise/sqlite'

export declare const SCHEMA_VERSION: number;

export interface Salvage {
  readonly rows: CopiedCounts;
  readonly lost: readonly LostRows[];
}

export declare function checkSqlite(file: string, take: (rows: CopiedRows) => Promise<void>): Promise<StoreCheck>;

export declare function copySqlite(file: string, target: string): Promise<void>;

export declare function expectSqliteLedger(file: string): Promise<void>;

export declare function inspectSqlite(file: string): Promise<StoreFacts>;

export declare function missingDriverCure(): Promise<string | null>;

export declare function pendingSqliteSql(file: string): Promise<readonly string[]>;

export declare function readSqlite(file: string): CopiedRows;

export declare function salvageSqlite(file: string, target: string): Promise<Salvage>;

export declare function sqliteDrivers(): Promise<DriverReport[]>;

export declare function writeSqliteCopy(target: string, source: CopiedRows, onRejected?: OnRejected): Promise<CopiedCounts>;

// Not exported, and referred to above.

// ledger/copied-tables
interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly order: readonly string[];
  readonly isDerived?: boolean;
}

// sqlite/integrity
interface DriverReport {
  readonly driver: SqliteDriverName;
  readonly version: string | null;
  readonly problem: string | null;
}

// sqlite/maintenance
type OnRejected = (table: CopiedTable, row: SqlRow, error: unknown) => void;

// ledger/rows
type SqlRow = Readonly<Record<string, SqlValue>>;

// ledger/rows
type SqlValue = number | string | null;
