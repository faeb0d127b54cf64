import { expect, test } from 'vitest'
import type { RunDetail } from '@reprise/workflow/internal'
import {
  attemptView,
  EVIL,
  EXIT_75,
  PIPE,
  REFUSED,
  runDetail,
  START,
  stepView,
  terminal,
} from '../../testing/sample-run.js'
import { textWidth } from '../width.js'
import { runAxis } from './run-axis.js'
import { runPage } from './run-page.js'
import { stepPage } from './step-page.js'
import { drawStep, paintStep } from './waterfall.js'

const HOUR = 3_600_000
/** It was killed, and resumed two hours later. */
const RESUMED = START + 2 * HOUR
const NOW = RESUMED + 60_000

const load = stepView('load', {
  state: 'recovered',
  attempts: 3,
  activeMs: 5000,
  waitedMs: 3000,
  endedAtMs: START + 8000,
  history: [
    attemptView(1, { outcome: 'failure', failure: REFUSED }),
    attemptView(2, {
      startedAtMs: START + 2000,
      endedAtMs: START + 3000,
      outcome: 'failure',
      failure: REFUSED,
      delayBeforeMs: 1000,
    }),
    attemptView(3, { startedAtMs: START + 5000, endedAtMs: START + 8000, delayBeforeMs: 2000 }),
  ],
})
const FAILURE = { outcome: 'failure', failure: EXIT_75 } as const
const send = stepView('send', {
  state: 'failed',
  generation: 2,
  attempts: 1,
  activeMs: 6000,
  waitedMs: 3000,
  retryBudgetMs: 12_000,
  stopReason: 'attempts_exhausted',
  failure: EXIT_75,
  startedAtMs: START + 8000,
  endedAtMs: RESUMED + 8000,
  history: [
    attemptView(1, { startedAtMs: START + 8000, endedAtMs: START + 9000, ...FAILURE }),
    attemptView(2, { startedAtMs: START + 10_000, endedAtMs: RESUMED, outcome: 'interrupted', delayBeforeMs: 1000 }),
    attemptView(2, { execution: 2, startedAtMs: RESUMED, endedAtMs: RESUMED + 1000, ...FAILURE, delayBeforeMs: 1000 }),
    attemptView(1, { generation: 2, startedAtMs: RESUMED + 4000, endedAtMs: RESUMED + 8000, ...FAILURE }),
  ],
})
const unbegun = { attempts: 0, startedAtMs: null, endedAtMs: null, history: [] }
const RUN: RunDetail = runDetail(
  [
    stepView('fetch'),
    load,
    send,
    stepView('notify', { ...unbegun, state: 'skipped' }),
    stepView('report', { ...unbegun, state: 'pending' }),
  ],
  {
    state: 'failed',
    failedStep: 'send',
    stopReason: 'attempts_exhausted',
    resumes: 1,
    resumedAtMs: [RESUMED],
    endedAtMs: RESUMED + 8000,
    activeMs: 14_000,
    waitedMs: 4000,
    downMs: 2 * HOUR - 10_000,
    sessions: [
      { startedAtMs: START, lastSeenAtMs: START + 10_000 },
      { startedAtMs: RESUMED, lastSeenAtMs: RESUMED + 8000 },
    ],
    params: { day: '2026-01-31' },
  },
)

const text = (lines: readonly string[]): string => `\n${lines.join('\n')}\n`

// ── show RUN ─────────────────────────────────────────────────────────────────────────────────────

test('a run on a terminal: runs solid, waits hatched, a divider where it was resumed', () => {
  expect(text(runPage(RUN, NOW, terminal(120)))).toBe(`
import  run nightly-7
  ✗ FAILED: step send: every attempt failed (attempts_exhausted)
  1 FAILED, 1 ok, 1 recovered, 1 skipped, 1 pending
  took 14s, waited 4s, down 1h59m50s, started 2h1m ago, ended 52s ago, resumed 1×
  from import.yaml
  with day=2026-01-31

  step     state         attempts      waited   took                                    last error
  fetch    ✓ ok               1/5                 1s   █               ┊
  load     ✓ recovered        3/5          3s     5s   █░░█░░░░████    ┊
  send     ✗ FAILED           1/5   3s of 12s     6s               ██░█┊█     ███████   (attempts_exhausted) exit code…
  notify   - skipped                                                   ┊
  report   · pending                                                   ┊

  last error of send: exit code 75: no route
    second line
`)
})

