import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunEvent } from '@reprise/workflow'
import { EVIL, REFUSED, CROWD, runStarted, START, stepEvent, STORY, terminal } from '../../testing/sample-run.js'
import { textWidth } from '../width.js'
import { composeEnd, composeFrame, shareOut } from './frame.js'
import { MAX_ENDED, RunModel } from './run-model.js'

function modelOf(events: readonly RunEvent[]): RunModel {
  const model = new RunModel()
  for (const event of events) model.tell(event)
  return model
}

/** Without spaces at the ends of lines, which nobody sees. */
function frame(events: readonly RunEvent[], columns: number, rows = 24, atMs = START + 2400): string {
  const lines = composeFrame(modelOf(events), atMs, { columns, rows }, terminal(columns))
  return `\n${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

// ── the picture ──────────────────────────────────────────────────────────────────────────────────

test('a wide window shows state, name, attempt, time, what was waited of the budget, and the last error', () => {
  expect(frame(STORY, 120)).toBe(`
import  run nightly-7, resumed 1×
✓ ok         fetch                 2.4s
✓ recovered  load     attempt 3/5  1.2s          waited 3s
✗ FAILED     send     attempt 5/5  1.2s          waited 7s           (attempts_exhausted) exit code 75: no route
- skipped    notify                                                  \`when\` is false: size(items) > 0
▶ running    clean    attempt 1/5  1.4s
↻ retrying   report   attempt 2/5  next in 3.2s  waited 2.8s of 12s  connect ECONNREFUSED 10.0.0.1:443
‖ parked     archive  attempt 2/5  queued 0.4s                       budget api
[███████████░░░░░░░░░]  4/7 steps  2.4s  1 FAILED  1 ok  1 recovered  1 skipped
`)
})

test('a fallback is counted as part of its step, which is done once the fallback is', () => {
  const failed = stepEvent('step_finished', 'send', { state: 'failed', continued: true })
  const running = [runStarted(['fetch', 'send']), failed, stepEvent('attempt_started', 'send.fallback')]
  const ended = [...running, stepEvent('step_finished', 'send.fallback')]
  expect([running, ended].map(modelOf).map(({ done, total }) => [done, total])).toEqual([
    [0, 2],
    [1, 2],
  ])
})

test('a usual window has no space for words beside the figures', () => {
  expect(frame(STORY, 80)).toBe(`
import  run nightly-7, resumed 1×
✓ ok         fetch         2.4s
✓ recovered  load     3/5  1.2s          waited 3s
✗ FAILED     send     5/5  1.2s          waited 7s    (attempts_exhausted) exi…
- skipped    notify                                   \`when\` is false: size(it…
▶ running    clean    1/5  1.4s
↻ retrying   report   2/5  next in 3.2s  2.8s of 12s  connect ECONNREFUSED 10.…
‖ parked     archive  2/5  queued 0.4s                budget api
[███████████░░░░░░░░░]  4/7 steps  2.4s  1 FAILED  1 ok  1 recovered  1 skipped
`)
})

test('a narrow window keeps state, name, attempt and time', () => {
  expect(frame(STORY, 40)).toBe(`
import  run nightly-7, resumed 1×
✓ ok        fetch       2.4s
✓ recovered load    3/5 1.2s
✗ FAILED    send    5/5 1.2s
- skipped   notify
▶ running   clean   1/5 1.4s
↻ retrying  report  2/5 next in 3.2s
‖ parked    archive 2/5 queued 0.4s
[████░░░░] 4/7 2.4s 1 FAILED 1 ok
`)
})

