/** Copies of ledgers with long rows: from a server into a file, and back, and nothing is left of one that fails. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import type { CopiedRows } from '../../packages/reprise/src/ledger/copied-tables.js'
import { copyPostgres, restorePostgres } from '../../packages/reprise/src/postgres/maintenance.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { readSqlite, writeSqliteCopy } from '../../packages/reprise/src/sqlite/maintenance.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-copies-'))
const admin = new pg.Client({ connectionString: database.url })
await admin.connect()
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await admin.end()
  await database.drop()
})

const urlOf = (schema: string): string => `${database.url}?schema=${schema}`
/** Nothing that compresses away, and every kind of character that is escaped. */
const long = (length: number, seed: number): string => `"\\é\n${seed}`.padEnd(length, `${seed}"\\\t${seed * 7919}ü`)

async function fill(schema: string, sizes: readonly number[]): Promise<void> {
  const ledger = await openPostgres(urlOf(schema))
  for (const [index, size] of sizes.entries())
    await ledger.create([
      newTask({ scopeKind: 'task', scope: 'r1', id: `t${index}`, input: { text: long(size, index) } }),
    ])
  await ledger.close()
}

const contentOf = async (schema: string): Promise<unknown[]> =>
  (
    await admin.query(
      `SELECT pk, scope_kind, scope, id, status, due_at, created_at, length(input) AS length, md5(input) AS sum
       FROM ${schema}.tasks ORDER BY pk`,
    )
  ).rows

const isThere = async (schema: string): Promise<unknown> =>
  (await admin.query('SELECT to_regnamespace($1) IS NOT NULL AS is_there', [schema])).rows[0]

/** How long the longest portion was. */
async function* watched(rows: CopiedRows, seen: number[]): CopiedRows {
  for await (const some of rows) {
    seen.push(JSON.stringify(some.rows).length)
    yield some
  }
}

test('many long rows, and one that is very long, go into a file and back in small portions', async () => {
  await fill('long', [...Array<number>(40).fill(1_000_000), 20_000_000, 10, 10])
  const file = path.join(directory, 'copy.db')
  const read: number[] = []
  expect(await copyPostgres(urlOf('long'), (rows) => writeSqliteCopy(file, watched(rows, read)))).toMatchObject({
    tasks: 43,
  })
  const written: number[] = []
  expect(await restorePostgres(urlOf('again'), watched(readSqlite(file), written))).toMatchObject({ tasks: 43 })
  expect(await contentOf('again')).toEqual(await contentOf('long'))
  for (const portions of [read, written]) {
    expect(portions.length).toBeGreaterThan(5)
    // The long one alone; of the others no more than 8 MB, which JSON makes longer.
    expect(portions.filter((length) => length > 20_000_000)).toHaveLength(1)
  }
})

test('a copy that ends halfway leaves no schema and no file', async () => {
  await fill('whole', [10, 10])
  async function* broken(rows: CopiedRows): CopiedRows {
    for await (const some of rows) {
      yield some
      if (some.table.name === 'tasks') throw new Error('the disk is gone')
    }
  }
  const file = path.join(directory, 'broken.db')
  const copied = copyPostgres(urlOf('whole'), (rows) => writeSqliteCopy(file, broken(rows)))
  await expect(copied).rejects.toThrow('the disk is gone')
  expect(existsSync(file)).toBe(false)
  await copyPostgres(urlOf('whole'), (rows) => writeSqliteCopy(file, rows))
  await expect(restorePostgres(urlOf('halfway'), broken(readSqlite(file)))).rejects.toThrow('the disk is gone')
  expect(await isThere('halfway')).toEqual({ is_there: false })
  await restorePostgres(urlOf('halfway'), readSqlite(file))
  expect(await contentOf('halfway')).toEqual(await contentOf('whole'))
})
