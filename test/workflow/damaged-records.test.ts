/**
 * Whatever JSON stands in a record: a command works, or is refused with exit code 4 and one clear message, and
 * then nothing in the store has changed. Never a bug of ours, and no crash of the store. Commands run within this process.
 */
import { copyFileSync, rmSync } from 'node:fs'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLedger } from 'reprise/durable'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { testDatabase, type TestDatabase } from '../postgres/shared-server.js'
import { repriseInProcess } from './cli-in-process.js'
import { CASES } from './damage-cases.js'
import { CliFixture, type Ended } from './cli-fixture.js'

/** Values and keys that code trips over, where arbitrary ones seldom hit. */
const HOSTILE = [
  null,
  true,
  -3,
  0.5,
  1e300,
  '',
  'x',
  [],
  {},
  [null],
  [[]],
  { toString: 1, valueOf: 1 },
  { a: null },
] as const

/** Columns that hold JSON, by table. */
const COLUMNS = {
  gates: ['state', 'settings'],
  runs: ['detail', 'definition'],
  tasks: ['progress', 'input', 'result'],
  attempts: ['failure'],
  dead: ['failure'],
  events: ['detail'],
  policies: ['policy'],
  owners: ['record'],
} as const
const KEYS = {
  gates: 'key',
  runs: 'id',
  tasks: 'pk',
  attempts: "task || '/' || generation || '/' || attempt || '/' || execution",
  dead: "scope || '/' || id || '/' || generation",
  events: 'seq',
  policies: 'hash',
  owners: 'id',
} as const

const WELL = `
name: well
budgets: { few: { type: count, total: 1 }, api: { type: token_bucket, capacity: 9, refill_per_second: 1 } }
breakers: { db: { failure_threshold: 2, recovery_timeout: 1h } }
outputs: { said: "\${steps.ok.output}" }
steps:
  - { id: ok, shell: echo hi, capture: text }
  - { id: flaky, shell: test $REPRISE_ATTEMPT -ge 2, retry: { attempts: 3, initial_delay: 1ms, budget: few } }
  - { id: down, shell: exit 3, retry: { attempts: 5, initial_delay: 1ms, breaker: db, budget: api, on_failure: continue } }
`
const WAITING = `
name: waiting
breakers: { mail: { failure_threshold: 9 } }
budgets: { rate: { type: ratio } }
steps:
  - { id: before, shell: echo one, capture: text }
  - id: quick
    shell: test -e go || { touch begun; sleep 60; }
    retry: { attempts: 3, initial_delay: 1ms, breaker: mail, budget: rate }
finally:
  - { id: last, shell: "true" }
`
const MAP = `
name: mapped
mode: mapreduce
map:
  input: items.csv
  agent_template:
    - id: one
      shell: test "\${item.id}" != b
`

const GROUPED = `
concurrency: deploy
steps: [{ shell: 'true' }]
`

const COMMANDS: string[][] = [
  ['ps'],
  ['ps', '--retrying', '--json'],
  ...['r1', 'w1', 'm1'].flatMap((run) => [
    ['show', run],
    ['show', run, '--json'],
    ['events', run],
  ]),
  ['watch', 'r1', '--ndjson'],
  ['watch', 'm1', '--ndjson'],
  ['show', 'w1', 'quick'],
  ['show', 'm1', 'map'],
  ['logs', 'r1'],
  ['logs', 'w1', 'quick'],
  ['breakers', 'list'],
  ['breakers', 'trip', 'db', '--reason', 'x'],
  ['budgets', 'list'],
  ['budgets', 'grant', 'api', '--amount', '1', '--reason', 'x'],
  ['dlq', 'list', '--json'],
  ['dlq', 'groups'],
  ['dlq', 'stats'],
  ['dlq', 'show', 'm1/map', 'b'],
  ['dlq', 'export', 'm1', '--format', 'ndjson'],
  ['dlq', 'ack', 'm1/map', 'b', '--reason', 'x'],
  ['dlq', 'retry', 'm1'],
  ['dlq', 'retry', 'r1'],
  ['store', 'status'],
  ['doctor', '--json'],
  ['resume', 'w1', '--dry-run'],
  ['resume', 'w1'],
  ['resume', 'r1', '--reset-retries', '--dry-run'],
  ['retry-now', 'w1', 'quick'],
  ['cancel', 'w1'],
  ['clean', 'r1', '--yes'],
  ['map', 'pause', 'm1'],
  ['run', 'well.yaml', '--run-id', 'new'],
  ['run', 'grouped.yaml', '--run-id', 'new'],
]

let base: CliFixture

