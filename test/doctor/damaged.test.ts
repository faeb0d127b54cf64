/**
 * `reprise doctor` and `--salvage` on SQLite files with real damage: bytes overwritten in pages of every kind, a file cut
 * off, a first page that is gone. What is on other pages is saved, and the damaged file stays as it is. Most commands run
 * within this process. Needs a build.
 */
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { openDurable, openLedger } from 'reprise/durable'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SqlRow } from '../../packages/reprise/src/ledger/rows.js'
import { openDatabase, type SqliteDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { CliFixture, until } from '../workflow/cli-fixture.js'
import { repriseInProcess } from '../workflow/cli-in-process.js'

const TASKS = 600
const PAGE = 4096
const idOf = (n: number): string => `item-${String(n).padStart(5, '0')}`

interface Salvage {
  readonly rows: Readonly<Record<string, number>>
  readonly lost: readonly { readonly table: string; readonly place: string; readonly reason: string }[]
}

let cli: CliFixture
let whole: Buffer
let pages: Page[]

interface Page {
  /** The table or index that it belongs to. */
  readonly name: string
  /** From 1. */
  readonly page: number
  /** Whether it holds rows itself. */
  readonly isLeaf: boolean
  /** From the root, which is `/`. */
  readonly path: string
}

function pagesIn(handle: SqliteDatabase): Page[] {
  const rows = handle.prepare('SELECT name, pageno, pagetype, path FROM dbstat').all() as SqlRow[]
  return rows.map(({ name, pageno, pagetype, path }) => ({
    name: String(name),
    page: Number(pageno),
    isLeaf: pagetype === 'leaf',
    path: String(path),
  }))
}

beforeAll(async () => {
  cli = new CliFixture()
  const durable = await openDurable(`sqlite:${cli.path('whole.db')}`, { synchronous: 'normal' })
  const task = durable.task('load', { attempts: 2, initialDelay: 0 }, (input: { n: number }, { attempt }) => {
    if (input.n % 3 === 0 && attempt === 1) throw new Error(`no ${'x'.repeat(100)}`)
    if (input.n % 10 === 7) throw new Error('never')
    return { n: input.n, text: 'y'.repeat(200) }
  })
  await task.startAll(Array.from({ length: TASKS }, (_, n) => ({ id: idOf(n), input: { n } })))
  const ledger = await openLedger(`sqlite:${cli.path('whole.db')}`)
  await until(
    async () => (await ledger.list({ statuses: ['waiting', 'running'], limit: 1 })).length === 0,
    () => 'all tasks to end',
  )
  await ledger.close()
  await durable.close()
  const handle = await openDatabase(cli.path('whole.db'))
  handle.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  pages = pagesIn(handle)
  handle.close()
  whole = readFileSync(cli.path('whole.db'))
}, 60_000)
afterAll(() => cli.remove())

/** A copy of the store with damage in it. */
function damaged(damage: (bytes: Buffer) => void): void {
  for (const name of ['damaged.db', 'out.db'])
    for (const suffix of ['', '-wal', '-shm']) rmSync(cli.path(`${name}${suffix}`), { force: true })
  const bytes = Buffer.from(whole)
  damage(bytes)
  writeFileSync(cli.path('damaged.db'), bytes)
}

const addressOf = (file: string): string => `sqlite:${cli.path(file)}`

async function doctor(file: string): Promise<{ code: number | null; faults: Record<string, string>[] }> {
  const { code, stdout } = await repriseInProcess(cli, 'doctor', '--json', '--store', addressOf(file))
  const { checks } = JSON.parse(stdout) as { checks: Record<string, string>[] }
  return { code, faults: checks.filter(({ state }) => state === 'fault') }
}

async function salvage(): Promise<Salvage & { readonly code: number | null }> {
  const { code, stdout, stderr } = await repriseInProcess(
    cli,
    ...['doctor', '--salvage', cli.path('out.db'), '--json', '--store', addressOf('damaged.db')],
  )
  expect(stderr).toBe('')
  return { code, ...(JSON.parse(stdout) as Salvage) }
}

/** A page of that table or index with rows, in the middle of its pages. */
function leafOf(name: string): number {
  const own = pages.filter((one) => one.name === name && one.isLeaf)
  const { page } = own[Math.floor(own.length / 2)] as { page: number }
  return (page - 1) * PAGE
}

const overwrite = (at: number, length: number) => (bytes: Buffer) => void bytes.fill(0xa5, at, at + length)

test('a whole store is well, and is salvaged whole', async () => {
  damaged(() => undefined)
  expect(await doctor('damaged.db')).toEqual({ code: 0, faults: [] })
  expect(await salvage()).toMatchObject({ code: 0, lost: [], rows: { tasks: TASKS } })
  expect(await doctor('out.db')).toEqual({ code: 0, faults: [] })
})

describe('a damaged page', () => {
  /** What it belongs to, how many tasks may be lost, and what the copy lacks by which rule. */
  const PAGES: readonly (readonly [name: string, tasks: number, lacking: string | undefined])[] = [
    ['tasks', 10, undefined],
    // A task whose first attempt was on the page, and its second on the next.
    ['attempts', 0, 'I2'],
    ['dead', 0, 'I6'],
    ['sqlite_autoindex_tasks_1', 0, undefined],
    ['tasks_finished', 0, undefined],
  ]

  test.each(PAGES)('of %s is named, and only its rows are lost', async (name, most, lacking) => {
    damaged(overwrite(leafOf(name), 600))
    const before = readFileSync(cli.path('damaged.db'))
    const { code, faults } = await doctor('damaged.db')
    expect(code).toBe(74)
    expect(faults.length).toBeGreaterThan(0)
    const damage = faults.filter(({ area }) => area === 'store')
    for (const { cure } of damage)
      expect(cure).toBe(`reprise doctor --salvage salvaged.db --store ${addressOf('damaged.db')}`)
    const { code: saved, rows, lost } = await salvage()
    const lostTasks = TASKS - (rows['tasks'] ?? 0)
    expect(lostTasks).toBeLessThanOrEqual(most)
    expect(saved).toBe(lost.length === 0 ? 0 : 3)
    // Every lost task is named, since the index of their ids is whole.
    if (lostTasks > 0) expect(lost.filter(({ place }) => /^task load\/item-\d+$/.test(place))).toHaveLength(lostTasks)
    // The copy is a store that can be used, and the source is as it was.
    const copy = await doctor('out.db')
    expect(copy.code).toBe(copy.faults.length === 0 ? 0 : 4)
    expect(copy.faults.filter(({ rule }) => rule !== lacking)).toEqual([])
    if (name === 'dead') expect(copy.faults).toHaveLength(TASKS / 10 - (rows['dead'] ?? 0))
    else expect(copy.faults.length).toBeLessThanOrEqual(1)
    expect(readFileSync(cli.path('damaged.db')).equals(before)).toBe(true)
  })

  test('that is the only way to all rows of a table costs these rows, and each is named', async () => {
    const roots = pages.filter(({ name, isLeaf }) => name === 'tasks' && !isLeaf)
    expect(roots).toHaveLength(1)
    damaged(overwrite(((roots[0]?.page ?? 0) - 1) * PAGE, 100))
    expect((await doctor('damaged.db')).code).toBe(74)
    const { code, rows, lost } = await salvage()
    expect({ code, rows }).toEqual({ code: 3, rows: { policies: 1, attempts: 0, dead: 0 } })
    expect(lost.filter(({ place }) => /^task load\/item-\d+$/.test(place))).toHaveLength(TASKS)
    expect(await doctor('out.db')).toEqual({ code: 0, faults: [] })
  })

  test('that is the way to some rows costs at most the rows behind it', async () => {
    damaged(() => undefined)
    const handle = await openDatabase(cli.path('damaged.db'))
    // A page for each task: so many that the way to them has two levels.
    handle.exec(`UPDATE tasks SET result = '"' || printf('%.*c', 3000, 'y') || '"'; PRAGMA wal_checkpoint(TRUNCATE)`)
    const own = pagesIn(handle).filter(({ name }) => name === 'tasks')
    handle.close()
    const inner = own.find(({ isLeaf, path }) => !isLeaf && path !== '/')
    const behind = own.filter(({ path }) => path.startsWith(inner?.path ?? '/')).length - 1
    const elsewhere = own.filter(({ isLeaf }) => isLeaf).length - behind
    expect(elsewhere).toBeGreaterThan(0)
    const bytes = readFileSync(cli.path('damaged.db'))
    overwrite(((inner?.page ?? 0) - 1) * PAGE, 100)(bytes)
    writeFileSync(cli.path('damaged.db'), bytes)
    expect((await doctor('damaged.db')).code).toBe(74)
    const { code, rows, lost } = await salvage()
    expect(code).toBe(3)
    expect(rows['tasks']).toBeGreaterThanOrEqual(elsewhere)
    expect(lost.filter(({ place }) => /^task load\/item-\d+$/.test(place))).toHaveLength(TASKS - (rows['tasks'] ?? 0))
  })

  test('beside another leaves the rows between them', async () => {
    const own = pages.filter(({ name, isLeaf }) => name === 'tasks' && isLeaf).map(({ page }) => (page - 1) * PAGE)
    const hit = [own[2], own[Math.floor(own.length / 2)], own.at(-3)] as number[]
    damaged((bytes) => hit.forEach((at) => overwrite(at, 600)(bytes)))
    const { rows } = await salvage()
    expect(TASKS - (rows['tasks'] ?? 0)).toBeLessThanOrEqual(30)
  })
})

test('a file that was cut off gives what is left of it', async () => {
  damaged(() => undefined)
  truncateSync(cli.path('damaged.db'), Math.floor((whole.length * 0.6) / PAGE) * PAGE + 1000)
  expect((await doctor('damaged.db')).code).toBe(74)
  const { code, rows, lost } = await salvage()
  expect(code).toBe(3)
  expect(lost.length).toBeGreaterThan(0)
  expect(rows['tasks']).toBeGreaterThan(TASKS / 4)
  // The dead letters stood at the end of the file.
  const copy = await doctor('out.db')
  expect(copy.code).toBe(4)
  expect(new Set(copy.faults.map(({ rule }) => rule))).toEqual(new Set(['I6']))
})

test('a row that became rubbish within a whole page is lost alone', async () => {
  damaged(() => undefined)
  const handle = await openDatabase(cli.path('damaged.db'))
  handle.exec(`UPDATE tasks SET progress = '{"half' WHERE id = '${idOf(5)}'`)
  handle.close()
  const { code, rows, lost } = await salvage()
  expect({ code, tasks: rows['tasks'] }).toEqual({ code: 3, tasks: TASKS - 1 })
  expect(lost[0]).toEqual({
    table: 'tasks',
    place: `task load/${idOf(5)}`,
    reason: `task load/${idOf(5)} holds no JSON`,
  })
})

test('an integer that is too large for JavaScript costs its row alone', async () => {
  damaged(() => undefined)
  const handle = await openDatabase(cli.path('damaged.db'))
  handle.exec(
    `UPDATE tasks SET fence = 1152921504606846977 WHERE id IN ('${idOf(0)}', '${idOf(5)}', '${idOf(TASKS - 1)}')`,
  )
  handle.exec('UPDATE attempts SET execution = 1152921504606846977 WHERE task = 50 AND attempt = 1')
  handle.close()
  const { code: found, faults } = await doctor('damaged.db')
  expect(found).toBe(74)
  expect(faults).toContainEqual(expect.objectContaining({ area: 'store', place: `task load/${idOf(5)}` }))
  const { code, rows, lost } = await salvage()
  expect({ code, tasks: rows['tasks'] }).toEqual({ code: 3, tasks: TASKS - 3 })
  for (const n of [0, 5, TASKS - 1]) expect(lost.map(({ place }) => place)).toContain(`task load/${idOf(n)}`)
  // Attempts: those of the lost tasks, and one that is too large itself.
  expect(lost.filter(({ table, place }) => table === 'attempts' && /rows after/.test(place))).toHaveLength(1)
})

describe.each([
  ['its first page', 0, PAGE, 'its first page is destroyed'],
  ['its header', 0, 100, 'its first page is destroyed'],
  ['its list of tables', 100, PAGE - 100, 'its list of tables is destroyed'],
])('a file without %s cannot be read at all', (_, at, length, why) => {
  test('so that doctor exits with 74, and its cure is a backup', async () => {
    damaged(overwrite(at, length))
    const { code, faults } = await doctor('damaged.db')
    expect({ code, count: faults.length }).toEqual({ code: 74, count: 1 })
    expect(faults[0]).toMatchObject({
      message: expect.stringContaining(why) as string,
      cure: `reprise store restore BACKUP --store ${addressOf('damaged.db')}`,
    })
    expect(faults[0]?.['message']).not.toContain('--salvage')
  })

  test('so that --salvage says the same of the damaged file, and writes nothing', async () => {
    damaged(overwrite(at, length))
    const { code, stderr } = await cli.reprise('doctor', '--salvage', 'out.db', '--store', 'sqlite:damaged.db')
    expect(code).toBe(74)
    expect(stderr).toContain('The ledger sqlite:damaged.db cannot be read')
    expect(stderr).toContain('restore a backup')
    expect(existsSync(cli.path('out.db'))).toBe(false)
  })
})

test('what is there is never overwritten', async () => {
  damaged(() => undefined)
  cli.write('out.db', 'mine')
  const { code, stderr } = await cli.reprise('doctor', '--salvage', 'out.db', '--store', 'sqlite:damaged.db')
  expect({ code, kept: cli.read('out.db') }).toEqual({ code: 4, kept: 'mine' })
  expect(stderr).toContain('out.db is there already')
})

test('wrong use is said: a store on a server, a store that is not there', async () => {
  const server = await cli.reprise('doctor', '--salvage', 'x.db', '--store', 'postgres://nobody@127.0.0.1:1/none')
  expect(server).toMatchObject({ code: 2, stderr: expect.stringContaining('reprise store backup') })
  const missing = await cli.reprise('doctor', '--salvage', 'x.db', '--store', 'sqlite:missing.db')
  expect(missing).toMatchObject({ code: 4, stderr: expect.stringContaining('missing.db does not exist') })
  expect((await cli.reprise('doctor', '--store', 'sqlite:missing.db')).code).toBe(0)
  expect(existsSync(cli.path('missing.db'))).toBe(false)
})
