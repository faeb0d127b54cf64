/**
 * Errors of SQLite as errors of the ledger: which ledger, what SQLite says, what to do about it. Imports its own layer.
 */
import { LedgerError, type LedgerProblem } from '../ledger/errors.js'
import { DamagedRow } from '../ledger/rows.js'
import { RESULT_CODES, resultCode } from './result-codes.js'

const { BUSY, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB } = RESULT_CODES

/** After one of these codes the handle is not used for another write. */
export const FATAL: ReadonlySet<number> = new Set([READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB])

/** Longer than any transaction of ours: another program holds the lock. */
export const MAX_WAIT_MS = 30_000

const RESTORE = 'restore a backup, or save what can be read with `reprise doctor --salvage FILE`; nothing was changed'
/** Without the list of tables no row can be found. */
const ONLY_RESTORE =
  'nothing can be saved from this file. Move it away with its -wal and -shm files, then restore a backup; nothing was changed'

const CURES: Readonly<Record<number, string>> = {
  [BUSY]: `another program has held its lock for ${MAX_WAIT_MS / 1000} s: end that program, or let it finish`,
  [READONLY]: 'make the file and its directory writable for this user, then start again',
  [IOERR]: 'check the disk and the system log, then start again; what was recorded before is kept',
  [FULL]: 'make room, then start again; what was recorded before is kept',
  [CANTOPEN]: 'its directory must exist, and this user must be allowed to read and write in it',
  [CORRUPT]: `the file is damaged: ${RESTORE}`,
  [NOTADB]: `the file is not a SQLite database, or its first page is destroyed: check the path. If the path is right, ${ONLY_RESTORE}`,
}

/** The failure of the first read of a file, that of its list of tables. */
export function unreadableTables(name: string, error: unknown): unknown {
  if (resultCode(error) !== CORRUPT) return error
  const said = error instanceof Error ? error.message : String(error)
  const message = `The ledger ${name} cannot be read: ${said}: its list of tables is destroyed, so ${ONLY_RESTORE}`
  return new LedgerError('corrupt', message, error)
}

/** What `error` means for the ledger `name`. An error of a ledger is returned as it is. */
export function ledgerFailure(name: string, act: 'opened' | 'read' | 'written', error: unknown): LedgerError {
  if (error instanceof LedgerError) return error
  if (error instanceof DamagedRow) {
    return new LedgerError('corrupt', `The ledger ${name} is damaged: ${error.message}: ${RESTORE}`, error)
  }
  const code = resultCode(error)
  const cure = code === undefined ? undefined : CURES[code]
  const said = `The ledger ${name} cannot be ${act}: ${error instanceof Error ? error.message : String(error)}`
  return new LedgerError(problemOf(code), cure === undefined ? said : `${said}: ${cure}`, error)
}

function problemOf(code: number | undefined): LedgerProblem {
  if (code === BUSY) return 'busy'
  return code === CORRUPT || code === NOTADB ? 'corrupt' : 'unusable'
}
