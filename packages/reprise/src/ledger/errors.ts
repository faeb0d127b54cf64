/**
 * What a ledger rejects with. `unusable` says that nothing more can be written through this handle: a disk that is full
 * or fails is not asked twice. `busy` and `unreachable` pass: what was not written can be asked for again. Imports core
 * only. `missing`: there is nothing at the address, and nothing was to be made there.
 */
import { RepriseError } from '../core/errors.js'

export type LedgerProblem =
  | 'unusable'
  | 'busy'
  | 'unreachable'
  | 'missing'
  | 'newer_format'
  | 'corrupt'
  | 'missing_driver'
  | 'closed'
  | 'refused'

export class LedgerError extends RepriseError {
  readonly problem: LedgerProblem

  constructor(problem: LedgerProblem, message: string, cause?: unknown) {
    super('ledger', message, cause === undefined ? undefined : { cause })
    this.problem = problem
  }

  override get name(): string {
    return 'LedgerError'
  }
}
