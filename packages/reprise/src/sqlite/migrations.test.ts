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
import { salvageSqlite } from './integrity.js'
import { inspectSqlite, pendingSqliteSql } from './maintenance.js'
import { openSqlite } from './open-sqlite.js'
import { clockReading } from '../../../../test/clock-reading.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-migrations-'))
afterAll(() => rmSync(directory, { recursive: true }))
let files = 0
const newFile = (): string => path.join(directory, `${files++}.db`)
const clock = clockReading(() => 0)
const hash = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 16)

async function schemaOf(file: string): Promise<string> {
  const database = await openDatabase(file)
  const rows = database.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name').all()
  database.close()
  return (rows as { sql: string }[]).map(({ sql }) => `${sql};\n`).join('\n')
}

/** By step: a step that users may have run is never edited, since those who have would not get the change. */
const RELEASED: readonly string[] = ['864a732db75741eb']

/** As a later version may have them. */
const LATER: readonly string[] = [
  ...MIGRATIONS,
  'CREATE TABLE notes (id TEXT PRIMARY KEY) STRICT',
  'ALTER TABLE gates ADD COLUMN note TEXT',
]

async function migrated(file: string, steps: readonly string[]): Promise<void> {
  const database = await openDatabase(file)
  try {
    migrate(database, 'here', steps)
    expect(schemaVersion(database)).toBe(steps.length)
  } finally {
    database.close()
  }
}

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
    const fresh = newFile()
    await migrated(fresh, LATER)
    for (let from = 1; from <= LATER.length; from++) {
      const file = newFile()
      await migrated(file, LATER.slice(0, from))
      await migrated(file, LATER)
      expect(await schemaOf(file)).toBe(await schemaOf(fresh))
    }
  })

  it('of which one fails are all undone', async () => {
    const file = newFile()
    await migrated(file, MIGRATIONS)
    const before = await schemaOf(file)
    await expect(migrated(file, [...LATER, 'CREATE TABLE tasks (pk)'])).rejects.toThrow('already exists')
    expect(await schemaOf(file)).toBe(before)
    await migrated(file, LATER)
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

  it.each([1, 4])('that an unreleased version made, at its schema %d, is refused, and not touched', async (version) => {
    const file = newFile()
    const database = await openDatabase(file)
    database.exec(`CREATE TABLE tasks (pk INTEGER PRIMARY KEY, run TEXT NOT NULL, id TEXT NOT NULL, UNIQUE (run, id)) STRICT;
      INSERT INTO tasks (run, id) VALUES ('import', 'fetch');
      PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}; PRAGMA journal_mode = WAL`)
    database.close()
    const before = hash(readFileSync(file))
    const refusal = {
      problem: 'unusable',
      message: expect.stringMatching(
        new RegExp(
          `sqlite:${file} was made by an unreleased version of Reprise.*finish its runs .*, or take a new file`,
        ),
      ),
    }
    await expect(openSqlite(file, { clock })).rejects.toMatchObject(refusal)
    await expect(openSqlite(file, { clock, readOnly: true })).rejects.toMatchObject(refusal)
    await expect(inspectSqlite(file)).rejects.toMatchObject(refusal)
    await expect(pendingSqliteSql(file)).rejects.toMatchObject(refusal)
    await expect(salvageSqlite(file, newFile())).rejects.toMatchObject(refusal)
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
        await (await openSqlite(directory + '/' + file + '.db')).close()
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
