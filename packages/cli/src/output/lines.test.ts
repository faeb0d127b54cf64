import { expect, test } from 'vitest'
import type { EventView, RunEvent } from '@reprise/workflow'
import {
  EVIL,
  EXIT_75,
  PIPE,
  REFUSED,
  runFinished,
  runStarted,
  START,
  stepEvent,
  STORY,
} from '../testing/sample-run.js'
import { withDates } from '@reprise/workflow/internal'
import { RunLines } from './lines.js'
import { reporterFor } from './run-reporter.js'
import type { Settings } from '../settings.js'

function linesOf(events: readonly RunEvent[], display: { quiet?: boolean; verbose?: boolean } = {}): string[] {
  const lines = new RunLines({ ...PIPE, ...display })
  return events.flatMap((event) => lines.linesOf(event))
}

const failed = stepEvent('step_finished', 'send', {
  state: 'failed',
  attempt: 5,
  stopReason: 'attempts_exhausted',
  failure: EXIT_75,
})

// ── what is said ─────────────────────────────────────────────────────────────────────────────────

test('a retry names the attempt to come, the wait and the cause', () => {
  const waiting = stepEvent('waiting', 'fetch', { attempt: 2, delayMs: 1234, failure: REFUSED })
  expect(linesOf([waiting])).toEqual(['Retrying fetch (attempt 2/5) after 1.2s: connect ECONNREFUSED 10.0.0.1:443'])
  expect(linesOf([{ ...waiting, failure: null }])).toEqual(['Retrying fetch (attempt 2/5) after 1.2s'])
})

test.each([
  [failed, ['FAILED send after 5 attempts (attempts_exhausted): exit code 75: no route']],
  [
    { ...failed, attempt: 1, stopReason: 'not_retryable' },
    ['FAILED send after 1 attempt (not_retryable): exit code 75: no route'],
  ],
  [
    { ...failed, continued: true },
    ['FAILED send after 5 attempts (attempts_exhausted; the run goes on): exit code 75: no route'],
  ],
  [
    { ...failed, attempt: 3, stopReason: 'retry_budget_exhausted' },
    [
      'Retry budget exhausted for send',
      'FAILED send after 3 attempts (retry_budget_exhausted): exit code 75: no route',
    ],
  ],
  [stepEvent('step_finished', 'fetch'), ['ok fetch (1.2s)']],
  [
    stepEvent('step_finished', 'fetch', { state: 'recovered', attempt: 3, waitedMs: 3000 }),
    ['ok fetch (recovered at attempt 3/5, waited 3s)'],
  ],
  [
    stepEvent('step_finished', 'charge', { state: 'undecided', attempt: 2, stopReason: 'interrupted' }),
    ['UNDECIDED charge: attempt 2/5 was interrupted, and it is not known whether it took effect'],
  ],
  [stepEvent('step_finished', 'fetch', { state: 'cancelled' }), ['Cancelled fetch']],
  [stepEvent('step_skipped', 'fetch'), ['Skipped fetch: `when` is false: size(items) > 0']],
  [stepEvent('parked', 'fetch', { attempt: 2 }), ['Parked fetch (attempt 2/5): waiting in the queue of budget api']],
  [stepEvent('fallback_started', 'fetch'), ['Running the fallback of fetch']],
  [stepEvent('attempt_started', 'fetch'), ['Running fetch']],
  [runStarted(['a', 'b']), ['Starting run nightly-7: import, 2 steps']],
  [runStarted(['a'], { resumes: 1 }), ['Resuming run nightly-7: import, 0 of 1 step done']],
  [
    { type: 'breaker_changed', timeMs: START, run: 'r', breaker: 'api', from: 'closed', to: 'open' },
    ['Breaker api is open (was closed)'],
  ],
  [
    { type: 'budget_denied', timeMs: START, run: 'r', step: 'fetch', budget: 'api', reason: 'count_exhausted' },
    ['Budget api denies fetch: count_exhausted'],
  ],
  [
    { type: 'store_away', timeMs: START, run: 'r', store: 'postgres://h/db', reason: 'connect ECONNREFUSED' },
    ['The store postgres://h/db does not answer (connect ECONNREFUSED): what is to be recorded waits for it'],
  ],
  [
    { type: 'store_back', timeMs: START, run: 'r', store: 'postgres://h/db', awayMs: 61_500 },
    ['The store postgres://h/db answers again, after 1m2s'],
  ],
  [stepEvent('output', 'fetch'), []],
  [runFinished(), []],
] as readonly [RunEvent, string[]][])('%o reads so', (event, said) => {
  expect(linesOf([event])).toEqual(said)
})

test('an attempt that was announced as a retry is not announced again, but with -v', () => {
  const story = [
    stepEvent('attempt_started', 'fetch'),
    stepEvent('attempt_failed', 'fetch', { timedOut: true }),
    stepEvent('waiting', 'fetch', { attempt: 2 }),
    stepEvent('attempt_started', 'fetch', { attempt: 2 }),
  ]
  const retry = 'Retrying fetch (attempt 2/5) after 1s: connect ECONNREFUSED 10.0.0.1:443'
  expect(linesOf(story)).toEqual(['Running fetch', retry])
  expect(linesOf(story, { verbose: true })).toEqual([
    'Running fetch',
    'Attempt 1/5 of fetch timed out after 100ms: connect ECONNREFUSED 10.0.0.1:443',
    retry,
    'Running fetch (attempt 2/5)',
  ])
  // After a resume the first that is heard of it may be its second attempt.
  expect(linesOf(story.slice(3))).toEqual(['Running fetch (attempt 2/5)'])
})