test('steps that are not listed are counted, with the command that lists them', () => {
  const command = (words: readonly string[]): string => `reprise ${words.join(' ')}`
  const lines = runPage(RUN, NOW, terminal(80), command, 1200)
  expect(text(lines)).toContain(`\n  1200 more steps not listed\n  all steps: reprise show nightly-7 --all\n`)
  const none = text(runPage({ ...RUN, steps: [] }, NOW, terminal(80), command, 1))
  expect(none).toContain(`\n\n  1 step not listed\n  all steps: reprise show nightly-7 --all\n`)
  expect(none).not.toContain('no steps')
})

test('a run in a pipe is a table without pictures, and nothing is left out', () => {
  expect(text(runPage(RUN, NOW, PIPE).slice(7))).toBe(`
  step     state         attempts      waited   took   last error
  fetch    + ok               1/5                 1s
  load     + recovered        3/5          3s     5s
  send     x FAILED           1/5   3s of 12s     6s   (attempts_exhausted) exit code 75: no route
  notify   - skipped
  report   . pending

  last error of send: exit code 75: no route
    second line
`)
})

test('a run that goes on says who has it, and when what waits is tried next', () => {
  const retrying = {
    ...load,
    state: 'retrying' as const,
    attempts: 2,
    endedAtMs: null,
    activeMs: 2000,
    nextAttemptAtMs: START + 8200,
    history: load.history.slice(0, 2),
  }
  const owner = { host: 'vm', pid: 12, takenAtMs: START }
  const times = { activeMs: 2000, waitedMs: 3000, sessions: [{ startedAtMs: START, lastSeenAtMs: START + 5000 }] }
  const run = runDetail([retrying], { state: 'running', endedAtMs: null, owner, file: null, ...times })
  expect(text(runPage(run, START + 5000, terminal(120)))).toBe(`
import  run nightly-7
  ▶ running
  1 retrying
  took 2s, waited 3s, started 5s ago
  executed by process 12 on vm for 5s

  step   state        attempts   waited   took                                    last error
  load   ↻ retrying        2/5       3s     2s   ██████░░░░░░██████░░░░░░░░░░░░   next in 3.2s: connect ECONNREFUSED 10…
`)
})

test('a run without steps says so', () => {
  expect(runPage(runDetail([]), NOW, PIPE).at(-1)).toBe('  This run has no steps.')
})

// ── the picture ──────────────────────────────────────────────────────────────────────────────────

test('an attempt that runs is drawn up to now, after the wait before it', () => {
  const running = stepView('fetch', {
    state: 'running',
    attempts: 2,
    waitedMs: 4000,
    endedAtMs: null,
    history: [attemptView(1, FAILURE)],
  })
  const sessions = [{ startedAtMs: START, lastSeenAtMs: START + 10_000 }]
  expect(drawStep(running, runAxis({ sessions }, 10), START + 10_000, { blocks: true })).toBe('█░░░░█████')
  const first = { ...running, history: [], waitedMs: 0 }
  expect(drawStep(first, runAxis({ sessions }, 10), START + 10_000, { blocks: false })).toBe('##########')
})

test('however often it was resumed, a picture has its size', () => {
  const sessions = Array.from({ length: 31 }, (_, index) => ({
    startedAtMs: START + index * 1000,
    lastSeenAtMs: START + index * 1000 + 900,
  }))
  for (const cells of [1, 7, 20, 200]) {
    const axis = runAxis({ sessions }, cells)
    expect(drawStep(send, axis, NOW, { blocks: true })).toHaveLength(cells)
    expect(axis.dividers.length).toBe(cells >= 120 ? 30 : 0)
    for (const time of [START - HOUR, START, RESUMED, NOW + HOUR]) {
      expect(axis.at(time)).toBeGreaterThanOrEqual(0)
      expect(axis.at(time)).toBeLessThanOrEqual(cells + 1e-6)
    }
  }
})

test('colours change nothing but colours', () => {
  const paint = (name: string) => (part: string) => `<${name}:${part}>`
  const style = { ...PIPE.style, cyan: paint('run'), yellow: paint('wait'), dim: paint('resume') }
  expect(paintStep('██░ ┊█', { style, blocks: true })).toBe('<run:██><wait:░> <resume:┊><run:█>')
})

// ── show RUN STEP ────────────────────────────────────────────────────────────────────────────────

