/**
 * Dead letters of ledgers in SQL, counted by the database: one row comes to JavaScript for each cause, whatever the number
 * of letters. Imports rows and the port.
 */
import type { LetterCountFilter, LetterPattern, LetterTotals } from '../figures.js'
import { MOST_SCOPES } from '../figures.js'
import type { LetterClosing, Scope } from '../records.js'
import { deadLetterOf, numberOf, type SqlRow, scopeOf } from '../rows.js'
import { Conditions, type Reading, readRows } from './sql-reading.js'
import { LETTER_COLUMNS } from './sql-lists.js'

/** A quote within a text is escaped, so that no message has the form of a key. */
const IS_FINAL = `CASE WHEN failure LIKE '%"retryable":false%' THEN 1 ELSE 0 END`
const PARTS = `CASE WHEN scope LIKE '%/%/%' THEN 3 WHEN scope LIKE '%/%' THEN 2 ELSE 1 END`
const LATEST = ['at', 'scope_kind', 'scope', 'id', 'generation'].map((column) => `${column} DESC`).join(', ')

function conditionsOf({ scopes, isOpen, signature, untilMs }: LetterCountFilter): Conditions {
  const where = new Conditions().when('signature = ?', signature).when('closed_at < ?', untilMs)
  if (isOpen !== undefined) where.add(`closed_at IS ${isOpen ? '' : 'NOT '}NULL`)
  if (scopes === undefined) return where
  if (scopes.length === 0) return where.add('1 = 0')
  const pairs = scopes.map(() => '(?, ?)').join(', ')
  const values = scopes.flatMap(({ scopeKind, scope }) => [scopeKind, scope])
  return where.add(`(scope_kind, scope) IN (VALUES ${pairs})`, ...values)
}

export function* letterTotals(filter: LetterCountFilter): Reading<LetterTotals> {
  const { where, values } = conditionsOf(filter)
  const rows = yield* readRows(
    `SELECT scope_kind, parts, stop_reason, is_final, closed_by, count(*) AS letters, min(at) AS first_at,
      max(at) AS last_at FROM (SELECT scope_kind, ${PARTS} AS parts, stop_reason, ${IS_FINAL} AS is_final,
        coalesce(closed_by, '') AS closed_by, at FROM {dead} ${where}) l
      GROUP BY scope_kind, parts, stop_reason, is_final, closed_by
      ORDER BY scope_kind, parts, stop_reason, is_final, closed_by`,
    values,
  )
  const [found] = yield* readRows(`SELECT count(DISTINCT signature) AS kinds FROM {dead} ${where}`, values)
  return {
    kinds: numberOf(found?.['kinds']),
    counts: rows.map((row) => ({
      scopeKind: scopeOf({ ...row, scope: '' }).scopeKind,
      parts: numberOf(row['parts']),
      ...reasonOf(row),
      closedBy: row['closed_by'] === '' ? null : (row['closed_by'] as LetterClosing),
      letters: numberOf(row['letters']),
      firstAtMs: numberOf(row['first_at']),
      lastAtMs: numberOf(row['last_at']),
    })),
  }
}

function reasonOf(row: SqlRow): Pick<LetterPattern['reasons'][number], 'stopReason' | 'isFinal'> {
  const stopReason = row['stop_reason'] as LetterPattern['reasons'][number]['stopReason']
  return { stopReason, isFinal: numberOf(row['is_final']) === 1 }
}

export function* letterPatterns(filter: LetterCountFilter): Reading<readonly LetterPattern[]> {
  const { where, values } = conditionsOf(filter)
  const kinds = yield* readRows(
    `SELECT signature, count(*) AS letters, min(at) AS first_at FROM {dead} ${where}
      GROUP BY signature ORDER BY letters DESC, signature`,
    values,
  )
  if (kinds.length === 0) return []
  const reasons = yield* readRows(
    `SELECT signature, stop_reason, is_final, count(*) AS letters
      FROM (SELECT signature, stop_reason, ${IS_FINAL} AS is_final FROM {dead} ${where}) l
      GROUP BY signature, stop_reason, is_final ORDER BY signature, stop_reason, is_final`,
    values,
  )
  const last = yield* readRows(
    `SELECT * FROM (SELECT ${LETTER_COLUMNS}, row_number() OVER (PARTITION BY signature ORDER BY ${LATEST}) AS nth
      FROM {dead} ${where}) l WHERE nth = 1`,
    values,
  )
  const scopes = yield* readRows(
    `SELECT signature, scope_kind, scope FROM (SELECT signature, scope_kind, scope,
        row_number() OVER (PARTITION BY signature ORDER BY first_at, scope_kind, scope) AS nth
        FROM (SELECT signature, scope_kind, scope, min(at) AS first_at FROM {dead} ${where}
          GROUP BY signature, scope_kind, scope) s) n WHERE nth <= ${MOST_SCOPES} ORDER BY signature, nth`,
    values,
  )
  const reasonsOf = grouped(reasons, (row) => ({ ...reasonOf(row), letters: numberOf(row['letters']) }))
  const scopesOf = grouped(scopes, (row): Scope => scopeOf(row))
  const lastOf = grouped(last, deadLetterOf)
  return kinds.map((row) => {
    const signature = row['signature'] as string
    return {
      signature,
      letters: numberOf(row['letters']),
      firstAtMs: numberOf(row['first_at']),
      reasons: reasonsOf.get(signature) ?? [],
      scopes: scopesOf.get(signature) ?? [],
      last: (lastOf.get(signature) as [LetterPattern['last']])[0],
    }
  })
}

function grouped<T>(rows: readonly SqlRow[], read: (row: SqlRow) => T): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const row of rows) {
    const signature = row['signature'] as string
    const group = groups.get(signature)
    if (group === undefined) groups.set(signature, [read(row)])
    else group.push(read(row))
  }
  return groups
}
