/**
 * When a resume is refused, nothing is touched and the reason is named; what a person agrees to goes on. Real processes,
 * `kill -9`, damaged files. Needs a build.
 */
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { CliFixture, until } from './cli-fixture.js'

let scene: CliFixture
afterEach(() => scene.remove())

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
  scene = new CliFixture(workflow)
  await scene.killed(RUN, () => scene.waits('second', 1))
  scene.write('go', '')
}

async function isWaiting(): Promise<boolean> {
  return scene.ledger(
    async (ledger) => (await ledger.get({ scopeKind: 'run', scope: 'r1', id: 'second' }))?.status === 'waiting',
  )
}

describe('a file that was edited', () => {
  test('is no other file with other comments, spaces and order of keys', async () => {
    await killedInWait()
    scene.write(
      'workflow.yaml',
      TWO.replace('{ id: first, shell: echo x >> first }', '{ shell: echo x >> first, id: first } # why'),
    )
    const { code, stdout, stderr } = await scene.reprise('resume', 'r1', '--dry-run')
    expect(stderr + stdout).not.toContain('changed')
    expect(code).toBe(0)
  })

  test('with another policy is refused field by field; --accept-changes takes it and keeps the counts', async () => {
    await killedInWait()
    scene.write(
      'workflow.yaml',
      TWO.replace('initial_delay: 60s', 'initial_delay: 10ms').replace('attempts: 5', 'attempts: 3'),
    )
    const refused = await scene.reprise('resume', 'r1')
    expect(refused.code).toBe(4)
    for (const part of ['second', 'attempts', '5', '3', '--accept-changes']) expect(refused.stderr).toContain(part)
    expect(scene.count('second')).toBe(1)
    expect(await isWaiting()).toBe(true)
    const json = await scene.reprise('resume', 'r1', '--json')
    expect(json.code).toBe(4)
    expect(JSON.parse(json.stdout)).toMatchObject({ refused: { kind: 'definition_changed' } })
    const going = scene.start('resume', 'r1', '--accept-changes')
    // The wait that was chosen stays as it is; whoever has no time for it says so.
    await until(
      async () => (await scene.reprise('retry-now', 'r1', 'second')).code === 0,
      () => 'the wait to end',
    )
    expect((await going.ended).code).toBe(0)
    expect((await scene.show('r1')).steps[1]).toMatchObject({ attempts: 2, attemptsAllowed: 3, state: 'recovered' })
  })

  test('with steps added, removed, reordered or reworded is refused; accepted, it maps by id', async () => {
    await killedInWait()
    const edited = `
steps:
  - { id: zero, shell: echo x >> zero }
  - { id: first, shell: echo y >> first }
`
    scene.write('workflow.yaml', edited)
    const refused = await scene.reprise('resume', 'r1')
    expect(refused.code).toBe(4)
    for (const part of ['zero', 'second', 'first']) expect(refused.stderr).toContain(part)
    expect((await scene.reprise('resume', 'r1', '--accept-changes')).code).toBe(0)
    expect([scene.count('zero'), scene.count('first'), scene.count('second')]).toEqual([1, 1, 1])
    expect((await scene.show('r1')).steps.map(({ id, state }) => [id, state])).toEqual([
      ['zero', 'succeeded'],
      ['first', 'succeeded'],
      ['second', 'cancelled'],
    ])
  })

  test('that allows fewer attempts than were made is exhausted', async () => {
    await killedInWait()
    scene.write('workflow.yaml', TWO.replace('attempts: 5, backoff: fixed, initial_delay: 60s', 'attempts: 1'))
    const going = scene.start('resume', 'r1', '--accept-changes')
    await until(
      async () => going.child.exitCode !== null || (await scene.reprise('retry-now', 'r1', 'second')).code === 0,
      () => 'it to go on',
    )
    expect((await going.ended).code).toBe(1)
    expect(scene.count('second')).toBe(1)
    expect((await scene.show('r1')).steps[1]).toMatchObject({ stopReason: 'attempts_exhausted' })
  })
})

describe('a run that somebody conducts', () => {
  test('is not resumed: the other exits 4 and names the process', async () => {
    scene = new CliFixture('steps: [{ id: work, shell: "echo x >> ran; test -e go || sleep 60" }]')
    const going = scene.start(...RUN)
    await until(
      () => scene.count('ran') === 1,
      () => 'the step',
      going,
    )
    const refused = await scene.reprise('resume', 'r1')
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain(String(going.child.pid))
    // It is seen to live.
    expect(refused.stderr).not.toContain('--force')
    expect((await scene.reprise(...RUN)).code).toBe(4)
    expect(scene.count('ran')).toBe(1)
  })

  test('of eight resumes at once exactly one proceeds', async () => {
    scene = new CliFixture('steps: [{ id: work, shell: "echo x >> ran; test -e go || sleep 60" }]')
    await scene.killed(RUN, () => scene.count('ran') === 1)
    const all = Array.from({ length: 8 }, () => scene.start('resume', 'r1'))
    await until(
      () => all.filter(({ child }) => child.exitCode !== null).length === 7,
      () => 'seven to be refused',
    )
    scene.write('go', '')
    await until(
      () => scene.count('ran') === 2,
      () => 'the one to run',
    )
    for (const { child } of all) child.kill('SIGTERM')
    const codes = (await Promise.all(all.map(({ ended }) => ended))).map(({ code }) => code)
    expect(codes.filter((code) => code === 4)).toHaveLength(7)
    expect(scene.count('ran')).toBe(2)
  })
})

