/**
 * What a copy of a ledger consists of, whichever store it is in and whichever it goes to: tables and columns that every
 * SQL store has by the same names. What else a store has is made by itself. A reader asks for the lengths of rows before
 * the rows: so no statement, and nothing in memory, grows with the number of long rows. Imports its own layer.
 */
import { LedgerError } from './errors.js'
import type { SqlRow } from './rows.js'

export interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Those that it is read in the order of. */
  readonly order: readonly string[]
}

const RUN = ['kind', 'name', 'status', 'owner', 'fence', 'resumes', 'fingerprint', 'detail', 'correlation_id']
const KEY = ['scope_kind', 'scope', 'id']
const TASK = [...KEY, 'queue', 'generation', 'status', 'claim_rank', 'due_at', 'owner', 'fence']
const TASK_REST = [
  'progress',
  'policy_hash',
  'payload_hash',
  'input',
  'result',
  'stop_reason',
  'correlation_id',
  'created_at',
  'updated_at',
]
const HISTORY = ['attempts_kept', 'compacted_attempts', 'compacted_until']
const ATTEMPT = ['task', 'generation', 'attempt', 'execution']
const OUTCOME = ['started_at', 'ended_at', 'outcome', 'delay_before', 'failure', 'signature', 'owner']
const LETTER = [...KEY, 'generation']

export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'policies', columns: ['hash', 'policy', 'kept_at'], order: ['hash'] },
  { name: 'runs', columns: ['id', ...RUN, 'created_at', 'updated_at', 'ended_at', 'definition'], order: ['id'] },
  { name: 'tasks', columns: ['pk', ...TASK, ...TASK_REST, ...HISTORY], order: ['pk'] },
  { name: 'checkpoints', columns: ['task', 'value'], order: ['task'] },
  { name: 'attempts', columns: [...ATTEMPT, ...OUTCOME], order: ATTEMPT },
  { name: 'gates', columns: ['key', 'kind', 'state', 'settings', 'manual_revision'], order: ['key'] },
  { name: 'owners', columns: ['id', 'record'], order: ['id'] },
  {
    name: 'dead',
    columns: [...LETTER, 'at', 'signature', 'stop_reason', 'failure', 'closed_at', 'closed_by'],
    order: LETTER,
  },
  { name: 'events', columns: ['seq', 'type', ...KEY, 'at', 'correlation_id', 'detail'], order: ['seq'] },
]

/** Some rows of a table at a time, as `portionsOf` says; the tables in order. */
export type CopiedRows = AsyncIterable<{ readonly table: CopiedTable; readonly rows: readonly SqlRow[] }>

/** So many at a time, if they are short. */
export const ROWS_AT_ONCE = 500
/** No more than this at a time, but for a row that is longer by itself. */
export const BYTES_AT_ONCE = 8_000_000
/** `better-sqlite3` keeps no row that is longer than V8's longest string, 2^29 - 24; others take up to 1 GB. */
export const MOST_ROW_BYTES = 530_000_000

/** What identifies a row, for people as well; with its length in `bytes` it is asked for before the row. */
export function placeColumns({ columns, order }: CopiedTable): readonly string[] {
  return columns.includes('scope') ? [...new Set([...order, ...KEY])] : order
}

/** How many rows to read at a time, of those whose places and lengths these are. */
export function portionsOf(table: CopiedTable, lengths: readonly SqlRow[]): number[] {
  const portions: number[] = []
  let rows = 0
  let sum = 0
  for (const length of lengths) {
    const bytes = length['bytes'] as number
    if (bytes > MOST_ROW_BYTES) throw tooLong(table, length, bytes)
    if (rows === ROWS_AT_ONCE || (rows > 0 && sum + bytes > BYTES_AT_ONCE)) {
      portions.push(rows)
      rows = sum = 0
    }
    rows += 1
    sum += bytes
  }
  return rows === 0 ? portions : [...portions, rows]
}

function tooLong({ name, order }: CopiedTable, row: SqlRow, bytes: number): LedgerError {
  const what = name === 'tasks' ? `Task ${row['scope']}/${row['id']}` : `What ${name} has of ${placeOf(order, row)}`
  const most = `${MOST_ROW_BYTES / 1e6} MB at most can be copied as one`
  const cure =
    'keep such a value in a file, and its name in the task; remove its run (`reprise clean`) to copy the rest'
  return new LedgerError('refused', `${what} has ${Math.ceil(bytes / 1e6)} MB, and ${most}: ${cure}`)
}

function placeOf(order: readonly string[], row: SqlRow): string {
  return order.map((column) => row[column]).join('/')
}

/** How many rows of each table were copied. */
export type CopiedCounts = Readonly<Record<string, number>>
