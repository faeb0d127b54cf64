/** How the PostgreSQL ledger forgets and compacts. Imports its own layer and the port. */
import type { Compacted, CompactRequest, Forgotten, ForgetRequest, RunRemoval } from '../ledger/ledger.js'
import type { Reader } from './reader.js'

export class Housekeeping {
  constructor(_schema: string, _reader: Reader) {}
  forget(_request: ForgetRequest): Promise<Forgotten> {
    throw new Error('todo')
  }
  removeRun(_id: string, _limit: number, _gates: readonly string[]): Promise<RunRemoval> {
    throw new Error('todo')
  }
  compact(_request: CompactRequest, _now: number): Promise<Compacted> {
    throw new Error('todo')
  }
}
