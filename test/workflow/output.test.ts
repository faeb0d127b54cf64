/** What `run` and `resume` show of the output of steps, as processes: in pipes, in CI, with secrets, killed on the way. */
import { BLIND_READERS, planFromDocument, startRun } from '@reprise/workflow/internal'
import { afterEach, expect, test } from 'vitest'
import { bin, CliFixture, until } from './cli-fixture.js'

let fixture = new CliFixture()
afterEach(() => fixture.remove())

const FLAKY = `
steps:
  - id: flaky
    shell: 'echo begun; echo "said $REPRISE_ATTEMPT"; test "$REPRISE_ATTEMPT" = 2'
    retry: { attempts: 3, initial_delay: 1ms }
`
const RUN = ['run', 'workflow.yaml', '--run-id', 'r1'] as const

test('a pipe sees the last lines of an attempt that failed, and nothing of one that did not', async () => {
  fixture = new CliFixture(FLAKY)
  const { code, stdout, stderr } = await fixture.reprise(...RUN)
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(stderr).toContain('Output of flaky (attempt 1/3), log: ')
  expect(stderr).toContain('  │ begun\n  │ said 1\nRetrying flaky')
  expect(stderr).not.toContain('said 2')
})

test('CI sees everything, in groups', async () => {
  fixture = new CliFixture(FLAKY)
  fixture.env['CI'] = 'true'
  const { stderr } = await fixture.reprise(...RUN)
  expect(stderr).toContain('── flaky (attempt 1/3) ──\nbegun\nsaid 1\nRetrying flaky')
  expect(stderr).toContain('── flaky (attempt 2/3) ──\nbegun\nsaid 2\nok flaky')
})

test('-v shows every line as it comes', async () => {
  fixture = new CliFixture(FLAKY)
  const { stderr } = await fixture.reprise(...RUN, '-v')
  expect(stderr).toContain('[flaky] said 1\n')
  expect(stderr).toContain('[flaky] said 2\n')
})

test('a line is shown while its step still runs', async () => {
  fixture = new CliFixture('steps: [{ id: slow, shell: "echo first; while ! test -e go; do sleep 0.05; done" }]')
  const going = await fixture.startUntil([...RUN, '--output', 'stream'], () => true)
  await until(
    () => going.said().includes('[slow] first\n'),
    () => `the line; it said ${going.said()}`,
    going,
  )
  fixture.write('go', '')
  expect((await going.ended).code).toBe(0)
})

test.each(['grouped', 'stream', 'failed'])('%s shows no secret, however it was cut', async (mode) => {
  fixture = new CliFixture(`
secrets: [TOKEN]
steps: [{ id: leak, shell: 'printf "a %s" "\${TOKEN%%-*}"; sleep 0.1; printf "%s\\n" "-\${TOKEN#*-}"; exit 1' }]
`)
  fixture.env['TOKEN'] = 'hidden-token-value'
  const { code, stderr } = await fixture.reprise(...RUN, '--output', mode, '--junit', 'out.xml')
  expect(code).toBe(1)
  expect(stderr).toContain('a ***')
  expect(stderr + fixture.read('out.xml')).not.toMatch(/hidden|token-value/)
})

test('stdout stays data for programs', async () => {
  fixture = new CliFixture(FLAKY)
  fixture.env['CI'] = 'true'
  const json = await fixture.reprise(...RUN, '--json')
  expect(JSON.parse(json.stdout)).toMatchObject({ id: 'r1', state: 'succeeded' })
  const lines = await fixture.reprise('run', 'workflow.yaml', '--ndjson', '--output', 'grouped')
  for (const line of lines.stdout.trimEnd().split('\n')) JSON.parse(line)
  expect(lines.stderr).toContain('said 2')
})

test('under GitHub Actions a failed step is annotated, and its own commands are text', async () => {
  fixture = new CliFixture(`steps: [{ id: evil, name: 'a, b: c', shell: 'echo "::error::forged"; exit 3' }]`)
  Object.assign(fixture.env, { CI: 'true', GITHUB_ACTIONS: 'true' })
  const { code, stderr } = await fixture.reprise(...RUN)
  expect(code).toBe(1)
  expect(stderr).toContain('::group::a, b: c\n::stop-commands::')
  expect(stderr).toMatch(/^::error title=Step a%2C b%3A c failed::after 1 attempt \(attempts_exhausted\): exit code 3/m)
  const [, word = ''] = /::stop-commands::(\S+)\n::error::forged\n/.exec(stderr) ?? []
  expect(stderr).toContain(`::error::forged\n::${word}::\n::endgroup::\n`)
})

test('a report tells of a run that failed, and of its resume', async () => {
  fixture = new CliFixture(`
steps:
  - { id: first, shell: echo done }
  - { id: second, shell: 'echo trying; test -e go' }
  - { id: third, shell: echo over }
`)
  expect((await fixture.reprise(...RUN, '--junit', 'reports/junit.xml')).code).toBe(1)
  const failed = fixture.read('reports/junit.xml')
  expect(failed).toContain('tests="3" failures="1" errors="0" skipped="1"')
  expect(failed).toContain('<system-out>trying</system-out>')
  fixture.write('go', '')
  const resume = ['resume', 'r1', '--reset-retries', '--junit', 'reports/junit.xml']
  expect((await fixture.reprise(...resume)).code).toBe(0)
  expect(fixture.read('reports/junit.xml')).toContain('tests="3" failures="0" errors="0" skipped="0"')
})

