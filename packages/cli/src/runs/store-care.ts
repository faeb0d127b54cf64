/**
 * What is done to a store as such, whichever kind it is; the adapters do it. Imports the library and the store's address.
 */
import { existsSync, statSync } from 'node:fs'
import { expectOwnStore, lookIfThere, StateDirectory } from '@reprise/workflow/internal'
import { LedgerError, openLedger } from 'reprise/durable'
import type { CopiedCounts, SchemaState, StoreFacts } from 'reprise/internal'
import type { Salvage } from 'reprise/internal/sqlite'
import { RefusedError, UsageError } from '../failures.js'
import { storeWithoutPassword } from '../output/store-address.js'
import { fileOf } from '../settings.js'
import { expectKept, isOnServer, stateDirectoryOf } from './store.js'

export interface Migration {
  readonly schema: SchemaState
  /** What is, or would be, executed. */
  readonly sql: readonly string[]
}

/** Undefined if there is nothing at all. */
export async function factsOf(store: string): Promise<StoreFacts | undefined> {
  expectStoreOf(store)
  const file = fileOf(store)
  if (file === undefined) return (await import('reprise/internal/postgres')).inspectPostgres(store)
  return lookIfThere(file) === undefined ? undefined : (await import('reprise/internal/sqlite')).inspectSqlite(file)
}

export async function pendingMigration(store: string): Promise<Migration> {
  const facts = await factsOf(store)
  const { SCHEMA_VERSION } = await import('reprise/internal/sqlite')
  const schema = facts?.schema ?? { version: 0, newest: SCHEMA_VERSION }
  const file = fileOf(store)
  const sql =
    file === undefined
      ? await (await import('reprise/internal/postgres')).pendingPostgresSql(store)
      : await (await import('reprise/internal/sqlite')).pendingSqliteSql(file)
  return { schema, sql }
}

/** Whoever opens a ledger brings it up to date. */
export async function migrateStore(store: string): Promise<void> {
  if (fileOf(store) !== undefined) StateDirectory.open(stateDirectoryOf(store))
  await (await openLedger(store)).close()
}

export async function backUp(store: string, target: string): Promise<number> {
  expectStoreOf(store)
  if (existsSync(target)) {
    throw new RefusedError({ kind: 'not_possible', message: `${target} is there already: nothing was written.` })
  }
  const { copySqlite, writeSqliteCopy } = await import('reprise/internal/sqlite')
  const file = fileOf(store)
  if (file !== undefined) await copySqlite(file, target)
  else {
    const { copyPostgres } = await import('reprise/internal/postgres')
    await refusing(() => copyPostgres(store, (rows) => writeSqliteCopy(target, rows)))
  }
  return statSync(target).size
}

export async function restore(store: string, source: string): Promise<CopiedCounts> {
  expectStoreOf(store)
  if (!existsSync(source)) throw new UsageError(`${source} does not exist`, 'name a file that `store backup` wrote')
  const { expectSqliteLedger, readSqlite, writeSqliteCopy } = await import('reprise/internal/sqlite')
  await expectSqliteLedger(source)
  const file = fileOf(store)
  if (file === undefined) {
    const { restorePostgres } = await import('reprise/internal/postgres')
    return refusing(() => restorePostgres(store, readSqlite(source)))
  }
  if (existsSync(file)) {
    throw new RefusedError({ kind: 'not_possible', message: `${file} is there already: nothing was written.` })
  }
  StateDirectory.open(stateDirectoryOf(store))
  return refusing(() => writeSqliteCopy(file, readSqlite(source)))
}

/** Copies what can be read of a damaged file into a new store; undefined if there is no such file. */
export async function salvage(store: string, target: string): Promise<Salvage | undefined> {
  expectStoreOf(store)
  const file = fileOf(store)
  if (file === undefined)
    throw new UsageError('--salvage is for SQLite files', 'copy a store on a server with `reprise store backup FILE`')
  if (existsSync(target)) {
    throw new RefusedError({ kind: 'not_possible', message: `${target} is there already: nothing was written.` })
  }
  if (!existsSync(file)) return undefined
  const { salvageSqlite } = await import('reprise/internal/sqlite')
  return refusing(() => salvageSqlite(file, target))
}

/** What stands against it is no fault of the command. */
async function refusing<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof LedgerError && error.problem === 'refused')
      throw new RefusedError({ kind: 'not_possible', message: error.message })
    throw error
  }
}

/** As it may be shown. */
export function nameOf(store: string): string {
  return isOnServer(store) ? storeWithoutPassword(store) : store
}

function expectStoreOf(store: string): void {
  expectKept(store)
  expectOwnStore(store, stateDirectoryOf(store))
}
