/**
 * What is done to a SQLite ledger as a file: looked at, brought up to date, copied while others write, made of another
 * ledger's rows. Imports its own layer.
 *
 * Invariant: a copy is there as a whole or not at all, and takes nobody's place.
 */
import { statSync } from 'node:fs'
import { TASK_STATUSES } from '../ledger/records.js'
import {
  COPIED_TABLES,
  type CopiedCounts,
  type CopiedRows,
  type CopiedTable,
  countTask,
  placeColumns,
  portionsOf,
  ROWS_AT_ONCE,
} from '../ledger/copied-tables.js'
import { LedgerError } from '../ledger/errors.js'
import { ownersIn, type SqlRow, type SqlValue } from '../ledger/rows.js'
import type { StoreContent, StoreFacts, TableFacts } from '../ledger/store-facts.js'
import { isAbsent } from './absent-file.js'
import { openDatabase, type SqliteDatabase } from './driver.js'
import { ledgerFailure } from './failures.js'
import {
  APPLICATION_ID,
  expectKnown,
  expectOurs,
  migrate,
  MIGRATIONS,
  SCHEMA_VERSION,
  schemaVersion,
} from './migrations.js'
import { newFile } from './new-file.js'
import { BEFORE_FIRST_PAGE, openSqlite } from './open-sqlite.js'
import { RESULT_CODES, resultCode } from './result-codes.js'
import { SQL } from './statements.js'
import { TallyCounts } from '../ledger/tally.js'

/** Opens it to look, whatever version it has; makes nothing. */
async function looking<T>(file: string, look: (database: SqliteDatabase, name: string) => Promise<T> | T): Promise<T> {
  const name = `sqlite:${file}`
  if (isAbsent(file)) throw new LedgerError('missing', `There is no ledger ${name}`)
  let database: SqliteDatabase | undefined
  try {
    database = await openDatabase(file)
    database.exec('PRAGMA query_only = 1')
    expectOurs(database, name)
    return await look(database, name)
  } catch (error) {
    throw ledgerFailure(name, 'read', error)
  } finally {
    database?.close()
  }
}

