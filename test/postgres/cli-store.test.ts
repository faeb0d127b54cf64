/** `reprise store` on a file and on a server: what it says is so, and what it copies is whole. Needs a build. */
import { existsSync, statSync } from 'node:fs'
import pg from 'pg'
import type { RunDetail } from '@reprise/workflow/internal'
import { openLedger } from 'reprise/durable'
import { COPIED_TABLES } from '../../packages/reprise/src/ledger/copied-tables.js'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CliFixture, until } from '../workflow/cli-fixture.js'
import { testDatabase, type TestDatabase } from './shared-server.js'

const WORKFLOW = `
breakers: { db: { failure_threshold: 2, recovery_timeout: 1h } }
budgets: { some: { type: token_bucket, capacity: 5, refill_per_second: 0.001 } }
steps:
  - { id: ok, shell: echo hi, capture: said }
  - { id: flaky, shell: test $REPRISE_ATTEMPT -ge 2, retry: { attempts: 3, initial_delay: 10ms, budget: some } }
  - { id: down, shell: exit 3, retry: { attempts: 5, initial_delay: 10ms, breaker: db, on_failure: continue } }
`
const HELD = 'steps: [{ id: work, shell: "echo x >> ran; until test -e go; do sleep 0.02; done" }]\n'

interface Status {
  readonly address: string
  readonly kind: string
  readonly schema: { readonly version: number; readonly newest: number }
  readonly bytes: number
  readonly tables: readonly { readonly name: string; readonly rows: number; readonly bytes: number }[]
  readonly tasks: Readonly<Record<string, number>>
  readonly oldestDueAtMs: number | null
  readonly deadLetters: number
  readonly owners: readonly { readonly pid: number; readonly state: string; readonly leaseLeftMs: number }[]
  readonly connections: { readonly own: number; readonly used: number; readonly most: number } | null
  readonly hints: readonly string[]
}

let database: TestDatabase
let faultRun: CliFixture
let schemas = 0
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())
afterEach(() => faultRun?.remove())

const STORES = {
  sqlite: () => 'sqlite:.reprise/ledger.db',
  postgres: () => `${database.url}?schema=store_${++schemas}`,
}

function enter(kind: keyof typeof STORES, workflow = WORKFLOW): string {
  faultRun = new CliFixture(workflow)
  const store = STORES[kind]()
  faultRun.env = { REPRISE_STORE: store }
  return store
}

async function status(...args: string[]): Promise<Status> {
  const { code, stdout, stderr } = await faultRun.reprise('store', 'status', '--json', ...args)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Status
}

const detailOf = async (...args: string[]): Promise<RunDetail> =>
  JSON.parse((await faultRun.reprise('show', 'r1', '--json', ...args)).stdout) as RunDetail

/** All but where logs are, which a copy does not have. */
const recorded = ({ steps, ...run }: RunDetail): unknown => ({
  ...run,
  steps: steps.map(({ history, ...step }) => ({
    ...step,
    log: null,
    history: history.map((one) => ({ ...one, log: null })),
  })),
})

