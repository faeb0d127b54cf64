import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { RunEvent } from '@reprise/workflow'
import type { StepAttempt } from '@reprise/workflow/internal'
import { afterAll, describe, expect, test } from 'vitest'
import type { Settings } from '../settings.js'
import { EXIT_75, runStarted, stepEvent } from '../testing/sample-run.js'
import { type OutputMode, outputModeOf } from '../output-mode.js'
import { reporterFor, type RunReporter } from './run-reporter.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-output-'))
afterAll(() => rmSync(directory, { recursive: true }))

const SETTINGS: Settings = {
  ...{ store: 'memory:', json: false, ndjson: false, quiet: false, verbose: false, color: 'auto', input: false },
}

interface Told {
  readonly stdout: string
  readonly stderr: string
}

/** The text written while `act` reports events of a run. */
async function told(
  mode: OutputMode,
  act: (reporter: RunReporter) => void,
  more: { readonly settings?: Partial<Settings>; readonly env?: Record<string, string>; readonly isTTY?: boolean } = {},
): Promise<Told> {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => (written[name] += text),
    ...(more.isTTY && { isTTY: true, columns: 80, rows: 24 }),
  })
  const io = {
    ...{ stdin: (async function* () {})(), stdout: output('stdout'), stderr: output('stderr'), env: more.env ?? {} },
  }
  const reporter = reporterFor(io, { ...SETTINGS, ...more.settings }, { output: mode })
  act(reporter)
  await reporter.end()
  return written
}

let logs = 0
function logWith(content: string): string {
  const file = path.join(directory, `${++logs}.log`)
  writeFileSync(file, content)
  return file
}

const FETCH: StepAttempt = { step: 'fetch', attempt: 1, execution: 1 }
const failed = (fields: Partial<Extract<RunEvent, { type: 'attempt_failed' }>> = {}): RunEvent =>
  stepEvent('attempt_failed', 'fetch', { failure: EXIT_75, ...fields })
const finished = (fields: Partial<Extract<RunEvent, { type: 'step_finished' }>> = {}): RunEvent =>
  stepEvent('step_finished', 'fetch', {
    ...{ state: 'failed', stopReason: 'attempts_exhausted', failure: EXIT_75 },
    ...fields,
  })

/** The whole of one failing attempt. */
function failing(reporter: RunReporter, content: string): void {
  reporter.tell(runStarted(['fetch']))
  reporter.tell(stepEvent('attempt_started', 'fetch'))
  void reporter.output.onBytes?.(FETCH, 'stdout', Buffer.from(content))
  reporter.output.onEnd(FETCH, logWith(content))
  reporter.tell(failed())
  reporter.tell(finished())
}

const GITHUB = { env: { CI: 'true', GITHUB_ACTIONS: 'true' } }

test.each<[OutputMode, OutputMode | undefined, Partial<Settings>, Record<string, string>]>([
  ['grouped', undefined, {}, { CI: 'true' }],
  ['failed', undefined, {}, {}],
  ['stream', undefined, { verbose: true }, {}],
  ['grouped', undefined, { verbose: true }, { CI: '1' }],
  ['failed', undefined, { quiet: true }, { CI: '1' }],
  ['none', undefined, { ndjson: true }, { CI: '1' }],
  ['stream', 'stream', { quiet: true, ndjson: true }, { CI: '1' }],
])('%s is the way for %s with %o and %o', (mode, given, settings, env) => {
  expect(outputModeOf(given, { ...SETTINGS, ...settings }, env)).toBe(mode)
})

describe('grouped', () => {
  test('shows the whole output of an attempt at once, under its name', async () => {
    const { stderr } = await told('grouped', (reporter) => failing(reporter, 'one\ntwo'))
    expect(stderr).toBe(
      'Starting run nightly-7: import, 1 step\nRunning fetch\n── fetch (attempt 1/5) ──\none\ntwo\n' +
        'FAILED fetch after 1 attempt (attempts_exhausted): exit code 75: no route\n',
    )
  })

  test('keeps the output of steps that run at once apart, and what is said meanwhile', async () => {
    const { stderr } = await told('grouped', (reporter) => {
      reporter.output.onEnd({ ...FETCH, step: 'a' }, logWith('a\n'.repeat(50_000)))
      reporter.output.onEnd({ ...FETCH, step: 'b' }, logWith('b\n'.repeat(50_000)))
      reporter.tell(stepEvent('step_finished', 'a'))
    })
    expect(stderr.replaceAll(/([ab]\n)\1+/g, '$1')).toBe('── a ──\na\n── b ──\nb\nok a (1.2s)\n')
  })

  test('says nothing of an attempt that wrote nothing', async () => {
    expect((await told('grouped', (reporter) => reporter.output.onEnd(FETCH, null))).stderr).toBe('')
  })

  test('folds it under GitHub Actions, where what failed is shown below and annotated', async () => {
    const { stderr } = await told('grouped', (reporter) => failing(reporter, '::error::evil\n'), GITHUB)
    const word = /[\da-f-]{36}/g
    expect(
      stderr
        .replaceAll(word, 'WORD')
        .replace(directory, '')
        .replace(/\d+\.log/, 'N.log'),
    ).toBe(
      `Starting run nightly-7: import, 1 step
Running fetch
::group::fetch (attempt 1/5)
::stop-commands::WORD
::error::evil
::WORD::
::endgroup::
::stop-commands::WORD
Output of fetch (attempt 1/5), log: /N.log
  │ ::error::evil
::WORD::
FAILED fetch after 1 attempt (attempts_exhausted): exit code 75: no route
::error title=Step fetch failed::after 1 attempt (attempts_exhausted): exit code 75: no route
`,
    )
  })
})

