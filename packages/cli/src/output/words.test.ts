import fc from 'fast-check'
import { STEP_STATES } from '@reprise/workflow/internal'
import { expect, test } from 'vitest'
import { PIPE } from '../testing/sample-run.js'
import { fitTable } from './fitted-table.js'
import { coarseDuration, countdown, elapsed, relativeTime } from './relative-time.js'
import { stepLabel, stepPaint } from './state-words.js'
import { styleFor } from './style.js'
import { cutText, padText, textWidth } from './width.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test.each([
  [-180_000, '3m ago'],
  [-400, 'now'],
  [400, 'now'],
  [4000, 'in 4s'],
  [-59_600, '60s ago'],
  [-2 * HOUR - 5 * MINUTE, '2h5m ago'],
  [-49 * HOUR, '2d ago'],
])('%d ms from now reads %s', (distance, text) => {
  expect(relativeTime(1e12 + distance, 1e12)).toBe(text)
})

test('a countdown never says that it is over before it is', () => {
  expect([0, 1, 99, 100, 9999, 10_000, 10_001, 61_000].map((ms) => countdown(ms, 0))).toEqual([
    'now',
    '0.0s',
    '0.0s',
    '0.1s',
    '9.9s',
    '10s',
    '11s',
    '1m1s',
  ])
})

test('elapsed time counts whole units', () => {
  expect([-5, 0, 999, 9999, 10_999, 61_999].map(elapsed)).toEqual(['0.0s', '0.0s', '0.9s', '9.9s', '10s', '1m1s'])
  expect([0, 400, 59_000, 90_000, HOUR].map(coarseDuration)).toEqual(['1s', '1s', '59s', '1m', '1h'])
})

test('text is cut by cells, and never in half', () => {
  expect(cutText('abc', 3)).toBe('abc')
  expect(cutText('abcd', 3)).toBe('ab…')
  expect(cutText('日本語', 4)).toBe('日…')
  expect(cutText('日本語', 6)).toBe('日本語')
  expect(cutText('abc', 0)).toBe('')
  expect(padText('日本', 6)).toBe('日本  ')
  expect(textWidth('❤️')).toBe(2)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat(30), (text, cells) => {
      expect(textWidth(cutText(text, cells))).toBeLessThanOrEqual(cells)
      expect(textWidth(padText(cutText(text, cells), cells))).toBe(cells)
    }),
  )
})

test('no two states look alike without colours, and what retries and what failed not with them', () => {
  for (const blocks of [true, false]) {
    const labels = STEP_STATES.map((state) => stepLabel(state, { blocks }))
    expect(new Set(labels).size).toBe(STEP_STATES.length)
    const signs = [stepLabel('retrying', { blocks }), stepLabel('failed', { blocks })].map((label) => label[0])
    expect(new Set(signs).size).toBe(2)
  }
  const style = styleFor('always', { write: () => true }, {})
  expect(stepPaint('retrying', { style })('x')).not.toBe(stepPaint('failed', { style })('x'))
})

test('a table that is too wide first cuts texts, then loses columns, the least important first', () => {
  const columns = [
    { title: 'name', cell: (row: readonly string[]) => row[0] ?? '', least: 4 },
    { title: 'size', cell: (row: readonly string[]) => row[1] ?? '', expendable: 1 },
    { title: 'note', cell: (row: readonly string[]) => row[2] ?? '', least: 4, expendable: 2 },
    { title: 'none', cell: () => '' },
  ]
  const rows = [['a-long-name', '12', 'something said'], 'between', ['b', '3', '']]
  const at = (screen: number): string[] => fitTable(columns, rows, { ...PIPE, screen })
  expect(at(100)).toEqual([
    '  name          size   note',
    '  a-long-name   12     something said',
    '  between',
    '  b             3',
  ])
  expect(at(30)[1]).toBe('  a-long-n…   12     somethin…')
  expect(at(19)[1]).toBe('  a-long-na…   12')
  expect(at(12)[1]).toBe('  a-long-na…')
  expect(at(3)[1]).toBe('  a-l…')
})
