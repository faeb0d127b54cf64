/** One suite over every ledger. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import { SQLITE_DRIVERS } from '../../packages/reprise/src/sqlite/driver.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { type LedgerUnderTest, ledgerContract } from '../../packages/reprise/src/testing/ledger-contract.js'
import { isAvailable } from '../chosen-driver.js'
import { testDatabase } from '../postgres/shared-server.js'
import { clockReading } from '../clock-reading.js'
import type { Clock } from 'reprise'

const database = await testDatabase()
afterAll(() => database.drop())
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-ledger-'))
afterAll(() => rmSync(directory, { recursive: true }))

function clocked<T>(open: (clock: Clock) => T): { opened: T; setTime: (ms: number) => void } {
  let now = 0
  const opened = open(clockReading(() => now))
  return { opened, setTime: (ms) => void (now = ms) }
}

async function openMemory(): Promise<LedgerUnderTest> {
  const { opened, setTime } = clocked((clock) => new MemoryLedger({ clock }))
  return { ledger: opened, setTime }
}

let files = 0

describe('the memory ledger', () => {
  for (const { name, run } of ledgerContract(openMemory)) it(name, run)
})

for (const driver of SQLITE_DRIVERS) {
  const open = async (): Promise<LedgerUnderTest> => {
    const { opened, setTime } = clocked((clock) => openSqlite(path.join(directory, `${files++}.db`), { clock, driver }))
    return { ledger: await opened, setTime }
  }
  describe.runIf(await isAvailable(driver))(`the SQLite ledger on ${driver}`, () => {
    for (const { name, run } of ledgerContract(open)) it(name, run)
  })
}

describe('the PostgreSQL ledger', () => {
  const open = async (): Promise<LedgerUnderTest> => {
    const url = `${database.url}?schema=ledger_${files++}`
    const { opened, setTime } = clocked((clock) => openPostgres(url, { clock }))
    return { ledger: await opened, setTime }
  }
  for (const { name, run } of ledgerContract(open)) it(name, run)
})
