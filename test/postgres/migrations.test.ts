/** The schema: the same for everybody, made once however many make it, and never changed behind anybody's back. */
import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { MIGRATIONS, migrate, migrationSql, SCHEMA_VERSION } from '../../packages/reprise/src/postgres/migrations.js'
import { inspectPostgres, pendingPostgresSql } from '../../packages/reprise/src/postgres/maintenance.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { writeHistory } from '../../packages/reprise/src/testing/sample-history.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'
import { catalogOf } from './catalog.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
const admin = new pg.Client({ connectionString: database.url })
await admin.connect()
const roles: string[] = []
afterAll(async () => {
  for (const role of roles) await admin.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`)
  await admin.end()
  await database.drop()
})

let schemas = 0
const newSchema = (): string => `schema_${schemas++}`
const urlOf = (schema: string): string => `${database.url}?schema=${schema}`
const connection = { query: async (sql: unknown, values: readonly unknown[] = []) => ask(String(sql), values) }

async function ask(sql: string, values: readonly unknown[] = []): Promise<Record<string, never>[]> {
  const answer = await admin.query(sql, [...values])
  return answer.rows ?? []
}

async function made(schema: string): Promise<string> {
  await (await openPostgres(urlOf(schema))).close()
  return schema
}

/** By step: a step that users may have run is never edited, since those who have would not get the change. */
const RELEASED: readonly string[] = ['9127531cfd1dc5cd']

/** As a later version may have them. */
const LATER: readonly string[] = [
  ...MIGRATIONS,
  'CREATE TABLE $schema.notes (id text PRIMARY KEY)',
  'ALTER TABLE $schema.gates ADD COLUMN note text',
]

describe('the steps', () => {
  it('that are released are what they were', () => {
    const hashes = MIGRATIONS.map((step) => createHash('sha256').update(step).digest('hex').slice(0, 16))
    expect(hashes.slice(0, RELEASED.length), 'add a step instead of editing one').toEqual(RELEASED)
    expect(RELEASED, 'a new step: add its hash here').toHaveLength(MIGRATIONS.length)
  })

  it('together give the schema that is written down', async () => {
    const catalog = await catalogOf(admin, await made(newSchema()))
    await expect(catalog).toMatchFileSnapshot('../../packages/reprise/src/postgres/schema.snapshot.sql')
  })

  it('lead there from every earlier version', async () => {
    const [fresh, last] = [newSchema(), LATER.length]
    await migrate(connection, fresh, 'here', LATER)
    for (let from = 1; from <= last; from++) {
      const schema = newSchema()
      await migrate(connection, schema, 'here', LATER.slice(0, from))
      await migrate(connection, schema, 'here', LATER)
      expect(await ask(`SELECT version FROM ${schema}.meta`)).toEqual([{ version: last }])
      expect(await catalogOf(admin, schema)).toBe(await catalogOf(admin, fresh))
    }
  })

  it('do the same when somebody executes what is shown of them', async () => {
    const fresh = await catalogOf(admin, await made(newSchema()))
    const schema = newSchema()
    for (const statement of migrationSql(schema, 0)) await ask(statement)
    expect(await catalogOf(admin, schema)).toBe(fresh)
    await (await openPostgres(urlOf(schema), { migrate: false })).close()
  })

  it('that fail leave nothing behind', async () => {
    const schema = newSchema()
    const failing = {
      query: (sql: unknown, values?: readonly unknown[]) => {
        if (String(sql).includes('CREATE TABLE') && String(sql).includes('.events')) throw new Error('the wire broke')
        return connection.query(sql, values)
      },
    }
    await expect(migrate(failing, schema, 'here')).rejects.toThrow('the wire broke')
    expect(await ask('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])).toEqual([])
    await made(schema)
  })
})

describe('many who open a new schema at once', () => {
  it.each([2, 8])('%d all find it whole, and it was made once', async (count) => {
    const schema = newSchema()
    const opened = await Promise.all(Array.from({ length: count }, () => openPostgres(urlOf(schema))))
    await Promise.all(opened.map((ledger, index) => ledger.create([newTask({ id: `t${index}` })])))
    for (const ledger of opened) {
      expect(await ledger.list({})).toHaveLength(count)
      await ledger.close()
    }
    expect(await ask(`SELECT version FROM ${schema}.meta`)).toEqual([{ version: SCHEMA_VERSION }])
  })
})

describe('a schema', () => {
  it('of a newer version is refused, naming both, and not touched', async () => {
    const schema = await made(newSchema())
    await ask(`UPDATE ${schema}.meta SET version = ${SCHEMA_VERSION + 7}`)
    const before = await catalogOf(admin, schema)
    for (const options of [{}, { migrate: false }]) {
      await expect(openPostgres(urlOf(schema), options)).rejects.toMatchObject({
        problem: 'newer_format',
        message: expect.stringMatching(
          new RegExp(`schema=${schema} .*version ${SCHEMA_VERSION + 7}, and this program knows ${SCHEMA_VERSION}`),
        ),
      })
    }
    expect(await catalogOf(admin, schema)).toBe(before)
    expect(await ask(`SELECT version FROM ${schema}.meta`)).toEqual([{ version: SCHEMA_VERSION + 7 }])
  })

  it.each([1, 2])(
    'that an unreleased version made, at its version %d, is refused, and not touched',
    async (version) => {
      const schema = newSchema()
      await ask(`CREATE SCHEMA ${schema};
      CREATE TABLE ${schema}.meta (one boolean PRIMARY KEY CHECK (one), version integer NOT NULL);
      INSERT INTO ${schema}.meta VALUES (true, ${version});
      CREATE TABLE ${schema}.tasks (pk bigint PRIMARY KEY, run text NOT NULL, id text NOT NULL, UNIQUE (run, id))`)
      const before = await catalogOf(admin, schema)
      const refusal = {
        problem: 'unusable',
        message: expect.stringMatching(
          new RegExp(`schema=${schema} was made by an unreleased version of Reprise.*, or take a new schema`),
        ),
      }
      await expect(openPostgres(urlOf(schema))).rejects.toMatchObject(refusal)
      await expect(openPostgres(urlOf(schema), { migrate: false })).rejects.toMatchObject(refusal)
      await expect(inspectPostgres(urlOf(schema))).rejects.toMatchObject(refusal)
      await expect(pendingPostgresSql(urlOf(schema))).rejects.toMatchObject(refusal)
      expect(await catalogOf(admin, schema)).toBe(before)
    },
  )

  it.each([
    ['customers', 'CREATE TABLE $.customers (name text)'],
    ['totals', 'CREATE VIEW $.totals AS SELECT 1 AS one'],
    ['meta', 'CREATE TABLE $.meta (key text, value text)'],
  ])('of another program, with %s, is refused, and not touched', async (table, sql) => {
    const schema = newSchema()
    await ask(`CREATE SCHEMA ${schema}`)
    await ask(sql.replace('$.', `${schema}.`))
    const before = await catalogOf(admin, schema)
    await expect(openPostgres(urlOf(schema))).rejects.toMatchObject({
      problem: 'unusable',
      message: expect.stringMatching(
        new RegExp(`schema ${schema} of postgres://.* another program \\(it has ${table}\\): give the ledger a schema`),
      ),
    })
    expect(await catalogOf(admin, schema)).toBe(before)
  })

  it('has a name of its own, beside others that it does not see', async () => {
    const [one, other] = [await openPostgres(urlOf(newSchema())), await openPostgres(urlOf(newSchema()))]
    await one.create([newTask({ id: 'a' })])
    expect(await other.list({})).toEqual([])
    await one.close()
    await other.close()
    await expect(openPostgres(urlOf('Not;A-Name'))).rejects.toThrow('cannot be the name of a ledger')
    await expect(openPostgres(urlOf('order'))).rejects.toThrow('order is a word of SQL, and no name for the schema')
  })

  it('is not made for who does not want that', async () => {
    const schema = newSchema()
    await expect(openPostgres(urlOf(schema), { migrate: false })).rejects.toMatchObject({
      problem: 'unusable',
      message: expect.stringContaining(
        `has no tables yet, and this program needs version ${SCHEMA_VERSION}: open it once`,
      ),
    })
    expect(await ask('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])).toEqual([])
    await made(schema)
    await (await openPostgres(urlOf(schema), { migrate: false })).close()
  })
})

