/**
 * The rows of a SQLite ledger that can be read, however damaged the file is. Where a page is damaged its rows are passed
 * over and reported, and reading goes on behind it. Imports its own layer.
 *
 * How a gap is passed: keys behind the last row that was read are tried, nearer ones first, until SQLite finds its way to
 * one. From there the rows are read backwards up to the damage, so that only rows on damaged pages are lost. Nothing is
 * written: the file is opened read-only.
 */
import { COPIED_TABLES, type CopiedRows, type CopiedTable, portionsOf, ROWS_AT_ONCE } from '../ledger/copied-tables.js'
import { LedgerError } from '../ledger/errors.js'
import { type LostRows, rowPlace } from '../ledger/row-check.js'
import type { SqlRow, SqlValue } from '../ledger/rows.js'
import { isAbsent } from './absent-file.js'
import { openDatabase, type SqliteDatabase } from './driver.js'
import { ledgerFailure, unreadableTables } from './failures.js'
import { expectOurs, SCHEMA_VERSION, schemaVersion } from './migrations.js'
import { RESULT_CODES, resultCode } from './result-codes.js'

type OnLost = (lost: LostRows) => void

/** The file, and not the statement, is at fault. */
const DAMAGE: ReadonlySet<number> = new Set([RESULT_CODES.IOERR, RESULT_CODES.CORRUPT, RESULT_CODES.NOTADB])

class DisorderedRows extends Error {}

/**
 * Whether a row that was asked for is at fault. An error that is not SQLite's is thrown by the driver while it fetches the
 * row, such as for an integer that JavaScript cannot represent, or is of `DisorderedRows`.
 */
function isDamage(error: unknown): boolean {
  const code = resultCode(error)
  return code === undefined || DAMAGE.has(code)
}

/** Opens a ledger read-only, whatever version of the schema it has, up to that of this program. */
export async function readingSqlite<T>(file: string, read: (database: SqliteDatabase) => T | Promise<T>): Promise<T> {
  const name = `sqlite:${file}`
  if (isAbsent(file)) throw new LedgerError('missing', `There is no ledger ${name}`)
  try {
    // By SQLite alone: to close any other handle of the file would drop the locks that this process has on it.
    const database = await openDatabase(file, undefined, undefined, true)
    try {
      readTables(database, name)
      expectOurs(database, name)
      return await read(database)
    } finally {
      database.close()
    }
  } catch (error) {
    throw ledgerFailure(name, 'read', error)
  }
}

/** Reads the list of tables first: without it nothing else can be read, and the error has to say so. */
function readTables(database: SqliteDatabase, name: string): void {
  try {
    if (!hasTables(database)) acceptCutOff(database)
  } catch (error) {
    throw unreadableTables(name, error)
  }
}

/** False where the file is corrupt to every statement. */
function hasTables(database: SqliteDatabase): boolean {
  try {
    database.exec('SELECT count(*) FROM sqlite_schema')
    return true
  } catch (error) {
    if (resultCode(error) !== RESULT_CODES.CORRUPT) throw error
    return false
  }
}

/**
 * A file that is shorter than its own header says, as after a copy that ended early, is corrupt to every statement. With
 * `writable_schema` SQLite takes the length of the file instead. The handle is read-only: nothing becomes writable.
 */
function acceptCutOff(database: SqliteDatabase): void {
  database.exec('PRAGMA writable_schema = 1')
  database.exec('SELECT count(*) FROM sqlite_schema')
}

/** All rows that can be read, in one read transaction. `onLost` is called for the others. */
export async function* readableRows(database: SqliteDatabase, onLost: OnLost): CopiedRows {
  if (schemaVersion(database) > SCHEMA_VERSION)
    throw new LedgerError('newer_format', 'The ledger was written by a newer Reprise: update this program')
  database.exec('BEGIN')
  for (const table of COPIED_TABLES) {
    for (const rows of new TableReader(database, table, onLost).portions()) yield { table, rows }
  }
  // Not committed: SQLite refuses that once it has met damage, and closing the handle ends it as well.
}

/** `runs` are found by an index of their ids, which may be damaged where the rows are not. */
function orderOf({ name, order }: CopiedTable): readonly string[] {
  return name === 'runs' ? ['rowid'] : order
}

