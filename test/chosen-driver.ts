/**
 * The SQLite driver of tests, campaigns and benchmarks: the one that `REPRISE_TEST_SQLITE` names, else the library's
 * choice. Processes that they start inherit the variable. Imports the library's sources.
 */
import type { Durable } from '../packages/reprise/src/durable/durable.js'
import { type DurableOptions, openDurable } from '../packages/reprise/src/open/open-durable.js'
import {
  openDatabase,
  SQLITE_DRIVERS,
  type SqliteDatabase,
  type SqliteDriverName,
} from '../packages/reprise/src/sqlite/driver.js'
import { openSqlite } from '../packages/reprise/src/sqlite/open-sqlite.js'

const VARIABLE = 'REPRISE_TEST_SQLITE'

/** Undefined: the first that can be used. */
export function chosenDriver(): SqliteDriverName | undefined {
  const name = process.env[VARIABLE]
  if (name === undefined || name === '') return undefined
  const driver = SQLITE_DRIVERS.find((one) => one === name)
  if (driver === undefined) throw new Error(`${VARIABLE} is ${name}; drivers: ${SQLITE_DRIVERS.join(', ')}`)
  return driver
}

/** For this process and those that it starts. */
export function chooseDriver(name: string): void {
  process.env[VARIABLE] = name
  chosenDriver()
}

export async function isAvailable(driver: SqliteDriverName): Promise<boolean> {
  try {
    ;(await openDatabase(':memory:', driver)).close()
    return true
  } catch (error) {
    if ((error as { problem?: unknown }).problem === 'missing_driver') return false
    throw error
  }
}

/** The driver that is used, by its name. */
export async function driverInUse(): Promise<SqliteDriverName> {
  const chosen = chosenDriver()
  if (chosen !== undefined) return chosen
  for (const driver of SQLITE_DRIVERS) if (await isAvailable(driver)) return driver
  throw new Error('There is no driver for SQLite')
}

export function openChosenDatabase(file: string): Promise<SqliteDatabase> {
  return openDatabase(file, chosenDriver())
}

export async function openChosenDurable(file: string, options: DurableOptions = {}): Promise<Durable> {
  const driver = chosenDriver()
  if (driver === undefined) return openDurable(`sqlite:${file}`, options)
  const { synchronous = 'full', ...rest } = options
  return openDurable(await openSqlite(file, { clock: rest.clock, driver, synchronous }), rest)
}