describe('a column that a later version adds', () => {
  it.each(['gates', 'attempts', 'events', 'dead'])(
    'to %s stops nobody whose statements are prepared',
    async (table) => {
      const schema = newSchema()
      const ledger = await openPostgres(`${urlOf(schema)}&connections=2`)
      const history = { attempts: [{ attempt: 1 }], events: [{}], dead: [{}] }
      await writeHistory(ledger, [{ task: { id: 'a', status: 'failed', dueAtMs: null }, ...history }])
      const gate = { key: 'budget:x', kind: 'budget', state: { used: 1 } } as const
      const work = (): Promise<unknown[]> =>
        Promise.all([
          ledger.transact({ tasks: [], gates: [gate.key] }, (view) => ({ gates: [gate], result: view.gate(gate.key) })),
          ledger.gates(),
          ledger.attempts({ scopeKind: 'task', scope: 'mail', id: 'a' }),
          ledger.attemptsOfRun('mail'),
          ledger.events(0, 10),
          ledger.events(0, 10, { scopeKind: 'task', scope: 'mail' }),
          ledger.deadLetters(),
          ledger.deadLetters({ scopeKind: 'task', scope: 'mail' }),
        ])
      // More often than there are connections: each has prepared every statement.
      const first = await work()
      for (let time = 0; time < 8; time++) expect(await work()).toEqual([gate, [gate], ...first.slice(2)])
      await ask(`ALTER TABLE ${schema}.${table} ADD COLUMN note text DEFAULT 'new'`)
      for (let time = 0; time < 8; time++) expect(await work()).toEqual([gate, [gate], ...first.slice(2)])
      await ledger.close()
    },
  )
})

