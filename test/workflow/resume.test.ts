/**
 * Killed anywhere, a run goes on exactly there: the command line as people use it, `kill -9`, and files in which the steps
 * note that they ran. Needs a build.
 */
import { afterEach, describe, expect, test } from 'vitest'
import { killedAt, CliFixture, type Ended, until } from './cli-fixture.js'
import { repriseInProcess } from './cli-in-process.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

/** Within this process: what the command does to the run, and says, is the same. */
const here = (...args: string[]): Promise<Ended> => repriseInProcess(fixture, ...args)

/** Notes a line, then fails as long as there are fewer lines than `good`. */
const flaky = (good: number): string => `echo x >> ran; test "$(wc -l < ran)" -ge ${good}`

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

describe('counters', () => {
  test('of 5 attempts, killed after 3 failures, at most 2 are left, however often it is killed', async () => {
    fixture = new CliFixture(`
steps:
  - id: work
    shell: echo x >> ran; exit 1
    retry: { attempts: 5, backoff: fixed, initial_delay: 400ms }
`)
    await fixture.killed(RUN, () => fixture.waits('work', 2))
    await fixture.killed(['resume', 'r1'], () => fixture.waits('work', 3))
    await fixture.killed(['resume', 'r1'], () => fixture.waits('work', 4))
    const last = await here('resume', 'r1')
    expect(last.code).toBe(1)
    const [step] = (await fixture.show('r1')).steps
    expect(step).toMatchObject({ state: 'failed', stopReason: 'attempts_exhausted', attempts: 5 })
    const ended = step?.history.filter(({ outcome }) => outcome === 'failure').map(({ attempt }) => attempt)
    expect(ended).toEqual([1, 2, 3, 4, 5])
    expect(fixture.count('ran')).toBe(5)
  })

  test('exhausted stays exhausted: a resume runs nothing and says so; --reset-retries grants a fresh set', async () => {
    fixture = new CliFixture(`
steps:
  - id: work
    shell: ${flaky(4)}
    retry: { attempts: 2, initial_delay: 10ms }
`)
    expect((await fixture.reprise(...RUN)).code).toBe(1)
    expect(fixture.count('ran')).toBe(2)
    const refused = await here('resume', 'r1')
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain('work')
    expect(refused.stderr).toContain('--reset-retries')
    expect(fixture.count('ran')).toBe(2)
    expect((await here('resume', 'r1', '--reset-retries')).code).toBe(0)
    expect(fixture.count('ran')).toBe(4)
    const { steps, state } = await fixture.show('r1')
    expect(state).toBe('succeeded')
    expect(steps[0]).toMatchObject({ generation: 2, attempts: 2 })
    expect(steps[0]?.history.map(({ generation, attempt }) => [generation, attempt])).toEqual([
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
    ])
  })
})

