import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readText } from '@reprise/workflow/internal'
import { afterAll, expect, test } from 'vitest'
import { runProgram } from './program.js'
import type { ProcessIo } from './process-io.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-program-'))
afterAll(() => rmSync(directory, { recursive: true }))

function fileWith(name: string, text: string): string {
  const file = path.join(directory, name)
  writeFileSync(file, text)
  return file
}

interface Setup {
  readonly env?: ProcessIo['env']
  readonly columns?: number
  readonly stdin?: AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean }
}

const nothing = async function* (): AsyncGenerator<string> {}

async function run(args: readonly string[], { env = {}, columns, stdin = nothing() }: Setup = {}) {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => (written[name] += text),
    ...(columns !== undefined && { isTTY: true, columns }),
  })
  const code = await runProgram(args, { stdin, stdout: output('stdout'), stderr: output('stderr'), env })
  return { code, ...written }
}

const policy = fileWith('policy.yaml', 'attempts: 4\njitter: equal\nretry_budget: 20s\n')

test('on a terminal there are colours and bars, solid for what is certain and hatched for chance', async () => {
  const { stdout } = await run(['explain', policy], { columns: 120 })
  expect(stdout).toContain('\u001b[1m')
  expect(stdout).toContain('█████████████'.slice(0, 12) + '░'.repeat(12))
})

test('in a pipe there is neither', async () => {
  const { stdout } = await run(['explain', policy])
  for (const mark of ['\u001b', '█', '░']) expect(stdout).not.toContain(mark)
})

test.each([{ NO_COLOR: '1' }, { CI: 'true' }, { REPRISE_COLOR: 'never' }])('%o gets no colours', async (env) => {
  const { stdout } = await run(['explain', policy], { env, columns: 120 })
  expect(stdout).not.toContain('\u001b')
})

test('a narrow terminal gets shorter bars or none, and no line that is too long', async () => {
  for (const columns of [72, 80, 100, 200]) {
    const { stdout } = await run(['explain', policy, '--color', 'never'], { columns })
    const lengths = stdout.split('\n').map((line) => line.length)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(columns)
  }
})

