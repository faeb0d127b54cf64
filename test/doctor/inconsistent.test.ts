/**
 * `reprise doctor` on stores that were made inconsistent by SQL: each fault is found with its rule and place, nothing is
 * changed, and the command that it names cures it. On SQLite and on PostgreSQL. The commands run within this process:
 * there are hundreds of them. Needs a build, for the runs that fill the store.
 */
import { copyFileSync, mkdirSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { testDatabase, type TestDatabase } from '../postgres/shared-server.js'
import { CliFixture, keepIn } from '../workflow/cli-fixture.js'
import { repriseInProcess } from '../workflow/cli-in-process.js'

const ENDED = `
budgets: { few: { type: count, total: 1 } }
breakers: { db: { failure_threshold: 2, recovery_timeout: 1h } }
steps:
  - { id: ok, shell: echo hi }
  - { id: flaky, shell: test $REPRISE_ATTEMPT -ge 2, retry: { attempts: 3, initial_delay: 10ms, budget: few } }
  - { id: skipped, shell: x, when: "false" }
  - { id: down, shell: exit 3, retry: { attempts: 5, initial_delay: 10ms, breaker: db, on_failure: continue } }
`
const WAITING = `
steps:
  - { id: waits, shell: exit 1, retry: { attempts: 5, backoff: fixed, initial_delay: 1h } }
`

interface Check {
  readonly area: string
  readonly state: string
  readonly rule: string | null
  readonly place: string | null
  readonly message: string
  readonly cure: string | null
}

type Sql = (statement: string) => Promise<void>

/** Replaces a text in the JSON of a task's progress. */
const setProgress = (from: string, to: string): string =>
  `UPDATE tasks SET progress = replace(progress, '${from}', '${to}') WHERE id = 'waits'`

/** What is done to the store, and what is found: rule, place, words of the message. */
const CASES: readonly (readonly [what: string, sql: string, rule: string, place: string, message: RegExp])[] = [
  ['more attempts than allowed', setProgress('"launched":1', '"launched":9'), 'state', 'step w1/waits', /9 attempts/],
  [
    'a negative delay',
    setProgress('"totalDelayMs":', '"totalDelayMs":-'),
    'state',
    'step w1/waits',
    /totalDelayMs is -/,
  ],
  ['a bad time', `UPDATE tasks SET due_at = -5 WHERE id = 'waits'`, 'state', 'step w1/waits', /dueAtMs is -5/],
  [
    'a history that disagrees',
    `DELETE FROM attempts WHERE task = (SELECT pk FROM tasks WHERE id = 'waits')`,
    'state',
    'step w1/waits',
    /the history has 0 failures/,
  ],
  [
    'a lost policy',
    `DELETE FROM policies WHERE hash = (SELECT policy_hash FROM tasks WHERE id = 'waits')`,
    'state',
    'step w1/waits',
    /its policy is not in the store/,
  ],
  [
    'I1: an outcome without an intent',
    `UPDATE attempts SET attempt = 2 WHERE task = (SELECT pk FROM tasks WHERE id = 'waits')`,
    'I1',
    'step w1/waits',
    /attempt 2 is recorded, and only 1 were begun/,
  ],
  [
    'I2: a gap in the numbers',
    `DELETE FROM attempts WHERE attempt = 1 AND task = (SELECT pk FROM tasks WHERE id = 'flaky')`,
    'I2',
    'step r1/flaky',
    /attempt 2\.1 is recorded where 1\.1 should be/,
  ],
  [
    'I3: neither owner nor due time',
    `UPDATE tasks SET due_at = NULL WHERE id = 'waits'`,
    'I3',
    'step w1/waits',
    /neither owner nor due time/,
  ],
  [
    'I3: an owner after the end',
    `UPDATE tasks SET owner = 'x' WHERE id = 'ok'`,
    'I3',
    'step r1/ok',
    /it is succeeded, and still has an owner/,
  ],
  [
    'I3: a run that no process conducts',
    `UPDATE runs SET owner = NULL WHERE id = 'w1'`,
    'I3',
    'run w1',
    /no process conducts it/,
  ],
  [
    'I4: delays that nobody waited',
    setProgress('"totalDelayMs":', '"totalDelayMs":9'),
    'I4',
    'step w1/waits',
    /counts 9\d+ ms of delay/,
  ],
  [
    'I4: a budget above its limit',
    `UPDATE gates SET state = replace(state, '"used":1', '"used":7') WHERE key LIKE 'budget:few%'`,
    'I4',
    'budget few@r1',
    /it has used 7, of 1 allowed/,
  ],
  [
    'I5: a success that no attempt had',
    `UPDATE attempts SET outcome = 'failure' WHERE outcome = 'success' AND task = (SELECT pk FROM tasks WHERE id = 'ok')`,
    'I5',
    'step r1/ok',
    /none of its attempts did/,
  ],
  [
    'I5: a generation without a reset',
    `UPDATE tasks SET generation = 2 WHERE id = 'ok'`,
    'I5',
    'step r1/ok',
    /0 resets/,
  ],
  [
    'I5: an end without a time',
    `UPDATE runs SET ended_at = NULL WHERE id = 'r1'`,
    'I5',
    'run r1',
    /no time of its end/,
  ],
  ['I6: no dead letter', `DELETE FROM dead`, 'I6', 'step r1/down', /it is failed, and has no open dead letter/],
  ['I7: a fence that fell', `UPDATE tasks SET fence = -1 WHERE id = 'waits'`, 'I7', 'step w1/waits', /its fence is -1/],
  [
    'I9: a breaker without its state',
    `UPDATE gates SET state = replace(state, '"open"', '"ajar"') WHERE key = 'breaker:db'`,
    'I9',
    'breaker db',
    /its state is "ajar"/,
  ],
  [
    'I4: a count that has used less than nothing',
    `UPDATE gates SET state = replace(state, '"used":1', '"used":-7') WHERE key LIKE 'budget:few%'`,
    'I4',
    'budget few@r1',
    /countBudget snapshot used: -7/,
  ],
  [
    'I9: a breaker that has failed less than never',
    `UPDATE gates SET state = replace(state, '"failures":2', '"failures":-3') WHERE key = 'breaker:db'`,
    'I9',
    'breaker db',
    /it counts -3 failures/,
  ],
  [
    'I9: probes that no attempt holds',
    `UPDATE gates SET state = replace(replace(state, '"open"', '"half_open"'), '"probes":0', '"probes":3') WHERE key = 'breaker:db'`,
    'I9',
    'breaker db',
    /3 probes are counted, and 0 attempts are probes/,
  ],
]

let base: CliFixture
let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  base = new CliFixture(ENDED)
  base.write('waiting.yaml', WAITING)
  expect((await base.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(3)
  await base.killed(['run', 'waiting.yaml', '--run-id', 'w1'], async () =>
    base.ledger(
      async (ledger) =>
        (await ledger.get({ scopeKind: 'run', scope: 'w1', id: 'waits' }))?.progress.retry.failures === 1,
    ),
  )
  expect((await base.reprise('store', 'backup', 'copy.db')).code).toBe(0)
}, 60_000)
afterAll(async () => {
  base.remove()
  await database.drop()
})

/** A copy of the store in a fixture of its own, and a way to change it. */
interface Copy {
  readonly cli: CliFixture
  readonly change: Sql
}

const STORES = {
  sqlite: async (): Promise<Copy> => {
    const cli = new CliFixture()
    mkdirSync(cli.path('.reprise'), { mode: 0o700 })
    const file = cli.path('.reprise/ledger.db')
    copyFileSync(base.path('copy.db'), file)
    const change: Sql = async (statement) => {
      const handle = await openDatabase(file)
      handle.exec(statement)
      handle.close()
    }
    return { cli, change }
  },
  postgres: async (): Promise<Copy> => {
    keepIn(database.url)
    const cli = new CliFixture()
    keepIn(undefined)
    const schema = new URL(cli.store).searchParams.get('schema') ?? ''
    expect(await repriseInProcess(cli, 'store', 'restore', base.path('copy.db'))).toMatchObject({ code: 0 })
    const change: Sql = async (statement) => {
      const client = new pg.Client({ connectionString: database.url })
      await client.connect()
      await client.query(`SET search_path TO ${schema}`)
      await client.query(statement)
      await client.end()
    }
    return { cli, change }
  },
}

async function checksOf(cli: CliFixture): Promise<{ code: number | null; checks: Check[] }> {
  const { code, stdout, stderr } = await repriseInProcess(cli, 'doctor', '--json')
  expect(stderr).toBe('')
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Check[] }
  expect(ok).toBe(code === 0)
  return { code, checks }
}

