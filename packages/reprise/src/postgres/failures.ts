/**
 * Errors of PostgreSQL as errors of the ledger: which ledger, what the server says, what to do about it. Imports the
 * ledger's errors and rows.
 */
import { LedgerError, type LedgerProblem } from '../ledger/errors.js'
import { DamagedRow } from '../ledger/rows.js'

/** How long transient failures are retried before the caller gets an error. */
export const MAX_WAIT_MS = 30_000

/**
 * `lost`: the connection is gone, and whether the last statement was done is not known. `again`: nothing was done, and
 * it may be tried at once. `final`: trying again would change nothing.
 */
export type FailureKind = 'lost' | 'again' | 'final'

interface ServerError {
  readonly code?: string
  readonly severity?: string
  readonly routine?: string
  readonly message?: string
}

/** Serialization, deadlock, lock and statement timeouts. */
const AGAIN = new Set(['40001', '40P01', '55P03', '57014'])
/** The server is starting, stopping, full, or was told to end us. */
const LOST = /^(?:08|57P0|53300|25P0[34])/

/** Of the system, about a connection. */
const SOCKET = /^(?:E(?:CONN|PIPE|HOST|NET|TIMEDOUT|AI_|ADDR)|ENOTFOUND|ERR_(?:SOCKET|TLS|SSL|STREAM))/

/** Another process has created or changed the rows: they have to be read again. */
export class StaleRead extends Error {}

export function failureKind(error: unknown): FailureKind {
  if (error instanceof StaleRead) return 'again'
  if (error instanceof LedgerError || error instanceof DamagedRow) return 'final'
  const { code = '', severity, routine } = (error ?? {}) as ServerError
  if (AGAIN.has(code)) return 'again'
  // The prepared statement is gone: another connection prepares it again.
  if (code === '26000' || routine === 'RevalidateCachedQuery') return 'lost'
  // A wrong login, database, schema, statement or value: a retry would fail in the same way.
  if (/^(?:28|3D|3F|42|22)/.test(code)) return 'final'
  if (LOST.test(code) || severity === 'FATAL' || severity === 'PANIC') return 'lost'
  // A fault of this program.
  if (error instanceof TypeError || error instanceof RangeError) return 'final'
  // Not from the server: a broken socket, an unknown host, an answer that did not come.
  return severity === undefined ? 'lost' : 'final'
}

const CURES: readonly (readonly [RegExp, LedgerProblem, string])[] = [
  [/^28P01/, 'unusable', 'check the user and the password: in the address, PGPASSWORD or ~/.pgpass'],
  [
    /^28/,
    'unusable',
    'allow this user to connect from this machine (pg_hba.conf of the server), with TLS if it is required (sslmode)',
  ],
  [/^3D000/, 'unusable', 'create the database, or name one that exists'],
  [
    /^42501/,
    'unusable',
    'grant what is missing: USAGE on the schema and all rights on its tables and sequences; CREATE on the database if there is no schema yet',
  ],
  [/^42P01|^3F000/, 'unusable', 'the schema is missing or incomplete: restore it from a backup, or name another one'],
  [/^25006/, 'unusable', 'the server is a replica or read-only: name the primary'],
  [/^53100/, 'unusable', 'make room on the disk of the server; what was recorded before is kept'],
  [/^58/, 'unusable', 'check the disk and the log of the server; what was recorded before is kept'],
  [/^XX00[12]/, 'corrupt', 'the database is damaged: restore it from a backup; nothing was changed'],
  [
    /^53300/,
    'unreachable',
    'the server has no connection left: raise max_connections, or lower connections=N in the addresses',
  ],
  [
    /^(?:42P05|26000)/,
    'unusable',
    'a pooler changes the connection between transactions: name the server itself, or open with prepare: false',
  ],
  [/^(?:22021|22P05)/, 'refused', 'PostgreSQL cannot keep the character U+0000 in a name or an id: leave it out'],
]

/** Errors of the driver, from before the server has answered. */
const OWN_CURES: readonly (readonly [RegExp, string])[] = [
  [
    /client password must be a string/,
    'the server asks for a password: give it in the address, in PGPASSWORD or in ~/.pgpass',
  ],
  [/does not support SSL/, 'leave out sslmode, or enable TLS on the server'],
  [
    /certificate|self-signed|altnames/i,
    'name the authority that signed the certificate (sslrootcert=FILE), and the server as the certificate names it',
  ],
]

/** What `error` means for the ledger `name`. An error of a ledger is returned as it is. */
export function ledgerFailure(name: string, act: 'opened' | 'read' | 'written', error: unknown): LedgerError {
  if (error instanceof LedgerError) return error
  if (error instanceof DamagedRow) {
    const cure = 'correct or remove that row, or restore the schema from a backup'
    return new LedgerError('corrupt', `The ledger ${name} is damaged: ${error.message}: ${cure}`, error)
  }
  const { code = '' } = (error ?? {}) as ServerError
  const said = `The ledger ${name} cannot be ${act}: ${messageOf(error)}`
  const known = CURES.find(([codes]) => codes.test(code))
  if (known !== undefined) return new LedgerError(known[1], `${said}: ${known[2]}`, error)
  if (failureKind(error) === 'final') return new LedgerError('unusable', said, error)
  const own = OWN_CURES.find(([words]) => words.test(messageOf(error)))
  if (own !== undefined) return new LedgerError('unusable', `${said}: ${own[1]}`, error)
  const mayPass = code === '' || AGAIN.has(code) || LOST.test(code) || SOCKET.test(code)
  if (!mayPass) return new LedgerError('unusable', said, error)
  const patience = act === 'opened' ? '' : `it has not answered for ${MAX_WAIT_MS / 1000} s: `
  const cure = `${patience}check that the server runs and can be reached from this machine`
  return new LedgerError('unreachable', `${said}: ${cure}`, error)
}

/** A host name with two addresses fails with two errors: the message has both. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
