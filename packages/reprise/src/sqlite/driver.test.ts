/** The drivers: which is used, what is said when there is none, and how a handle that failed is left. */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { isAvailable } from '../../../../test/chosen-driver.js'
import { openDatabase, SQLITE_DRIVERS, type SqliteDriverName } from './driver.js'
import { RESULT_CODES, resultCode } from './result-codes.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-driver-'))
const temporary = [directory]
afterAll(() => {
  for (const one of temporary) rmSync(one, { recursive: true })
})
let files = 0
const newFile = (): string => path.join(directory, `${files++}.db`)

let bundled: Promise<string> | undefined
/** The driver's source as one file, inside the workspace, where drivers are found. */
function bundledDriver(): Promise<string> {
  bundled ??= (async () => {
    const cache = path.join(fileURLToPath(new URL('../../../../', import.meta.url)), 'node_modules/.cache')
    mkdirSync(cache, { recursive: true })
    const dir = mkdtempSync(path.join(cache, 'reprise-driver-'))
    temporary.push(dir)
    const output = { dir, format: 'esm', entryFileNames: 'driver.mjs' } as const
    const input = fileURLToPath(new URL('driver.ts', import.meta.url))
    await build({ input, platform: 'node', resolve: { extensionAlias: { '.js': ['.ts', '.js'] } }, output })
    return path.join(dir, 'driver.mjs')
  })()
  return bundled
}