test.each([
  ['SIGTERM', 143, 'tests="2" failures="0" errors="1" skipped="1"'],
  ['SIGKILL', null, 'the run has not ended'],
] as const)('a report is there when %s has ended the run', async (signal, code, said) => {
  fixture = new CliFixture('steps: [{ id: long, shell: "echo x >> ran; sleep 60" }, { id: next, shell: "true" }]')
  const going = await fixture.startUntil([...RUN, '--junit', 'junit.xml'], () => fixture.count('ran') === 1)
  going.child.kill(signal)
  expect((await going.ended).code).toBe(code)
  expect(fixture.read('junit.xml')).toContain(said)
})

test.each([
  [['--junit', 'workflow.yaml'], 2, 'is there already, and is no JUnit report'],
  [['--junit', '/proc/none/junit.xml'], 74, 'cannot be made'],
  [['--junit', '-'], 2, '--junit needs the name of a file'],
  [['--output', 'group'], 2, '--output: "group" is not one of grouped, stream'],
])('%o is refused before anything runs', async (flags, code, said) => {
  fixture = new CliFixture('steps: [{ id: a, shell: echo x >> ran }]')
  const ended = await fixture.reprise(...RUN, ...flags)
  expect(ended.code).toBe(code)
  expect(ended.stderr).toContain(said)
  expect(fixture.has('ran')).toBe(false)
})

test('a reader that leaves stops a run that writes for ever, in order', async () => {
  fixture = new CliFixture('steps: [{ id: yes, shell: "yes" }]')
  const { ended } = fixture.startProgram('sh', [
    '-c',
    `"$0" "$1" run workflow.yaml --run-id r1 --output stream 2>&1 >/dev/null | head -n 3`,
    process.execPath,
    bin,
  ])
  const { stdout } = await ended
  expect(stdout.split('\n').filter((line) => line === '[yes] y').length).toBeGreaterThan(0)
  expect((await fixture.reprise('show', 'r1', '--json')).stdout).toContain('"state": "interrupted"')
})

test('under GitHub Actions no text of a step is a command on stdout, as data or as a page', async () => {
  fixture = new CliFixture(`steps: [{ id: evil, name: 'a ##[error]b', shell: 'echo "##[error]forged" >&2; exit 3' }]`)
  Object.assign(fixture.env, { CI: 'true', GITHUB_ACTIONS: 'true' })
  const { stdout } = await fixture.reprise(...RUN, '--ndjson')
  expect(stdout).toContain('#[error]forged')
  expect(stdout).not.toContain('##[')
  for (const args of [
    ['show', 'r1'],
    ['show', 'r1', 'evil'],
    ['events', 'r1'],
    ['run', 'workflow.yaml', '--dry-run'],
  ]) {
    const page = (await fixture.reprise(...args)).stdout
    const stopped = page.replaceAll(/^::stop-commands::(\S+)\n[^]*?^::\1::\n/gm, '')
    expect(stopped, args.join(' ')).not.toContain('##[')
  }
})

/** A step that puts a directory in the place of its own log: it can be opened, and not be read. */
const UNREADABLE = (end: string): string => `
steps:
  - id: work
    shell: |
      echo said
      log=.reprise/runs/r1/work/1.1.1.log
      until test -e $log; do sleep 0.05; done
      rm $log; mkdir $log
      ${end}
`

test.each([
  ['true', 74, 'succeeded'],
  ['exit 5', 1, 'failed'],
] as const)('a log that cannot be shown does not hide how the run ended: %s', async (end, code, state) => {
  fixture = new CliFixture(UNREADABLE(end))
  const ended = await fixture.reprise(...RUN, '--output', 'grouped', '--junit', 'junit.xml')
  expect(ended.stderr).toContain('Some output of the steps could not be shown (')
  expect(ended.stderr.toLowerCase()).toContain(`${state}: workflow, run r1`)
  expect(ended.code).toBe(code)
  expect(fixture.read('junit.xml')).toContain(`<property name="state" value="${state}"/>`)
  expect((await fixture.show('r1')).steps[0]?.state).toBe(state)
})

test('the last lines of a log that cannot be read are left out', async () => {
  fixture = new CliFixture(UNREADABLE('exit 5'))
  const { code, stderr } = await fixture.reprise(...RUN)
  expect(code).toBe(1)
  expect(stderr).toContain('FAILED: workflow, run r1')
  expect(stderr).not.toContain('EISDIR')
})

test('a listener that throws does not fail the attempt whose output it shows', async () => {
  fixture = new CliFixture()
  const plan = planFromDocument({ name: 'x', steps: [{ id: 'work', shell: 'echo said' }] }, null, BLIND_READERS)
  const failures: unknown[] = []
  const fail = (word: string) => (): never => {
    throw new Error(word)
  }
  const input = { runId: 'r1', params: {}, cwd: fixture.directory, documentDir: fixture.directory }
  const end = await startRun(plan, input, {
    store: fixture.store,
    stateDirectory: fixture.path('.reprise'),
    env: { PATH: process.env['PATH'] ?? '' },
    output: {
      onBytes: fail('bytes'),
      onEnd: fail('end'),
      onFailure: (error) => failures.push((error as Error).message),
    },
  })
  expect(end.state).toBe('succeeded')
  expect(failures).toEqual(['bytes', 'end'])
})
