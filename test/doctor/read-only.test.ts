/** Opening a store to read: nothing is made, migrated or written. And the cure of an inconsistent task of a program. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDurable, openLedger } from 'reprise/durable'
import { checkLedger } from 'reprise/internal'
import { checkSqlite } from 'reprise/internal/sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'

let directory: string
let file: string
beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'reprise-read-only-'))
  file = path.join(directory, 'tasks.db')
  const durable = await openDurable(`sqlite:${file}`)
  const task = durable.task('send', { attempts: 3, initialDelay: '1h', jitter: 'none' }, () => {
    throw new Error('no')
  })
  await task.start(null, { id: 'a' })
  while (!(await task.status('a'))?.lastFailure) await new Promise((resolve) => setTimeout(resolve, 5))
  await durable.close()
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

async function execute(sql: string): Promise<void> {
  const handle = await openDatabase(file)
  handle.exec(sql)
  handle.close()
}

test('a store that is opened read-only answers, and refuses to be written', async () => {
  const before = readFileSync(file)
  const ledger = await openLedger(`sqlite:${file}`, { readOnly: true })
  expect(await ledger.get({ scopeKind: 'task', scope: 'send', id: 'a' })).toMatchObject({ status: 'waiting' })
  await expect(ledger.removeOwner('nobody')).rejects.toMatchObject({ name: 'LedgerError' })
  await ledger.close()
  expect(readFileSync(file).equals(before)).toBe(true)
})

test('a store that is missing is not made, and one of an older schema is not migrated', async () => {
  const missing = path.join(directory, 'missing.db')
  await expect(openLedger(`sqlite:${missing}`, { readOnly: true })).rejects.toMatchObject({ problem: 'missing' })
  expect(existsSync(missing)).toBe(false)
  await execute('PRAGMA user_version = 0')
  await expect(openLedger(`sqlite:${file}`, { readOnly: true })).rejects.toThrow('run `reprise store migrate` first')
  await execute('PRAGMA user_version = 99')
  await expect(openLedger(`sqlite:${file}`, { readOnly: true })).rejects.toMatchObject({ problem: 'newer_format' })
})

async function faults(): Promise<readonly unknown[]> {
  let found: readonly unknown[] = []
  await checkSqlite(file, async (rows) => void (found = (await checkLedger(rows)).faults))
  return found
}

test('an inconsistent task of a program is cured by its cancel, as the doctor says', async () => {
  expect(await faults()).toEqual([])
  await execute(`UPDATE tasks SET progress = replace(progress, '"launched":1', '"launched":9')`)
  expect(await faults()).toContainEqual(
    expect.objectContaining({
      rule: 'state',
      place: { type: 'task', scopeKind: 'task', scope: 'send', id: 'a', runState: null },
    }),
  )
  const durable = await openDurable(`sqlite:${file}`)
  await durable.task('send', { attempts: 3, initialDelay: '1h', jitter: 'none' }, () => null).cancel('a')
  await durable.close()
  expect(await faults()).toEqual([])
})