describe('a store', () => {
  test('of a newer format is refused, and both versions are named', async () => {
    await killedInWait()
    const database = await openDatabase(scene.path('.reprise/ledger.db'))
    database.exec('PRAGMA user_version = 99')
    database.close()
    const { code, stderr } = await scene.reprise('resume', 'r1')
    expect(code).toBe(4)
    expect(stderr).toContain('99')
    expect(scene.count('second')).toBe(1)
  })

  test('that is damaged is refused with 74, and is not made worse', async () => {
    await killedInWait()
    const file = scene.path('.reprise/ledger.db')
    const database = await openDatabase(file)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    const bytes = readFileSync(file)
    bytes.fill(0x5a, 0, 100)
    writeFileSync(file, bytes)
    copyFileSync(file, scene.path('before.db'))
    const { code, stderr } = await scene.reprise('resume', 'r1')
    expect(code).toBe(74)
    expect(stderr).toContain('ledger.db')
    expect(readFileSync(file).equals(readFileSync(scene.path('before.db')))).toBe(true)
  })

  test('that cannot be written ends a run with 74 and names the path', async () => {
    await killedInWait()
    if (process.getuid?.() === 0) return
    chmodSync(scene.path('.reprise/ledger.db'), 0o400)
    const { code, stderr } = await scene.reprise('resume', 'r1')
    expect(code).toBe(74)
    expect(stderr).toContain('ledger.db')
  })

  test('of an older format, without a retry state, goes on with a fresh one and says so', async () => {
    await killedInWait()
    await scene.ledger((ledger) =>
      ledger.transact({ tasks: [{ scopeKind: 'run', scope: 'r1', id: 'second' }] }, (view) => {
        const task = view.task({ scopeKind: 'run', scope: 'r1', id: 'second' })
        if (task === undefined) throw new Error('no task')
        return { tasks: [{ ...task, dueAtMs: 0, progress: {} as typeof task.progress }], result: undefined }
      }),
    )
    expect((await scene.reprise('show', 'r1')).code).toBe(0)
    expect((await scene.reprise('events', 'r1')).code).toBe(0)
    const { code, stderr } = await scene.reprise('resume', 'r1')
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('fresh')
    expect(scene.count('second')).toBe(2)
    expect((await scene.reprise('events', 'r1', '--type', 'migrated')).stdout).toContain('second')
  })

  test('with a state that cannot be is refused, every fault listed, and nothing is touched', async () => {
    await killedInWait()
    await scene.ledger((ledger) =>
      ledger.transact({ tasks: [{ scopeKind: 'run', scope: 'r1', id: 'second' }] }, (view) => {
        const task = view.task({ scopeKind: 'run', scope: 'r1', id: 'second' })
        if (task === undefined) throw new Error('no task')
        const retry = { ...task.progress.retry, launched: 9, failures: 9, totalDelayMs: -5 }
        return { tasks: [{ ...task, progress: { ...task.progress, retry } }], result: undefined }
      }),
    )
    const before = await scene.ledger((ledger) => ledger.get({ scopeKind: 'run', scope: 'r1', id: 'second' }))
    const { code, stderr } = await scene.reprise('resume', 'r1')
    expect(code).toBe(4)
    for (const fault of ['9 attempts were made of 5 allowed', 'totalDelayMs is -5', 'history'])
      expect(stderr).toContain(fault)
    expect(await scene.ledger((ledger) => ledger.get({ scopeKind: 'run', scope: 'r1', id: 'second' }))).toEqual(before)
    expect(scene.count('second')).toBe(1)
  })
})

describe('gates', () => {
  test('a breaker that was open at the kill is open after it', async () => {
    scene = new CliFixture(`
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
    await scene.killed(RUN, () => scene.count('hold') === 1)
    scene.write('go', '')
    expect(scene.count('second')).toBe(2)
    expect((await scene.reprise('resume', 'r1')).code).toBe(1)
    expect(scene.count('third')).toBe(0)
    expect((await scene.show('r1')).steps[2]).toMatchObject({ stopReason: 'breaker_open' })
  })

  test('a count budget is not refilled by a resume', async () => {
    scene = new CliFixture(`
budgets: { few: { type: count, total: 3 } }
steps:
  - id: second
    shell: echo x >> second; exit 1
    retry: { attempts: 9, backoff: fixed, initial_delay: 300ms, budget: few }
`)
    await scene.killed(RUN, () => scene.count('second') === 3)
    expect((await scene.reprise('resume', 'r1')).code).toBe(1)
    const [step] = (await scene.show('r1')).steps
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
    const { steps, state } = await scene.show('r1')
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
  scene = new CliFixture(workflow)
  const { code } = await scene.reprise(...RUN)
  const whole = await record()
  scene.remove()
  scene = new CliFixture(workflow)
  await scene.killed(RUN, () => scene.waits('b', 1))
  await scene.killed(['resume', 'r1'], () => scene.waits('c', 1))
  expect((await scene.reprise('resume', 'r1')).code).toBe(code)
  expect(code).toBe(3)
  expect(await record()).toEqual(whole)
})