describe('an old SQLite', () => {
  /** As `node:sqlite` of Node 24.14 says. */
  class OldDatabase {
    prepare(): { get(): { version: string } } {
      return { get: () => ({ version: '3.51.2' }) }
    }
    exec(): void {}
    close(): void {}
  }

  it('is passed over for one that is not', async () => {
    let opened = 0
    class NewDatabase {
      prepare(): object {
        opened++
        return { setReturnArrays: () => undefined, columns: () => [{ name: 'version' }], get: () => ['3.53.0'] }
      }
      exec(): void {}
      close(): void {}
    }
    const load = async (name: SqliteDriverName): Promise<unknown> => {
      if (name === 'better-sqlite3') return { default: OldDatabase }
      return { DatabaseSync: name === 'node:sqlite' ? OldDatabase : NewDatabase }
    }
    ;(await openDatabase(':memory:', undefined, load)).close()
    expect(opened).toBe(1)
  })

  it('is refused where there is no other, with what to do', async () => {
    const load = async (name: SqliteDriverName): Promise<unknown> => {
      if (name === 'node:sqlite') return { DatabaseSync: OldDatabase }
      throw Object.assign(new Error('not there'), { code: 'ERR_MODULE_NOT_FOUND' })
    }
    await expect(openDatabase(':memory:', undefined, load)).rejects.toMatchObject({
      problem: 'missing_driver',
      message: expect.stringMatching(
        /^A SQLite ledger needs a driver: run `npm install @photostructure\/sqlite@1\.2` .*Tried: node:sqlite \(SQLite 3\.51\.2 is too old/,
      ) as string,
    })
    await expect(openDatabase(':memory:', 'node:sqlite', load)).rejects.toMatchObject({
      problem: 'missing_driver',
      message: expect.stringMatching(/^A SQLite ledger needs a driver: use Node 22\.22\.3, 24\.15 or newer/) as string,
    })
  })
})

describe.each(SQLITE_DRIVERS)('the driver %s', (driver) => {
  beforeEach(async ({ skip }) => skip(!(await isAvailable(driver)), 'it is not installed'))

  it('tells what went wrong by the code of SQLite', async () => {
    const file = newFile()
    const [one, other] = [await openDatabase(file, driver), await openDatabase(file, driver)]
    one.exec('PRAGMA busy_timeout = 0')
    one.exec('CREATE TABLE t (a INTEGER PRIMARY KEY)')
    one.exec('INSERT INTO t VALUES (1)')
    expect(codeOf(() => one.exec('INSERT INTO t VALUES (1)'))).toBe(19)
    other.exec('BEGIN IMMEDIATE')
    expect(codeOf(() => one.exec('BEGIN IMMEDIATE'))).toBe(RESULT_CODES.BUSY)
    one.close()
    other.close()
  })

  it('names the columns of every row, also of a statement that is older than one of them', async () => {
    const database = await openDatabase(':memory:', driver)
    database.exec(`CREATE TABLE t (a, b); INSERT INTO t VALUES (1, NULL), (2, 'x')`)
    const all = database.prepare('SELECT * FROM t ORDER BY a')
    const one = database.prepare('SELECT b, a FROM t WHERE a = ?')
    expect(all.all().map((row) => ({ ...(row as object) }))).toEqual([
      { a: 1, b: null },
      { a: 2, b: 'x' },
    ])
    expect({ ...(one.get(2) as object) }).toEqual({ b: 'x', a: 2 })
    expect(one.get(3)).toBeUndefined()
    database.exec('ALTER TABLE t ADD COLUMN c DEFAULT 7')
    // Node 22 counts the columns before it takes the change of the table up: its first call gives the rows as they were.
    if (driver === 'node:sqlite') all.all()
    expect({ ...(all.all()[0] as object) }).toEqual({ a: 1, b: null, c: 7 })
    database.close()
  })

  it('writes the log back when it is closed, and leaves it when it is abandoned', { timeout: 20_000 }, async () => {
    const program = await bundledDriver()
    for (const how of ['close', 'abandon'] as const) {
      const file = newFile()
      // Until the process has ended: a driver may close the file only then.
      const text = `
      import { openDatabase } from ${JSON.stringify(program)}
      import { statSync } from 'node:fs'
      const database = await openDatabase(${JSON.stringify(file)}, ${JSON.stringify(driver)})
      database.exec('PRAGMA journal_mode = WAL')
      database.exec('CREATE TABLE t (a)')
      const insert = database.prepare('INSERT INTO t VALUES (?)')
      insert.run(1)
      const { size, mtimeMs } = statSync(${JSON.stringify(file)})
      database.${how}()
      console.log(JSON.stringify({ size, mtimeMs }))
      globalThis.kept = insert`
      const args = ['--no-warnings', '--input-type=module', '-e', text]
      const cwd = path.dirname(fileURLToPath(import.meta.url))
      const before = JSON.parse(execFileSync(process.execPath, args, { cwd, encoding: 'utf8' })) as object
      expect(existsSync(`${file}-wal`)).toBe(how === 'abandon')
      if (how === 'abandon') expect(statSync(file)).toMatchObject(before)
      const next = await openDatabase(file, driver)
      expect(next.prepare('SELECT a FROM t').all()).toMatchObject([{ a: 1 }])
      next.close()
    }
  })

  it('has all in the file itself when it is closed', async () => {
    const file = newFile()
    const database = await openDatabase(file, driver)
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('CREATE TABLE t (a)')
    const insert = database.prepare('INSERT INTO t VALUES (?)')
    insert.run(1)
    database.close()
    expect(() => insert.run(2)).toThrow()
    const copy = newFile()
    cpSync(file, copy)
    const next = await openDatabase(copy, driver)
    expect(next.prepare('SELECT a FROM t').all()).toMatchObject([{ a: 1 }])
    next.close()
  })

  it.each(['close', 'abandon'] as const)('holds no lock after %s in a transaction', async (how) => {
    const file = newFile()
    const database = await openDatabase(file, driver)
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('CREATE TABLE t (a)')
    const insert = database.prepare('INSERT INTO t VALUES (?)')
    database.exec('BEGIN IMMEDIATE')
    insert.run(1)
    database[how]()
    const next = await openDatabase(file, driver)
    next.exec('BEGIN IMMEDIATE')
    next.exec('INSERT INTO t VALUES (2)')
    next.exec('COMMIT')
    expect(next.prepare('SELECT a FROM t').all()).toMatchObject([{ a: 2 }])
    next.close()
    expect(() => insert.run(3)).toThrow()
  })

  it('abandons in the middle of a transaction, of which nothing is left', async () => {
    const file = newFile()
    const database = await openDatabase(file, driver)
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('CREATE TABLE t (a)')
    database.exec('BEGIN IMMEDIATE')
    database.exec('INSERT INTO t VALUES (1)')
    database.abandon()
    const next = await openDatabase(file, driver)
    expect(next.prepare('SELECT a FROM t').all()).toEqual([])
    next.close()
  })

  it('tells of a damaged page, of a lock and of a constraint by every method', async () => {
    const file = newFile()
    const database = await openDatabase(file, driver)
    database.exec('CREATE TABLE t (a INTEGER PRIMARY KEY, b)')
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO t SELECT i, printf('%100d', i) FROM n`)
    const insert = database.prepare('INSERT INTO t VALUES (1, 1) RETURNING a')
    for (const method of ['run', 'get', 'all'] as const)
      expect(
        codeOf(() => insert[method]()),
        method,
      ).toBe(19)
    const holder = await openDatabase(file, driver)
    holder.exec('BEGIN EXCLUSIVE')
    const count = database.prepare('SELECT count(b) FROM t')
    for (const method of ['get', 'all'] as const)
      expect(
        codeOf(() => count[method]()),
        method,
      ).toBe(RESULT_CODES.BUSY)
    holder.close()
    database.close()
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0xff, 2 * 4096, bytes.length))
    const damaged = await openDatabase(file, driver)
    const read = damaged.prepare('SELECT * FROM t WHERE b > 1')
    for (const method of ['get', 'all'] as const)
      expect(
        codeOf(() => read[method]()),
        method,
      ).toBe(11)
    damaged.close()
  })

  it('reads what is left of a file that was cut off, with a read-only handle', async () => {
    const file = newFile()
    const database = await openDatabase(file, driver)
    database.exec('CREATE TABLE t (a INTEGER PRIMARY KEY, b)')
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO t SELECT i, printf('%100d', i) FROM n`)
    database.close()
    truncateSync(file, 30 * 4096 + 1000)
    const cut = await openDatabase(file, driver, undefined, true)
    expect(codeOf(() => cut.exec('SELECT a FROM t'))).toBe(RESULT_CODES.CORRUPT)
    cut.exec('PRAGMA writable_schema = 1')
    expect(cut.prepare('SELECT a FROM t LIMIT 1').get()).toMatchObject({ a: 1 })
    expect(() => cut.exec('DELETE FROM t WHERE a = 1')).toThrow(/readonly/)
    cut.close()
  })

  it('abandons what is in memory', async () => {
    const database = await openDatabase(':memory:', driver)
    database.abandon()
    expect(() => database.exec('SELECT 1')).toThrow()
  })
})

