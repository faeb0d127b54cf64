/** Steps of `on_failure` and `finally`: after which ends they run, after a kill, a cancel and a signal. Needs a build. */
import type { RunDetail } from '@reprise/workflow/internal'
import { afterEach, expect, test } from 'vitest'
import { killedAt, CliFixture, until } from './cli-fixture.js'

let cli: CliFixture
afterEach(() => cli.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

/** `main` is the text of its one step. */
const WORKFLOW = (main: string): string => `
steps:
  - { id: main, shell: ${JSON.stringify(main)}, capture: said }
  - { id: later, shell: 'true', capture: missing }
on_failure:
  - id: tell
    shell: echo "\${run.state} \${run.failed_step} \${run.error} \${steps.main.exit_code} [\${missing}]" >> told
finally:
  - id: clean
    shell: echo "\${run.state} [\${said}]" >> cleaned
    retry: { attempts: 2, initial_delay: 1ms }
`

function statesOf({ state, steps }: RunDetail): unknown {
  return [state, Object.fromEntries(steps.map((step) => [step.id, step.state]))]
}

test('after a success `finally` runs, and `on_failure` is skipped', async () => {
  cli = new CliFixture(WORKFLOW('echo hello'))
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code, stderr).toBe(0)
  expect([cli.read('cleaned'), cli.has('told')]).toEqual(['succeeded [hello]\n', false])
  const states = { main: 'succeeded', later: 'succeeded', tell: 'skipped', clean: 'succeeded' }
  expect(statesOf(await cli.show('r1'))).toEqual(['succeeded', states])
})

test('after a failure both run, see what failed, and the run stays failed', async () => {
  cli = new CliFixture(WORKFLOW('echo "no route" >&2; exit 7'))
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code, stderr).toBe(1)
  expect(cli.read('told')).toBe('failed main exit code 7: no route 7 []\n')
  expect(cli.read('cleaned')).toBe('failed []\n')
  const detail = await cli.show('r1')
  const states = { main: 'failed', later: 'pending', tell: 'succeeded', clean: 'succeeded' }
  expect(statesOf(detail)).toEqual(['failed', states])
  expect([detail.failedStep, detail.steps.map(({ part }) => part)]).toEqual([
    'main',
    [undefined, undefined, 'on_failure', 'finally'],
  ])
})

test('a step of `finally` that fails makes the run fail', async () => {
  cli = new CliFixture(
    'steps: [{ id: main, shell: "true" }]\nfinally: [{ id: clean, shell: exit 3 }, { shell: echo >> no }]',
  )
  const { code, stderr } = await cli.reprise(...RUN)
  expect(code, stderr).toBe(1)
  const { state, failedStep } = await cli.show('r1')
  expect([state, failedStep, cli.has('no')]).toEqual(['failed', 'clean', false])
})

test('`finally` also runs if a step of `on_failure` fails', async () => {
  cli = new CliFixture(`
steps: [{ id: main, shell: exit 1 }]
on_failure: [{ id: tell, shell: exit 2 }]
finally: [{ id: clean, shell: echo x >> cleaned }]`)
  expect((await cli.reprise(...RUN)).code).toBe(1)
  expect([cli.count('cleaned'), (await cli.show('r1')).failedStep]).toEqual([1, 'main'])
})

test.each(['on_failure', 'finally'])(
  'killed in `%s`, the resume continues there and runs nothing else',
  async (part) => {
    cli = new CliFixture(`
steps:
  - { id: main, shell: echo x >> main; exit 1 }
on_failure: [{ id: tell, shell: 'echo "\${run.error}" >> told; test ${part} = finally || test -e go || sleep 60' }]
finally: [{ id: clean, shell: 'echo "\${steps.main.exit_code}" >> cleaned; test -e go || sleep 60' }]`)
    const file = part === 'finally' ? 'cleaned' : 'told'
    await cli.killed(RUN, () => cli.count(file) === 1)
    cli.write('go', '')
    const { code, stderr } = await cli.reprise('resume', 'r1')
    expect(code, stderr).toBe(1)
    expect([cli.count('main'), cli.count('told'), cli.count('cleaned')]).toEqual(
      part === 'finally' ? [1, 1, 2] : [1, 2, 1],
    )
    expect(cli.read(file).split('\n').slice(0, 2)).toEqual(Array(2).fill(part === 'finally' ? '1' : 'exit code 1'))
    expect((await cli.show('r1')).state).toBe('failed')
    // Everything has ended: nothing is left to resume.
    expect((await cli.reprise('resume', 'r1')).code).toBe(4)
  },
)