describe.each(['sqlite', 'postgres'] as const)('%s', (kind) => {
  test('status says what is there, and who is', async () => {
    enter(kind)
    await faultRun.reprise('run', 'workflow.yaml', '--run-id', 'r1')
    const found = await status()
    expect(found).toMatchObject({ kind, tasks: { succeeded: 2, failed: 1 }, deadLetters: 1, owners: [] })
    expect(found.schema.version).toBe(found.schema.newest)
    expect(found.oldestDueAtMs).toBeNull()
    expect(found.bytes).toBeGreaterThan(1000)
    for (const name of ['tasks', 'attempts', 'runs', 'gates'])
      expect(found.tables.find((table) => table.name === name)?.bytes).toBeGreaterThan(0)
    expect(found.connections === null).toBe(kind === 'sqlite')
    if (found.connections !== null) expect(found.connections.used).toBeLessThanOrEqual(found.connections.most)
    const { stdout } = await faultRun.reprise('store', 'status')
    expect(stdout).toContain('tasks: 2 succeeded, 1 failed')
    const password = new URL(database.url).password
    expect(stdout + JSON.stringify(found)).not.toContain(password)
  })

  test('status tells a process that lives, with its lease, from one that was killed', async () => {
    enter(kind, HELD)
    const going = await faultRun.startUntil(
      ['run', 'workflow.yaml', '--run-id', 'r1'],
      () => faultRun.count('ran') === 1,
    )
    const [owner, ...others] = (await status()).owners
    expect([owner?.pid, owner?.state, others]).toEqual([going.child.pid, 'alive', []])
    expect(owner?.leaseLeftMs).toBeGreaterThan(0)
    going.child.kill('SIGKILL')
    await going.ended
    const found = await status()
    expect(found.owners).toMatchObject([{ pid: going.child.pid, state: 'lost' }])
    expect(found.hints).toContainEqual(expect.stringContaining('reprise ps --state interrupted'))
    faultRun.write('go', '')
    expect((await faultRun.reprise('resume', 'r1')).code).toBe(0)
    const after = await status()
    expect([after.owners, after.hints.filter((hint) => hint.includes('gone'))]).toEqual([[], []])
  })

  test('migrate makes the tables, says from where to where, and is done once', async () => {
    enter(kind)
    const dry = await faultRun.reprise('store', 'migrate', '--dry-run')
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringMatching(/CREATE TABLE (\w+\.)?tasks/)])
    expect(dry.stderr).toContain('would go from schema 0 to')
    expect(JSON.parse((await faultRun.reprise('ps', '--json')).stdout)).toEqual({ runs: [], hasTasks: false })
    const done = JSON.parse((await faultRun.reprise('store', 'migrate', '--json')).stdout) as {
      from: number
      to: number
    }
    expect(done).toMatchObject({ from: 0, isDone: true, address: expect.any(String) })
    expect(done.to).toBeGreaterThan(0)
    expect(await status()).toMatchObject({ schema: { version: done.to, newest: done.to }, hints: expect.any(Array) })
    const again = await faultRun.reprise('store', 'migrate')
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining(`is up to date: schema ${done.to}`)])
    expect((await faultRun.reprise('store', 'migrate', '--dry-run')).stdout).toBe('')
  })

  test('what migrate prints makes a store that works, if it is executed', async () => {
    const store = enter(kind)
    const { stdout: sql } = await faultRun.reprise('store', 'migrate', '--dry-run')
    if (kind === 'sqlite') {
      const made = await openDatabase(faultRun.path('made.db'))
      made.exec(sql)
      made.close()
      faultRun.env = { REPRISE_STORE: 'sqlite:made.db' }
    } else {
      const client = new pg.Client({ connectionString: store.replace(/\?.*/, '') })
      await client.connect()
      await client.query(sql)
      await client.end()
    }
    expect((await faultRun.reprise('store', 'migrate')).stderr).toContain('is up to date')
    expect((await faultRun.reprise('run', 'workflow.yaml')).code).toBe(3)
  })

  test('backup copies it while others write, every command can look at it, and nothing is overwritten', async () => {
    enter(kind)
    await faultRun.reprise('run', 'workflow.yaml', '--run-id', 'r1')
    const original = await detailOf()
    const writing = [1, 2].map((n) => faultRun.start('run', 'workflow.yaml', '--run-id', `w${n}`))
    const { code, stderr } = await faultRun.reprise('store', 'backup', 'copy.db')
    expect([code, stderr]).toEqual([0, expect.stringContaining('reprise ps --store sqlite:copy.db')])
    expect(stderr).not.toContain(new URL(database.url).password)
    // The breaker that they share is open, so they fail; but not for the copy's sake.
    for (const { ended } of writing) expect([1, 3]).toContain((await ended).code)
    expect(statSync(faultRun.path('copy.db')).mode & 0o777).toBe(0o600)
    const copied = ['--store', 'sqlite:copy.db']
    expect(recorded(await detailOf(...copied))).toEqual(recorded(original))
    const events = async (...args: string[]): Promise<string> =>
      (await faultRun.reprise('events', 'r1', '--json', ...args)).stdout
    expect(await events(...copied)).toBe(await events())
    for (const what of ['breakers', 'budgets'])
      expect((await faultRun.reprise(what, 'list', ...copied)).stdout).toContain(what === 'breakers' ? 'db' : 'some')
    const again = await faultRun.reprise('store', 'backup', 'copy.db')
    expect([again.code, again.stderr]).toEqual([4, expect.stringContaining('is there already')])
    expect(recorded(await detailOf(...copied))).toEqual(recorded(original))
    expect(existsSync(faultRun.path(`copy.db.${process.pid}.partial`))).toBe(false)
  })

  test('a run that waited goes on from a copy, with what it has used', async () => {
    enter(
      kind,
      'steps: [{ id: work, shell: echo x >> ran; test -e go, retry: { attempts: 3, backoff: fixed, initial_delay: 2s } }]\n',
    )
    const store = faultRun.env['REPRISE_STORE'] ?? ''
    const waits = async (): Promise<boolean> => {
      const address = kind === 'sqlite' ? `sqlite:${faultRun.path('.reprise/ledger.db')}` : store
      const ledger = await openLedger(address)
      const task = await ledger.get({ scopeKind: 'run', scope: 'r1', id: 'work' })
      await ledger.close()
      return task?.status === 'waiting'
    }
    const going = await faultRun.startUntil(
      ['run', 'workflow.yaml', '--run-id', 'r1'],
      () => faultRun.count('ran') === 1,
    )
    await until(waits, () => 'the wait', going)
    going.child.kill('SIGKILL')
    await going.ended
    expect((await faultRun.reprise('store', 'backup', 'copy.db')).code).toBe(0)
    // To the other kind, and on from there.
    const target = kind === 'sqlite' ? STORES.postgres() : `sqlite:${faultRun.path('again/ledger.db')}`
    const restored = await faultRun.reprise('store', 'restore', 'copy.db', '--store', target, '--json')
    expect([restored.code, JSON.parse(restored.stdout)]).toEqual([
      0,
      expect.objectContaining({ rows: expect.objectContaining({ runs: 1, tasks: 1, attempts: 1 }) as unknown }),
    ])
    faultRun.write('go', '')
    const { code, stderr } = await faultRun.reprise('resume', 'r1', '--store', target)
    expect([code, stderr]).toEqual([0, expect.stringContaining('attempt 2/3')])
    expect(faultRun.count('ran')).toBe(2)
    const refused = await faultRun.reprise('store', 'restore', 'copy.db', '--store', target)
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('already')])
    // New runs get keys and events of their own.
    expect((await faultRun.reprise('run', 'workflow.yaml', '--run-id', 'r2', '--store', target)).code).toBe(0)
    expect((await faultRun.reprise('events', 'r2', '--store', target)).stdout).toContain('run_finished')
  })

  test('there is nothing to copy, or to copy from', async () => {
    enter(kind)
    const nothing = await faultRun.reprise('store', 'backup', 'copy.db')
    expect([nothing.code, nothing.stderr]).toEqual([4, expect.stringContaining('There are no runs here')])
    expect(existsSync(faultRun.path('copy.db'))).toBe(false)
    const missing = await faultRun.reprise('store', 'restore', 'missing.db')
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('missing.db does not exist')])
    faultRun.write('other.db', 'no database at all, but long enough to be taken for one'.repeat(40))
    faultRun.write('empty.db', '')
    for (const [file, said] of [
      ['other.db', 'not a SQLite database'],
      ['empty.db', 'has no ledger in it'],
    ] as const) {
      const { code, stderr } = await faultRun.reprise('store', 'restore', file)
      expect([code, stderr]).toEqual([74, expect.stringContaining(said)])
    }
    // Nothing was made of them either.
    expect(existsSync(faultRun.path('.reprise'))).toBe(false)
    const { stdout: sql } = await faultRun.reprise('store', 'migrate', '--dry-run')
    expect(sql).toContain('CREATE TABLE')
    await faultRun.reprise('run', 'workflow.yaml')
    const nowhere = await faultRun.reprise('store', 'backup', 'no/such/directory/copy.db')
    expect([nowhere.code, nowhere.stderr]).toEqual([74, expect.stringContaining('no/such/directory')])
  })
})

