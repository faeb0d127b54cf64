/**
 * When a resume is refused, nothing is touched and the reason is named; what a person agrees to goes on. Real processes,
 * `kill -9`, damaged files. Needs a build.
 */
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { CliFixture, type Ended, until } from './cli-fixture.js'
import { repriseInProcess } from './cli-in-process.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

/** Within this process: what the command does to the run, and says, is the same. */
const here = (...args: string[]): Promise<Ended> => repriseInProcess(fixture, ...args)

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']
const TWO = `
steps:
  - { id: first, shell: echo x >> first }
  - id: second
    shell: echo x >> second; test -e go
    retry: { attempts: 5, backoff: fixed, initial_delay: 60s }
`

/** The first step is done, the second waits for a minute. */
async function killedInWait(workflow = TWO): Promise<void> {
  fixture = new CliFixture(workflow)
  await fixture.killed(RUN, () => fixture.waits('second', 1))
  fixture.write('go', '')
}

async function isWaiting(): Promise<boolean> {
  return fixture.ledger(
    async (ledger) => (await ledger.get({ scopeKind: 'run', scope: 'r1', id: 'second' }))?.status === 'waiting',
  )
}

describe('a file that was edited', () => {
  test('is no other file with other comments, spaces and order of keys', async () => {
    await killedInWait()
    fixture.write(
      'workflow.yaml',
      TWO.replace('{ id: first, shell: echo x >> first }', '{ shell: echo x >> first, id: first } # why'),
    )
    const { code, stdout, stderr } = await here('resume', 'r1', '--dry-run')
    expect(stderr + stdout).not.toContain('changed')
    expect(code).toBe(0)
  })

  test('with another policy is refused field by field; --accept-changes takes it and keeps the counts', async () => {
    await killedInWait()
    fixture.write(
      'workflow.yaml',
      TWO.replace('initial_delay: 60s', 'initial_delay: 10ms').replace('attempts: 5', 'attempts: 3'),
    )
    const refused = await here('resume', 'r1')
    expect(refused.code).toBe(4)
    for (const part of ['second', 'attempts', '5', '3', '--accept-changes']) expect(refused.stderr).toContain(part)
    expect(fixture.count('second')).toBe(1)
    expect(await isWaiting()).toBe(true)
    const json = await here('resume', 'r1', '--json')
    expect(json.code).toBe(4)
    expect(JSON.parse(json.stdout)).toMatchObject({ refused: { kind: 'definition_changed' } })
    const going = fixture.start('resume', 'r1', '--accept-changes')
    // The wait that was chosen stays as it is; whoever has no time for it says so.
    await until(
      async () => (await here('retry-now', 'r1', 'second')).code === 0,
      () => 'the wait to end',
    )
    expect((await going.ended).code).toBe(0)
    expect((await fixture.show('r1')).steps[1]).toMatchObject({ attempts: 2, attemptsAllowed: 3, state: 'recovered' })
  })

  test('with steps added, removed, reordered or reworded is refused; accepted, it maps by id', async () => {
    await killedInWait()
    const edited = `
steps:
  - { id: zero, shell: echo x >> zero }
  - { id: first, shell: echo y >> first }
`
    fixture.write('workflow.yaml', edited)
    const refused = await here('resume', 'r1')
    expect(refused.code).toBe(4)
    for (const part of ['zero', 'second', 'first']) expect(refused.stderr).toContain(part)
    expect((await here('resume', 'r1', '--accept-changes')).code).toBe(0)
    expect([fixture.count('zero'), fixture.count('first'), fixture.count('second')]).toEqual([1, 1, 1])
    expect((await fixture.show('r1')).steps.map(({ id, state }) => [id, state])).toEqual([
      ['zero', 'succeeded'],
      ['first', 'succeeded'],
      ['second', 'cancelled'],
    ])
  })

  test('that allows fewer attempts than were made is exhausted', async () => {
    await killedInWait()
    fixture.write('workflow.yaml', TWO.replace('attempts: 5, backoff: fixed, initial_delay: 60s', 'attempts: 1'))
    const going = fixture.start('resume', 'r1', '--accept-changes')
    await until(
      async () => going.child.exitCode !== null || (await here('retry-now', 'r1', 'second')).code === 0,
      () => 'it to go on',
    )
    expect((await going.ended).code).toBe(1)
    expect(fixture.count('second')).toBe(1)
    expect((await fixture.show('r1')).steps[1]).toMatchObject({ stopReason: 'attempts_exhausted' })
  })
})