test('killed between the failure of a step and what follows from it, the resume runs `on_failure` and `finally`', async () => {
  cli = new CliFixture(WORKFLOW('exit 1'))
  await killedAt(cli, 'step_finished', 'main')
  expect(cli.has('told')).toBe(false)
  const { code, stderr } = await cli.reprise('resume', 'r1')
  expect(code, stderr).toBe(1)
  expect([cli.count('told'), cli.count('cleaned')]).toEqual([1, 1])
})

test('a cancel ends the running step, and the process that conducts the run runs `finally`', async () => {
  cli = new CliFixture(WORKFLOW('echo x >> began; sleep 60'))
  const going = await cli.startUntil(RUN, () => cli.count('began') === 1)
  expect((await cli.reprise('cancel', 'r1')).code).toBe(0)
  const { code, stderr } = await going.ended
  expect(code, stderr).toBe(1)
  expect([cli.read('cleaned'), cli.has('told')]).toEqual(['cancelled []\n', false])
  const states = { main: 'cancelled', later: 'pending', tell: 'skipped', clean: 'succeeded' }
  expect(statesOf(await cli.show('r1'))).toEqual(['cancelled', states])
  expect((await cli.reprise('resume', 'r1')).code).toBe(4)
})

test('who watches a run that is cancelled sees the steps of `finally` before its end', async () => {
  cli = new CliFixture(`
steps: [{ id: main, shell: 'trap "sleep 2; exit 1" TERM; echo x >> began; sleep 60 & wait' }]
finally: [{ id: clean, shell: echo x >> cleaned }]`)
  const going = await cli.startUntil(RUN, () => cli.count('began') === 1)
  const before = await cli.startUntil(['watch', 'r1', '--ndjson'], () => cli.count('began') === 1)
  await until(
    () => before.said().includes('attempt_started'),
    () => 'the running step to be told',
    before,
  )
  expect((await cli.reprise('cancel', 'r1')).code).toBe(0)
  // The step has not ended yet: it has the time that its trap takes.
  const during = await cli.reprise('watch', 'r1', '--ndjson')
  for (const { stdout } of [await before.ended, during]) {
    const told = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; step: string | null; detail: { state?: string } })
    expect(told.find(({ type, step }) => type === 'step_finished' && step === 'clean')?.detail.state).toBe('succeeded')
    expect(told.at(-1)).toMatchObject({ type: 'run_summary', detail: { state: 'cancelled' } })
  }
  expect((await going.ended).code).toBe(1)
})

test('a cancel of a run that nobody conducts runs `finally` itself; killed there, a resume does', async () => {
  cli = new CliFixture(`
steps: [{ id: main, shell: echo x >> began; sleep 60 }]
finally: [{ id: clean, shell: 'echo x >> cleaned; test -e go || sleep 60' }]`)
  await cli.killed(RUN, () => cli.count('began') === 1)
  await cli.killed(['cancel', 'r1'], () => cli.count('cleaned') === 1)
  cli.write('go', '')
  const { code, stderr } = await cli.reprise('resume', 'r1')
  expect(code, stderr).toBe(1)
  expect([cli.count('began'), cli.count('cleaned')]).toEqual([1, 2])
  expect(statesOf(await cli.show('r1'))).toEqual(['cancelled', { main: 'cancelled', clean: 'succeeded' }])
})

test('a second cancel ends the steps of `finally` too', async () => {
  cli = new CliFixture(`
steps: [{ id: main, shell: echo x >> began; sleep 60 }]
finally: [{ id: clean, shell: echo x >> cleaned; sleep 60 }, { id: more, shell: echo x >> more }]`)
  const going = await cli.startUntil(RUN, () => cli.count('began') === 1)
  await cli.reprise('cancel', 'r1')
  await until(
    () => cli.count('cleaned') === 1,
    () => 'finally',
    going,
  )
  await cli.reprise('cancel', 'r1')
  expect((await going.ended).code).toBe(1)
  expect([cli.has('more'), (await cli.show('r1')).state]).toEqual([false, 'cancelled'])
  expect((await cli.reprise('resume', 'r1')).code).toBe(4)
})