test('a terminal that shows no blocks gets ASCII signs and words', () => {
  const display = { ...terminal(80), blocks: false }
  const lines = composeFrame(modelOf(STORY), START, { columns: 80, rows: 24 }, display)
  expect(lines.map((line) => line.slice(0, 11).trimEnd()).slice(1, -1)).toEqual([
    '+ ok',
    '+ recovered',
    'x FAILED',
    '- skipped',
    '> running',
    '~ retrying',
    '= parked',
  ])
  expect(lines.at(-1)).toMatch(/^\[###########\.{9}\]/)
})

test('a fallback has a row of its own, and the step that it stands in for stays failed', () => {
  const fallback = { id: 'send.fallback', name: 'fallback of send' }
  const story = [
    runStarted(['send']),
    stepEvent('step_finished', 'send', { state: 'failed', attempt: 2, attempts: 2, stopReason: 'attempts_exhausted' }),
    stepEvent('fallback_started', 'send', { fallback }),
    stepEvent('attempt_started', fallback.id, { attempts: 1 }),
    stepEvent('output', fallback.id, { attempts: 1, line: 'by hand' }),
  ]
  expect(frame(story, 80)).toBe(`
import  run nightly-7
✗ FAILED     send              2/2  1.2s  (attempts_exhausted)
▶ running    fallback of send       2.4s  by hand
[░░░░░░░░░░░░░░░░░░░░]  0/1 steps  2.4s  1 FAILED
`)
  expect(frame([...story, stepEvent('step_finished', fallback.id, { attempts: 1 })], 80)).toBe(`
import  run nightly-7
✗ FAILED     send              2/2  1.2s  (attempts_exhausted)
✓ ok         fallback of send       1.2s
[████████████████████]  1/1 steps  2.4s  1 FAILED  1 ok
`)
})

test('a step that runs again says what had failed, until it says something itself', () => {
  const again = [
    runStarted(['fetch']),
    stepEvent('attempt_started', 'fetch'),
    stepEvent('output', 'fetch', { line: 'of the attempt before' }),
    stepEvent('attempt_failed', 'fetch', { failure: REFUSED }),
    stepEvent('waiting', 'fetch', { attempt: 2, failure: null }),
    stepEvent('attempt_started', 'fetch', { attempt: 2 }),
  ]
  expect(frame(again, 80)).toContain('▶ running    fetch  2/5  2.4s  after connect ECONNREFUSED 10.0.0.1:443\n')
  const said = [...again, stepEvent('output', 'fetch', { line: 'got 10 of 20' })]
  expect(frame(said, 80)).toContain('▶ running    fetch  2/5  2.4s  got 10 of 20\n')
  const recovered = [...again, stepEvent('step_finished', 'fetch', { state: 'recovered', attempt: 2 })]
  expect(frame(recovered, 80)).toContain('✓ recovered  fetch  2/5  1.2s  after connect ECONNREFUSED')
})

test('a countdown that is over says so, and a wait of hours is no row of digits', () => {
  const waiting = (nextAttemptAtMs: number): string =>
    frame([runStarted(['fetch']), stepEvent('waiting', 'fetch', { nextAttemptAtMs })], 80, 24, START)
  expect(waiting(START - 5)).toContain('next now')
  expect(waiting(START + 9999)).toContain('next in 9.9s')
  expect(waiting(START + 7_200_000)).toContain('next in 2h')
})

// ── many steps ───────────────────────────────────────────────────────────────────────────────────

test('of very many steps each state gets its share, and the others are counted', () => {
  expect(frame(CROWD, 80, 16, START + 10_000)).toBe(`
import  run nightly-7
✓ ok         s997       1.2s
✓ ok         s998       1.2s
✓ ok         s999       1.2s
▶ running    s5    1/5  10s
▶ running    s6    1/5  10s
▶ running    s7    1/5  10s
▶ running    s8    1/5  10s
▶ running    s9    1/5  10s
↻ retrying   s0    2/5  next now  1.0s  connect ECONNREFUSED 10.0.0.1:443
↻ retrying   s1    2/5  next now  1.0s  connect ECONNREFUSED 10.0.0.1:443
↻ retrying   s2    2/5  next now  1.0s  connect ECONNREFUSED 10.0.0.1:443
↻ retrying   s3    2/5  next now  1.0s  connect ECONNREFUSED 10.0.0.1:443
  … 290 more running, 1 more retrying
[██░░░░░░░░░░░░░░░░░░]  100/1000 steps  10s  100 ok  10/s, about 1m left
`)
})

test('no more is kept of what has ended than is shown', () => {
  const model = modelOf([
    runStarted([]),
    ...Array.from({ length: 1000 }, (_, index) => stepEvent('step_finished', `s${index}`)),
  ])
  expect(model.ended).toHaveLength(MAX_ENDED)
  expect(model.activeCount).toBe(0)
  expect({ done: model.done, total: model.total, counts: model.counts }).toEqual({
    done: 1000,
    total: 1000,
    counts: { succeeded: 1000 },
  })
})

test('what had ended before a resume counts, and is not shown as ended now', () => {
  const steps = ['succeeded', 'failed', 'pending', 'retrying'] as const
  const listed = steps.map((state, index) => ({ id: `s${index}`, name: `s${index}`, state }))
  expect(frame([runStarted([], { steps: listed, resumes: 2 })], 80)).toBe(`
import  run nightly-7, resumed 2×
[██████████░░░░░░░░░░]  2/4 steps  0.0s  waited 2.4s  1 FAILED  1 ok
`)
})

test('space is shared out: none gets more than it needs, and none is left while one is in need', () => {
  const needs = fc.array(fc.nat(500), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(needs, fc.nat(60), (needed, space) => {
      const shares = shareOut(needed, space)
      const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
      expect(sum(shares)).toBe(Math.min(space, sum(needed)))
      shares.forEach((share, index) => expect(share).toBeLessThanOrEqual(needed[index] ?? 0))
      // Whoever gets less than it needs gets, but for one row, as much as anybody.
      const most = Math.max(...shares)
      shares.forEach((share, index) => {
        if (share < (needed[index] ?? 0)) expect(share).toBeGreaterThanOrEqual(most - 1)
      })
    }),
  )
})

// ── whatever comes ───────────────────────────────────────────────────────────────────────────────

const anyName = fc.oneof(
  fc.constantFrom('fetch', '日本語の名前を持つステップ', 'send 🎉🎉🎉 mails', '❤️ e\u0301', EVIL, 'x'.repeat(300)),
  fc.string({ unit: 'binary', maxLength: 60 }),
)
const anyStep = fc.constantFrom('a', 'b', 'c', 'd')
const anyFailure = anyName.map((message) => ({ name: 'Error', message }))
const anyEvent: fc.Arbitrary<RunEvent> = fc.oneof(
  fc
    .tuple(fc.constantFrom('attempt_started', 'fallback_started', 'parked'), anyStep)
    .map(([type, step]) => stepEvent(type, step)),
  fc.tuple(anyStep, anyFailure).map(([step, failure]) => stepEvent('waiting', step, { failure, attempt: 2 })),
  fc.tuple(anyStep, anyFailure).map(([step, failure]) => stepEvent('attempt_failed', step, { failure })),
  fc.tuple(anyStep, anyName).map(([step, line]) => stepEvent('output', step, { line })),
  fc.tuple(anyStep, anyName).map(([step, reason]) => stepEvent('step_skipped', step, { reason })),
  fc
    .tuple(anyStep, fc.constantFrom('succeeded', 'recovered', 'failed', 'undecided', 'cancelled'), anyFailure)
    .map(([step, state, failure]) => stepEvent('step_finished', step, { state, failure, stopReason: 'timeout' })),
)

test('no picture is higher or wider than the window, and nothing in it is obeyed by a terminal', () => {
  const steps = fc.tuple(anyName, anyName, anyName, anyName)
  const window = fc.record({ columns: fc.integer({ min: 1, max: 220 }), rows: fc.integer({ min: 1, max: 60 }) })
  fc.assert(
    fc.property(steps, fc.array(anyEvent, { maxLength: 40 }), window, anyName, (names, events, size, title) => {
      const listed = names.map((name, index) => ({
        id: 'abcd'.slice(index, index + 1),
        name,
        state: 'pending' as const,
      }))
      const model = modelOf([runStarted([], { steps: listed, name: title }), ...events])
      const display = terminal(size.columns)
      const lines = composeFrame(model, START + 1000, size, display)
      expect(lines.length).toBeLessThanOrEqual(Math.max(1, size.rows - 1))
      for (const line of [...lines, ...composeEnd(model, START + 1000, size.columns, display)]) {
        expect(textWidth(line)).toBeLessThanOrEqual(Math.max(1, size.columns - 1))
        expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u)
      }
    }),
  )
})

test('the id of a run is whole or not there, and the name of its workflow gives way to it', () => {
  const model = new RunModel()
  const id = 'nightly-import-of-orders-261118-b7bccc'
  model.tell(runStarted(['fetch'], { run: id, name: 'nightly-import-of-orders', resumes: 2 }))
  const titleAt = (columns: number): string =>
    composeFrame(model, START, { columns, rows: 24 }, terminal(columns))[0] ?? ''
  expect(titleAt(120)).toBe(`nightly-import-of-orders  run ${id}, resumed 2×`)
  expect(titleAt(65)).toBe(`nightly…  run ${id}, resumed 2×`)
  expect(titleAt(58)).toBe(`nightly-impo…  run ${id}`)
  expect(titleAt(46)).toBe(`run ${id}`)
  expect(titleAt(40)).toBe('nightly-import-of-orders')
})

test('the time that a run waits, or lay still, is apart from the time that it took', () => {
  const model = new RunModel()
  model.tell(runStarted(['fetch'], { activeMs: 1000, downMs: 30_000, resumes: 1 }))
  model.tell(stepEvent('attempt_started', 'fetch'))
  model.tell(stepEvent('waiting', 'fetch', { timeMs: START + 2000, nextAttemptAtMs: START + 9000 }))
  const lastAt = (ms: number): string =>
    composeFrame(model, START + ms, { columns: 80, rows: 24 }, terminal(80)).at(-1) ?? ''
  expect(lastAt(1000)).toContain('0/1 steps  2.0s  down 30s')
  expect(lastAt(5000)).toContain('0/1 steps  3.0s  waited 3.0s  down 30s')
})
