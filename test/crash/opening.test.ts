/** Opening a file that another process holds, as one does that mends what a killed one left. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-opening-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Time enough for a first try. */
async function turns(count: number): Promise<string> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
  return 'waits'
}

it('a file that nobody else may even read is waited for', async () => {
  const file = path.join(directory, 'held.db')
  const holder = await openDatabase(file)
  holder.exec('PRAGMA journal_mode = WAL; PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT')
  const opening = openSqlite(file)
  const first = await Promise.race([opening.then(String, String), turns(50)])
  expect(first).toBe('waits')
  holder.close()
  const ledger = await opening
  expect(await ledger.list({})).toEqual([])
  await ledger.close()
})