beforeAll(async () => {
  base = new CliFixture()
  for (const [name, text] of Object.entries({ well: WELL, waiting: WAITING, map: MAP, grouped: GROUPED }))
    base.write(`${name}.yaml`, text)
  expect((await base.reprise('run', 'grouped.yaml', '--run-id', 'g1')).code).toBe(0)
  base.write('items.csv', 'id\na\nb\nc\n')
  expect((await base.reprise('run', 'well.yaml', '--run-id', 'r1')).code).toBe(3)
  expect((await base.reprise('run', 'map.yaml', '--run-id', 'm1')).code).toBe(3)
  await base.killed(['run', 'waiting.yaml', '--run-id', 'w1'], () => base.has('begun'))
  base.write('go', '')
  expect((await base.reprise('store', 'backup', 'whole.db')).code).toBe(0)
  // Commands in this process do not stand in its directory.
  for (const name of ['well', 'grouped'])
    COMMANDS.find((words) => words[1] === `${name}.yaml`)?.splice(1, 1, base.path(`${name}.yaml`))
}, 60_000)

afterAll(() => base.remove())

let copies = 0
let file = ''

/** A copy of the store in a file of its own, and the command line with it. */
function restored(): CliFixture {
  rmSync(file, { force: true })
  file = base.path(`.reprise/damaged-${++copies}.db`)
  copyFileSync(base.path('whole.db'), file)
  return Object.create(base, { store: { value: `sqlite:${file}` } }) as CliFixture
}

type Table = keyof typeof COLUMNS
interface Place {
  readonly table: Table
  readonly column: string
  readonly row: number
}

async function withDatabase<T>(act: (database: Awaited<ReturnType<typeof openDatabase>>) => T): Promise<T> {
  const database = await openDatabase(file)
  try {
    return act(database)
  } finally {
    database.close()
  }
}

/** Every row of every table but the owners: a process that looks has a row while it does. */
const contents = (): Promise<string> =>
  withDatabase((database) =>
    JSON.stringify(
      ['policies', 'runs', 'tasks', 'checkpoints', 'attempts', 'gates', 'tallies', 'dead', 'events'].map((table) =>
        database
          .prepare(`SELECT * FROM ${table}`)
          .all()
          .map((row) => JSON.stringify(row))
          .toSorted(),
      ),
    ),
  )

