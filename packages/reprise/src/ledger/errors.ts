/**
 * What a ledger rejects with. `unusable` says that nothing more can be written through this handle: a disk that is full
 * or fails is not asked twice. `busy` and `unreachable` pass: what was not written can be asked for again. Imports core
 * only. `missing`: there is nothing at the address, and nothing was to be made there.
 */
import { RepriseError } from '../core/errors.js'

declare module '../core/error-codes.js' {
  interface ErrorByCode {
    ledger: LedgerError
  }
}

/**
 * Why a ledger rejects. `busy` and `unreachable` pass; `unusable`: nothing more can be written through this handle;
 * `missing`: nothing is at the address; `newer_format`: a newer version wrote it; `refused`: the server or its schema
 * does not allow it.
 */
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

/** A store cannot do what it was asked. */
export class LedgerError extends RepriseError {
  declare readonly code: 'ledger'
  /** The kind of problem. */
  readonly problem: LedgerProblem

  constructor(problem: LedgerProblem, message: string, cause?: unknown) {
    super('ledger', message, cause === undefined ? undefined : { cause })
    this.problem = problem
  }

  override get name(): string {
    return 'LedgerError'
  }
}

/** For a store whose tables are those of a version before the first release. `cure` says where a new store goes. */
export function unreleased(name: string, cure: string): LedgerError {
  const was = `${name} was made by an unreleased version of Reprise, and its tables have other columns`
  return new LedgerError('unusable', `${was}: finish its runs and tasks with that version, or ${cure}`)
}
