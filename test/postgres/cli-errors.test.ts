/**
 * Servers that cannot be used, as the command line tells of them: what is wrong, what to do, the exit code, and never a
 * password. Needs a build.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CliFixture } from '../workflow/cli-fixture.js'
import { freePort, PostgresServer } from './server.js'
import { testDatabase, type TestDatabase } from './shared-server.js'

const SECRET = 'swordfish-7'
const WORKFLOW = 'steps: [{ id: work, shell: echo x >> ran }]\n'

let database: TestDatabase
let faultRun: CliFixture
beforeAll(async () => {
  database = await testDatabase()
  await query(`CREATE ROLE ${role('guest')} LOGIN PASSWORD '${SECRET}'`)
})
afterAll(async () => {
  await query(`DROP OWNED BY ${role('guest')}; DROP ROLE ${role('guest')}`)
  await database.drop()
})
afterEach(() => faultRun?.remove())

/** Roles are the whole server's, which others use as well. */
const role = (name: string): string => `${name}_${new URL(database.url).pathname.slice(-8)}`

async function query(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function addressWith(change: (url: URL) => void): string {
  const url = new URL(database.url)
  change(url)
  return url.href
}

async function expectRefused(store: string, code: number, ...words: (string | RegExp)[]): Promise<void> {
  faultRun = new CliFixture(WORKFLOW)
  faultRun.env = { REPRISE_STORE: store }
  const { password } = new URL(store)
  for (const args of [['run', 'workflow.yaml'], ['ps'], ['store', 'status', '--json'], ['show', 'r1', '--json']]) {
    const ended = await faultRun.reprise(...args)
    const said = ended.stdout + ended.stderr
    expect([args[0], ended.code, said]).toEqual([args[0], code, said])
    for (const word of words) expect(said).toMatch(word)
    if (password !== '') expect(said).not.toContain(password)
  }
  expect(faultRun.count('ran')).toBe(0)
  faultRun.remove()
}

test('nobody listens there', async () => {
  const port = String(await freePort())
  const store = addressWith((url) => Object.assign(url, { port, password: SECRET }))
  await expectRefused(store, 74, 'ECONNREFUSED', 'check that the server runs')
})

test('a wrong password, and none where one is wanted', async () => {
  await expectRefused(
    addressWith((url) => (url.password = SECRET)),
    74,
    'password authentication failed',
    'check the user and the password: in the address, PGPASSWORD or ~/.pgpass',
  )
  await expectRefused(
    addressWith((url) => (url.password = '')),
    74,
    'give it in the address, in PGPASSWORD or in ~/.pgpass',
  )
})

test('no such database', async () => {
  const store = addressWith((url) => (url.pathname = '/nowhere'))
  await expectRefused(store, 74, /database \\?"nowhere\\?" does not exist/, 'create the database, or name one')
})

test('an address that says nothing, with a wrong name of a schema, with too few connections', async () => {
  const wrong = (name: string, value: string): string => addressWith((url) => url.searchParams.set(name, value))
  await expectRefused(wrong('schema', 'No-Name'), 2, /No-Name\\?" cannot be the name of a ledger's schema/)
  await expectRefused(wrong('connections', '1'), 2, 'connections=1')
})

test('a user without rights, who may look and write once he is given them', async () => {
  const store = addressWith((url) => Object.assign(url, { username: role('guest'), password: SECRET }))
  faultRun = new CliFixture(WORKFLOW)
  faultRun.env = { REPRISE_STORE: store }
  const first = await faultRun.reprise('run', 'workflow.yaml')
  expect([first.code, first.stderr]).toEqual([74, expect.stringMatching(/permission denied for database/)])
  expect(first.stderr).not.toContain(SECRET)
  expect((await faultRun.reprise('ps')).code).toBe(0)
  // Whoever may makes the schema.
  faultRun.env = { REPRISE_STORE: database.url }
  expect((await faultRun.reprise('store', 'migrate')).stderr).toContain('from schema 0 to 1')
  faultRun.env = { REPRISE_STORE: store }
  const second = await faultRun.reprise('run', 'workflow.yaml')
  expect([second.code, second.stderr]).toEqual([74, expect.stringMatching(/permission denied for schema/)])
  await query(`GRANT USAGE ON SCHEMA reprise TO ${role('guest')};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA reprise TO ${role('guest')};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA reprise TO ${role('guest')}`)
  // As docs/postgres.md says.
  const third = await faultRun.reprise('run', 'workflow.yaml')
  expect([third.code, third.stderr]).toEqual([0, expect.stringContaining('succeeded')])
  expect((await faultRun.reprise('clean', '--older-than', '0s', '--yes')).code).toBe(0)
})

test('a schema of a newer version is refused with both versions, and looked at all the same', async () => {
  faultRun = new CliFixture(WORKFLOW)
  faultRun.env = { REPRISE_STORE: `${database.url}?schema=newer` }
  expect((await faultRun.reprise('store', 'migrate')).code).toBe(0)
  await query('UPDATE newer.meta SET version = 99')
  for (const args of [['run', 'workflow.yaml'], ['ps'], ['store', 'migrate']]) {
    const { code, stderr } = await faultRun.reprise(...args)
    expect([code, stderr]).toEqual([4, expect.stringMatching(/newer Reprise \(version 99, and this program knows 1\)/)])
  }
  const { code, stdout } = await faultRun.reprise('store', 'status')
  expect([code, stdout]).toEqual([0, expect.stringContaining('schema 99 of 1')])
  expect(stdout).toContain('update it')
  expect(faultRun.count('ran')).toBe(0)
})

describe('a replica', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start({ fsync: false })
    await server.stop()
    writeFileSync(path.join(server.directory, 'data/standby.signal'), '')
    await server.start()
  })
  afterAll(() => server.remove())

  test('is refused, and told to be one', async () => {
    faultRun = new CliFixture(WORKFLOW)
    faultRun.env = { REPRISE_STORE: server.url }
    for (const args of [['run', 'workflow.yaml'], ['ps'], ['store', 'migrate']]) {
      const { code, stderr } = await faultRun.reprise(...args)
      expect([code, stderr]).toEqual([74, expect.stringContaining('it is a replica: name the primary')])
    }
    const { code, stdout } = await faultRun.reprise('store', 'status', '--json')
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ isReplica: true })])
    expect(stdout).toContain('name the primary')
  })
})

