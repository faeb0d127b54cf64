/** `reprise simulate` as people run it: the built bin, in a process of its own. Needs a build. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const bin = fileURLToPath(new URL('../../packages/cli/bin/reprise.js', import.meta.url))
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-storm-'))
afterAll(() => rmSync(directory, { recursive: true }))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Without the variables that change how it looks. */
const { NO_COLOR: _, CI: __, FORCE_COLOR: ___, ...plainEnv } = process.env

/** A storm that takes a moment only. */
const SMALL = ['--clients', '20', '--capacity', '200', '--outage', '10s']

function simulate(args: readonly string[], stdin = '', env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [bin, 'simulate', ...args], { cwd: directory, env: { ...plainEnv, ...env } })
    const written = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text))
    }
    child.stdin.on('error', () => undefined)
    child.stdin.end(stdin)
    child.on('close', (code) => resolve({ code, ...written }))
  })
}

function fileWith(name: string, text: string): string {
  writeFileSync(path.join(directory, name), text)
  return name
}

interface Data {
  readonly scenario: Record<string, unknown>
  readonly seed: number
  readonly policies: readonly {
    readonly name: string
    readonly isSubject: boolean
    readonly recoveryMs: number | null
    readonly amplification: { readonly worst: number }
    readonly seconds: { readonly calls: readonly number[] }
  }[]
  readonly notes: readonly string[]
}

async function data(args: readonly string[], stdin = ''): Promise<Data> {
  const { code, stdout, stderr } = await simulate([...SMALL, ...args, '--json'], stdin)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Data
}

const STORMY = `retry:
  attempts: 5
  initial_delay: 100ms
  max_delay: 5s
  jitter: full
  attempt_timeout: 1s
  timeout: 10s
`
const BUDGET = 'budgets:\n  api: { type: adaptive, bulkhead: true }\n'

// ── what is shown ────────────────────────────────────────────────────────────────────────────────

test('help starts with examples, and says what the columns are', async () => {
  const { code, stdout } = await simulate(['--help'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Examples:\n {2}reprise simulate /)
  for (const part of ['--fault', '--svg', 'goodput', 'recoveryMs']) expect(stdout).toContain(part)
})

test('without a policy the recommended one is shown first, and exponential-5 is seen to collapse', async () => {
  const { code, stdout, stderr } = await simulate(SMALL)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^20 clients offer 150 calls\/s to a server for 200\/s, which hangs for 10s\.\n/)
  expect(stdout).toMatch(/^> recommended +\d/m)
  expect(stdout).toMatch(/^ {2}exponential-5 +[\d.]+× +[\d.]+× +NEVER /m)
  expect(stdout).toMatch(/^ {9}## useful {3}:: attempts beyond that {3}-- calls offered {3}== hang$/m)
  expect(stdout).toMatch(/exponential-5.* never recover/)
  expect(stdout).toMatch(/^ {2}next: `reprise simulate policy\.yaml`/m)
})

test('a pipe gets plain lines without controls, and -q the table only', async () => {
  const { stdout } = await simulate([...SMALL, '--compare', 'none'])
  // oxlint-disable-next-line no-control-regex -- controls are what must not be there
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|[█░▸━]/)
  const quiet = await simulate([...SMALL, '--compare', 'none', '-q'])
  expect(quiet.stdout.trimEnd().split('\n')).toHaveLength(3)
  expect((await simulate([...SMALL, '--compare', 'none', '--color', 'always'])).stdout).toContain('\u001b[')
})

test('a budget of the same file keeps a policy from collapsing', async () => {
  const bare = await simulate([fileWith('storm.yaml', STORMY), ...SMALL, '--compare', 'none'])
  expect(bare.stdout).toMatch(/^> yours .* NEVER /m)
  expect(bare.stdout).toMatch(/^ {2}Collapses: after the hang the server stays overloaded/m)
  const kept = await simulate([
    fileWith('kept.yaml', `${STORMY}  budget: api\n${BUDGET}`),
    ...SMALL,
    '--compare',
    'none',
  ])
  expect(kept.stdout).toContain('asks budget api (adaptive, bulkhead)')
  expect(kept.stdout).not.toContain('NEVER')
})