test('a flag wins over its variable', async () => {
  const env = { REPRISE_JSON: '1', REPRISE_COLOR: 'always' }
  expect((await run(['explain', policy], { env })).stdout).toMatch(/^{/)
  const { stdout } = await run(['explain', policy, '--color', 'never'], { env: { REPRISE_COLOR: 'always' } })
  expect(stdout).not.toContain('\u001b')
})

test.each([{ REPRISE_JSON: 'maybe' }, { REPRISE_COLOR: 'pink' }])('%o is refused', async (env) => {
  const { code, stderr } = await run(['explain', policy], { env })
  expect(code).toBe(2)
  expect(stderr).toContain(Object.keys(env)[0])
})

test('quiet leaves out the hints, verbose leaves out nothing', async () => {
  const long = fileWith('long.yaml', 'attempts: 40\nretry_budget: 1h\n')
  const { stdout: usual } = await run(['explain', long])
  expect(usual).toContain('hint:')
  expect(usual).toContain('… 25 attempts left out, -v shows them')
  expect((await run(['-q', 'explain', long])).stdout).not.toContain('hint:')
  const { stdout: everything } = await run(['-v', 'explain', long])
  expect(everything).not.toContain('left out')
  expect(everything).toMatch(/^ +20 /m)
})

test('a workflow is shown step by step, and one step in full', async () => {
  const text = 'retry_defaults: 4\nsteps:\n  - {id: fetch, shell: x}\n  - {name: load it, shell: y, retry: 2}\n'
  const file = fileWith('flow.yaml', text)
  const overview = await run(['explain', file])
  expect(overview.stdout).toMatch(/fetch +4 +7s +attempts_exhausted/)
  expect(overview.stderr).toContain('STEP')
  for (const step of ['load it', 'load-it', '2']) {
    expect((await run(['explain', file, step])).stdout).toContain('step load-it')
  }
  const unknown = await run(['explain', file, 'fecth'])
  expect(unknown).toMatchObject({ code: 2, stdout: '' })
  expect(unknown.stderr).toContain('did you mean `fetch`?')
  expect((await run(['explain', file, '9'])).stderr).toContain('the steps are fetch, load-it')
})

test('steps of one name are told apart by their ids', async () => {
  const file = fileWith('twins.yaml', 'steps: [{name: load, shell: x}, {name: load, shell: y, retry: 5}]\n')
  expect((await run(['explain', file, 'load-2'])).stdout).toContain('up to 5 attempts')
  expect((await run(['explain', file, 'load'])).stdout).toContain('step load\n')
  const both = fileWith('both.yaml', 'steps: [{id: a, name: load, shell: x}, {id: b, name: load, shell: y}]\n')
  expect((await run(['explain', both, 'load'])).stderr).toContain('name one by its id: a, b')
})

test('a workflow is checked whole, whatever is asked of it', async () => {
  const { code, stdout, stderr } = await run(['explain', fileWith('odd.yaml', 'steps: [{id: a, shell: x, rety: 5}]\n')])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('did you mean `retry`?')
})

test('a policy has no steps', async () => {
  expect(await run(['explain', policy, 'fetch'])).toMatchObject({ code: 2, stdout: '' })
})

const RETRY_AFTER = "A server's `Retry-After` may make waits longer."

test.each([
  ['a sum of waits', 'attempts: 3', true],
  ['a sum below the budget', 'attempts: 3\nretry_budget: 4s', true],
  ['the retry budget', 'attempts: 8\njitter: full\nretry_budget: 20s', false],
  ['the timeout', 'attempts: 5\njitter: full\ntimeout: 3s', false],
  ['nothing, as the first wait is too long', 'retry_budget: 500ms', false],
  ['nothing, as it runs once', 'attempts: 1', false],
])('Retry-After may exceed what is shown as the longest waits, if that is %s', async (_, text, isSaid) => {
  const { stdout } = await run(['explain', fileWith('limits.yaml', text)])
  expect(stdout.replaceAll(/\s+/g, ' ').includes(RETRY_AFTER)).toBe(isSaid)
})

test('flags alone are explained as `exec` would use them', async () => {
  const { code, stdout } = await run([
    'explain',
    '--attempts',
    '4',
    '--initial-delay',
    '2s',
    '--timeout',
    '1m',
    '--json',
  ])
  expect(code).toBe(0)
  const { file, policies } = JSON.parse(stdout) as { file: unknown; policies: { policy: object }[] }
  expect({ file, policy: policies[0]?.policy }).toMatchObject({
    file: null,
    policy: { attempts: 4, initialDelayMs: 2000, timeoutMs: 60_000 },
  })
})

test('flags stand over what the file says, and the rest stays', async () => {
  const file = fileWith('flags.yaml', 'attempts: 3\nmax_delay: 7s')
  const { stdout } = await run(['explain', file, '--attempts', '9', '--json'])
  const { policies } = JSON.parse(stdout) as { policies: { policy: object }[] }
  expect(policies[0]?.policy).toMatchObject({ attempts: 9, maxDelayMs: 7000 })
})

test('--ndjson of a command without events is refused, and not ignored', async () => {
  const { code, stdout } = await run(['ps', '--ndjson'])
  expect(code).toBe(2)
  expect(JSON.parse(stdout)).toEqual({
    problems: [{ message: '--ndjson: ps has no events to print', suggestion: 'use --json' }],
  })
})

test('help of a command that does not exist says so, and does not print that of the program', async () => {
  const { code, stdout, stderr } = await run(['help', 'nope'])
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr: "error: unknown command 'nope'\nTry `reprise --help`.\n",
  })
})

test('without a file and without flags there is nothing to explain, and what to give is said', async () => {
  const { code, stderr } = await run(['explain'])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'error: there is no policy to explain\n  hint: name a file, or give flags such as `--attempts 5`\n',
  })
})