describe('a role', () => {
  /** Who may do no more than is granted. */
  async function newRole(schema: string): Promise<{ role: string; url: string }> {
    const [role, password] = [`reprise_${randomBytes(6).toString('hex')}`, randomBytes(12).toString('hex')]
    await ask(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
    roles.push(role)
    const url = new URL(urlOf(schema))
    url.username = role
    url.password = password
    return { role, url: url.href }
  }

  it('that may create nothing uses a schema that is up to date', async () => {
    const schema = await made(newSchema())
    const { role, url } = await newRole(schema)
    await ask(`GRANT USAGE ON SCHEMA ${schema} TO ${role};
      GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role}; GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`)
    const ledger = await openPostgres(url)
    await ledger.create([newTask({ id: 'a', status: 'succeeded', dueAtMs: null })])
    expect(await ledger.forget({ status: 'succeeded', beforeMs: 1e12, limit: 9 })).toMatchObject({ tasks: 1 })
    await ledger.close()
  })

  it('that may create in its own schema only makes the ledger there', async () => {
    const schema = newSchema()
    const { role, url } = await newRole(schema)
    await ask(`CREATE SCHEMA ${schema} AUTHORIZATION ${role}`)
    await (await openPostgres(url)).close()
    expect(await ask(`SELECT version FROM ${schema}.meta`)).toEqual([{ version: SCHEMA_VERSION }])
  })

  it('that may not create it is told what to do', async () => {
    const schema = newSchema()
    const { url } = await newRole(schema)
    await expect(openPostgres(url)).rejects.toMatchObject({
      problem: 'unusable',
      message: expect.stringMatching(
        /has no tables yet.*: open it once as a user who may create them, or grant this user CREATE .*permission denied/,
      ),
    })
  })

  it('that may not use it is told what to grant, without its password', async () => {
    const schema = await made(newSchema())
    const { role, url } = await newRole(schema)
    const refused = openPostgres(url)
    await expect(refused).rejects.toMatchObject({
      problem: 'unusable',
      message: expect.stringMatching(/permission denied for schema .*: grant what is missing: USAGE on the schema/),
    })
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining(new URL(url).password) })
    await ask(`GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${role}`)
    const ledger = await openPostgres(url)
    expect(await ledger.list({})).toEqual([])
    await expect(ledger.create([newTask({ id: 'a' })])).rejects.toThrow(/permission denied.*: grant what is missing/)
    await ledger.close()
  })

  it('that does not exist is told to check the address', async () => {
    const url = new URL(urlOf(newSchema()))
    url.username = 'nobody_there'
    await expect(openPostgres(url.href)).rejects.toThrow('check the user and the password: in the address')
  })
})