test('a policy of flags, and flags over a file', async () => {
  const flags =
    '--attempts 5 --backoff exponential --initial-delay 100ms --max-delay 5s --jitter full --attempt-timeout 1s'
  const made = await data([...flags.split(' '), '--timeout', '10s', '--compare', 'exponential-5'])
  const [yours, same] = made.policies
  expect(yours?.recoveryMs).toBeNull()
  expect(yours?.seconds).toEqual(same?.seconds)
  const file = fileWith('over.yaml', STORMY)
  expect((await data([file, '--budget', 'adaptive', '--compare', 'none'])).policies[0]?.recoveryMs).not.toBeNull()
  const stdin = await data(['-', '--attempts', '1', '--compare', 'none'], STORMY)
  expect(stdin.policies[0]?.amplification.worst).toBe(1)
})

test('a budget that nobody defines is noted', async () => {
  const { notes } = await data(['-', '--compare', 'none'], `${STORMY}  budget: apis\n${BUDGET}`)
  expect(notes).toEqual([expect.stringContaining('Budget apis is not defined here')])
})

test('explain goes on without the section, and says so', async () => {
  const child = spawn(process.execPath, [bin, 'explain', '-'], { env: plainEnv })
  let written = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (written += text))
  child.stdin.end(`attempts: 4\nbudget: api\n${BUDGET}`)
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
  expect(written).toContain('up to 4 attempts')
  expect(written).toContain('Not looked at: `budgets`.')
})

// ── data and pictures ────────────────────────────────────────────────────────────────────────────

test('--json is the scenario, the seed and the reports, the same bytes for the same seed', async () => {
  const args = [...SMALL, '--compare', 'no-retry,recommended', '--fault', 'capacity', '--seed', '7', '--json']
  const [one, other] = [await simulate(args), await simulate(args)]
  expect(one).toMatchObject({ code: 0, stderr: '' })
  expect(other.stdout).toBe(one.stdout)
  const { scenario, seed, policies } = JSON.parse(one.stdout) as Data
  expect({ scenario, seed }).toMatchObject({
    scenario: { fault: 'capacity', amount: 0.5, during: '10s', serviceTime: '20ms' },
    seed: 7,
  })
  expect(policies.map(({ name, isSubject }) => [name, isSubject])).toEqual([
    ['recommended', true],
    ['none', false],
  ])
  expect(policies[0]?.seconds.calls).toHaveLength(160)
})

