/** How commands are called, and what becomes of what they answer and throw. */
import { rmSync } from 'node:fs'
import path from 'node:path'
import { NoPolicyError } from 'reprise'
import { LedgerError, TaskRefusedError } from 'reprise/durable'
import { expect, test } from 'vitest'
import type { CommandEntry, ParsedArguments } from './command.js'
import type { CommandContext } from './command-context.js'
import { COMMAND_GROUPS } from './commands/command-table.js'
import type { ExitCode } from './exit-codes.js'
import { reportFailure } from './failure-report.js'
import { RefusedError, StoreError, UsageError } from './failures.js'
import { runProgram } from './program.js'
import type { ProcessIo } from './process-io.js'

interface Call {
  readonly name: string
  readonly given: ParsedArguments
  readonly settings: CommandContext['settings']
}

type Answer = () => ExitCode | void

/** Every command of the table, with something else behind it. */
function standIns(calls: Call[], answer: Answer) {
  const standIn = (entry: CommandEntry, above: string): CommandEntry => {
    const name = above === '' ? entry.name : `${above} ${entry.name}`
    if (entry.subcommands !== undefined) {
      return { ...entry, subcommands: entry.subcommands.map((one) => standIn(one, name)) }
    }
    const run = async (given: ParsedArguments, { settings }: CommandContext): Promise<ExitCode | void> => {
      calls.push({ name, given, settings })
      return answer()
    }
    return { ...entry, load: () => Promise.resolve({ run }) }
  }
  return COMMAND_GROUPS.map((group) => ({ ...group, commands: group.commands.map((entry) => standIn(entry, '')) }))
}

async function call(args: readonly string[], answer: Answer = () => undefined, env: ProcessIo['env'] = {}) {
  const calls: Call[] = []
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
  const stdin = (async function* (): AsyncGenerator<string> {})()
  const io = { stdin, stdout: output('stdout'), stderr: output('stderr'), env }
  const code = await runProgram(args, io, standIns(calls, answer))
  return { code, called: calls[0], calls: calls.length, ...written }
}

const throwing = (error: unknown): Answer => {
  return () => {
    throw error
  }
}

// ── what was typed ───────────────────────────────────────────────────────────────────────────────

test('values come by the names of the table, options by their names in camelCase', async () => {
  const { called } = await call(['run', 'flow.yaml', '--param', 'a=1', '--run-id', 'x', '--param', 'b=2', '--dry-run'])
  expect(called?.given).toEqual({
    values: { file: 'flow.yaml' },
    options: { param: ['a=1', 'b=2'], runId: 'x', dryRun: true },
  })
})

test('a value that may be missing is undefined, and a list is a list', async () => {
  expect((await call(['show', 'r1'])).called?.given.values).toEqual({ run: 'r1', step: undefined })
  expect((await call(['validate', 'a', 'b'])).called?.given.values).toEqual({ files: ['a', 'b'] })
})

test.each([
  [['exec', '--', 'ls', '-la', '--json'], { command: ['ls', '-la', '--json'] }, {}],
  [['exec', '--jitter', '--', 'ls', '--', '-q'], { command: ['ls', '--', '-q'] }, { jitter: true }],
  [
    ['exec', '--jitter', 'full', '--attempts', '3', '--', 'ls', '-V'],
    { command: ['ls', '-V'] },
    { jitter: 'full', attempts: '3' },
  ],
])('%o: what stands after -- is the command, whatever it looks like', async (args, values, options) => {
  const { called } = await call(args)
  expect(called?.given).toEqual({ values, options })
  expect(called?.settings.json).toBe(false)
})

test('a subcommand is called with its own values', async () => {
  const { called } = await call(['breakers', 'reset', 'warehouse', '--reason', 'it is back'])
  expect(called).toMatchObject({
    name: 'breakers reset',
    given: { values: { name: 'warehouse' }, options: { reason: 'it is back' } },
  })
})

test.each([
  [['rum', 'x'], 'Did you mean run?\nTry `reprise --help`.'],
  [['resume', '--reset-retry'], 'Did you mean --reset-retries?\nTry `reprise resume --help`.'],
  [['ps', '--state', 'runing'], 'Did you mean running?\nTry `reprise ps --help`.'],
  [['init', '--template', 'shel'], 'Did you mean shell?'],
  [['exec', '--backoff', 'exponentail', '--', 'true'], 'Did you mean exponential?'],
  [['explain', '--jitter', 'ful'], 'Did you mean full?'],
  [['simulate', '--fault', 'hnag'], 'Did you mean hang?'],
  [['breakers', 'rest', 'x'], 'Did you mean reset?\nTry `reprise breakers --help`.'],
  [['breakers', 'reset'], "missing required argument 'name'\nTry `reprise breakers reset --help`."],
])('%o suggests the nearest, and where help is', async (args, said) => {
  const { code, calls, stderr } = await call(args)
  expect({ code, calls }).toEqual({ code: 2, calls: 0 })
  expect(stderr).toContain(said)
})