function codeOf(act: () => unknown): number | undefined {
  try {
    act()
  } catch (error) {
    return resultCode(error)
  }
  return undefined
}

describe('a result code', () => {
  it.each([
    [{ errcode: 5 }, 5],
    [{ errcode: 1290 }, 10],
    [{ code: 'SQLITE_BUSY_SNAPSHOT' }, 5],
    [{ code: 'SQLITE_IOERR_FSYNC' }, 10],
    [{ code: 'ERR_SQLITE_ERROR', message: 'database disk image is malformed' }, 11],
    [{ code: 'ERR_SQLITE_ERROR', message: 'disk I/O error' }, 10],
    [{ code: 'ERR_SQLITE_ERROR', message: 'no such table: t' }, 1],
    [
      { code: 'ERR_SQLITE_ERROR', message: 'Value is too large to be represented as a JavaScript number: 9' },
      undefined,
    ],
    [{ code: 'ENOENT' }, undefined],
    [{ code: 7 }, undefined],
    [null, undefined],
    [undefined, undefined],
  ])('of %j is %s', (error, code) => {
    expect(resultCode(error)).toBe(code)
  })
})

describe('where no driver can be used', () => {
  const require = createRequire(import.meta.url)
  /** What a program says that finds the drivers as `prepare` leaves them. */
  async function said(name: string, prepare: (modules: string) => void, driver: SqliteDriverName): Promise<unknown> {
    const project = path.join(directory, name)
    const modules = path.join(project, 'node_modules')
    mkdirSync(modules, { recursive: true })
    cpSync(await bundledDriver(), path.join(project, 'driver.mjs'))
    prepare(modules)
    const program = `
      const { openDatabase } = await import('./driver.mjs')
      try { await openDatabase(':memory:', ${JSON.stringify(driver)}); console.log('{}') }
      catch ({ problem, message }) { console.log(JSON.stringify({ problem, message })) }`
    const args = ['--no-warnings', '--input-type=module', '-e', program]
    return JSON.parse(execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' })) as unknown
  }

  /** Packages as they are installed, but for what was built. */
  function install(modules: string, packages: readonly string[]): void {
    for (const name of packages) {
      const from = path.dirname(require.resolve(`${name}/package.json`))
      const filter = (file: string): boolean => !/sqlite3?\/(build|deps|src|prebuilds)$/.test(file)
      cpSync(from, path.join(modules, name), { recursive: true, filter })
    }
  }
  const PREBUILT = ['@photostructure/sqlite', 'node-gyp-build']
  const BETTER = ['better-sqlite3', 'bindings', 'file-uri-to-path']
  const hasBetter = canResolve('better-sqlite3/package.json')

  function canResolve(name: string): boolean {
    try {
      return require.resolve(name) !== ''
    } catch {
      return false
    }
  }

  it.each([
    ['@photostructure/sqlite', /run `npm install @photostructure\/sqlite@1\.2`.*Tried: \S+ \(not installed\)$/],
    ['better-sqlite3', /run `npm install better-sqlite3@12`.*Tried: \S+ \(not installed\)$/],
  ] as const)('it says what to install for %s', { timeout: 20_000 }, async (driver, message) => {
    const name = `missing-${path.basename(driver)}`
    const expected = { problem: 'missing_driver', message: expect.stringMatching(message) as string }
    expect(await said(name, () => undefined, driver)).toEqual(expected)
  })

  it('it names another driver for one that has no build for the system', { timeout: 20_000 }, async () => {
    const expected = /run `npm install better-sqlite3@12`.*Tried: @photostructure\/sqlite \(installed, but not built/
    const message = expect.stringMatching(expected) as string
    expect(await said('no-prebuilds', (modules) => install(modules, PREBUILT), '@photostructure/sqlite')).toEqual({
      problem: 'missing_driver',
      message,
    })
  })

  it.runIf(hasBetter)('it says how to build better-sqlite3', { timeout: 20_000 }, async () => {
    const message = expect.stringMatching(/run `npm rebuild better-sqlite3`.*installed, but not built/) as string
    const expected = { problem: 'missing_driver', message }
    expect(await said('unbuilt', (modules) => install(modules, BETTER), 'better-sqlite3')).toEqual(expected)
  })

  it.runIf(hasBetter)('it says how to build better-sqlite3 that another Node built', { timeout: 20_000 }, async () => {
    const foreign = (modules: string): void => {
      install(modules, BETTER)
      mkdirSync(path.join(modules, 'better-sqlite3/build/Release'), { recursive: true })
      writeFileSync(path.join(modules, 'better-sqlite3/build/Release/better_sqlite3.node'), 'of another kind')
    }
    const message = expect.stringContaining('npm rebuild better-sqlite3') as string
    expect(await said('foreign', foreign, 'better-sqlite3')).toEqual({ problem: 'missing_driver', message })
  })

  it('it tries every driver, and asks first for the one that needs no compiler', async () => {
    const missing = Object.assign(new Error('no such module'), { code: 'ERR_UNKNOWN_BUILTIN_MODULE' })
    const asked: string[] = []
    const load = async (name: SqliteDriverName): Promise<never> => {
      asked.push(name)
      throw missing
    }
    await expect(openDatabase(':memory:', undefined, load)).rejects.toMatchObject({
      problem: 'missing_driver',
      message: expect.stringMatching(
        /driver: run `npm install @photostructure\/sqlite@1\.2` .*, or run `npm install better-sqlite3@12`, or use Node/,
      ) as string,
      cause: missing,
    })
    expect(asked).toEqual([...SQLITE_DRIVERS])
  })

  it('it knows an optional peer that Vite has not found', async () => {
    const error = new Error('Could not resolve "better-sqlite3" imported by "reprise".')
    const opened = openDatabase(':memory:', 'better-sqlite3', () => Promise.reject(error))
    await expect(opened).rejects.toMatchObject({ problem: 'missing_driver', cause: error })
  })

  it('any other error of a driver is its own', async () => {
    const own = new Error('out of memory')
    await expect(openDatabase(':memory:', undefined, () => Promise.reject(own))).rejects.toBe(own)
  })
})
