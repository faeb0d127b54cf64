/** Questions about many tasks, in SQL. Imports its own layer and the port. */
import type { LedgerAnalytics } from '../ledger/analytics.js'
import type { Reader } from './reader.js'

export class PostgresAnalytics {
  constructor(_schema: string, _reader: Reader) {}
}
export interface PostgresAnalytics extends LedgerAnalytics {}