describe('stream', () => {
  test('shows whole lines under the name of their step, however they come', async () => {
    const { stderr } = await told('stream', (reporter) => {
      const [a, b] = [
        { ...FETCH, step: 'a' },
        { ...FETCH, step: 'b' },
      ]
      void reporter.output.onBytes?.(a, 'stdout', Buffer.from('one\nhalf of '))
      void reporter.output.onBytes?.(b, 'stdout', Buffer.from('other\n'))
      void reporter.output.onBytes?.(a, 'stderr', Buffer.from('error\n'))
      void reporter.output.onBytes?.(a, 'stdout', Buffer.from('two'))
      reporter.output.onEnd(a, 'log')
      reporter.output.onEnd(b, 'log')
    })
    expect(stderr).toBe('[a] one\n[b] other\n[a] error\n[a] half of two\n')
  })

  test('leaves nothing on a terminal that it would obey', async () => {
    const evil = Buffer.from('\u001b[2J\u001b[31mred\u001b[0m\r\n')
    const { stderr } = await told('stream', (reporter) => void reporter.output.onBytes?.(FETCH, 'stdout', evil), {
      isTTY: true,
      env: { NO_COLOR: '1' },
    })
    expect(stderr).toBe('[fetch] red\n')
  })

  test('is text for the runner of GitHub Actions', async () => {
    const evil = Buffer.from('::error::x\n')
    const { stderr } = await told('stream', (reporter) => void reporter.output.onBytes?.(FETCH, 'stdout', evil), GITHUB)
    expect(stderr).toMatch(/^::stop-commands::(\S+)\n\[fetch\] ::error::x\n::\1::\n$/)
  })
})

describe('failed', () => {
  const long = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join('')

  test('shows the last 20 lines of an attempt that failed, with its log', async () => {
    const { stderr } = await told('failed', (reporter) => failing(reporter, long))
    const lines = stderr.split('\n')
    expect(lines[2]).toMatch(/^Last lines of fetch \(attempt 1\/5\), log: .*\.log$/)
    expect(lines.slice(3, 23)).toEqual(Array.from({ length: 20 }, (_, index) => `  │ line ${index + 11}`))
    expect(lines[23]).toMatch(/^FAILED fetch/)
  })

  test('shows nothing of what succeeds', async () => {
    const { stderr } = await told('failed', (reporter) => {
      reporter.output.onEnd(FETCH, logWith(long))
      reporter.tell(stepEvent('step_finished', 'fetch'))
    })
    expect(stderr).toBe('ok fetch (1.2s)\n')
  })

  test('does not repeat a single line that the failure names', async () => {
    const { stderr } = await told('failed', (reporter) => failing(reporter, 'no route\n'))
    expect(stderr.split('\n').filter((line) => line.includes('no route'))).toHaveLength(1)
  })

  test('waits for the log of an attempt whose time was over', async () => {
    const { stderr } = await told('failed', (reporter) => {
      reporter.tell(failed({ timedOut: true }))
      reporter.tell(finished())
      reporter.output.onEnd(FETCH, logWith('late\n'))
    })
    expect(stderr).toMatch(/^FAILED fetch .*\nOutput of fetch \(attempt 1\/5\), log: .*\n {2}│ late\n$/)
  })

  test('shows with --quiet only what ended a step', async () => {
    const { stderr } = await told(
      'failed',
      (reporter) => {
        reporter.output.onEnd(FETCH, logWith('first\n'))
        reporter.tell(failed())
        reporter.output.onEnd({ ...FETCH, attempt: 2 }, logWith('second\n'))
        reporter.tell(failed({ attempt: 2 }))
        reporter.tell(finished({ attempt: 2 }))
      },
      { settings: { quiet: true } },
    )
    expect(stderr).toMatch(/^FAILED fetch .*\nOutput of fetch \(attempt 2\/5\), log: .*\n {2}│ second\n$/)
  })

  test('leaves the live view of a terminal, and the lines above it', async () => {
    const { stderr } = await told('failed', (reporter) => failing(reporter, 'oh no\n'), { isTTY: true })
    expect(stderr).toContain('oh no')
    expect(stderr).toContain('\u001b[K')
  })
})

test('none shows nothing, and failures are annotated all the same', async () => {
  expect((await told('none', (reporter) => failing(reporter, 'x\n'))).stderr).not.toContain('x\n')
  const { stderr } = await told('none', (reporter) => failing(reporter, 'x\n'), GITHUB)
  expect(stderr).toContain('::error title=Step fetch failed::')
})

test('a failure that the run goes on after is a warning', async () => {
  const { stderr } = await told('none', (reporter) => reporter.tell(finished({ continued: true })), GITHUB)
  expect(stderr).toContain('::warning title=Step fetch failed::')
})

test('--ndjson leaves stdout to the events, whatever is shown', async () => {
  const { stdout, stderr } = await told('stream', (reporter) => failing(reporter, 'x\n'), {
    settings: { ndjson: true },
  })
  expect([stdout, stderr]).toEqual(['', '[fetch] x\n'])
})
