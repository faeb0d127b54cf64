/**
 * A store that is checked and salvaged by the process that uses it: closing a handle of the file's own would drop the locks
 * of this process, and the next process that closes the store would take its log away.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDurable } from 'reprise/durable'
import { checkSqlite, salvageSqlite } from 'reprise/internal/sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from '../workflow/cli-fixture.js'

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'reprise-in-use-'))
  file = path.join(directory, 'tasks.db')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** What another process is told that wants the store for itself; it would remove the log. */
function takeElsewhere(): string {
  const program = `
    const { DatabaseSync } = await import('node:sqlite').catch(() => import('@photostructure/sqlite'))
    const database = new DatabaseSync(${JSON.stringify(file)})
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
    database.close()`
  const args = ['--no-warnings', '--input-type=module', '-e', program]
  return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' }).stderr
}

const LOOKS = {
  check: () =>
    checkSqlite(file, async (rows) => {
      for await (const { table } of rows) expect(table.name).not.toBe('')
    }),
  salvage: () => salvageSqlite(file, path.join(directory, 'saved.db')),
}

test.each(['check', 'salvage'] as const)('a %s leaves the process the locks of its own store', async (look) => {
  const durable = await openDurable(`sqlite:${file}`)
  const task = durable.task('double', {}, (n: number) => n * 2)
  expect(await task.run(1, { id: 'a' })).toBe(2)
  await LOOKS[look]()
  expect(takeElsewhere()).toContain('database is locked')
  expect(existsSync(`${file}-wal`)).toBe(true)
  expect(await task.run(2, { id: 'b' })).toBe(4)
  await durable.close()
  const left = readdirSync(directory).filter((name) => !/^(tasks|saved)\.db(-wal|-shm)?$/.test(name))
  expect(left).toEqual([])
})