/** Whether every tag that is opened is closed, in order, and nothing stands outside. */
function isWellFormed(xml: string): boolean {
  const open: string[] = []
  const rest = xml.replaceAll(
    /<(\/?)([a-z]+)((?:\s[\w:]+="[^"<]*")*)\s*(\/?)>/g,
    (_tag, end, name: string, _v, empty) => {
      if (end === '/' && open.pop() !== name) open.push('wrong')
      if (end === '' && empty === '') open.push(name)
      return ''
    },
  )
  return open.length === 0 && !/[<]|&(?!amp;|lt;|gt;|quot;)/.test(rest)
}

test('--svg is well-formed XML, the same bytes for the same seed', async () => {
  const args = [fileWith('a<b>&"c.yaml', STORMY), ...SMALL, '--compare', 'none,recommended', '--svg']
  const first = await simulate([...args, 'one.svg'])
  expect(first).toMatchObject({ code: 0, stderr: 'one.svg is written.\n' })
  expect(first.stdout).toContain('yours')
  const picture = readFileSync(path.join(directory, 'one.svg'), 'utf8')
  expect(picture).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
  expect(isWellFormed(picture)).toBe(true)
  expect((await simulate([...args, '-'])).stdout).toBe(picture)
})

// ── what is wrong ────────────────────────────────────────────────────────────────────────────────

test.each<[string[], string]>([
  [['--fault', 'hnag'], '--fault: "hnag" is not one of none, hang,'],
  [['--compare', 'exponental-5'], 'did you mean `exponential-5`?'],
  [['--compare', 'zzzzzz'], 'they are none,'],
  [['--budget', 'adaptve'], 'did you mean `adaptive`?'],
  [['--budget', 'token_bucket'], '--budget: token_bucket needs `capacity` and `refill_per_second`'],
  [['--jitter', 'ful'], 'Did you mean full?'],
  [['--attempts', '0'], '--attempts: 0 is not a whole number from 1 to 1000'],
  [['--clients', '0'], '--clients: 0 is not a number from 1 to 100000'],
  [['--clients', '1.5'], '--clients: 1.5 is not a whole number'],
  [['--fail-rate', '2'], '--fail-rate: 2 is not a number from 0 to 1'],
  [['--fail-rate', '20%'], 'write it as a share of 1: 0.2'],
  [['--load', '-1'], '--load: -1 is not a number'],
  [['--outage', '48h'], '--outage: 2d is not a duration'],
  [['--queue', 'long'], '--queue: "long" is not a duration'],
  [['--service-time', '0ms'], '--service-time: 0ms is not a duration'],
  [['--fault', 'capacity', '--amount', '2'], '--amount: 2 is not a number from 0 to 1'],
  [['--seed', 'x'], '--seed: "x" is not a number'],
  [['--capacity', '1000000'], 'are too many'],
  [['--svg', '-', '--compare', 'none', '--atempts', '3'], 'Did you mean --attempts?'],
  [['nowhere.yaml'], 'nowhere.yaml: error: no such file'],
  [['-', 'step'], 'has no steps'],
])('%o is refused with exit code 2, and nothing on stdout', async (args, said) => {
  const { code, stdout, stderr } = await simulate(args, 'attempts: 3')
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(said)
})

test('what is wrong with policy and budgets is told at once, with lines', async () => {
  const text = 'attempts: 0\nbudget: api\nbudgets:\n  api: { type: adaptiv }\n  b: { type: ratio, ratio: -1 }\n'
  const { code, stdout, stderr } = await simulate(['-'], text)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatchInlineSnapshot(`
    "<stdin>:1:11: error: attempts: 0 is not a whole number from 1 to 1000
        1 │ attempts: 0
          │           ^

    <stdin>:4:16: error: budgets.api.type: "adaptiv" is not one of unlimited, token_bucket, ratio, count, concurrency, adaptive
        4 │   api: { type: adaptiv }
          │                ^
      hint: did you mean \`adaptive\`?

    <stdin>:5:28: error: budgets.b.ratio: -1 is not a finite number of 0 or more such as 0.1
        5 │   b: { type: ratio, ratio: -1 }
          │                            ^
    "
  `)
})

test('with --json problems are data; both on stdout is refused', async () => {
  const { code, stdout } = await simulate(['--fault', 'x', '--json'])
  expect(code).toBe(2)
  expect(JSON.parse(stdout)).toMatchObject({ problems: [{ message: expect.stringContaining('--fault: "x"') }] })
  const both = await simulate(['--svg', '-', '--json'])
  expect(both.code).toBe(2)
  expect(JSON.parse(both.stdout)).toMatchObject({ problems: [{ message: '--svg - and --json both want stdout' }] })
})

test.each([
  ['nowhere/storm.svg', 'there is no such directory'],
  ['.', 'this is a directory'],
])(
  'a picture that cannot be written to %s ends with exit code 74, and nothing is said on stdout',
  async (file, why) => {
    const { code, stdout, stderr } = await simulate([...SMALL, '--compare', 'none', '--svg', file])
    expect({ code, stdout, stderr }).toEqual({
      code: 74,
      stdout: '',
      stderr: `${file}: error: cannot be written: ${why}\n`,
    })
  },
)

test.runIf(existsSync('/dev/full'))('a full disk is told from a wrong path', async () => {
  const { code, stderr } = await simulate([...SMALL, '--compare', 'none', '--svg', '/dev/full'])
  expect({ code, stderr }).toEqual({ code: 74, stderr: '/dev/full: error: cannot be written: no space is left\n' })
})

test('a picture is not written over a file that is none', async () => {
  const policy = fileWith('kept.yaml', 'attempts: 3\n')
  const { code, stderr } = await simulate([...SMALL, '--compare', 'none', '--svg', policy])
  expect(code).toBe(2)
  expect(stderr).toContain('is no picture')
  expect(readFileSync(path.join(directory, policy), 'utf8')).toBe('attempts: 3\n')
})