test('after Ctrl-C nothing of `finally` runs, and the resume runs it at the end', async () => {
  cli = new CliFixture(WORKFLOW('echo x >> began; test -e go || sleep 60'))
  const going = await cli.startUntil(RUN, () => cli.count('began') === 1)
  going.child.kill('SIGINT')
  expect((await going.ended).code).toBe(130)
  expect(cli.has('cleaned')).toBe(false)
  cli.write('go', '')
  expect((await cli.reprise('resume', 'r1')).code).toBe(0)
  expect([cli.count('began'), cli.count('cleaned')]).toEqual([2, 1])
})

test('with `--reset-retries` a run that had failed runs `finally` once more, and `on_failure` only if it fails again', async () => {
  cli = new CliFixture(WORKFLOW('test -e well'))
  expect((await cli.reprise(...RUN)).code).toBe(1)
  expect((await cli.reprise('resume', 'r1', '--reset-retries')).code).toBe(1)
  expect([cli.count('told'), cli.count('cleaned')]).toEqual([2, 2])
  cli.write('well', '')
  const { code, stderr } = await cli.reprise('resume', 'r1', '--reset-retries')
  expect(code, stderr).toBe(0)
  expect([cli.count('told'), cli.count('cleaned')]).toEqual([2, 3])
  const states = { main: 'succeeded', later: 'succeeded', tell: 'skipped', clean: 'succeeded' }
  expect(statesOf(await cli.show('r1'))).toEqual(['succeeded', states])
})

test('cancelled after `--reset-retries`, `finally` runs once more and `on_failure` is skipped; its fallback too', async () => {
  cli = new CliFixture(`
steps: [{ id: main, shell: echo x >> began; test ! -e slow || sleep 60; exit 1 }]
on_failure: [{ id: tell, shell: exit 3, retry: { attempts: 1, on_failure: { fallback: { command: echo x >> told } } } }]
finally: [{ id: clean, shell: 'echo "\${run.state}" >> cleaned' }, { id: more, shell: echo x >> more }]`)
  expect((await cli.reprise(...RUN)).code).toBe(1)
  cli.write('slow', '')
  const going = await cli.startUntil(['resume', 'r1', '--reset-retries'], () => cli.count('began') === 2)
  expect((await cli.reprise('cancel', 'r1')).code).toBe(0)
  const { code, stderr } = await going.ended
  expect(code, stderr).toBe(1)
  expect([cli.read('cleaned'), cli.count('more'), cli.count('told')]).toEqual(['failed\ncancelled\n', 2, 1])
  const ends = { clean: 'succeeded', more: 'succeeded' }
  const states = { main: 'cancelled', tell: 'skipped', 'tell.fallback': 'skipped', ...ends }
  expect(statesOf(await cli.show('r1'))).toEqual(['cancelled', states])
  expect(await waiting()).toEqual([])
})

test('a cancel in `finally` after `--reset-retries` ends the steps behind it too', async () => {
  cli = new CliFixture(`
steps: [{ id: main, shell: exit 1 }]
finally: [{ id: clean, shell: echo x >> cleaned; test ! -e slow || sleep 60 }, { id: more, shell: echo x >> more }]`)
  expect((await cli.reprise(...RUN)).code).toBe(1)
  cli.write('slow', '')
  const going = await cli.startUntil(['resume', 'r1', '--reset-retries'], () => cli.count('cleaned') === 2)
  expect((await cli.reprise('cancel', 'r1')).code).toBe(0)
  expect((await going.ended).code).toBe(1)
  expect([cli.count('more'), (await cli.show('r1')).state]).toEqual([1, 'cancelled'])
  expect(await waiting()).toEqual([])
})

/** Ids of the tasks of r1 that would still begin. */
async function waiting(): Promise<readonly string[]> {
  return cli.ledger(async (ledger) =>
    (await ledger.list({ scopeKind: 'run', scope: 'r1', statuses: ['waiting'] })).map(({ id }) => id),
  )
}