test.each([
  [['--json', 'explian'], {}, { message: "unknown command 'explian'", suggestion: 'Did you mean explain?' }],
  [['--json', 'start'], {}, { message: "unknown command 'start'", suggestion: 'Did you mean run?' }],
  [['--json', 'list'], {}, { suggestion: 'Did you mean ps?' }],
  [['--json', 'version'], {}, { suggestion: 'Did you mean --version?' }],
  [
    ['exec', '--json', 'ls', '-l'],
    {},
    { message: "unknown option '-l'", suggestion: 'Write the command after `--`: reprise exec --attempts 5 -- ls -l' },
  ],
  [['run', '--json'], {}, { message: "missing required argument 'file'" }],
  [['run'], { REPRISE_JSON: '1' }, { message: "missing required argument 'file'" }],
  [['--json'], {}, { message: 'no command is given' }],
  [
    ['--color', 'pink', 'explain', 'x', '--json'],
    {},
    { message: expect.stringContaining('--color: "pink" is not one of') },
  ],
  [['--color', 'alwys', 'explain', 'x', '--json'], {}, { suggestion: 'Did you mean always?' }],
  [['explain', 'x', '--jsn'], { REPRISE_NDJSON: '1' }, { suggestion: 'Did you mean --json?' }],
])('%o with %o: a wrong use is data too', async (args, env, problem) => {
  const { code, stdout, stderr } = await run(args, { env })
  expect(code).toBe(2)
  expect(JSON.parse(stdout)).toMatchObject({ problems: [problem] })
  expect(stderr).not.toBe('')
})

test('a wrong setting is data as well, and --json after -- is no option', async () => {
  const wrong = await run(['explain', policy, '--json'], { env: { REPRISE_COLOR: 'pink' } })
  expect(JSON.parse(wrong.stdout)).toMatchObject({ problems: [{ message: expect.stringContaining('pink') }] })
  expect(await run(['explain', '--', 'a', 'b', '--json'])).toMatchObject({ code: 2, stdout: '' })
  const both = await run(['explain', policy, '--json', '--ndjson'])
  expect(JSON.parse(both.stdout)).toMatchObject({ problems: [{ message: '--json and --ndjson both want stdout' }] })
})

test.each([
  ['ENOSPC', 74, 'reprise: the output cannot be written: no space left on device\n'],
  ['EPIPE', 0, ''],
])('a stream that throws %s at once', async (code, exitCode, said) => {
  const stdout = {
    write: () => {
      const message = `${code}: no space left on device, write`
      throw Object.assign(new Error(message), { code, syscall: 'write' })
    },
  }
  let stderr = ''
  const io = { stdin: nothing(), stdout, stderr: { write: (text: string) => (stderr += text) }, env: {} }
  expect(await runProgram(['explain', policy], io)).toBe(exitCode)
  expect(stderr).toBe(said)
})

test('`-` on a terminal asks to type a policy, and is refused with --no-input', async () => {
  const typed = () =>
    Object.assign(
      (async function* () {
        yield 'attempts: 2'
      })(),
      { isTTY: true },
    )
  const asked = await run(['explain', '-'], { stdin: typed() })
  expect(asked.code).toBe(0)
  expect(asked.stderr).toContain('Ctrl-D')
  const refused = await run(['explain', '-', '--no-input'], { stdin: typed() })
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('stdin is a terminal, and --no-input forbids to ask')
})

test('an exception that is no fault of the input is a bug of ours, with a trace', async () => {
  const stdout = {
    write: () => {
      throw new TypeError('boom')
    },
  }
  let stderr = ''
  const io = { stdin: nothing(), stdout, stderr: { write: (text: string) => (stderr += text) }, env: {} }
  expect(await runProgram(['explain', policy], io)).toBe(70)
  expect(stderr).toMatch(/bug of reprise: boom\nPlease report it, with .*trace\.txt\n/)
  rmSync(path.dirname(/with (.*)\n/.exec(stderr)?.[1] ?? ''), { recursive: true })
})

test.each([
  ['EACCES', 'no permission to read it'],
  ['EIO', 'cannot be read: failed'],
])('%s while reading says why', async (code, message) => {
  const broken = (async function* (): AsyncGenerator<string> {
    yield 'attempts'
    throw Object.assign(new Error('failed'), { code })
  })()
  await expect(readText('-', broken)).rejects.toMatchObject({ problems: [{ file: '<stdin>', message }] })
})

test('no more is read than the limit allows', async () => {
  let chunks = 0
  const endless = (async function* (): AsyncGenerator<string> {
    for (;;) {
      chunks++
      yield '# '.repeat(32_768)
    }
  })()
  await expect(readText('-', endless)).rejects.toThrow('longer than 1 MiB')
  expect(chunks).toBe(17)
})
