/** The command line as people run it: the built bin, in a process of its own. Needs a build. */
import { spawn } from 'node:child_process'
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const bin = path.join(root, 'packages/cli/bin/reprise.js')
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-cli-'))
afterAll(() => rmSync(directory, { recursive: true }))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Without the variables that change how it looks. */
const { NO_COLOR: _, CI: __, FORCE_COLOR: ___, ...plainEnv } = process.env

function reprise(args: readonly string[], stdin = '', env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [bin, ...args], { cwd: directory, env: { ...plainEnv, ...env } })
    const written = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text))
    }
    // It may have seen enough before all is written.
    child.stdin.on('error', () => undefined)
    child.stdin.end(stdin)
    child.on('close', (code) => resolve({ code, ...written }))
  })
}

function fileWith(name: string, text: string | Uint8Array): string {
  writeFileSync(path.join(directory, name), text)
  return name
}

const GOOD = 'attempts: 5\nretry_budget: 20s\n'

// ── help, version, usage ─────────────────────────────────────────────────────────────────────────

test('--version says the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(path.join(root, 'packages/cli/package.json'), 'utf8')) as {
    version: string
  }
  expect(await reprise(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test.each([[['--help']], [['help']], [['explain', '--help']], [['help', 'explain']]])(
  '%o starts with examples',
  async (args) => {
    const { code, stdout, stderr } = await reprise(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Examples:\n {2}reprise /)
    expect(stdout).toContain('--json')
  },
)

test.each([
  [[], 'Usage: reprise'],
  [['explian', 'x'], 'Did you mean explain?'],
  [['explain', '--jsn', 'x'], 'Did you mean --json?'],
  [['explain'], 'there is no policy to explain'],
  [['run'], "missing required argument 'file'"],
  [['explain', 'a', 'b', 'c'], 'too many arguments'],
  [['--color', 'pink', 'explain', 'x'], '--color: "pink" is not one of auto, always, never'],
])('%o is a wrong use: exit code 2, and help on stderr', async (args, said) => {
  const { code, stdout, stderr } = await reprise(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(said)
})

// ── explain ──────────────────────────────────────────────────────────────────────────────────────

test('a policy is shown as a table, with where and why it stops', async () => {
  const { code, stdout, stderr } = await reprise(['explain', fileWith('good.yaml', GOOD)])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatchInlineSnapshot(`
    "good.yaml
      up to 5 attempts · exponential ×2 from 1s, at most 30s · no jitter · retry budget 20s
      retries every failure

      attempt   wait before   waited so far   of budget
            1             –             0ms         0 %
            2            1s              1s         5 %
            3            2s              3s        15 %
            4            4s              7s        35 %
            5            8s             15s        75 %

      Stops after attempt 5 (attempts_exhausted): it is the last of 5.
      It waits 15s in all. A server's \`Retry-After\` may make waits longer.

      hint: Without jitter, callers that failed together return together: \`jitter: full\` spreads them.
      hint: Every failure is retried, also one that cannot get better, such as a 404 or a bug. Name what
            can: \`retry_on: [network, timeout, 5xx, rate_limit]\`.
      hint: Nothing ends an attempt that hangs: add \`attempt_timeout\`.
      hint: The waits add up to 15s at most: the retry budget of 20s never stops them.
    "
  `)
})

test('--json gives plain data', async () => {
  const ended = await reprise(['explain', '-', '--json'], 'retry: 2')
  expect(ended.code).toBe(0)
  expect(JSON.parse(ended.stdout)).toEqual({
    file: '<stdin>',
    policies: [
      {
        step: null,
        role: 'alone',
        starts: null,
        summary: 'up to 2 attempts · exponential ×2 from 1s, at most 30s · no jitter',
        policy: {
          attempts: 2,
          backoff: { type: 'exponential', base: 2 },
          initialDelayMs: 1000,
          maxDelayMs: 30_000,
          jitter: 'none',
          jitterFactor: 0.3,
          retryOn: [],
          maxRetryAfterMs: 60_000,
        },
        attempts: [
          {
            attempt: 1,
            waitMs: 0,
            minWaitMs: 0,
            maxWaitMs: 0,
            waitedMs: 0,
            minWaitedMs: 0,
            maxWaitedMs: 0,
            budgetShare: null,
          },
          {
            attempt: 2,
            waitMs: 1000,
            minWaitMs: 1000,
            maxWaitMs: 1000,
            waitedMs: 1000,
            minWaitedMs: 1000,
            maxWaitedMs: 1000,
            budgetShare: null,
          },
        ],
        stop: {
          attempt: 2,
          reason: 'attempts_exhausted',
          sentence: 'Stops after attempt 2 (attempts_exhausted): it is the last of 2.',
          earliestAttempt: 2,
          latestAttempt: 2,
        },
        mostWaitedMs: 1000,
        longestMs: null,
        hints: ['no_jitter', 'retries_everything', 'no_attempt_timeout'].map((code) => ({
          code,
          message: expect.any(String),
        })),
        notes: [],
        until: null,
      },
    ],
  })
})

test('an invalid file names every problem with its line and a caret, and nothing is printed on stdout', async () => {
  const file = fileWith('bad.yaml', 'attemps: 5\nretry_on: [netwrk]\n__proto__: {attempts: 1}\n')
  const { code, stdout, stderr } = await reprise(['explain', file])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatchInlineSnapshot(`
    "bad.yaml:1:1: error: attemps: unknown field
        1 │ attemps: 5
          │ ^
      hint: did you mean \`attempts\`?

    bad.yaml:2:12: error: retry_on[0]: "netwrk" is not one of network, timeout, server_error, rate_limit, 5xx, exit:N, {pattern}, {exit_code}
        2 │ retry_on: [netwrk]
          │            ^
      hint: did you mean \`network\`?

    bad.yaml:3:1: error: __proto__: unknown field
        3 │ __proto__: {attempts: 1}
          │ ^
    "
  `)
})

test.each([
  [['explian', '--json'], 'unknown command'],
  [['run', '--json'], 'missing required argument'],
])('%o: with --json a wrong use is data, and still said on stderr', async (args, said) => {
  const { code, stdout, stderr } = await reprise(args)
  expect(code).toBe(2)
  expect(JSON.parse(stdout)).toEqual({
    problems: [{ message: expect.stringContaining(said), suggestion: expect.any(String) }],
  })
  expect(stderr).toContain(said)
})

test('with --json problems are data', async () => {
  const { code, stdout, stderr } = await reprise(['explain', '-', '--json'], '{"attempts": 0}')
  expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({
    problems: [
      { file: '<stdin>', line: 1, column: 14, path: 'attempts', message: '0 is not a whole number from 1 to 1000' },
    ],
  })
})

test('colours are off in a pipe, and on when forced', async () => {
  const escape = '\u001b['
  expect((await reprise(['explain', '-'], GOOD)).stdout).not.toContain(escape)
  expect((await reprise(['explain', '-', '--color', 'always'], GOOD)).stdout).toContain(escape)
  expect((await reprise(['explain', '-'], GOOD, { REPRISE_COLOR: 'always' })).stdout).toContain(escape)
  expect((await reprise(['explain', '-', '--color=always'], 'attempts: 0')).stderr).toContain(escape)
})

// ── files that are none ──────────────────────────────────────────────────────────────────────────

test.each([
  ['a file that is not there', 'nowhere.yaml', 'no such file'],
  ['a directory', '.', 'this is a directory'],
])('%s is told from its name', async (_what, file, said) => {
  const { code, stderr } = await reprise(['explain', file])
  expect(code).toBe(2)
  expect(stderr).toContain(said)
})

test.runIf(process.getuid?.() !== 0)('a file that may not be read', async () => {
  const file = fileWith('secret.yaml', GOOD)
  chmodSync(path.join(directory, file), 0)
  const { code, stderr } = await reprise(['explain', file])
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'secret.yaml: error: no permission to read it\n' })
})

test.each<[string, string, string]>([
  ['empty', '', 'is empty'],
  ['more than 1 MiB', '#'.repeat(1024 * 1024 + 1), 'is longer than 1 MiB'],
  ['brackets a million deep', '['.repeat(1_000_000), 'nests deeper than 64 levels'],
  ['lists half a million deep', '- '.repeat(500_000), 'nests deeper than 64 levels'],
  ['a thousand aliases', `a: &x 1\nb: [${'*x, '.repeat(1000)}]`, 'has more than 100 aliases'],
  ['a map of very many keys', Array.from({ length: 120_000 }, (_v, i) => `${i}:`).join('\n'), 'has too many values'],
  ['a repeated key', 'attempts: 1\nattempts: 2\n', 'is given twice'],
  ['numbers out of this world', 'attempts: 1e400\njitter_factor: .nan\n', 'Infinity is not a whole number'],
])('%s on stdin is refused in good time', async (_what, text, said) => {
  const { code, stdout, stderr } = await reprise(['explain', '-'], text)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(said)
})

test('bytes that are no text are refused', async () => {
  const { code, stderr } = await reprise(['explain', fileWith('bytes.yaml', new Uint8Array([0xff, 0xfe, 0x00]))])
  expect(code).toBe(2)
  expect(stderr).toContain('not UTF-8 text')
})

test('a reader that leaves early is no fault', async () => {
  const file = fileWith('long.yaml', 'attempts: 1000\n')
  const child = spawn(process.execPath, [bin, 'explain', file, '--json'], { cwd: directory, env: plainEnv })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdout.destroy()
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test.runIf(existsSync('/dev/full'))('output that cannot be written is said in a line, with exit code 74', async () => {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [bin, 'explain', fileWith('full.yaml', GOOD)], {
    cwd: directory,
    env: plainEnv,
    stdio: ['ignore', full, 'pipe'],
  })
  closeSync(full)
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect({ code, stderr }).toEqual({
    code: 74,
    stderr: 'reprise: the output cannot be written: no space left on device\n',
  })
})