describe('a run that somebody conducts', () => {
  test('is not resumed: the other exits 4 and names the process', async () => {
    fixture = new CliFixture('steps: [{ id: work, shell: "echo x >> ran; test -e go || sleep 60" }]')
    const going = fixture.start(...RUN)
    await until(
      () => fixture.count('ran') === 1,
      () => 'the step',
      going,
    )
    const refused = await here('resume', 'r1')
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain(String(going.child.pid))
    // It is seen to live.
    expect(refused.stderr).not.toContain('--force')
    expect((await fixture.reprise(...RUN)).code).toBe(4)
    expect(fixture.count('ran')).toBe(1)
  })

  test('of eight resumes at once exactly one proceeds', async () => {
    fixture = new CliFixture('steps: [{ id: work, shell: "echo x >> ran; test -e go || sleep 60" }]')
    await fixture.killed(RUN, () => fixture.count('ran') === 1)
    const all = Array.from({ length: 8 }, () => fixture.start('resume', 'r1'))
    await until(
      () => all.filter(({ child }) => child.exitCode !== null).length === 7,
      () => 'seven to be refused',
    )
    fixture.write('go', '')
    await until(
      () => fixture.count('ran') === 2,
      () => 'the one to run',
    )
    for (const { child } of all) child.kill('SIGTERM')
    const codes = (await Promise.all(all.map(({ ended }) => ended))).map(({ code }) => code)
    expect(codes.filter((code) => code === 4)).toHaveLength(7)
    expect(fixture.count('ran')).toBe(2)
  })
})

describe('a store', () => {
  test('of a newer format is refused, and both versions are named', async () => {
    await killedInWait()
    const database = await openDatabase(fixture.path('.reprise/ledger.db'))
    database.exec('PRAGMA user_version = 99')
    database.close()
    const { code, stderr } = await here('resume', 'r1')
    expect(code).toBe(4)
    expect(stderr).toContain('99')
    expect(fixture.count('second')).toBe(1)
  })

  test('that is damaged is refused with 74, and is not made worse', async () => {
    await killedInWait()
    const file = fixture.path('.reprise/ledger.db')
    const database = await openDatabase(file)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    const bytes = readFileSync(file)
    bytes.fill(0x5a, 0, 100)
    writeFileSync(file, bytes)
    copyFileSync(file, fixture.path('before.db'))
    const { code, stderr } = await here('resume', 'r1')
    expect(code).toBe(74)
    expect(stderr).toContain('ledger.db')
    expect(readFileSync(file).equals(readFileSync(fixture.path('before.db')))).toBe(true)
  })

  test('that cannot be written ends a run with 74 and names the path', async () => {
    await killedInWait()
    if (process.getuid?.() === 0) return
    chmodSync(fixture.path('.reprise/ledger.db'), 0o400)
    const { code, stderr } = await here('resume', 'r1')
    expect(code).toBe(74)
    expect(stderr).toContain('ledger.db')
  })

  test('of an older format, without a retry state, goes on with a fresh one and says so', async () => {
    await killedInWait()
    await fixture.ledger((ledger) =>
      ledger.transact({ tasks: [{ scopeKind: 'run', scope: 'r1', id: 'second' }] }, (view) => {
        const task = view.task({ scopeKind: 'run', scope: 'r1', id: 'second' })
        if (task === undefined) throw new Error('no task')
        return { tasks: [{ ...task, dueAtMs: 0, progress: {} as typeof task.progress }], result: undefined }
      }),
    )
    expect((await here('show', 'r1')).code).toBe(0)
    expect((await here('events', 'r1')).code).toBe(0)
    const { code, stderr } = await here('resume', 'r1')
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('fresh')
    expect(fixture.count('second')).toBe(2)
    expect((await here('events', 'r1', '--type', 'migrated')).stdout).toContain('second')
  })

  test('with a state that cannot be is refused, every fault listed, and nothing is touched', async () => {
    await killedInWait()
    await fixture.ledger((ledger) =>
      ledger.transact({ tasks: [{ scopeKind: 'run', scope: 'r1', id: 'second' }] }, (view) => {
        const task = view.task({ scopeKind: 'run', scope: 'r1', id: 'second' })
        if (task === undefined) throw new Error('no task')
        const retry = { ...task.progress.retry, launched: 9, failures: 9, totalDelayMs: -5 }
        return { tasks: [{ ...task, progress: { ...task.progress, retry } }], result: undefined }
      }),
    )
    const before = await fixture.ledger((ledger) => ledger.get({ scopeKind: 'run', scope: 'r1', id: 'second' }))
    const { code, stderr } = await here('resume', 'r1')
    expect(code).toBe(4)
    for (const fault of ['9 attempts were made of 5 allowed', 'totalDelayMs is -5', 'history'])
      expect(stderr).toContain(fault)
    expect(await fixture.ledger((ledger) => ledger.get({ scopeKind: 'run', scope: 'r1', id: 'second' }))).toEqual(
      before,
    )
    expect(fixture.count('second')).toBe(1)
  })
})

