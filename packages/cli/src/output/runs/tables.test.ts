import { expect, test } from 'vitest'
import type { BreakerView, ResumePreview, RetryingView } from '@reprise/workflow/internal'
import { EVIL, EXIT_75, PIPE, runDetail, START, stepView, terminal } from '../../testing/sample-run.js'
import { textWidth } from '../width.js'
import { eventLine } from './event-line.js'
import { breakersTable, budgetsTable } from './gates.js'
import { resumePreview } from './resume-preview.js'
import { retryingTable } from './retrying-table.js'
import { runsTable } from './runs-table.js'

const NOW = START + 180_000
const text = (lines: readonly string[]): string => `\n${lines.join('\n')}\n`

const failed = runDetail([stepView('fetch'), stepView('send', { state: 'failed' })], {
  state: 'failed',
  failedStep: 'send',
  stopReason: 'not_retryable',
  resumes: 2,
})
const running = runDetail([stepView('fetch'), stepView('load', { state: 'running' })], {
  id: 'nightly-8',
  state: 'running',
  endedAtMs: null,
  owner: { host: 'vm', pid: 12, takenAtMs: START },
})
const interrupted = runDetail([stepView('fetch', { state: 'retrying' })], {
  id: 'a-run-that-somebody-gave-a-very-long-name',
  state: 'interrupted',
  endedAtMs: null,
})

test('runs are a line each', () => {
  expect(text(runsTable([failed, running], NOW, PIPE))).toBe(`
  run         state       workflow   steps   started    took   resumes   why
  nightly-7   x FAILED    import       2/2    3m ago   1m12s         2   step send (not_retryable)
  nightly-8   > running   import       1/2    3m ago   1m12s             pid 12 on vm
`)
})

test('what was waited, and how long nobody conducted a run, stand beside the time that steps took', () => {
  const waited = { ...failed, activeMs: 63, waitedMs: 5200, downMs: 30_000, resumes: 0 }
  expect(text(runsTable([waited, running], NOW, PIPE))).toBe(`
  run         state       workflow   steps   started    took   waited   down   why
  nightly-7   x FAILED    import       2/2    3m ago    63ms     5.2s    30s   step send (not_retryable)
  nightly-8   > running   import       1/2    3m ago   1m12s                   pid 12 on vm
`)
})

test('at 80 columns a run keeps its whole id, its state and why it ended', () => {
  const named = { ...failed, id: 'import-orders-261118-a1b2c3', name: 'import orders' }
  expect(text(runsTable([named, running], NOW, terminal(80)))).toBe(`
  run                           state       started   why
  import-orders-261118-a1b2c3   ✗ FAILED     3m ago   step send (not_retryable)
  nightly-8                     ▶ running    3m ago   pid 12 on vm
`)
})

test('an id that leaves no space for the rest stands on a line of its own, and is never cut', () => {
  expect(text(runsTable([{ ...failed, id: interrupted.id }, interrupted], NOW, terminal(50)))).toBe(`
    state           started   why
  a-run-that-somebody-gave-a-very-long-name
    ✗ FAILED         3m ago   step send (not_retr…
  a-run-that-somebody-gave-a-very-long-name
    ‖ interrupted    3m ago

next: reprise resume \\
        a-run-that-somebody-gave-a-very-long-name
`)
  const wait = { ...waiting, scope: interrupted.id, id: 'a-step-with-a-name-that-is-long' }
  for (const columns of [40, 80, 200])
    expect(retryingTable([wait], NOW, terminal(columns)).join('\n')).toContain(wait.scope)
})

const waiting: RetryingView = {
  scopeKind: 'run',
  scope: 'nightly-7',
  id: 'send',
  state: 'retrying',
  attempt: 3,
  attemptsAllowed: 5,
  nextAttemptAtMs: NOW + 3200,
  waitedMs: 6000,
  retryBudgetMs: 12_000,
  failure: EXIT_75,
}
const parked: RetryingView = {
  ...waiting,
  scopeKind: 'task',
  scope: 'charge',
  id: 'load',
  state: 'parked',
  nextAttemptAtMs: null,
  waitedMs: 0,
  failure: null,
}

test('what waits says which attempt, how long, of which budget, and why', () => {
  expect(text(retryingTable([waiting, parked, { ...waiting, nextAttemptAtMs: NOW - 1 }], NOW, PIPE))).toBe(`
  scope           id     state        attempt   next in      waited   last error
  run nightly-7   send   ~ retrying       3/5      3.2s   6s of 12s   exit code 75: no route
  task charge     load   = parked         3/5    queued
  run nightly-7   send   ~ retrying       3/5       now   6s of 12s   exit code 75: no route
`)
})

const open: BreakerView = {
  ...{ name: 'api', state: 'open', failures: 3, failureThreshold: 3 },
  ...{ halfOpenAtMs: NOW + 12_000, lastFailureAtMs: NOW - 18_000 },
}