describe('waits', () => {
  test('of a kill in a wait, only the rest is waited, and the delay is not drawn again', async () => {
    fixture = new CliFixture(`
steps:
  - id: work
    shell: ${flaky(2)}
    retry: { attempts: 3, backoff: fixed, initial_delay: 4s, jitter: equal }
`)
    // At least 2 s, so that the process is killed in the wait.
    await fixture.killed(RUN, () => fixture.waits('work', 1))
    const before = await fixture.ledger((ledger) => ledger.get({ scopeKind: 'run', scope: 'r1', id: 'work' }))
    expect((await here('resume', 'r1')).code).toBe(0)
    const history = (await fixture.show('r1')).steps[0]?.history
    expect(history?.at(-1)?.delayBeforeMs).toBe(Math.round(before?.progress.retry.lastDelayMs ?? -1))
    const started = history?.at(-1)?.startedAtMs ?? 0
    expect(started).toBeGreaterThanOrEqual((before?.dueAtMs ?? 0) - 1)
    expect(fixture.count('ran')).toBe(2)
  })

  test('of a time that has passed meanwhile, it runs at once', async () => {
    fixture = new CliFixture(`
steps:
  - id: work
    shell: ${flaky(2)}
    retry: { attempts: 3, backoff: fixed, initial_delay: 2s }
`)
    await fixture.killed(RUN, () => fixture.waits('work', 1))
    const due =
      (await fixture.ledger((ledger) => ledger.get({ scopeKind: 'run', scope: 'r1', id: 'work' })))?.dueAtMs ?? 0
    await until(
      () => Date.now() > due + 100,
      () => 'the time to pass',
    )
    expect((await here('resume', 'r1')).code).toBe(0)
    expect((await fixture.show('r1')).steps[0]).toMatchObject({ state: 'recovered', attempts: 2, waitedMs: 2000 })
  })

  test('past the expiry of its time budget a resumed step is denied, and not executed', async () => {
    fixture = new CliFixture(`
steps:
  - id: work
    shell: echo x >> ran; exit 1
    retry: { attempts: 9, backoff: fixed, initial_delay: 300ms, retry_budget: 700ms }
`)
    await fixture.killed(RUN, () => fixture.waits('work', 1))
    const { progress } =
      (await fixture.ledger((ledger) => ledger.get({ scopeKind: 'run', scope: 'r1', id: 'work' }))) ?? {}
    const ran = fixture.count('ran')
    await until(
      () => Date.now() > (progress?.retry.expiresAtMs ?? Infinity) + 50,
      () => 'the budget to expire',
    )
    const { code } = await here('resume', 'r1')
    expect(code).toBe(1)
    expect(fixture.count('ran')).toBe(ran)
    expect((await fixture.show('r1')).steps[0]).toMatchObject({ stopReason: 'retry_budget_exhausted' })
  })

  test('past the deadline of the whole step it ends with timeout, not executed', async () => {
    fixture = new CliFixture(`
steps:
  - id: work
    shell: echo x >> ran; exit 1
    retry: { attempts: 9, backoff: fixed, initial_delay: 400ms, timeout: 1s }
`)
    await fixture.killed(RUN, () => fixture.waits('work', 1))
    const { progress } =
      (await fixture.ledger((ledger) => ledger.get({ scopeKind: 'run', scope: 'r1', id: 'work' }))) ?? {}
    const ran = fixture.count('ran')
    await until(
      () => Date.now() > (progress?.retry.deadlineAtMs ?? Infinity) + 50,
      () => 'the deadline to pass',
    )
    expect((await here('resume', 'r1')).code).toBe(1)
    expect(fixture.count('ran')).toBe(ran)
    expect((await fixture.show('r1')).steps[0]).toMatchObject({ stopReason: 'timeout' })
  })
})