describe('gates', () => {
  test('a breaker that was open at the kill is open after it', async () => {
    fixture = new CliFixture(`
breakers: { db: { failure_threshold: 2, recovery_timeout: 1h } }
steps:
  - id: second
    shell: echo x >> second; exit 1
    retry: { attempts: 9, backoff: fixed, initial_delay: 10ms, breaker: db, on_failure: continue }
  - id: hold
    shell: echo x >> hold; test -e go || sleep 60
  - id: third
    shell: echo x >> third
    retry: { attempts: 2, breaker: db }
`)
    await fixture.killed(RUN, () => fixture.count('hold') === 1)
    fixture.write('go', '')
    expect(fixture.count('second')).toBe(2)
    expect((await here('resume', 'r1')).code).toBe(1)
    expect(fixture.count('third')).toBe(0)
    expect((await fixture.show('r1')).steps[2]).toMatchObject({ stopReason: 'breaker_open' })
  })

  test('a count budget is not refilled by a resume', async () => {
    fixture = new CliFixture(`
budgets: { few: { type: count, total: 3 } }
steps:
  - id: second
    shell: echo x >> second; exit 1
    retry: { attempts: 9, backoff: fixed, initial_delay: 300ms, budget: few }
`)
    await fixture.killed(RUN, () => fixture.count('second') === 3)
    expect((await here('resume', 'r1')).code).toBe(1)
    const [step] = (await fixture.show('r1')).steps
    expect(step).toMatchObject({ stopReason: 'budget_denied' })
    expect(step?.history.filter(({ outcome }) => outcome === 'failure')).toHaveLength(4)
  })
})

test('a killed run ends like one that was not, but for times and resume marks', async () => {
  const workflow = `
retry_defaults: { attempts: 3, backoff: fixed, initial_delay: 250ms }
steps:
  - { id: a, shell: "echo x >> a; echo v1", capture: v }
  - { id: b, shell: "test $REPRISE_ATTEMPT -ge 2", retry: { on_failure: continue } }
  - { id: c, shell: "echo \${v} >> c; exit 1", retry: { attempts: 2, on_failure: continue } }
  - { id: d, shell: "echo x >> d", when: steps.c.exit_code == 1 }
`
  const record = async (): Promise<unknown> => {
    const { steps, state } = await fixture.show('r1')
    return {
      state,
      steps: steps.map(({ id, state: is, attempts, waitedMs, stopReason }) => ({
        id,
        is,
        attempts,
        waitedMs,
        stopReason,
      })),
    }
  }
  fixture = new CliFixture(workflow)
  const { code } = await fixture.reprise(...RUN)
  const whole = await record()
  fixture.remove()
  fixture = new CliFixture(workflow)
  await fixture.killed(RUN, () => fixture.waits('b', 1))
  await fixture.killed(['resume', 'r1'], () => fixture.waits('c', 1))
  expect((await here('resume', 'r1')).code).toBe(code)
  expect(code).toBe(3)
  expect(await record()).toEqual(whole)
})
