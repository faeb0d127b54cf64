import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunEvent } from '@reprise/workflow'
import { runStarted, START, stepEvent, terminal } from '../../testing/sample-run.js'
import { textWidth } from '../width.js'
import { composeEnd, composeFrame } from './frame.js'
import { RunModel } from './run-model.js'

type Progress = Extract<RunEvent, { readonly type: 'map_progress' }>

const COUNTS = {
  total: 1000,
  pending: 870,
  running: 3,
  retrying: 5,
  succeeded: 118,
  skipped: 0,
  dead: 4,
  cancelled: 0,
  undecided: 0,
}
const base = { timeMs: START + 2000, run: 'import-7', step: 'map' }

function progress(fields: Partial<Progress> = {}): RunEvent {
  return {
    ...base,
    type: 'map_progress',
    counts: COUNTS,
    recovered: 7,
    perSecond: 11.23,
    etaMs: 78_000,
    running: [
      { item: '0000120.order-120', key: 'order-120', attempt: 2, startedAtMs: START - 8000 },
      { item: '0000121.order-121', key: 'order-121', attempt: 1, startedAtMs: START + 1200 },
      { item: '0000122.Z-rich', key: 'Zürich\u001b[2J', attempt: 1, startedAtMs: START + 2300 },
    ],
    heldBy: null,
    isPaused: false,
    agents: [],
    ...fields,
  }
}

const RUNNING: readonly RunEvent[] = [
  runStarted(['prepare', 'map', 'sum']),
  stepEvent('step_finished', 'prepare'),
  { ...base, timeMs: START, type: 'map_started', counts: { ...COUNTS, pending: 1000, running: 0 } },
]

function modelOf(events: readonly RunEvent[]): RunModel {
  const model = new RunModel()
  for (const event of events) model.tell(event)
  return model
}

function frame(events: readonly RunEvent[], columns: number, rows = 24): string {
  const lines = composeFrame(modelOf(events), START + 2400, { columns, rows }, terminal(columns))
  return `\n${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

test('a map has a bar with its rate and the time that is left, its states, and the items that run, at 80 columns', () => {
  expect(frame([...RUNNING, progress()], 80)).toBe(`
import  run nightly-7
✓ ok         prepare  1.2s
▶ running    map  [██░░░░░░░░░░░░░░░░░░]  122/1000 items  11/s  about 1m left
             4 DEAD  118 ok  5 retrying  7 recovered
             order-120  10s  attempt 2
             order-121  1.2s
             Zürich  0.1s
[██████░░░░░░░░░░░░░░]  1/3 steps  2.4s  1 ok
`)
})

test('a map that a gate holds says which, at 200 columns', () => {
  const held = progress({ heldBy: { gate: 'breaker:warehouse', reason: 'open' }, running: [] })
  expect(frame([...RUNNING, held], 200)).toBe(`
import  run nightly-7
✓ ok         prepare  1.2s
▶ running    map  [██░░░░░░░░░░░░░░░░░░]  122/1000 items  11/s  about 1m left
             held by breaker:warehouse (open)  4 DEAD  118 ok  5 retrying  7 recovered
[██████░░░░░░░░░░░░░░]  1/3 steps  2.4s  1 ok
`)
})

test('a map that somebody has paused says so, and tells no time that is left', () => {
  expect(frame([...RUNNING, progress({ isPaused: true, running: [] })], 80)).toBe(`
import  run nightly-7
✓ ok         prepare  1.2s
▶ running    map  [██░░░░░░░░░░░░░░░░░░]  122/1000 items
             paused by hand  4 DEAD  118 ok  5 retrying  7 recovered
[██████░░░░░░░░░░░░░░]  1/3 steps  2.4s  1 ok
`)
})

test('a map that agents serve names them', () => {
  const agent = (pid: number, host: string) => ({ pid, host, slots: 2, startedAtMs: START })
  const agents = [agent(4711, 'vm'), agent(4712, 'vm'), agent(17, 'b\u001b[2J'), agent(4713, 'vm'), agent(18, 'c')]
  expect(frame([...RUNNING, progress({ running: [], agents })], 80)).toBe(`
import  run nightly-7
✓ ok         prepare  1.2s
▶ running    map  [██░░░░░░░░░░░░░░░░░░]  122/1000 items  11/s  about 1m left
             4 DEAD  118 ok  5 retrying  7 recovered
             agents 4711, 4712, 4713 on vm, 17 on b, 1 more
[██████░░░░░░░░░░░░░░]  1/3 steps  2.4s  1 ok
`)
})

test('a narrow and low window keeps the bar and the first running items', () => {
  expect(frame([...RUNNING, progress()], 40, 8)).toBe(`
import  run nightly-7
✓ ok        prepare 1.2s
▶ running   map [░░░░░░░░] 122/1000
            4 DEAD 118 ok 5 retrying
            order-120 10s attempt 2
  … 2 more running
[██░░░░░░] 1/3 2.4s 1 ok
`)
})

test('a map that has ended is a row with its counts, and what comes late of it is not shown', () => {
  const counts = { ...COUNTS, pending: 0, running: 0, retrying: 0, succeeded: 996 }
  const ended = { recovered: 7, halted: null, failure: null, resultsFile: null }
  const end: RunEvent = { ...base, type: 'map_finished', state: 'completed_with_failures', counts, ...ended }
  const model = modelOf([...RUNNING, progress(), end, progress()])
  const lines = composeEnd(model, START + 2400, 80, terminal(80))
  expect(`\n${lines.map((line) => line.trimEnd()).join('\n')}\n`).toBe(`
import  run nightly-7
✓ ok         prepare  1.2s
✗ FAILED     map      2s    1000 items: 996 succeeded, 4 dead
[█████████████░░░░░░░]  2/3 steps  2.4s  1 FAILED  1 ok
`)
})

test('no line of a map is wider than the window, and no picture higher', () => {
  const sizes = fc.record({ columns: fc.integer({ min: 1, max: 250 }), rows: fc.integer({ min: 1, max: 60 }) })
  fc.assert(
    fc.property(sizes, fc.string(), ({ columns, rows }, key) => {
      const running = Array.from({ length: 20 }, () => ({ item: 'x', key, attempt: 3, startedAtMs: START }))
      const lines = composeFrame(
        modelOf([...RUNNING, progress({ running })]),
        START,
        { columns, rows },
        terminal(columns),
      )
      expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1))
      for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(Math.max(1, columns - 1))
    }),
  )
})
