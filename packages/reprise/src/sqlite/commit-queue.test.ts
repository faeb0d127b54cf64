/** Group commit over a real file: what shares a transaction, who waits, and what is left after an error. */
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommitQueue, HalfDone } from './commit-queue.js'
import { openDatabase, type SqliteDatabase } from './driver.js'
import { OpenFiles } from './open-files.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-queue-'))
afterAll(() => rmSync(directory, { recursive: true }))

let files = 0
let file: string
let database: SqliteDatabase
let other: SqliteDatabase
const CHECKPOINT = 'PRAGMA wal_checkpoint(PASSIVE)'
/** What was executed beside prepared statements, but for checkpoints, and what shall fail. */
let executed: string[]
let fault: { readonly sql: string; readonly code: string } | undefined
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The real thing, but for the statement that the test lets fail. */
function watched(target: SqliteDatabase): SqliteDatabase {
  const execute = (sql: string): void => {
    executed.push(sql)
    if (sql === fault?.sql) throw Object.assign(new Error(`planned ${fault.code}`), { code: fault.code })
  }
  return {
    driver: target.driver,
    exec(sql) {
      execute(sql)
      return target.exec(sql)
    },
    prepare(sql) {
      const statement = target.prepare(sql)
      if (sql !== CHECKPOINT) return statement
      const get = (): unknown => {
        execute(sql)
        return statement.get()
      }
      return { run: (...values) => statement.run(...values), all: (...values) => statement.all(...values), get }
    },
    close: () => target.close(),
    abandon() {
      executed.push('abandon')
      target.abandon()
    },
  }
}

beforeEach(async () => {
  file = path.join(directory, `${files++}.db`)
  executed = []
  fault = undefined
  const opened = await openDatabase(file)
  opened.exec('PRAGMA journal_mode = WAL')
  opened.exec('CREATE TABLE t (a INTEGER PRIMARY KEY)')
  other = await openDatabase(file)
  database = watched(opened)
})
afterEach(() => other.close())

const insert = (value: number) => () => database.prepare('INSERT INTO t VALUES (?)').run(value).changes
const rows = (): number[] => (other.prepare('SELECT a FROM t ORDER BY a').all() as { a: number }[]).map(({ a }) => a)
const count = (sql: string): number => executed.filter((one) => one === sql).length

describe('work of one turn', () => {
  it('shares a transaction, in the order it came', async () => {
    const queue = new CommitQueue(database, 'here')
    const seen: number[] = []
    await Promise.all([3, 1, 2].map((value) => queue.add(() => seen.push(value) && insert(value)())))
    expect(seen).toEqual([3, 1, 2])
    expect(rows()).toEqual([1, 2, 3])
    expect(count('COMMIT')).toBe(1)
    queue.close()
  })

  it('is acknowledged when others can see it', async () => {
    const queue = new CommitQueue(database, 'here')
    const added = queue.add(insert(1))
    expect(rows()).toEqual([])
    await added
    expect(rows()).toEqual([1])
    queue.close()
  })

  it('is not spoilt by a unit that throws, or whose statement fails', async () => {
    const queue = new CommitQueue(database, 'here')
    const own = new Error('mine')
    const results = await Promise.allSettled([
      queue.add(insert(1)),
      queue.add(() => {
        throw own
      }),
      queue.add(insert(1)),
      queue.add(insert(2)),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: own })
    expect(results[2]).toMatchObject({
      reason: { code: 'ledger', message: expect.stringContaining('The ledger here') },
    })
    expect(rows()).toEqual([1, 2])
    queue.close()
  })

  it('leaves nothing of a unit that had written before it threw', async () => {
    const queue = new CommitQueue(database, 'here')
    const own = new Error('mine')
    const results = await Promise.allSettled([
      queue.add(insert(1)),
      queue.add(() => {
        insert(2)()
        throw new HalfDone('undone', { cause: own })
      }),
      queue.add(insert(3)),
    ])
    expect(results[1]).toMatchObject({ status: 'rejected', reason: own })
    expect(rows()).toEqual([1, 3])
    queue.close()
  })

  it('is written back to the database now and then', async () => {
    const queue = new CommitQueue(database, 'here')
    for (let value = 0; value < 3; value++)
      await Promise.all(Array.from({ length: 100 }, (_, index) => queue.add(insert(value * 100 + index))))
    expect(count('PRAGMA wal_checkpoint(PASSIVE)')).toBe(1)
    queue.close()
  })
})

describe('while another program writes', () => {
  it('work waits, and the event loop does not', async () => {
    const queue = new CommitQueue(database, 'here')
    other.exec('BEGIN IMMEDIATE')
    let ended = false
    const added = queue.add(insert(1)).then(() => (ended = true))
    const isAt = (): boolean => count('BEGIN IMMEDIATE') >= 5
    let turns = 0
    while (!isAt()) {
      await turn()
      turns++
    }
    expect(ended).toBe(false)
    expect(turns).toBeGreaterThan(5)
    other.exec('ROLLBACK')
    await added
    expect(rows()).toEqual([1])
    queue.close()
  })

  it('work gives up in the end, and what comes later is done', async () => {
    const queue = new CommitQueue(database, 'here', { maxWaitMs: 5 })
    other.exec('BEGIN IMMEDIATE')
    const late = Array.from({ length: 1001 }, (_, index) => queue.add(insert(index)))
    const results = await Promise.allSettled(late)
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(results[0]).toMatchObject({ reason: { problem: 'busy', message: expect.stringContaining('lock') } })
    other.exec('ROLLBACK')
    await queue.add(insert(5000))
    expect(rows()).toEqual([5000])
    queue.close()
  })

  it('a close does not wait for it', async () => {
    const queue = new CommitQueue(database, 'here')
    other.exec('BEGIN IMMEDIATE')
    const added = queue.add(insert(1))
    queue.close()
    await expect(added).rejects.toMatchObject({ problem: 'closed' })
    other.exec('ROLLBACK')
    await turn()
    expect(rows()).toEqual([])
  })
})

