/** Whether a SQLite ledger is whole, and what can be saved of one that is not. Imports its own layer. */
import { statSync } from 'node:fs'
import type { CopiedCounts, CopiedRows } from '../ledger/copied-tables.js'
import { LedgerError } from '../ledger/errors.js'
import { type LostRows, rowPlace, wholeRows } from '../ledger/row-check.js'
import { nameOf } from '../ledger/records.js'
import { keyInRow, type SqlRow } from '../ledger/rows.js'
import type { StoreCheck } from '../ledger/store-facts.js'
import {
  MissingDriverError,
  openDatabase,
  SQLITE_DRIVERS,
  type SqliteDatabase,
  type SqliteDriverName,
} from './driver.js'
import { writeSqliteCopy } from './maintenance.js'
import { SCHEMA_VERSION, schemaVersion } from './migrations.js'
import { readableRows, readingSqlite } from './readable-rows.js'
import { resultCode } from './result-codes.js'

/** More of them say nothing new. */
const MOST_PROBLEMS = 100

/** What one driver is good for here. */
interface DriverReport {
  readonly driver: SqliteDriverName
  /** Of SQLite; null where the driver cannot be used. */
  readonly version: string | null
  /** Why it cannot be used; null where it can. */
  readonly problem: string | null
}

/** All drivers in the order in which they are tried: the first without a problem is used. */
export async function sqliteDrivers(): Promise<DriverReport[]> {
  const reports: DriverReport[] = []
  for (const driver of SQLITE_DRIVERS) {
    try {
      const database = await openDatabase(':memory:', driver)
      const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string }
      database.close()
      reports.push({ driver, version, problem: null })
    } catch (error) {
      reports.push({ driver, version: null, problem: whyNot(error) })
    }
  }
  return reports
}

function whyNot(error: unknown): string {
  return (error instanceof MissingDriverError && error.tried[0]?.reason) || (error as Error).message
}

/** What to do where no driver can be used; null where one can. */
export async function missingDriverCure(): Promise<string | null> {
  try {
    ;(await openDatabase(':memory:')).close()
    return null
  } catch (error) {
    if (error instanceof MissingDriverError) return error.cure
    throw error
  }
}

/** Looks at the pages, then at every row; `take` is handed the rows that can be read. Nothing is changed. */
export function checkSqlite(file: string, take: (rows: CopiedRows) => Promise<void>): Promise<StoreCheck> {
  return readingSqlite(file, async (database) => {
    const schema = { version: schemaVersion(database), newest: SCHEMA_VERSION }
    const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string }
    const facts = { kind: 'sqlite', version, schema, bytes: statSync(file).size } as const
    if (schema.version === 0 || schema.version > schema.newest) return { ...facts, damage: [] }
    const lost: LostRows[] = []
    const pages = pageProblems(database)
    await take(
      wholeRows(
        readableRows(database, (rows) => lost.push(rows)),
        (rows) => lost.push(rows),
      ),
    )
    const damage = [
      ...pages.map((problem) => ({ place: 'the file', problem, cure: null })),
      ...lost.map(({ place, reason }) => ({ place, problem: reason, cure: null })),
    ]
    return { ...facts, damage }
  })
}

function pageProblems(database: SqliteDatabase): string[] {
  try {
    const rows = database.prepare(`PRAGMA integrity_check(${MOST_PROBLEMS})`).all() as SqlRow[]
    const said = rows.flatMap((row) => String(Object.values(row)[0]).split('\n'))
    return said.filter((line) => line !== 'ok' && line !== '*** in database main ***')
  } catch (error) {
    if (resultCode(error) === undefined) throw error
    return [(error as Error).message]
  }
}

export interface Salvage {
  readonly rows: CopiedCounts
  /** Empty: everything was copied. */
  readonly lost: readonly LostRows[]
}

/** Copies every row that can be read into a new ledger. The source is opened read-only, the target must not exist. */
export async function salvageSqlite(file: string, target: string): Promise<Salvage> {
  const lost: LostRows[] = []
  const onLost = (rows: LostRows): void => void lost.push(rows)
  const rows = await readingSqlite(file, (database) => {
    if (schemaVersion(database) === 0)
      throw new LedgerError('unusable', `sqlite:${file} has no ledger in it: there is nothing to save`)
    return writeSqliteCopy(
      target,
      withoutOrphans(wholeRows(readableRows(database, onLost), onLost), onLost),
      (table, row, error) =>
        onLost({ table: table.name, place: rowPlace(table, row), reason: (error as Error).message }),
    )
  })
  return { rows, lost }
}

/**
 * Attempts of a task that is lost would become the history of the next task that is given its number, and dead letters
 * that of the next with its name.
 */
async function* withoutOrphans(source: CopiedRows, onLost: (lost: LostRows) => void): CopiedRows {
  const tasks = new Set<unknown>()
  const ownerOf: Readonly<Record<string, (row: SqlRow) => unknown>> = {
    attempts: (row) => row['task'],
    dead: (row) => nameOf(keyInRow(row)),
  }
  for await (const { table, rows } of source) {
    if (table.name === 'tasks') for (const row of rows) tasks.add(row['pk']).add(nameOf(keyInRow(row)))
    const owner = ownerOf[table.name]
    const isOrphan = (row: SqlRow): boolean => owner !== undefined && !tasks.has(owner(row))
    for (const row of rows.filter(isOrphan))
      onLost({ table: table.name, place: rowPlace(table, row), reason: 'it belongs to a task that is lost' })
    yield { table, rows: rows.filter((row) => !isOrphan(row)) }
  }
}