test('the password may be in PGPASSWORD or in a file, and what to type next has none', async () => {
  faultRun = new CliFixture('steps: [{ id: work, shell: exit 1 }]\n')
  const { password, port } = new URL(database.url)
  const store = addressWith((url) => Object.assign(url, { password: '', search: '?schema=by_variable' }))
  faultRun.env = { PGPASSWORD: password }
  const failed = await faultRun.reprise('run', 'workflow.yaml', '--run-id', 'r1', '--store', store)
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining(`--store '${store}'`)])
  faultRun.write('pgpass', `127.0.0.1:${port}:*:postgres:${password}\n`)
  faultRun.env = { PGPASSFILE: faultRun.path('pgpass') }
  await faultRun.startProgram('chmod', ['600', 'pgpass']).ended
  expect((await faultRun.reprise('ps', '--store', store)).stdout).toContain('r1')
  faultRun.env = {}
  const named = await faultRun.reprise('run', 'workflow.yaml', '--store', `${database.url}?schema=by_variable`)
  expect(named.code).toBe(1)
  expect(named.stderr).toContain(`--store '${store}'`)
  expect(named.stdout + named.stderr).not.toContain(password)
})

test('a step that writes its environment writes no password of the store', async () => {
  faultRun = new CliFixture(
    'steps: [{ id: work, shell: env; echo ${all}, capture: said }]\n'.replace('; echo ${all}', ''),
  )
  faultRun.env = { REPRISE_STORE: `${database.url}?schema=masked` }
  const { password } = new URL(database.url)
  const run = await faultRun.reprise('run', 'workflow.yaml', '--run-id', 'r1', '--json')
  expect(run.code, run.stderr).toBe(0)
  const logs = await faultRun.reprise('logs', 'r1')
  expect(logs.stdout).toContain('REPRISE_STORE=***')
  const everything = await Promise.all(
    [
      ['show', 'r1', '--json'],
      ['events', 'r1', '--json'],
      ['show', 'r1', 'work', '--json'],
    ].map((args) => faultRun.reprise(...args)),
  )
  for (const { stdout, stderr } of [run, logs, ...everything]) expect(stdout + stderr).not.toContain(password)
})