describe('a close', () => {
  it('writes all that was added, however much', async () => {
    const queue = new CommitQueue(database, 'here')
    const added = Array.from({ length: 2500 }, (_, index) => queue.add(insert(index)))
    queue.close()
    await Promise.all(added)
    expect(rows()).toHaveLength(2500)
    await expect(queue.add(insert(9999))).rejects.toMatchObject({ problem: 'closed' })
    await expect(queue.read(() => 1)).rejects.toMatchObject({ problem: 'closed' })
  })
})

describe('after an error of the disk', () => {
  /** All that the queue is asked from then on is refused with the same error, and the handle is left alone. */
  async function expectStopped(queue: CommitQueue, problem: string): Promise<void> {
    const before = executed.length
    expect(executed.at(-1)).toBe('abandon')
    await expect(queue.add(insert(100))).rejects.toMatchObject({ problem })
    await expect(queue.read(() => 1)).rejects.toMatchObject({ problem })
    await turn()
    queue.close()
    expect(executed.slice(before)).toEqual([])
  }

  it.each([
    ['SQLITE_FULL', 'unusable', 'make room'],
    ['SQLITE_IOERR_FSYNC', 'unusable', 'check the disk'],
    ['SQLITE_READONLY', 'unusable', 'writable'],
    ['SQLITE_CORRUPT_INDEX', 'corrupt', 'restore a backup'],
  ])('at a commit nobody is acknowledged, and nothing follows: %s', async (code, problem, cure) => {
    const queue = new CommitQueue(database, 'here')
    await queue.add(insert(1))
    fault = { sql: 'COMMIT', code }
    const results = await Promise.allSettled([queue.add(insert(2)), queue.add(insert(3))])
    for (const result of results)
      expect(result).toMatchObject({ reason: { problem, message: expect.stringContaining(cure) } })
    await expectStopped(queue, problem)
    expect(rows()).toEqual([1])
  })

  it('in a statement those that were added meanwhile are told too', async () => {
    const queue = new CommitQueue(database, 'here')
    const full = Object.assign(new Error('disk is full'), { code: 'SQLITE_FULL' })
    const failed = queue.add(() => {
      void queue.add(insert(2)).catch((error: unknown) => told.push(error))
      throw full
    })
    const told: unknown[] = []
    await expect(failed).rejects.toMatchObject({ problem: 'unusable', cause: full })
    await expectStopped(queue, 'unusable')
    expect(told).toHaveLength(1)
  })

  it('at a checkpoint what was acknowledged stays so, and nothing follows', async () => {
    const queue = new CommitQueue(database, 'here')
    fault = { sql: CHECKPOINT, code: 'SQLITE_IOERR_FSYNC' }
    await Promise.all(Array.from({ length: 256 }, (_, index) => queue.add(insert(index))))
    await expectStopped(queue, 'unusable')
    expect(rows()).toHaveLength(256)
  })

  it('in a read nothing follows', async () => {
    const queue = new CommitQueue(database, 'here')
    const read = queue.read(() => {
      throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' })
    })
    await expect(read).rejects.toMatchObject({ message: expect.stringContaining('The ledger here cannot be read') })
    await expectStopped(queue, 'unusable')
  })
})

describe('the log', () => {
  const checkpointsOf = async (queue: CommitQueue, groups: number, work: () => unknown): Promise<number> => {
    const before = count(CHECKPOINT)
    for (let group = 0; group < groups; group++) await Promise.all(Array.from({ length: 256 }, () => queue.add(work)))
    return count(CHECKPOINT) - before
  }

  it('is written back after about as many pages, however much a unit writes', async () => {
    const queue = new CommitQueue(database, 'here')
    // As `openSqlite` does: SQLite would do it by itself.
    database.exec('PRAGMA wal_autocheckpoint = 0')
    const write = database.prepare('INSERT INTO t DEFAULT VALUES')
    // The first is made before it is known how little a unit writes.
    expect(await checkpointsOf(queue, 4, () => write.run())).toBe(1)
    database.exec('CREATE TABLE large (a BLOB)')
    const fill = database.prepare('INSERT INTO large VALUES (zeroblob(20000))')
    await checkpointsOf(queue, 4, () => fill.run())
    expect(await checkpointsOf(queue, 3, () => fill.run())).toBeGreaterThan(1)
  })
})

describe('a file that was replaced while in use', () => {
  it.each([
    ['', 'its file was removed or replaced'],
    ['-wal', 'its file -wal was removed or replaced'],
  ])('is written no more: database%s', async (suffix, message) => {
    const queue = new CommitQueue(database, 'here', { files: new OpenFiles(file) })
    await queue.add(insert(1))
    renameSync(`${file}${suffix}`, `${file}${suffix}.away`)
    await expect(queue.add(insert(2))).rejects.toMatchObject({ message: expect.stringContaining(message) })
    await expect(queue.add(insert(3))).rejects.toMatchObject({ message: expect.stringContaining(message) })
    queue.close()
  })
})