test('a copy has every table and column that both kinds of stores have', async () => {
  enter('postgres')
  await faultRun.reprise('store', 'migrate')
  const schema = `store_${schemas}`
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const { rows } = await client.query<{ table: string; column: string }>(
    'SELECT table_name AS table, column_name AS column FROM information_schema.columns WHERE table_schema = $1',
    [schema],
  )
  await client.end()
  const copied = COPIED_TABLES.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`)).toSorted()
  const own = /^(meta|writers|event_numbers)\.|^tasks\.version$|^tallies\.(owner|lane)$/
  const onServer = rows.map(({ table, column }) => `${table}.${column}`).filter((name) => !own.test(name))
  expect(onServer.toSorted()).toEqual(copied)
  const file = await openDatabase(':memory:')
  const { MIGRATIONS } = await import('../../packages/reprise/src/sqlite/migrations.js')
  for (const step of MIGRATIONS) file.exec(step)
  const inFile = file
    .prepare(`SELECT m.name || '.' || c.name AS name FROM sqlite_schema m, pragma_table_info(m.name) c
      WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`)
    .all() as { name: string }[]
  // Counted again.
  expect(
    inFile
      .map(({ name }) => name)
      .filter((name) => name !== 'policies.tasks')
      .toSorted(),
  ).toEqual(copied)
  file.close()
})
