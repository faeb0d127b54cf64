/**
 * `reprise doctor` and `--salvage` where there is little to look at: files without a ledger, a store without rows, a task of
 * an older version, a machine without a driver. Needs a build.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { openDurable } from 'reprise/durable'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { CliFixture, until } from '../workflow/cli-fixture.js'

let fixture: CliFixture
beforeEach(() => {
  fixture = new CliFixture()
})
afterEach(() => fixture.remove())

test('a file of 0 bytes has no ledger in it, and is not salvaged', async () => {
  fixture.write('empty.db', '')
  const { code, stdout } = await fixture.reprise('doctor', '--store', 'sqlite:empty.db')
  expect(code).toBe(0)
  expect(stdout).toMatch(/note +sqlite:empty\.db: .*there is no ledger\s+in it yet, the first run makes it/s)
  expect(stdout).not.toContain('Everything is well')
  const tried = await fixture.reprise('doctor', '--salvage', 'saved.db', '--store', 'sqlite:empty.db')
  expect(tried).toMatchObject({ code: 74, stderr: expect.stringContaining('sqlite:empty.db has no ledger in it') })
  expect(existsSync(fixture.path('saved.db'))).toBe(false)
  expect(readFileSync(fixture.path('empty.db'))).toHaveLength(0)
})

test('an emptied store beside the logs of its runs is a fault', async () => {
  fixture.write('empty.db', '')
  mkdirSync(fixture.path('.reprise/sqlite-empty.db/runs/r1'), { recursive: true, mode: 0o700 })
  const { code, stdout } = await fixture.reprise('doctor', '--json', '--store', 'sqlite:empty.db')
  const { checks } = JSON.parse(stdout) as { checks: Record<string, unknown>[] }
  expect({ code, faults: checks.filter(({ state }) => state === 'fault') }).toEqual({
    code: 74,
    faults: [
      expect.objectContaining({
        area: 'store',
        message: expect.stringMatching(
          /there is no ledger in it, though .*\.reprise\/sqlite-empty\.db has logs of runs$/,
        ),
        cure: 'move the file away, then reprise store restore BACKUP --store sqlite:empty.db',
      }),
    ],
  })
})

test('a store without rows is salvaged, and one task is one', async () => {
  const durable = await openDurable(`sqlite:${fixture.path('tasks.db')}`)
  await durable.close()
  const none = await fixture.reprise('doctor', '--salvage', 'none.db', '--store', 'sqlite:tasks.db')
  expect(none).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('sqlite:tasks.db was copied into none.db: it has no rows.\nNothing was lost.\n'),
  })
  const again = await openDurable(`sqlite:${fixture.path('tasks.db')}`)
  await again.task('double', {}, (n: number) => n * 2).run(1, { id: 'a' })
  await again.close()
  const { stdout } = await fixture.reprise('doctor', '--store', 'sqlite:tasks.db')
  expect(stdout).toContain('0 runs and 1 task are consistent (I1 to I10)')
  expect(stdout).toMatch(/Everything is well\.\n$/)
})

test('a task that was migrated from a version without a retry state is consistent', async () => {
  const store = `sqlite:${fixture.path('tasks.db')}`
  const policy = { attempts: 2, initialDelay: '1h', jitter: 'none' } as const
  const before = await openDurable(store)
  const parked = before.task('double', policy, () => {
    throw new Error('not yet')
  })
  await parked.start(1, { id: 'a' })
  await until(
    async () => Boolean((await parked.status('a'))?.lastFailure),
    () => 'the first attempt to fail',
  )
  await before.close()
  const handle = await openDatabase(fixture.path('tasks.db'))
  handle.exec(`UPDATE tasks SET progress = '{}', due_at = 0`)
  handle.close()
  const after = await openDurable(store)
  const task = after.task('double', policy, (n: number) => n * 2)
  await after.resume()
  await until(
    async () => (await task.status('a'))?.state === 'succeeded',
    () => 'the task to succeed',
  )
  await after.close()
  const events = await openDatabase(fixture.path('tasks.db'))
  expect(events.prepare(`SELECT count(*) AS count FROM events WHERE type = 'migrated'`).get()).toEqual({ count: 1 })
  events.close()
  const { code, stdout } = await fixture.reprise('doctor', '--store', 'sqlite:tasks.db')
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('1 task are consistent') })
})

test('without a driver it says what the drivers need, as every other command does', async () => {
  const hook = `export function resolve(name, context, next) {
    if (!/^(node:sqlite|better-sqlite3|@photostructure\\/sqlite)$/.test(name)) return next(name, context)
    throw Object.assign(new Error('no ' + name), { code: 'ERR_MODULE_NOT_FOUND' })
  }`
  fixture.write('hook.mjs', hook)
  fixture.write('no-drivers.mjs', `import { register } from 'node:module'\nregister('./hook.mjs', import.meta.url)\n`)
  fixture.env['NODE_OPTIONS'] = `--import=file://${fixture.path('no-drivers.mjs')}`
  const { code, stdout } = await fixture.reprise('doctor', '--json')
  const { checks } = JSON.parse(stdout) as { checks: Record<string, string>[] }
  const cure = checks.find(({ message }) => message === 'no driver of SQLite can be used')?.['cure']
  expect(code).toBe(74)
  expect(cure).toMatch(/^run `npm install @photostructure\/sqlite@1\.2`.*`npm install better-sqlite3@12`/)
  expect(checks.map(({ message }) => message)).toContain('better-sqlite3 is not used: not installed')
})
