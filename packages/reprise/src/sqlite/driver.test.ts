/** The drivers: which is used, what is said when there is none, and how a handle that failed is left. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUSY, openDatabase, resultCode, SQLITE_DRIVERS, type SqliteDriverName } from './driver.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-driver-'))
afterAll(() => rmSync(directory, { recursive: true }))
let files = 0
const newFile = (): string => path.join(directory, `${files++}.db`)

const available = (
  await Promise.all(
    SQLITE_DRIVERS.map(async (driver) => {
      try {
        ;(await openDatabase(':memory:', driver)).close()
        return [driver]
      } catch {
        return []
      }
    }),
  )
).flat()

describe('an old SQLite', () => {
  /** As `node:sqlite` of Node 24.14 says. */
  class OldDatabase {
    prepare(): { get(): { version: string } } {
      return { get: () => ({ version: '3.51.2' }) }
    }
    close(): void {}
  }

  it('is passed over for one that is not', async () => {
    let opened = 0
    class NewDatabase extends OldDatabase {
      override prepare(): { get(): { version: string } } {
        opened++
        return { get: () => ({ version: '3.53.0' }) }
      }
    }
    const load = async (name: SqliteDriverName): Promise<unknown> =>
      name === 'node:sqlite' ? { DatabaseSync: OldDatabase } : { default: NewDatabase }
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
        /SQLite 3\.51\.2 of node:sqlite is too old .*npm install better-sqlite3/,
      ) as string,
    })
    await expect(openDatabase(':memory:', 'node:sqlite', load)).rejects.toMatchObject({ problem: 'missing_driver' })
  })
})

describe.each(available)('the driver %s', (driver) => {
  it('tells what went wrong by the code of SQLite', async () => {
    const file = newFile()
    const [one, other] = [await openDatabase(file, driver), await openDatabase(file, driver)]
    one.exec('PRAGMA busy_timeout = 0')
    one.exec('CREATE TABLE t (a INTEGER PRIMARY KEY)')
    one.exec('INSERT INTO t VALUES (1)')
    expect(codeOf(() => one.exec('INSERT INTO t VALUES (1)'))).toBe(19)
    other.exec('BEGIN IMMEDIATE')
    expect(codeOf(() => one.exec('BEGIN IMMEDIATE'))).toBe(BUSY)
    one.close()
    other.close()
  })

  it('writes the log back when it is closed, and leaves it when it is abandoned', async () => {
    for (const how of ['close', 'abandon'] as const) {
      const file = newFile()
      const database = await openDatabase(file, driver)
      database.exec('PRAGMA journal_mode = WAL')
      database.exec('CREATE TABLE t (a)')
      database.exec('INSERT INTO t VALUES (1)')
      const before = statSync(file)
      database[how]()
      expect(existsSync(`${file}-wal`)).toBe(how === 'abandon')
      if (how === 'abandon') expect(statSync(file)).toMatchObject({ size: before.size, mtimeMs: before.mtimeMs })
      const next = await openDatabase(file, driver)
      expect(next.prepare('SELECT a FROM t').all()).toMatchObject([{ a: 1 }])
      next.close()
    }
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
  const source = fileURLToPath(new URL('driver.ts', import.meta.url))

  beforeAll(async () => {
    const output = { dir: directory, format: 'esm', entryFileNames: 'driver.mjs' } as const
    await build({ input: source, platform: 'node', resolve: { extensionAlias: { '.js': ['.ts', '.js'] } }, output })
  })

  /** What a program says that finds better-sqlite3 as `prepare` leaves it. */
  function said(name: string, prepare: (modules: string) => void, driver?: SqliteDriverName): unknown {
    const project = path.join(directory, name)
    const modules = path.join(project, 'node_modules')
    mkdirSync(modules, { recursive: true })
    cpSync(path.join(directory, 'driver.mjs'), path.join(project, 'driver.mjs'))
    prepare(modules)
    const program = `
      const { openDatabase } = await import('./driver.mjs')
      try { await openDatabase(':memory:', ${JSON.stringify(driver)}); console.log('{}') }
      catch ({ problem, message }) { console.log(JSON.stringify({ problem, message })) }`
    const args = ['--no-warnings', '--input-type=module', '-e', program]
    return JSON.parse(execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' })) as unknown
  }

  /** The package as it is installed, but for what was built. */
  function install(modules: string): void {
    for (const name of ['better-sqlite3', 'bindings', 'file-uri-to-path']) {
      const from = path.dirname(require.resolve(`${name}/package.json`))
      const filter = (file: string): boolean => !/better-sqlite3\/(build|deps|src)$/.test(file)
      cpSync(from, path.join(modules, name), { recursive: true, filter })
    }
  }

  it('it says what to install', { timeout: 20_000 }, () => {
    const message = expect.stringMatching(
      /needs the driver better-sqlite3: install it with `npm install better-sqlite3`/,
    )
    expect(said('missing', () => undefined, 'better-sqlite3')).toEqual({ problem: 'missing_driver', message })
  })

  it('it says how to build what is installed', { timeout: 20_000 }, () => {
    const message = expect.stringMatching(/was not built for this Node: run `npm rebuild better-sqlite3`/)
    expect(said('unbuilt', install, 'better-sqlite3')).toEqual({ problem: 'missing_driver', message })
  })

  it('it says how to build what was built for another Node', { timeout: 20_000 }, () => {
    const foreign = (modules: string): void => {
      install(modules)
      mkdirSync(path.join(modules, 'better-sqlite3/build/Release'), { recursive: true })
      writeFileSync(path.join(modules, 'better-sqlite3/build/Release/better_sqlite3.node'), 'of another kind')
    }
    const message = expect.stringContaining('npm rebuild better-sqlite3')
    expect(said('foreign', foreign, 'better-sqlite3')).toEqual({ problem: 'missing_driver', message })
  })

  it('it takes whichever there is, and asks for the one that can be installed', async () => {
    const missing = Object.assign(new Error('no such module'), { code: 'ERR_UNKNOWN_BUILTIN_MODULE' })
    const asked: string[] = []
    const load = async (name: SqliteDriverName): Promise<never> => {
      asked.push(name)
      throw missing
    }
    await expect(openDatabase(':memory:', undefined, load)).rejects.toMatchObject({
      problem: 'missing_driver',
      message: expect.stringContaining('npm install better-sqlite3'),
      cause: missing,
    })
    expect(asked).toEqual([...SQLITE_DRIVERS])
  })

  it('any other error of a driver is its own', async () => {
    const own = new Error('out of memory')
    await expect(openDatabase(':memory:', undefined, () => Promise.reject(own))).rejects.toBe(own)
  })
})