export function inspectSqlite(file: string): Promise<StoreFacts> {
  return looking(file, (database, name) => {
    const version = schemaVersion(database)
    const one = (sql: string): SqlValue => Object.values(database.prepare(sql).get() as SqlRow)[0] ?? null
    return {
      kind: 'sqlite',
      name,
      version: String(one('SELECT sqlite_version()')),
      schema: { version, newest: SCHEMA_VERSION },
      bytes: sizeOf(file) + sizeOf(`${file}-wal`),
      tables: tablesOf(database),
      content: version === SCHEMA_VERSION ? contentOf(database) : undefined,
      connections: null,
      isReplica: false,
      // What commands and programs ask for unless they are told otherwise; it is no property of the file.
      durability: { journal_mode: String(one('PRAGMA journal_mode')), synchronous: 'full' },
    }
  })
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function tablesOf(database: SqliteDatabase): TableFacts[] {
  const names = database.prepare(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
  )
  const sizes = sizesOf(database)
  return (names.all() as { name: string }[])
    .map(({ name }) => {
      const { rows } = database.prepare(`SELECT count(*) AS rows FROM "${name}"`).get() as { rows: number }
      return { name, rows, bytes: sizes?.get(name) ?? null }
    })
    .toSorted((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0))
}

/** With their indexes; undefined where SQLite was built without the table that tells. */
function sizesOf(database: SqliteDatabase): Map<string, number> | undefined {
  const sql = `SELECT s.tbl_name AS name, sum(d.pgsize) AS bytes FROM dbstat d JOIN sqlite_schema s ON s.name = d.name
    WHERE d.aggregate = TRUE GROUP BY s.tbl_name`
  try {
    const rows = database.prepare(sql).all() as { name: string; bytes: number }[]
    return new Map(rows.map(({ name, bytes }) => [name, bytes]))
  } catch {
    return undefined
  }
}

function contentOf(database: SqliteDatabase): StoreContent {
  const all = (sql: string): SqlRow[] => database.prepare(sql).all() as SqlRow[]
  const counts = new Map(all('SELECT status, count(*) AS tasks FROM tasks GROUP BY status').map(pairOf))
  return {
    nowMs: Date.now(),
    tasks: Object.fromEntries(
      TASK_STATUSES.flatMap((status) => (counts.has(status) ? [[status, counts.get(status)]] : [])),
    ),
    oldestDueAtMs: (all(`SELECT min(due_at) AS due FROM tasks WHERE status = 'waiting'`)[0]?.['due'] ?? null) as
      | number
      | null,
    owners: ownersIn(all('SELECT record FROM owners ORDER BY id')),
    deadLetters: all('SELECT count(*) AS letters FROM dead WHERE closed_at IS NULL')[0]?.['letters'] as number,
  }
}

function pairOf(row: SqlRow): [string, number] {
  return [row['status'] as string, row['tasks'] as number]
}

/** What a migration would execute; empty if there is nothing to do. */
export async function pendingSqliteSql(file: string): Promise<readonly string[]> {
  const version = isAbsent(file) ? 0 : await looking(file, schemaVersion)
  if (version >= SCHEMA_VERSION) return []
  const marks = [`PRAGMA application_id = ${APPLICATION_ID}`, `PRAGMA user_version = ${SCHEMA_VERSION}`]
  return ['BEGIN IMMEDIATE', ...MIGRATIONS.slice(version), ...marks, 'COMMIT']
}

/** Copies it into a file that is not there yet, as of one moment; others go on writing. */
export async function copySqlite(file: string, target: string): Promise<void> {
  await newFile(target, (partial) =>
    looking(file, (database, name) => {
      // What a newer version keeps beside the tables that are known here, nobody would look after.
      expectKnown(database, name)
      database.exec('PRAGMA query_only = 0')
      database.prepare('VACUUM INTO ?').run(partial)
    }),
  )
}

/** Told of a row that the new ledger does not take, such as a second one with the same key. */
type OnRejected = (table: CopiedTable, row: SqlRow, error: unknown) => void

/** Makes a ledger in a file that is not there yet of the rows of another. Without `onRejected` a bad row ends it. */
export async function writeSqliteCopy(
  target: string,
  source: CopiedRows,
  onRejected?: OnRejected,
): Promise<CopiedCounts> {
  const counts: Record<string, number> = {}
  await newFile(target, async (partial) => {
    const database = await openDatabase(partial)
    try {
      database.exec(BEFORE_FIRST_PAGE)
      // It becomes a ledger when it is whole, and is synced then.
      database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF')
      migrate(database, `sqlite:${partial}`)
      database.exec('BEGIN')
      const tallies = new TallyCounts()
      for await (const { table, rows } of source) {
        if (table.isDerived) continue
        const written = put(database, table, rows, onRejected)
        counts[table.name] = (counts[table.name] ?? 0) + written.length
        if (table.name === 'tasks') for (const row of written) countTask(row, tallies)
      }
      const addToTally = database.prepare(SQL.addToTally)
      for (const [name, delta] of tallies.entries()) addToTally.run(name, ...delta)
      database.exec('UPDATE policies SET tasks = (SELECT count(*) FROM tasks WHERE policy_hash = hash); COMMIT')
    } catch (error) {
      throw ledgerFailure(`sqlite:${target}`, 'written', error)
    } finally {
      database.close()
    }
  })
  return counts
}

/** Columns that a row lacks, since they are counted at the end. */
const DEFAULTS: Readonly<Record<string, SqlValue>> = { tasks: 0 }

/** The rows that were written. */
function put(
  database: SqliteDatabase,
  table: CopiedTable,
  rows: readonly SqlRow[],
  onRejected: OnRejected | undefined,
): SqlRow[] {
  const { name, columns } = table
  const all = name === 'policies' ? [...columns, 'tasks'] : columns
  const marks = all.map(() => '?').join(', ')
  const insert = database.prepare(`INSERT INTO ${name} (${all.join(', ')}) VALUES (${marks})`)
  return rows.filter((row) => {
    try {
      insert.run(...all.map((column) => row[column] ?? DEFAULTS[column] ?? null))
      return true
    } catch (error) {
      if (onRejected === undefined || resultCode(error) !== RESULT_CODES.CONSTRAINT) throw error
      onRejected(table, row, error)
      return false
    }
  })
}

/** Refuses a file that is no ledger, before anything is made of it. */
export async function expectSqliteLedger(file: string): Promise<void> {
  if ((await looking(file, schemaVersion)) > 0) return
  throw new LedgerError('unusable', `sqlite:${file} has no ledger in it: name a file that \`store backup\` wrote`)
}

/** All rows, as of one moment. */
export async function* readSqlite(file: string): CopiedRows {
  const name = `sqlite:${file}`
  await expectSqliteLedger(file)
  // Brought up to date, so that it has the columns that are asked for.
  const ledger = await openSqlite(file, { create: false })
  await ledger.close()
  const database = await openDatabase(file)
  try {
    database.exec('PRAGMA query_only = 1; BEGIN')
    for (const table of COPIED_TABLES) yield* tableRows(database, table)
    database.exec('COMMIT')
  } catch (error) {
    throw ledgerFailure(name, 'read', error)
  } finally {
    database.close()
  }
}

function* tableRows(
  database: SqliteDatabase,
  table: CopiedTable,
): Generator<{ table: CopiedTable; rows: readonly SqlRow[] }> {
  const bytes = table.columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')
  const lengthsAfter = pagesOf(database, table, [...placeColumns(table), `${bytes} AS bytes`])
  const rowsAfter = pagesOf(database, table, table.columns)
  let last: SqlRow | undefined
  for (;;) {
    const lengths = lengthsAfter(last, ROWS_AT_ONCE)
    if (lengths.length === 0) return
    for (const count of portionsOf(table, lengths)) {
      const rows = rowsAfter(last, count)
      last = rows.at(-1)
      yield { table, rows }
    }
  }
}

function pagesOf(
  database: SqliteDatabase,
  { name, order }: CopiedTable,
  columns: readonly string[],
): (last: SqlRow | undefined, count: number) => SqlRow[] {
  const key = order.join(', ')
  const sql = `SELECT ${columns.join(', ')} FROM ${name}`
  const first = database.prepare(`${sql} ORDER BY ${key} LIMIT ?`)
  const next = database.prepare(`${sql} WHERE (${key}) > (${order.map(() => '?').join(', ')}) ORDER BY ${key} LIMIT ?`)
  return (last, count) => {
    if (last === undefined) return first.all(count) as SqlRow[]
    return next.all(...order.map((column) => last[column] as SqlValue), count) as SqlRow[]
  }
}
