/**
 * Where a scenario keeps its ledger: how its processes and its checkers open it, and what the store itself finds wrong.
 * Imports the adapters.
 */
import { existsSync } from 'node:fs'
import { openLedger } from '../../packages/reprise/src/open/open-durable.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { openSqlite, type SqliteOptions } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { chosenDriver, openChosenDatabase } from '../chosen-driver.js'
import type { Clock } from 'reprise'

export interface Store {
  /** What its processes are told. */
  readonly address: string
  /** Whether anybody has written to it. */
  isThere(): Promise<boolean>
  open(): Promise<Ledger>
  /** What the store itself finds wrong with it. */
  damage(): Promise<string[]>
}

export function sqliteStore(file: string): Store {
  return {
    address: `sqlite:${file}`,
    isThere: async () => existsSync(file),
    open: () => openSqlite(file, byChosenDriver()),
    damage: async () => {
      const database = await openChosenDatabase(file)
      try {
        const rows = database.prepare('PRAGMA integrity_check').all() as { readonly integrity_check: string }[]
        return rows.map((row) => row.integrity_check).filter((said) => said !== 'ok')
      } finally {
        database.close()
      }
    },
  }
}

function byChosenDriver(): Pick<SqliteOptions, 'driver'> {
  const driver = chosenDriver()
  return driver === undefined ? {} : { driver }
}

/** For a process of the load, which has a clock. */
export function openAt(address: string, clock: Clock): Promise<Ledger> {
  const file = /^sqlite:(.+)$/s.exec(address)?.[1]
  return file === undefined ? openLedger(address) : openSqlite(file, { clock, ...byChosenDriver() })
}
