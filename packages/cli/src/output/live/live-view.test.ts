import { expect, test } from 'vitest'
import { CROWD, runFinished, runStarted, START, stepEvent, STORY, terminal } from '../../testing/sample-run.js'
import { startLiveView } from './live-view.js'

function stage(columns = 80) {
  const writes: string[] = []
  const ticks = new Set<() => void>()
  const clock = {
    timeMs: START,
    nowMs: () => clock.timeMs,
    every: (_: number, tick: () => void) => {
      ticks.add(tick)
      return () => void ticks.delete(tick)
    },
  }
  const output = { write: (text: string) => writes.push(text), isTTY: true, columns, rows: 24 }
  const view = startLiveView({ output, display: terminal(columns), clock })
  const pass = (ms: number): void => {
    clock.timeMs += ms
    for (const tick of ticks) tick()
  }
  return { view, writes, pass, output, ticks }
}

/** What a terminal shows after these writes: it knows the few sequences that are used, and keeps all lines. */
function screenOf(writes: readonly string[], columns = 1000): string[] {
  const lines: string[] = ['']
  let row = 0
  let column = 0
  // oxlint-disable-next-line no-control-regex -- controls are what is looked for
  for (const [token] of writes.join('').matchAll(/\u001b\[\??\d*[A-Za-z]|\r|\n|[^\u001b\r\n]/gu)) {
    const line = lines[row] ?? ''
    const isControl = token.startsWith('\u001b')
    if (token === '\r') column = 0
    else if (token === '\n') {
      row++
      column = 0
      lines[row] ??= ''
    } else if (isControl && token.endsWith('A')) row = Math.max(0, row - Number(token.slice(2, -1)))
    else if (isControl && token.endsWith('K')) lines[row] = line.slice(0, column)
    else if (isControl && token.endsWith('J')) {
      lines.length = row + 1
      lines[row] = line.slice(0, column)
    } else if (!isControl) {
      lines[row] = line.slice(0, column).padEnd(column) + token + line.slice(column + token.length)
      column = Math.min(columns, column + token.length)
    }
  }
  return lines.map((line) => line.trimEnd())
}

test('however many events come, a picture is one write, and there is one per tick', () => {
  const { view, writes, pass } = stage()
  for (const event of CROWD) view.tell(event)
  expect(writes).toEqual([])
  pass(100)
  expect(writes).toHaveLength(1)
})

test('a picture that has not changed is not drawn again', () => {
  const { view, writes, pass } = stage()
  view.tell(runStarted(['fetch']))
  pass(12_000)
  pass(100)
  expect(writes).toHaveLength(1)
  pass(1000)
  expect(writes).toHaveLength(2)
})

test('each picture is drawn over the one before, and nothing of a higher one is left', () => {
  const { view, writes, pass } = stage()
  for (const event of STORY) view.tell(event)
  pass(100)
  for (const step of ['clean', 'report', 'archive']) view.tell(stepEvent('step_finished', step))
  view.tell(runStarted(['fetch'], { name: 'other' }))
  pass(100)
  expect(screenOf(writes)).toEqual(['other  run nightly-7', '[░░░░░░░░░░░░░░░░░░░░]  0/1 steps  0.2s', ''])
})

test('nothing of the terminal is left changed after any write', () => {
  const { view, writes, pass } = stage()
  for (const event of STORY) view.tell(event)
  pass(100)
  view.say('note')
  view.end()
  for (const write of writes) {
    expect(write.split('\u001b[?7l')).toHaveLength(write.split('\u001b[?7h').length)
    expect(write).not.toContain('\u001b[?25l')
  }
})

test('a line that is said stays above the picture', () => {
  const { view, writes, pass } = stage()
  view.tell(runStarted(['fetch']))
  pass(100)
  view.say('note: one')
  view.say('note: two')
  expect(screenOf(writes)).toEqual([
    'note: one',
    'note: two',
    'import  run nightly-7',
    '[░░░░░░░░░░░░░░░░░░░░]  0/1 steps  0.1s',
    '',
  ])
})

test('a window that was made narrower has broken the lines: all of them are drawn over', () => {
  const { view, writes, pass, output } = stage(120)
  for (const event of STORY) view.tell(event)
  pass(100)
  output.columns = 60
  pass(100)
  // Of the nine lines five were longer than 60 cells, and none longer than 120.
  // oxlint-disable-next-line no-control-regex -- controls are what is looked for
  expect(writes[1]).toMatch(/^\u001b\[\?7l\u001b\[14A\r/)
})

test('at the end plain lines stay, and no timer', () => {
  const { view, writes, ticks, pass } = stage()
  for (const event of [...STORY, runFinished({ state: 'interrupted', activeMs: 1000 })]) view.tell(event)
  pass(100)
  view.end()
  view.end()
  expect(ticks.size).toBe(0)
  expect(screenOf(writes)).toEqual([
    'import  run nightly-7, resumed 1×',
    '✓ ok         fetch         2.4s',
    '✓ recovered  load     3/5  1.2s          waited 3s',
    '✗ FAILED     send     5/5  1.2s          waited 7s    (attempts_exhausted) exi…',
    '- skipped    notify                                   `when` is false: size(it…',
    '▶ running    clean    1/5  0.0s',
    '↻ retrying   report   2/5  next in 5.5s  0.5s of 12s  connect ECONNREFUSED 10.…',
    '‖ parked     archive  2/5  queued 0.0s                budget api',
    '[███████████░░░░░░░░░]  4/7 steps  1s  1 FAILED  1 ok  1 recovered  1 skipped',
    '',
  ])
})

test('a run that ends before anything was drawn leaves its lines all the same; one that never began leaves nothing', () => {
  const quick = stage()
  quick.view.tell(runStarted(['fetch']))
  quick.view.end()
  expect(screenOf(quick.writes)).toHaveLength(3)
  const none = stage()
  none.pass(1000)
  none.view.end()
  expect(none.writes).toEqual([])
})

test('of very many steps that have ended the last stay, and how many there were before', () => {
  const { view, writes } = stage()
  for (const event of CROWD) view.tell(event)
  view.end()
  const lines = screenOf(writes)
  expect(lines[1]).toBe('  … 80 steps before these')
  expect(lines.at(-3)).toBe('  … 281 more running')
})