describe('an attempt in flight', () => {
  test('runs again under its number, recorded as interrupted and not charged', async () => {
    fixture = new CliFixture(`
steps:
  - id: work
    shell: echo "$REPRISE_ATTEMPT $REPRISE_IDEMPOTENCY_KEY" >> ran; test -e go || sleep 60
    retry: { attempts: 2 }
`)
    await fixture.killed(RUN, () => fixture.count('ran') === 1)
    fixture.write('go', '')
    expect((await here('resume', 'r1')).code).toBe(0)
    const lines = fixture.read('ran').trim().split('\n')
    expect(lines).toHaveLength(2)
    expect(new Set(lines).size).toBe(1)
    expect(lines[0]).toMatch(/^1 /)
    const { steps, resumes } = await fixture.show('r1')
    expect(resumes).toBe(1)
    expect(steps[0]).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(steps[0]?.history.map(({ attempt, execution, outcome }) => [attempt, execution, outcome])).toEqual([
      [1, 1, 'interrupted'],
      [1, 2, 'success'],
    ])
  })

  test('that was interrupted three times counts as failed, so that what kills its runner cannot loop', async () => {
    fixture = new CliFixture(`
steps:
  - id: work
    shell: echo x >> ran; sleep 60
    retry: { attempts: 1 }
`)
    await fixture.killed(RUN, () => fixture.count('ran') === 1)
    await fixture.killed(['resume', 'r1'], () => fixture.count('ran') === 2)
    await fixture.killed(['resume', 'r1'], () => fixture.count('ran') === 3)
    const last = await here('resume', 'r1')
    expect(last.code).toBe(1)
    expect(fixture.count('ran')).toBe(3)
    expect((await fixture.show('r1')).steps[0]).toMatchObject({
      state: 'failed',
      failure: { name: 'InterruptedError' },
    })
  })

  test('with on_interrupt: fail is left to a person, who says done or rerun', async () => {
    const workflow = `
steps:
  - id: pay
    shell: echo x >> ran; test -e go || sleep 60
    on_interrupt: fail
  - id: after
    shell: echo x >> after
`
    for (const answer of ['done', 'rerun'] as const) {
      fixture = new CliFixture(workflow)
      await fixture.killed(RUN, () => fixture.count('ran') === 1)
      fixture.write('go', '')
      const asked = await here('resume', 'r1')
      expect(asked.code).toBe(4)
      expect(asked.stderr).toContain('pay')
      expect(asked.stderr).toContain('--done pay')
      expect((await here('resume', 'r1')).code).toBe(4)
      expect(fixture.count('after')).toBe(0)
      expect((await here('resume', 'r1', `--${answer}`, 'pay')).code).toBe(0)
      expect(fixture.count('ran')).toBe(answer === 'done' ? 1 : 2)
      expect(fixture.count('after')).toBe(1)
      if (answer === 'done') fixture.remove()
    }
  })

  test('with verify, the world is asked: 0 is done with its output, 1 runs again, else a person decides', async () => {
    const workflow = (verify: string): string => `
steps:
  - id: pay
    shell: echo x >> ran; test -e go || sleep 60; echo paid-now
    capture: receipt
    on_interrupt: { verify: "${verify}" }
  - id: after
    shell: echo "\${receipt}" >> after
`
    const cases = [
      ['echo paid-before', 0, 1, 'paid-before'],
      ['exit 1', 0, 2, 'paid-now'],
      ['exit 7', 4, 1, ''],
    ] as const
    for (const [verify, code, ran, receipt] of cases) {
      fixture?.remove()
      fixture = new CliFixture(workflow(verify))
      await fixture.killed(RUN, () => fixture.count('ran') === 1)
      fixture.write('go', '')
      expect((await here('resume', 'r1')).code, verify).toBe(code)
      expect(fixture.count('ran'), verify).toBe(ran)
      expect(fixture.read('after').trim(), verify).toBe(receipt)
    }
  })
})

describe('finished steps', () => {
  test('do not run again, and what they captured is there', async () => {
    fixture = new CliFixture(`
steps:
  - id: first
    shell: echo x >> first; echo '{"n":41}'
    capture: data
    capture_format: json
  - id: second
    shell: echo x >> second; test -e go || sleep 60; echo \${data.n} >> seen
`)
    await fixture.killed(RUN, () => fixture.count('second') === 1)
    fixture.write('go', '')
    expect((await here('resume', 'r1')).code).toBe(0)
    expect(fixture.count('first')).toBe(1)
    expect(fixture.read('seen').trim()).toBe('41')
  })

  test('that were not yet followed are not run again: killed between record and start', async () => {
    fixture = new CliFixture(`
steps:
  - { id: first, shell: echo x >> first }
  - { id: second, shell: echo x >> second }
`)
    await killedAt(fixture, 'step_finished', 'first')
    const { steps } = await fixture.show('r1')
    expect(steps.map(({ state }) => state)).toEqual(['succeeded', 'pending'])
    expect((await here('resume', 'r1')).code).toBe(0)
    expect([fixture.count('first'), fixture.count('second')]).toEqual([1, 1])
  })
})