test('a step that was cancelled says so once', () => {
  const cancelled = stepView('send', { state: 'cancelled', stopReason: 'aborted' })
  expect(stepPage(RUN, cancelled, NOW, PIPE)[1]).toBe('  # cancelled')
})

test('a step has every attempt, with what came between them', () => {
  expect(text(stepPage(RUN, send, NOW, PIPE))).toBe(`
send  shell step of run nightly-7
  x FAILED: every attempt failed (attempts_exhausted)
  attempt 1/5, waited 3s of 12s, generation 2: its retries were reset

      attempt   started   wait before   took   outcome       failure
            1    2h ago             -     1s   failure       exit code 75: no route
            2    2h ago            1s      -   interrupted
  -- resumed 1m ago
  2 (start 2)    1m ago            1s     1s   failure       exit code 75: no route
  -- generation 2: a fresh set of attempts
            1   56s ago             -     4s   failure       exit code 75: no route

  last error: exit code 75: no route
    second line

  log: .reprise/runs/nightly-7/send/1.1.1.log
`)
})

test('with -v every attempt names its log', () => {
  const lines = stepPage(RUN, load, NOW, { ...PIPE, verbose: true })
  expect(lines.filter((line) => line.includes('.log'))).toHaveLength(3)
})

test('a step that waits says when it is tried next; one that was not begun that it was not', () => {
  const waiting = stepView('s1', {
    name: 'Send it',
    state: 'retrying',
    nextAttemptAtMs: NOW + 61_000,
    log: null,
    history: [],
  })
  expect(text(stepPage(RUN, waiting, NOW, PIPE))).toBe(`
Send it  shell step of run nightly-7
  ~ retrying
  attempt 1/5, next in 1m1s
  id s1

  No attempt has ended.
`)
})

test('an error that the table cuts off is below it in full, whatever the width of the window', () => {
  const message = 'ValueError: row 17 of orders.csv has 11 columns where the header names 12, see the import guide'
  const failure = { name: 'CommandError', message, exitCode: 3 }
  const step = { ...send, failure, history: [attemptView(1, { outcome: 'failure', failure })] }
  for (const columns of [40, 80]) {
    const pages = [
      stepPage(RUN, step, NOW, terminal(columns)),
      runPage({ ...RUN, steps: [step] }, NOW, terminal(columns)),
    ]
    for (const lines of pages) expect(lines.join(' ').replaceAll(/ +/g, ' ')).toContain(`: exit code 3: ${message}`)
  }
  expect(stepPage(RUN, step, NOW, terminal(200)).join('\n')).not.toContain('last error')
})

test('a step that was running when its process was killed is interrupted, and the page says how to go on', () => {
  const step = stepView('work', { state: 'interrupted', activeMs: 0, log: null, history: [] })
  const run = runDetail([step], { state: 'interrupted', endedAtMs: null })
  expect(text(stepPage(run, step, NOW, PIPE))).toBe(`
work  shell step of run nightly-7
  = interrupted
  attempt 1/5

  Attempt 1 was interrupted before it ended.

next: reprise resume nightly-7
`)
  expect(text(runPage(run, NOW, PIPE).slice(-4))).toBe(`
  step   state           attempts   took
  work   = interrupted        1/5      -

next: reprise resume nightly-7
`)
})

// ── whatever comes ───────────────────────────────────────────────────────────────────────────────

test('no row of a table is wider than the window, from 40 columns on, and nothing is obeyed by a terminal', () => {
  const evil = {
    ...send,
    name: EVIL,
    failure: { name: EVIL, message: EVIL },
    history: [attemptView(1, { outcome: EVIL })],
  }
  const long = { ...load, name: 'a-rather-long-name-of-a-step-日本語の名前' }
  const run = { ...RUN, name: EVIL, id: EVIL, steps: [...RUN.steps, evil, long], params: { evil: EVIL } }
  for (const columns of [40, 50, 60, 70, 80, 100, 120, 200]) {
    const display = terminal(columns)
    const pages = [runPage(run, NOW, display), stepPage(run, evil, NOW, display), stepPage(run, send, NOW, display)]
    for (const line of pages.flatMap((lines) => lines.slice(lines.indexOf('') + 1))) {
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e]/u)
      if (!line.startsWith('  log:')) expect(textWidth(line)).toBeLessThanOrEqual(columns)
    }
  }
})