test('what was typed wrongly reaches no terminal as a command', async () => {
  const { stderr } = await call(['\u001b[31mexplain'])
  expect(stderr).not.toContain('\u001b')
})

// ── settings ─────────────────────────────────────────────────────────────────────────────────────

test('the store is that of the flag, else of the variable, else in the working directory', async () => {
  const storeOf = async (args: string[], env: ProcessIo['env']): Promise<unknown> =>
    (await call(args, undefined, env)).called?.settings.store
  expect(await storeOf(['ps'], {})).toBe('sqlite:.reprise/ledger.db')
  expect(await storeOf(['ps'], { REPRISE_STORE: 'memory:' })).toBe('memory:')
  expect(await storeOf(['ps', '--store', 'sqlite:x.db'], { REPRISE_STORE: 'memory:' })).toBe('sqlite:x.db')
})

test('--json is for those that set REPRISE_NDJSON for all commands, too', async () => {
  const settingsOf = async (...args: string[]): Promise<unknown> =>
    (await call(['ps', ...args], undefined, { REPRISE_NDJSON: '1' })).called?.settings
  expect(await settingsOf()).toMatchObject({ json: false, ndjson: true })
  expect(await settingsOf('--json')).toMatchObject({ json: true, ndjson: false })
})

// ── how it ends ──────────────────────────────────────────────────────────────────────────────────

test.each([0, 1, 3, 130, 143] as const)('a command that answers %d ends with it', async (code) => {
  expect(await call(['ps'], () => code)).toMatchObject({ code, stderr: '' })
})

const refused = new RefusedError({
  kind: 'locked',
  message: 'run r1 is held by pid 12 on \u001b[31mhost',
  details: ['since 3m'],
  next: [['watch', 'r1']],
})

test('a refusal is exit code 4, with what to type next', async () => {
  const { code, stdout, stderr } = await call(['resume', 'r1'], throwing(refused))
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
  expect(stderr).toBe('refused: run r1 is held by pid 12 on host\n  since 3m\n  next: reprise watch r1\n')
})

test('on a terminal a refusal is broken between words, and its command stays one', async () => {
  let said = ''
  const stderr = { write: (text: string) => (said += text), isTTY: true, columns: 40 }
  const refusal = new RefusedError({
    kind: 'exhausted',
    message: 'Failed for good: invoice (breaker_open after 3 attempts).',
    next: [['resume', 'mails-of-the-first-of-january', '--reset-retries']],
  })
  const output = { json: false, ndjson: false, color: 'never' as const }
  expect(reportFailure(refusal, { stdout: stderr, stderr, env: {} }, output)).toBe(4)
  expect(said).toBe(
    [
      'refused: Failed for good: invoice',
      '(breaker_open after 3 attempts).',
      '  next: reprise resume \\',
      '         mails-of-the-first-of-january \\',
      '          --reset-retries',
      '',
    ].join('\n'),
  )
})

test('a refusal is data with --json, and a line of it with --ndjson', async () => {
  const data = {
    refused: { kind: 'locked', message: refused.message, details: ['since 3m'], next: ['reprise watch r1'] },
  }
  const json = await call(['resume', '--json'], throwing(refused))
  expect(json).toMatchObject({ code: 4, stderr: '' })
  expect(JSON.parse(json.stdout)).toEqual(data)
  const { stdout } = await call(['resume', '--ndjson'], throwing(refused))
  expect(stdout.split('\n')).toHaveLength(2)
  expect(JSON.parse(stdout)).toEqual(data)
})

test.each([
  [new StoreError('disk full: ledger.db', 'make room'), 74, 'error: disk full: ledger.db\n  hint: make room\n'],
  [new LedgerError('corrupt', 'a row is not what was written'), 74, 'error: a row is not what was written\n'],
  [new LedgerError('newer_format', 'format 9, this knows 3'), 4, 'refused: format 9, this knows 3\n'],
  [
    new TaskRefusedError('policy_changed', 'fetch was begun with another policy', [
      { field: 'attempts', from: 3, to: 5 },
    ]),
    4,
    'refused: fetch was begun with another policy\n  attempts: was 3, is 5\n',
  ],
  [new TaskRefusedError('not_waiting', 'fetch does not wait'), 4, 'refused: fetch does not wait\n'],
  [new UsageError('--amount: "x" is not a number'), 2, 'error: --amount: "x" is not a number\n'],
])('%o ends with %d', async (error, code, said) => {
  expect(await call(['ps'], throwing(error))).toMatchObject({ code, stdout: '', stderr: said })
})

test.each([new LedgerError('closed', 'closed'), new TaskRefusedError('closed', 'closed'), new NoPolicyError('x')])(
  'what a command should have caught is a bug of ours: %o',
  async (error) => {
    const { code, stderr } = await call(['ps'], throwing(error))
    expect(code).toBe(70)
    rmSync(path.dirname(/with (.*)\n/.exec(stderr)?.[1] ?? ''), { recursive: true })
  },
)