test('breakers say when they try again', () => {
  const closed: BreakerView = {
    ...open,
    name: 'warehouse',
    state: 'closed',
    failures: 1,
    failureThreshold: null,
    lastFailureAtMs: null,
  }
  expect(text(breakersTable([open, closed], NOW, PIPE))).toBe(`
  breaker     state    failures   last failed   tries again
  api         open       3 of 3       18s ago        in 12s
  warehouse   closed          1
`)
})

test('budgets show their figures', () => {
  const budgets = [
    { name: 'api', type: 'count', state: { total: 20, used: 3, by: { fetch: 1 }, note: 'a b', none: null } },
    { name: 'other', type: null, state: 7 },
  ]
  expect(text(budgetsTable(budgets, PIPE))).toBe(`
  budget   type    figures
  api      count   total=20 used=3 by={"fetch":1} note="a b"
  other            7
`)
})

test('where there is nothing, that is said', () => {
  expect([
    runsTable([], NOW, PIPE),
    retryingTable([], NOW, PIPE),
    breakersTable([], NOW, PIPE),
    budgetsTable([], PIPE),
  ]).toEqual([['There are no runs.'], ['No step is waiting.'], ['There are no breakers.'], ['There are no budgets.']])
})

const PREVIEW: ResumePreview = {
  run: 'nightly-7',
  kept: 2,
  denied: [{ step: 'pay', reason: 'retry_budget_exhausted' }],
  reset: [],
  repeated: [],
  rerun: [{ step: 'send', attempt: 2, of: 5 }],
  waiting: [
    { step: 'report', attempt: 3, of: 5, nextAttemptAtMs: NOW + 4000 },
    { step: 'archive', attempt: 2, of: 5, nextAttemptAtMs: NOW - 4000 },
  ],
  pending: 2,
  maps: [],
  budgetLeft: [
    { step: 'report', expiresAtMs: NOW + 6000 },
    { step: 'send', expiresAtMs: NOW - 1 },
  ],
  warnings: ['older format: fresh retry state'],
}

test('a resume says what is kept, run again and waited for before it begins', () => {
  expect(text(resumePreview(PREVIEW, NOW, PIPE))).toBe(`
Resuming run nightly-7
  kept          2 steps that succeeded
  run again     send (attempt 2/5, interrupted)
  waiting       report (attempt 3/5, next in 4.0s), archive (attempt 2/5, due now)
  not retried   pay, retry budget exhausted
  pending       2 steps
  retry budget  report expires in 6s, send has expired
  warning: older format: fresh retry state
`)
})

test('of very many steps the first are named', () => {
  const reset = Array.from({ length: 100 }, (_, index) => `s${index}`)
  const [, , line] = resumePreview({ ...PREVIEW, reset }, NOW, { ...PIPE, width: 1000 })
  expect(line).toMatch(/^ {2}fresh attempts +s0, s1, .*s11, … and 88 more$/)
  const nothing = { ...PREVIEW, kept: 0, rerun: [], waiting: [], denied: [], pending: 0, budgetLeft: [], warnings: [] }
  expect(resumePreview(nothing, NOW, PIPE)).toEqual(['Resuming run nightly-7', '  nothing is left to do'])
})

test('an event is a line with its time in full', () => {
  const event = { timeMs: START, type: 'resumed', step: 'send', detail: { by: 'pid 3', attempt: 2 } }
  expect(eventLine(event, PIPE)).toBe('2026-01-31T12:00:00.000Z  resumed           send          by="pid 3" attempt=2')
  expect(eventLine({ ...event, detail: { delayMs: 298.71990121901035, attempt: 2 } }, PIPE)).toContain(
    'delayMs=298.72 attempt=2',
  )
  expect(eventLine({ ...event, step: null, detail: null }, PIPE)).toBe('2026-01-31T12:00:00.000Z  resumed')
})

test('no table is wider than the window, from 40 columns on, and nothing is obeyed by a terminal', () => {
  for (const columns of [40, 50, 60, 80, 120]) {
    const display = terminal(columns)
    const tables = [
      runsTable([failed, running, interrupted, { ...failed, id: EVIL, name: EVIL, failedStep: EVIL }], NOW, display),
      retryingTable(
        [waiting, parked, { ...waiting, scope: EVIL, id: EVIL, failure: { name: '', message: EVIL } }],
        NOW,
        display,
      ),
      breakersTable([open, { ...open, name: EVIL.repeat(9) }], NOW, display),
      budgetsTable([{ name: EVIL, type: EVIL, state: { [EVIL]: EVIL.repeat(9) } }], display),
      resumePreview({ ...PREVIEW, run: EVIL, reset: [EVIL], warnings: [EVIL] }, NOW, display),
    ]
    for (const line of tables.flat()) {
      // An id is never cut.
      if (!line.includes(interrupted.id)) expect(textWidth(line), line).toBeLessThanOrEqual(columns)
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e]/u)
    }
  }
})