/** Replaces a part of the value in the column, or all of it. */
async function damage({ table, column, row }: Place, how: (value: unknown) => unknown): Promise<string> {
  return withDatabase((database) => {
    const rows = database
      .prepare(`SELECT ${KEYS[table]} AS id, ${column} AS json FROM ${table} WHERE ${column} IS NOT NULL ORDER BY 1`)
      .all() as { id: number | string; json: string }[]
    const chosen = rows[row % rows.length]
    if (chosen === undefined) throw new Error(`No row of ${table} has a ${column}`)
    const { id, json } = chosen
    const damaged = JSON.stringify(how(JSON.parse(json)) ?? null)
    database.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${KEYS[table]} = ?`).run(damaged, id)
    return damaged
  })
}

/** A part of the value, chosen by numbers, becomes another one; `undefined` removes it. */
function replacedIn(value: unknown, path: readonly number[], by: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined || typeof value !== 'object' || value === null) return by
  const keys = Object.keys(value)
  const key = keys[first % Math.max(1, keys.length)]
  if (key === undefined) return by
  const part = replacedIn((value as Record<string, unknown>)[key], rest, by)
  if (Array.isArray(value)) return value.map((one: unknown, index) => (String(index) === key ? (part ?? null) : one))
  return { ...value, [key]: part }
}

const place = fc
  .constantFrom<Table>('gates', 'runs', 'tasks', 'tasks', 'attempts', 'dead', 'events', 'policies', 'owners')
  .chain((table) =>
    fc.record({ table: fc.constant(table), column: fc.constantFrom(...COLUMNS[table]), row: fc.nat(20) }),
  )
const json = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HOSTILE, undefined) },
  { weight: 1, arbitrary: fc.jsonValue() },
)
const path = fc.array(fc.nat(12), { maxLength: 4 })
/** Gives what stands in place of a value. */
type Change = (value: unknown) => unknown
const replaced = fc.record({ path, by: json }).map(({ path: at, by }): Change => {
  return (value) => replacedIn(value, at, by)
})
/** Of an object, its own or the one it is in, few or no fields are left, and one that nobody knows. */
const bared = fc
  .record({ depth: fc.nat(1), at: fc.nat(12), kept: fc.array(fc.nat(12), { maxLength: 3 }) })
  .map(({ depth, at, kept }): Change => {
    return (value) => {
      const part = depth === 0 ? value : Object.values(value ?? {})[at % Math.max(1, Object.keys(value ?? {}).length)]
      const fields = Object.entries(part ?? {}).filter((_, index) => kept.includes(index))
      return replacedIn(value, [at].slice(0, depth), { ...Object.fromEntries(fields), a: 1 })
    }
  })
const change = fc.oneof({ weight: 2, arbitrary: replaced }, { weight: 1, arbitrary: bared })

async function expectSound(command: readonly string[], said: Ended, before: string): Promise<void> {
  const { code, stdout, stderr } = said
  const words = `${command.join(' ')}: ${stdout}${stderr}`
  expect([0, 1, 3, 4], words).toContain(code)
  if (code !== 4) return
  expect(`${stdout}${stderr}`, words).not.toBe('')
  expect(await contents(), words).toBe(before)
}

describe('a record that somebody has damaged', () => {
  test('lets a command work or be refused with nothing changed, whatever JSON stands in which column', {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(place, change, fc.constantFrom(...COMMANDS), async (where, how, command) => {
        const fixture = restored()
        await damage(where, how)
        const before = await contents()
        const said = await repriseInProcess(fixture, ...command)
        await expectSound(command, said, before)
      }),
      {
        numRuns: Number(process.env['REPRISE_TEST_DAMAGES'] ?? 120),
        seed: Number(process.env['REPRISE_TEST_SEED'] ?? 21),
      },
    )
  })
})

describe.each(['sqlite', 'postgres'] as const)('on %s a record that is damaged', (kind) => {
  let database: TestDatabase | undefined
  beforeAll(async () => {
    if (kind === 'postgres') database = await testDatabase()
  })

  /** A store of its own with what was recorded, and how to change it. */
  async function stored(): Promise<{ fixture: CliFixture; sql: (text: string) => Promise<unknown[]> }> {
    if (database === undefined) {
      const fixture = restored()
      const sql = (text: string): Promise<unknown[]> => withDatabase((handle) => handle.prepare(text).all())
      return { fixture, sql }
    }
    const schema = `damaged_${Math.random().toString(36).slice(2, 10)}`
    const fixture = Object.create(base, { store: { value: `${database.url}?schema=${schema}` } }) as CliFixture
    expect((await repriseInProcess(fixture, 'store', 'restore', base.path('whole.db'))).code).toBe(0)
    const { url } = database
    const sql = async (text: string): Promise<unknown[]> => {
      const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` })
      await client.connect()
      const { rows } = await client.query(text)
      await client.end()
      return rows as unknown[]
    }
    return { fixture, sql }
  }

  test.each(CASES)('is refused, named, and left as it is: %s', async (_what, damaging, command, said) => {
    const { fixture, sql } = await stored()
    await sql(damaging)
    const look = async (): Promise<unknown[]> => [
      await sql('SELECT * FROM gates ORDER BY key'),
      await sql('SELECT * FROM runs ORDER BY id'),
      await sql('SELECT * FROM tasks ORDER BY pk'),
      await sql('SELECT * FROM events ORDER BY seq'),
    ]
    const before = await look()
    const words = command.map((word) => (word.endsWith('.yaml') ? base.path(word) : word))
    const { code, stderr } = await repriseInProcess(fixture, ...words)
    expect(stderr).toMatch(/^refused: /)
    expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(said)
    expect(stderr).toContain('reprise doctor')
    expect(code).toBe(4)
    expect(await look()).toEqual(before)
    // Doctor finds it as well.
    const { code: found, stdout } = await repriseInProcess(fixture, 'doctor', '--json')
    expect(found, stdout).toBe(4)
  })

  test('leaves out a process that cannot be read; its tasks are taken over, and its row is swept away', async () => {
    const { fixture, sql } = await stored()
    await sql(`UPDATE owners SET record = '{"id":7}'`)
    for (const command of [['ps'], ['store', 'status'], ['doctor'], ['resume', 'w1'], ['clean', 'r1', '--yes']])
      expect(await repriseInProcess(fixture, ...command), command.join(' ')).toMatchObject({ code: 0 })
    const ledger = await openLedger(fixture.store)
    expect(await ledger.owners()).toEqual([])
    await ledger.compact({ ownersBeforeMs: await ledger.leaseNow(), limit: 100 })
    await ledger.close()
    expect(await sql('SELECT * FROM owners')).toEqual([])
  })

  test('is cancelled and removed with its neighbours though its document is no JSON', async () => {
    const { fixture, sql } = await stored()
    await sql(`UPDATE runs SET definition = '{x' WHERE id IN ('w1', 'm1')`)
    for (const command of [
      ['cancel', 'w1'],
      ['clean', 'm1', '--yes'],
      ['clean', '--older-than', '0s', '--yes'],
    ])
      expect(await repriseInProcess(fixture, ...command), command.join(' ')).toMatchObject({ code: 0 })
    expect(await sql('SELECT id, status FROM runs')).toEqual([])
    expect(await repriseInProcess(fixture, 'doctor')).toMatchObject({ code: 0 })
  })

  test('is got rid of with cancel and clean where it is a run, and with a reset where it is a gate', async () => {
    const { fixture, sql } = await stored()
    await sql(`UPDATE runs SET detail = 'null' WHERE id = 'w1'`)
    await sql(`UPDATE tasks SET progress = '[]' WHERE id = 'quick'`)
    await sql(`UPDATE gates SET state = '{}' WHERE key = 'breaker:db'`)
    for (const command of [
      ['cancel', 'w1'],
      ['clean', 'w1', '--yes'],
      ['breakers', 'reset', 'db', '--reason', 'damaged'],
    ])
      expect(await repriseInProcess(fixture, ...command), command.join(' ')).toMatchObject({
        code: 0,
        stderr: expect.not.stringMatching(/refused/),
      })
    expect(await repriseInProcess(fixture, 'doctor')).toMatchObject({ code: 0 })
    expect(await repriseInProcess(fixture, 'ps')).toMatchObject({ code: 0 })
  })
})