async function doctor(cli: CliFixture): Promise<{ code: number | null; faults: Check[] }> {
  const { code, checks } = await checksOf(cli)
  return { code, faults: checks.filter(({ state }) => state === 'fault') }
}

/** Twice at most: ending a run leaves a history that is removed with it. */
async function cure(cli: CliFixture): Promise<void> {
  for (let times = 0; times < 3; times++) {
    const { faults } = await doctor(cli)
    const [fault] = faults
    if (fault === undefined) return
    const words = (fault.cure ?? '').split(' ').slice(1)
    const { code, stderr } = await repriseInProcess(cli, ...words)
    expect([0, 4], `${fault.cure}: ${stderr}`).toContain(code)
  }
}

describe.each(['sqlite', 'postgres'] as const)('on %s', (kind) => {
  test('a store with an ended, a failed and a killed run is well', async () => {
    const { cli } = await STORES[kind]()
    expect(await doctor(cli)).toEqual({ code: 0, faults: [] })
    cli.remove()
  })

  test.each(CASES)(
    '%s: it is found, and its cure cures it',
    { timeout: 60_000 },
    async (_what, sql, rule, place, message) => {
      const { cli, change } = await STORES[kind]()
      await change(sql)
      const found = await doctor(cli)
      expect(found.code).toBe(4)
      const fault = found.faults.find((one) => one.rule === rule && one.place === place && message.test(one.message))
      expect(fault, JSON.stringify(found.faults)).toBeDefined()
      expect(fault?.cure).toMatch(/^reprise /)
      // It has changed nothing.
      expect(await doctor(cli)).toEqual(found)
      await cure(cli)
      expect(await doctor(cli)).toEqual({ code: 0, faults: [] })
      cli.remove()
    },
  )

  test('I8: an attempt that began before its time is a note without a cure', async () => {
    const { cli, change } = await STORES[kind]()
    await change(
      `UPDATE attempts SET delay_before = 60000 WHERE attempt = 2 AND task = (SELECT pk FROM tasks WHERE id = 'flaky')`,
    )
    const { code, checks } = await checksOf(cli)
    expect(code).toBe(0)
    expect(checks.filter(({ rule }) => rule === 'I8')).toEqual([
      expect.objectContaining({
        state: 'note',
        place: 'step r1/flaky',
        message: expect.stringMatching(/attempt 2 started \d+ ms before its time/),
        cure: null,
      }),
    ])
    expect((await repriseInProcess(cli, 'doctor')).stdout).toMatch(/No faults, but see the notes\.\n$/)
    cli.remove()
  })

  test('I10: a tally of tasks that are not there is found, and a copy counts its tasks anew', async () => {
    const { cli, change } = await STORES[kind]()
    await change(`UPDATE tasks SET tally = 'items' WHERE id = 'waits'`)
    await change(`INSERT INTO tallies (name, fresh, retrying, undecided, succeeded, failed, cancelled)
      VALUES ('items', 2, 1, 0, 1, 0, 0)`)
    const { code, faults } = await doctor(cli)
    expect(code).toBe(4)
    const [fault] = faults
    expect(fault).toMatchObject({ rule: 'I10', place: 'tally items' })
    expect(fault?.message).toBe('it does not count the tasks that are there: 2 fewer are fresh, 1 fewer are succeeded')
    expect(fault?.cure).toMatch(kind === 'sqlite' ? /^reprise doctor --salvage/ : /^a copy counts its tasks anew/)
    const copying = kind === 'sqlite' ? ['doctor', '--salvage', 'copy-2.db'] : ['store', 'backup', 'copy-2.db']
    await cli.reprise(...copying)
    const copy = await cli.reprise('doctor', '--store', 'sqlite:copy-2.db', '--json')
    expect(copy.code, copy.stdout).toBe(0)
    cli.remove()
  })

  test('a row that is none of ours makes the store unreadable, and is named', async () => {
    const { cli, change } = await STORES[kind]()
    await change(`UPDATE tasks SET progress = 'rubbish' WHERE id = 'ok'`)
    const { code, faults } = await doctor(cli)
    expect(code).toBe(74)
    expect(faults[0]).toMatchObject({ area: 'store', place: 'step r1/ok', message: expect.stringContaining('no JSON') })
    cli.remove()
  })

  test('a store of a newer version is refused with both versions', async () => {
    const { cli, change } = await STORES[kind]()
    await change(kind === 'sqlite' ? 'PRAGMA user_version = 99' : 'UPDATE meta SET version = 99')
    const { code, faults } = await doctor(cli)
    expect({ code, faults }).toMatchObject({ code: 4, faults: [{ message: expect.stringMatching(/99.*\b\d\b/s) }] })
    cli.remove()
  })
})

test('a server that cannot be reached ends it with 74, and the installation is shown all the same', async () => {
  const { code, stdout } = await base.reprise('doctor', '--store', 'postgres://nobody@127.0.0.1:1/none')
  expect(code).toBe(74)
  expect(stdout).toMatch(/ok +Node \d+/)
  expect(stdout).toMatch(/FAULT .*127\.0\.0\.1/s)
})

test('an index that the server marks as invalid is named with the statement that mends it', async () => {
  const { cli, change } = await STORES.postgres()
  await change(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'tasks_due'::regclass`)
  const { code, faults } = await doctor(cli)
  expect({ code, faults }).toMatchObject({
    code: 74,
    faults: [
      { place: 'index tasks_due', cure: expect.stringMatching(/^psql -c 'REINDEX INDEX fixture_\w+\.tasks_due'$/) },
    ],
  })
  cli.remove()
})