class TableReader {
  private readonly database: SqliteDatabase
  private readonly table: CopiedTable
  private readonly key: readonly string[]
  private readonly columns: readonly string[]
  private readonly onLost: OnLost

  constructor(database: SqliteDatabase, table: CopiedTable, onLost: OnLost) {
    this.database = database
    this.table = table
    this.onLost = onLost
    this.key = orderOf(table)
    this.columns = [...new Set([...this.key, ...this.existing()])]
  }

  *portions(): Generator<readonly SqlRow[]> {
    let last: SqlRow | undefined
    // An older schema does not have the table yet.
    while (this.columns.length > this.key.length) {
      let error: unknown
      try {
        for (const rows of this.readOn(last)) {
          last = rows.at(-1)
          yield rows
        }
        return
      } catch (caught) {
        if (!isDamage(caught)) throw caught
        error = caught
      }
      // Rows of the same portion, before the damaged page.
      for (let row = this.next(last); row !== undefined; row = this.next(last)) {
        last = row
        yield [row]
      }
      const behind = this.behind(last)
      let first: SqlRow | undefined
      for (const row of this.backwards(behind, last)) {
        first = row
        yield [row]
      }
      this.report(last, first ?? behind, error)
      if (behind === undefined) return
      last = behind
    }
  }

  /** Columns of the table that the file has: an older schema has fewer. */
  private existing(): string[] {
    const rows = this.database.prepare(`PRAGMA table_info(${this.table.name})`).all() as { name: string }[]
    const there = new Set(rows.map(({ name }) => name))
    return this.table.columns.filter((column) => there.has(column))
  }

  /** As many rows at a time as their lengths allow; throws at the first that cannot be read. */
  private *readOn(from: SqlRow | undefined): Generator<readonly SqlRow[]> {
    const bytes = this.columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')
    let last = from
    for (;;) {
      const lengths = this.after(last, ROWS_AT_ONCE, `${this.key.join(', ')}, ${bytes} AS bytes`)
      if (lengths.length === 0) return
      for (const count of portionsOf(this.table, lengths)) {
        const rows = this.after(last, count)
        const ordered = rows.findIndex((row, index) => !this.isAfter(row, index === 0 ? last : rows[index - 1]))
        if (ordered > 0) yield rows.slice(0, ordered)
        if (ordered !== -1) throw new DisorderedRows('rows are not in the order of their keys')
        last = rows.at(-1)
        yield rows
      }
    }
  }

  private after(last: SqlRow | undefined, limit: number, columns = this.columns.join(', ')): SqlRow[] {
    const where = last === undefined ? '' : `WHERE ${compare(this.key, '>')}`
    const values = last === undefined ? [] : keyOf(this.key, last)
    const sql = `SELECT ${columns} FROM ${this.table.name} ${where} ORDER BY ${this.key.join(', ')} LIMIT ?`
    return this.database.prepare(sql).all(...values, limit) as SqlRow[]
  }

  /** Undefined if it cannot be read. */
  private next(last: SqlRow | undefined): SqlRow | undefined {
    const row = readOrNot(() => this.after(last, 1)[0])
    return row !== undefined && this.isAfter(row, last) ? row : undefined
  }

  /** Damage may lead a search to rows from anywhere: reading those on would never end. */
  private isAfter(row: SqlRow, before: SqlRow | undefined): boolean {
    if (before === undefined) return true
    for (const column of this.key) {
      const order = compareValues(row[column] ?? null, before[column] ?? null)
      if (order !== 0) return order > 0
    }
    return false
  }

  /** The first row behind the damage that SQLite finds its way to. */
  private behind(last: SqlRow | undefined): SqlRow | undefined {
    for (const { columns, values } of jumps(this.key, last)) {
      const sql = `SELECT ${this.columns.join(', ')} FROM ${this.table.name} WHERE ${compare(columns, '>=')}
        ORDER BY ${this.key.join(', ')} LIMIT 1`
      const row = readOrNot(() => this.database.prepare(sql).get(...values) as SqlRow | undefined)
      if (row !== undefined && this.isAfter(row, last)) return row
    }
    return undefined
  }

