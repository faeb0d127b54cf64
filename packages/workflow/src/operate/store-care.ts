/** Migration, backup, restore and salvage of a store of any kind, by its adapter. Imports Node, the library and state. */
import { existsSync, statSync } from 'node:fs'
import { LedgerError, openLedger } from 'reprise/durable'
import type { CopiedCounts, SchemaState, StoreFacts } from 'reprise/internal'
import type { Salvage } from 'reprise/internal/sqlite'
import { lookIfThere } from '../state/own-files.js'
import { expectContent } from '../run/lost-content.js'
import { expectOwnStore } from '../state/own-store.js'
import { StateDirectory } from '../state/state-directory.js'
import { OperationError } from './operation-error.js'
import { fileOf } from './store-address.js'
import { expectKept, stateDirectoryOf } from './store.js'

interface Migration {
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
  await expectContent(store, stateDirectoryOf(store))
  const { SCHEMA_VERSION } = await import('reprise/internal/sqlite')
  const schema = facts?.schema ?? { version: 0, newest: SCHEMA_VERSION }
  const file = fileOf(store)
  const sql =
    file === undefined
      ? await (await import('reprise/internal/postgres')).pendingPostgresSql(store)
      : await (await import('reprise/internal/sqlite')).pendingSqliteSql(file)
  return { schema, sql }
}

/** Opening a ledger brings it up to date. */
export async function migrateStore(store: string): Promise<void> {
  if (fileOf(store) !== undefined) {
    StateDirectory.open(stateDirectoryOf(store))
    await expectContent(store, stateDirectoryOf(store))
  }
  await (await openLedger(store)).close()
}

export async function backUp(store: string, target: string): Promise<number> {
  expectStoreOf(store)
  await expectContent(store, stateDirectoryOf(store))
  expectNewFile(target)
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
  if (!existsSync(source))
    throw new OperationError('invalid', { code: 'no_backup', file: source }, `${source} does not exist`)
  const { expectSqliteLedger, readSqlite, writeSqliteCopy } = await import('reprise/internal/sqlite')
  await expectSqliteLedger(source)
  const file = fileOf(store)
  if (file === undefined) {
    const { restorePostgres } = await import('reprise/internal/postgres')
    return refusing(() => restorePostgres(store, readSqlite(source)))
  }
  expectNewFile(file)
  StateDirectory.open(stateDirectoryOf(store))
  return refusing(() => writeSqliteCopy(file, readSqlite(source)))
}

/** Copies what can be read of a damaged file into a new store; undefined if there is no such file. */
export async function salvage(store: string, target: string): Promise<Salvage | undefined> {
  expectStoreOf(store)
  const file = fileOf(store)
  if (file === undefined)
    throw new OperationError('invalid', { code: 'no_sqlite_file' }, 'Only SQLite files can be salvaged.')
  expectNewFile(target)
  if (!existsSync(file)) return undefined
  const { salvageSqlite } = await import('reprise/internal/sqlite')
  return refusing(() => salvageSqlite(file, target))
}

/** The store is not as the operation needs it: a refusal, not a failure of the store. */
async function refusing<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof LedgerError && error.problem === 'refused')
      throw new OperationError('not_possible', { code: 'store_refused' }, error.message)
    throw error
  }
}

function expectNewFile(file: string): void {
  if (!existsSync(file)) return
  const message = `${file} is there already: nothing was written.`
  throw new OperationError('not_possible', { code: 'file_exists', file }, message)
}

function expectStoreOf(store: string): void {
  expectKept(store)
  expectOwnStore(store, stateDirectoryOf(store))
}