test('a fallback is announced once, and its end is told by its name', () => {
  const steps = [{ id: 'fetch', name: 'Fetch the items', state: 'pending' as const }]
  const fallback = { id: 'fetch.fallback', name: 'fallback of Fetch the items' }
  const story = [
    runStarted([], { steps }),
    stepEvent('fallback_started', 'fetch', { fallback }),
    stepEvent('attempt_started', fallback.id, { attempts: 1 }),
  ]
  expect(linesOf([...story, stepEvent('step_finished', fallback.id, { attempts: 1 })]).slice(1)).toEqual([
    'Running the fallback of Fetch the items',
    'ok fallback of Fetch the items (1.2s)',
  ])
  const failure = stepEvent('step_finished', fallback.id, { attempts: 1, state: 'failed', failure: REFUSED })
  expect(linesOf([...story, failure], { quiet: true })).toEqual([
    'FAILED fallback of Fetch the items after 1 attempt: connect ECONNREFUSED 10.0.0.1:443',
  ])
})

test('steps go by their names, which the start of the run tells', () => {
  const steps = [{ id: 'fetch', name: 'Fetch the items', state: 'pending' as const }]
  expect(linesOf([runStarted([], { steps }), stepEvent('step_finished', 'fetch')])[1]).toBe('ok Fetch the items (1.2s)')
})

test('quiet says final failures and nothing else', () => {
  expect(linesOf([...STORY, runFinished()], { quiet: true })).toEqual([
    'FAILED send after 5 attempts (attempts_exhausted; the run goes on): exit code 75: no route',
  ])
  const spent = { ...failed, stopReason: 'retry_budget_exhausted' as const }
  expect(linesOf([spent], { quiet: true })).toHaveLength(1)
})

test('what a terminal would obey is not in a line', () => {
  const evil = { name: 'Error', message: EVIL }
  const said = linesOf(
    [
      runStarted([EVIL], { name: EVIL }),
      stepEvent('waiting', EVIL, { failure: evil }),
      stepEvent('step_finished', EVIL, { state: 'failed', failure: evil }),
      stepEvent('step_skipped', EVIL, { reason: EVIL }),
      stepEvent('parked', EVIL, { budget: EVIL }),
      { type: 'breaker_changed', timeMs: START, run: EVIL, breaker: EVIL, from: EVIL, to: EVIL },
    ],
    { verbose: true },
  )
  expect(said).toHaveLength(6)
  for (const line of said) expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e]/u)
})

// ── who tells ────────────────────────────────────────────────────────────────────────────────────

const SETTINGS: Settings = {
  store: 'memory:',
  json: false,
  ndjson: false,
  quiet: false,
  verbose: false,
  color: 'auto',
  input: false,
}

const NOWHERE = { step: null, attempt: null, attemptsAllowed: null, correlationId: null }
const RECORDED: readonly EventView[] = [
  { timeMs: START, type: 'run_started', run: 'r1', ...NOWHERE, detail: { kind: 'workflow', name: 'n' } },
  { timeMs: START + 5, type: 'run_finished', run: 'r1', ...NOWHERE, detail: { status: 'failed' } },
]

function reported(settings: Partial<Settings>, isTTY: boolean, env: Record<string, string> = {}, live?: boolean) {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => (written[name] += text),
    ...(isTTY && { isTTY, columns: 80, rows: 24 }),
  })
  const io = { stdin: (async function* () {})(), stdout: output('stdout'), stderr: output('stderr'), env }
  const ticks: (() => void)[] = []
  const clock = { nowMs: () => START, every: (_: number, tick: () => void) => (ticks.push(tick), () => undefined) }
  const reporter = reporterFor(io, { ...SETTINGS, ...settings }, { clock, ...(live !== undefined && { live }) })
  for (const event of STORY) reporter.tell(event)
  for (const event of RECORDED) reporter.record?.(event)
  reporter.say('note: said')
  for (const tick of ticks) tick()
  void reporter.end()
  return { ...written, isLive: ticks.length > 0 }
}

test('a terminal gets a live view; a pipe, CI, NO_COLOR, -v and -q get lines', () => {
  expect(reported({}, true)).toMatchObject({ isLive: true, stdout: '' })
  for (const [settings, isTTY, env] of [
    [{}, false, {}],
    [{}, true, { CI: 'true' }],
    [{}, true, { NO_COLOR: '1' }],
    [{ verbose: true }, true, {}],
    [{ quiet: true }, true, {}],
  ] as const) {
    const { isLive, stdout, stderr } = reported(settings, isTTY, env)
    expect({ isLive, stdout }).toEqual({ isLive: false, stdout: '' })
    expect(stderr).toContain('FAILED')
    expect(stderr.includes('note: said')).toBe(!('quiet' in settings))
  }
  expect(reported({}, true, {}, false).isLive).toBe(false)
})

test('--ndjson writes every recorded event to stdout as it is, a line each, and nobody else is given any', () => {
  const { stdout, stderr } = reported({ ndjson: true }, true)
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as EventView)
  expect(events).toEqual(RECORDED.map(withDates))
  expect(stderr).toBe('note: said\n')
  expect(reported({}, false).stdout).toBe('')
})