  /** From the row behind the damage, or from the end, up to the damage. */
  private *backwards(behind: SqlRow | undefined, until: SqlRow | undefined): Generator<SqlRow> {
    if (behind !== undefined) yield behind
    const order = this.key.map((column) => `${column} DESC`).join(', ')
    const sql = (where: string): string =>
      `SELECT ${this.columns.join(', ')} FROM ${this.table.name} ${where} ORDER BY ${order} LIMIT 1`
    let last = behind
    for (;;) {
      const [where, values] = last === undefined ? ['', []] : [compare(this.key, '<'), keyOf(this.key, last)]
      const prepared = sql(where === '' ? '' : `WHERE ${where}`)
      const row = readOrNot(() => this.database.prepare(prepared).get(...values) as SqlRow | undefined)
      if (row === undefined || !this.isAfter(row, until) || (last !== undefined && !this.isAfter(last, row))) return
      last = row
      yield row
    }
  }

  private report(last: SqlRow | undefined, first: SqlRow | undefined, error: unknown): void {
    const { name } = this.table
    const from = last === undefined ? 'from the first row' : `after ${rowPlace(this.table, last)}`
    const to = first === undefined ? 'to the last' : `before ${rowPlace(this.table, first)}`
    this.onLost({ table: name, place: `${name}: rows ${from} ${to}`, reason: (error as Error).message })
    for (const place of this.lostTasks(last, first))
      this.onLost({ table: name, place, reason: 'its row is unreadable' })
  }

  /** Tasks in the gap by name: the index of their ids may be whole where their rows are not. */
  private lostTasks(last: SqlRow | undefined, first: SqlRow | undefined): string[] {
    if (this.table.name !== 'tasks') return []
    const sql = `SELECT scope_kind, scope, id FROM tasks INDEXED BY sqlite_autoindex_tasks_1
      WHERE pk > ? AND pk < ? ORDER BY scope_kind, scope, id`
    const [from, to] = [last?.['pk'] ?? -1, first?.['pk'] ?? Number.MAX_SAFE_INTEGER]
    try {
      return (this.database.prepare(sql).all(from, to) as SqlRow[]).map((row) => rowPlace(this.table, row))
    } catch (error) {
      if (isDamage(error)) return []
      throw error
    }
  }
}

function readOrNot<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

function compare(columns: readonly string[], operator: string): string {
  return `(${columns.join(', ')}) ${operator} (${columns.map(() => '?').join(', ')})`
}

function keyOf(key: readonly string[], row: SqlRow): SqlValue[] {
  return key.map((column) => row[column] ?? null)
}

/** As SQLite orders them: nothing, numbers, then text by its bytes. */
function compareValues(a: SqlValue, b: SqlValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return rank(a) - rank(b)
}

function rank(value: SqlValue): number {
  return value === null ? 0 : typeof value === 'number' ? 1 : 2
}

interface Jump {
  readonly columns: readonly string[]
  readonly values: readonly SqlValue[]
}

/** Keys behind the last one, the nearest first: its last column a little higher, then much, then the column before. */
function* jumps(key: readonly string[], last: SqlRow | undefined): Generator<Jump> {
  for (let count = key.length; count > 0; count--) {
    const columns = key.slice(0, count)
    const values = last === undefined ? undefined : keyOf(columns, last)
    // Without a row before the damage, only the first column has a beginning.
    if (values === undefined && count > 1) continue
    for (const value of higher(values?.at(-1))) yield { columns, values: [...(values ?? []).slice(0, -1), value] }
  }
}

const LAST_EXPONENT = 52

function* higher(value: SqlValue | undefined): Generator<SqlValue> {
  if (typeof value !== 'string') {
    for (let exponent = 0; exponent <= LAST_EXPONENT; exponent++) yield (value ?? 0) + 2 ** exponent
  }
  if (typeof value === 'number') return
  const text = value ?? ''
  for (let length = text.length; length > 0; length--) {
    yield text.slice(0, length - 1) + String.fromCharCode(text.charCodeAt(length - 1) + 1)
  }
  // Any first character of ASCII; text is higher than every number.
  if (value === undefined || value === null) for (let code = 32; code < 127; code++) yield String.fromCharCode(code)
}
