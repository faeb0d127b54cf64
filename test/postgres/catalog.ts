/**
 * A schema as the server's catalogs have it, written as statements: what a step of the migrations made, whatever its text
 * says. Imports pg's types.
 */
import type { Client } from 'pg'

const COLUMNS = `
  SELECT c.relname AS table, c.reloptions::text AS options, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
    l.collname AS collation, a.attnotnull AS is_needed, pg_get_expr(d.adbin, d.adrelid) AS default
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_collation l ON l.oid = a.attcollation AND a.attcollation <> t.typcollation
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' ORDER BY c.relname, a.attnum`
/** Without those that only say NOT NULL, which some versions keep here too. */
const CONSTRAINTS = `
  SELECT c.relname AS table, o.conname AS name, pg_get_constraintdef(o.oid) AS text
  FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
  WHERE o.connamespace = $1::regnamespace AND o.contype <> 'n' ORDER BY c.relname, o.conname`
const INDEXES = `SELECT indexdef AS text FROM pg_indexes WHERE schemaname = $1 ORDER BY tablename, indexname`
const SEQUENCES = `
  SELECT sequencename AS name, start_value, increment_by, min_value, max_value, cache_size, cycle
  FROM pg_sequences WHERE schemaname = $1 ORDER BY sequencename`

export async function catalogOf(client: Client, schema: string): Promise<string> {
  const ask = async (sql: string): Promise<Record<string, unknown>[]> => (await client.query(sql, [schema])).rows
  const [columns, constraints] = [await ask(COLUMNS), await ask(CONSTRAINTS)]
  const tables = [...new Set(columns.map(({ table }) => String(table)))].map((table) => {
    const own = columns.filter((column) => column['table'] === table)
    const lines = [
      ...own.map(columnText),
      ...constraints
        .filter((one) => one['table'] === table)
        .map(({ name, text }) => `CONSTRAINT ${String(name)} ${String(text)}`),
    ]
    const options = own[0]?.['options'] ?? ''
    return `CREATE TABLE ${table} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${options === '' ? '' : ` WITH ${String(options)}`};`
  })
  const indexes = (await ask(INDEXES)).map(({ text }) => `${String(text).replaceAll(`${schema}.`, '')};`)
  const sequences = (await ask(SEQUENCES)).map(
    ({ name, ...rest }) => `CREATE SEQUENCE ${String(name)}; -- ${JSON.stringify(rest)}`,
  )
  return `${[...tables, indexes.join('\n'), sequences.join('\n')].join('\n\n')}\n`
}

function columnText({ name, type, collation, is_needed: isNeeded, default: value }: Record<string, unknown>): string {
  const parts = [
    name,
    type,
    collation === null ? '' : ` COLLATE "${String(collation)}"`,
    isNeeded === true ? 'NOT NULL' : '',
    value === null ? '' : `DEFAULT ${String(value)}`,
  ]
  return parts
    .filter((part) => part !== '')
    .map(String)
    .join(' ')
    .replaceAll('  ', ' ')
}
