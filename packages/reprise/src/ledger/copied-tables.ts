/**
 * What a copy of a ledger consists of, whichever store it is in and whichever it goes to: tables and columns that every
 * SQL store has by the same names. What else a store has is made by itself. Imports types of its own layer.
 */
import type { SqlRow } from './rows.js'

export interface CopiedTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Those that it is read in the order of. */
  readonly order: readonly string[]
}

const RUN = ['kind', 'name', 'status', 'owner', 'fence', 'resumes', 'fingerprint', 'detail', 'correlation_id']
const TASK = ['run', 'id', 'queue', 'generation', 'status', 'due_at', 'owner', 'fence', 'progress', 'policy_hash']
const TASK_REST = ['payload_hash', 'input', 'result', 'stop_reason', 'correlation_id', 'created_at', 'updated_at']
const HISTORY = ['attempts_kept', 'compacted_attempts', 'compacted_until']
const ATTEMPT = ['task', 'generation', 'number', 'execution']
const OUTCOME = ['started_at', 'ended_at', 'outcome', 'delay_before', 'failure', 'signature', 'owner']
const LETTER = ['run', 'id', 'generation']

export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'policies', columns: ['hash', 'policy', 'kept_at'], order: ['hash'] },
  { name: 'runs', columns: ['id', ...RUN, 'created_at', 'updated_at', 'ended_at', 'definition'], order: ['id'] },
  { name: 'tasks', columns: ['pk', ...TASK, ...TASK_REST, ...HISTORY], order: ['pk'] },
  { name: 'attempts', columns: [...ATTEMPT, ...OUTCOME], order: ATTEMPT },
  { name: 'gates', columns: ['key', 'kind', 'state', 'settings', 'decree'], order: ['key'] },
  { name: 'owners', columns: ['id', 'record'], order: ['id'] },
  { name: 'dead', columns: [...LETTER, 'at', 'signature', 'stop_reason', 'failure'], order: LETTER },
  { name: 'events', columns: ['seq', 'type', 'run', 'id', 'at', 'correlation_id', 'detail'], order: ['seq'] },
]

/** Some rows of a table at a time; the tables in order. */
export type CopiedRows = AsyncIterable<{ readonly table: CopiedTable; readonly rows: readonly SqlRow[] }>

/** So many at a time: rows may be long. */
export const ROWS_AT_ONCE = 500

/** How many rows of each table were copied. */
export type CopiedCounts = Readonly<Record<string, number>>
