/** The schema: the same for everybody, made once however many make it, and never changed behind anybody's back. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterAll, describe, expect, it } from 'vitest'
import { openDatabase } from './driver.js'
import { APPLICATION_ID, migrate, MIGRATIONS, SCHEMA_VERSION, schemaVersion } from './migrations.js'
import { openSqlite } from './open-sqlite.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-migrations-'))
afterAll(() => rmSync(directory, { recursive: true }))
let files = 0
const newFile = (): string => path.join(directory, `${files++}.db`)
const clock = (): number => 0
const hash = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 16)

async function schemaOf(file: string): Promise<string> {
  const database = await openDatabase(file)
  const rows = database.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name').all()
  database.close()
  return (rows as { sql: string }[]).map(({ sql }) => `${sql};\n`).join('\n')
}

/** By step: a step that users may have run is never edited, since those who have would not get the change. */
const RELEASED: readonly string[] = ['dc1b17e4e892dde5', 'dc8bb76e33a87d7c', 'c17ef75572ba7b25', 'ba5721561d1d3006']

describe('the steps', () => {
  it('that are released are what they were', () => {
    expect(MIGRATIONS.map(hash).slice(0, RELEASED.length), 'add a step instead of editing one').toEqual(RELEASED)
    expect(RELEASED, 'a new step: add its hash here').toHaveLength(MIGRATIONS.length)
  })

  it('together give the schema that is written down', async () => {
    const file = newFile()
    await (await openSqlite(file, { clock })).close()
    await expect(await schemaOf(file)).toMatchFileSnapshot('schema.snapshot.sql')
  })

  it('lead there from every earlier version', async () => {
    for (let from = 1; from <= SCHEMA_VERSION; from++) {
      const file = newFile()
      const database = await openDatabase(file)
      for (const step of MIGRATIONS.slice(0, from)) database.exec(step)
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
      database.exec(`PRAGMA user_version = ${from}`)
      migrate(database, 'here')
      expect(schemaVersion(database)).toBe(SCHEMA_VERSION)
      database.close()
      const fresh = newFile()
      await (await openSqlite(fresh, { clock })).close()
      expect(await schemaOf(file)).toBe(await schemaOf(fresh))
    }
  })
})

describe('a file', () => {
  it('of a newer version is refused, naming both, and not touched', async () => {
    const file = newFile()
    await (await openSqlite(file, { clock })).close()
    const database = await openDatabase(file)
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 7}`)
    database.close()
    const before = hash(readFileSync(file))
    await expect(openSqlite(file, { clock })).rejects.toMatchObject({
      problem: 'newer_format',
      message: expect.stringMatching(
        new RegExp(`sqlite:${file} .*version ${SCHEMA_VERSION + 7}, and this program knows ${SCHEMA_VERSION}`),
      ),
    })
    expect(hash(readFileSync(file))).toBe(before)
  })

  it('of another program is refused, and not touched', async () => {
    const file = newFile()
    const database = await openDatabase(file)
    database.exec('CREATE TABLE customers (name TEXT)')
    database.close()
    const before = await schemaOf(file)
    await expect(openSqlite(file, { clock })).rejects.toMatchObject({
      message: expect.stringMatching(/another program \(it has customers\): give the ledger a file of its own/),
    })
    expect(await schemaOf(file)).toBe(before)
  })

  it('that somebody holds is waited for, without blocking, and opened when it is free', async () => {
    const file = newFile()
    const holder = await openDatabase(file)
    holder.exec('PRAGMA journal_mode = WAL')
    holder.exec('BEGIN IMMEDIATE')
    let opened = false
    const opening = openSqlite(file, { clock }).then((ledger) => {
      opened = true
      return ledger
    })
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(opened).toBe(false)
    holder.exec('ROLLBACK')
    holder.close()
    await (await opening).close()
    expect(await schemaOf(file)).toContain('CREATE TABLE tasks')
  })
})

describe('many who open new files at once', () => {
  const FILES = 8
  const PROCESSES = 4

  /** Opens every file, all processes at the same moments. */
  async function startOpener(
    program: string,
    go: string,
  ): Promise<{ child: ChildProcess; ended: Promise<number | null> }> {
    const child = spawn(process.execPath, ['--no-warnings', program, go], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    await new Promise<void>((resolve) => child.once('message', () => resolve()))
    return { child, ended }
  }

  /** Inside the workspace, since that is where the driver is found. */
  async function bundle(): Promise<string> {
    const cache = fileURLToPath(new URL('../../../../node_modules/.cache/', import.meta.url))
    mkdirSync(cache, { recursive: true })
    const place = mkdtempSync(path.join(cache, 'reprise-migrations-'))
    const input = fileURLToPath(new URL('open-sqlite.ts', import.meta.url))
    const output = { dir: place, format: 'esm', entryFileNames: 'open.mjs' } as const
    await build({ input, platform: 'node', resolve: { extensionAlias: { '.js': ['.ts', '.js'] } }, output })
    const program = `
      import { openSqlite } from './open.mjs'
      process.send('ready')
      const { startMs, directory } = await new Promise((resolve) => process.once('message', resolve))
      for (let file = 0; file < ${FILES}; file++) {
        while (Date.now() < startMs + file * 40) {}
        await (await openSqlite(directory + '/' + file + '.db', { clock: () => 0 })).close()
      }
      process.disconnect()`
    writeFileSync(path.join(place, 'opener.mjs'), program)
    return path.join(place, 'opener.mjs')
  }

  it('all find the whole schema', { timeout: 60_000 }, async () => {
    const program = await bundle()
    const place = mkdtempSync(path.join(directory, 'at-once-'))
    const openers = await Promise.all(Array.from({ length: PROCESSES }, () => startOpener(program, place)))
    const startMs = Date.now() + 100
    for (const { child } of openers) child.send({ startMs, directory: place })
    expect(await Promise.all(openers.map(({ ended }) => ended))).toEqual(openers.map(() => 0))
    rmSync(path.dirname(program), { recursive: true })
    for (let file = 0; file < FILES; file++) {
      const ledger = await openSqlite(path.join(place, `${file}.db`), { clock })
      expect(await ledger.list({})).toEqual([])
      await ledger.close()
      expect(await schemaOf(path.join(place, `${file}.db`))).toContain('CREATE TABLE tasks')
    }
  })
})
