/**
 * Whether a row of a copied table is a record of Reprise: JSON where JSON is kept, statuses that exist. What a store reads
 * without an error may still be garbage, since neither SQLite nor PostgreSQL knows what belongs there. Imports its own
 * layer.
 */
import type { CopiedRows, CopiedTable } from './copied-tables.js'
import { type ScopeKind, wordsOf } from './records.js'
import { DamagedRow, deadLetterOf, eventOf, gateOf, parse, runOf, type SqlRow, taskOf } from './rows.js'

/** Rows that could not be read, or that are no records. */
export interface LostRows {
  readonly table: string
  /** `task nightly/fetch`, or between which rows. */
  readonly place: string
  readonly reason: string
}

/** How each table's rows become records; what throws is no record. */
const READERS: Readonly<Record<string, (row: SqlRow) => unknown>> = {
  policies: (row) => parse(row['policy'], 'its policy'),
  runs: (row) => [runOf(row), parse(row['definition'], 'its definition')],
  tasks: taskOf,
  checkpoints: (row) => parse(row['value'], 'its value'),
  attempts: (row) => parse(row['failure'] ?? 'null', 'its failure'),
  gates: gateOf,
  owners: (row) => parse(row['record'], 'its record'),
  dead: deadLetterOf,
  events: eventOf,
}

/** What is wrong with the row; undefined if it is a record. */
function damageOf({ name }: CopiedTable, row: SqlRow): string | undefined {
  try {
    READERS[name]?.(row)
    return undefined
  } catch (error) {
    if (error instanceof DamagedRow) return error.message
    throw error
  }
}

/** `tasks nightly/fetch`, `events 17`: the row as people find it. */
export function rowPlace({ name, order }: CopiedTable, row: SqlRow): string {
  if (name === 'tasks')
    return wordsOf({ scopeKind: row['scope_kind'] as ScopeKind, scope: String(row['scope']), id: String(row['id']) })
  if (name === 'runs') return `run ${String(row['id'])}`
  return `${name} ${order.map((column) => String(row[column])).join('/')}`
}

/** Leaves out rows that are no records. */
export async function* wholeRows(source: CopiedRows, onLost: (lost: LostRows) => void): CopiedRows {
  for await (const { table, rows } of source) {
    const whole = rows.filter((row) => {
      const reason = damageOf(table, row)
      if (reason !== undefined) onLost({ table: table.name, place: rowPlace(table, row), reason })
      return reason === undefined
    })
    yield { table, rows: whole }
  }
}
