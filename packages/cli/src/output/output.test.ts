import { InputError } from '@reprise/workflow'
import { expect, test } from 'vitest'
import { printProblems } from './problems.js'
import { isTerminal, PLAIN, styleFor } from './style.js'
import { alignTable } from './table.js'
import { textWidth } from './width.js'
import { wrapText } from './wrap.js'

test('a terminal gets colours; a pipe, NO_COLOR, CI and a dumb terminal do not', () => {
  const terminal = { write: () => true, isTTY: true }
  expect(isTerminal(terminal, {})).toBe(true)
  expect(isTerminal(terminal, { NO_COLOR: '' })).toBe(true)
  for (const env of [{ NO_COLOR: '1' }, { CI: 'true' }, { TERM: 'dumb' }]) expect(isTerminal(terminal, env)).toBe(false)
  expect(isTerminal({ write: () => true }, {})).toBe(false)
})

test('colours can be forced and forbidden', () => {
  const terminal = { write: () => true, isTTY: true }
  expect(styleFor('always', { write: () => true }, { NO_COLOR: '1' }).red('x')).toBe('\u001b[31mx\u001b[39m')
  expect(styleFor('never', terminal, {}).red('x')).toBe('x')
})

test('cells are counted, not characters', () => {
  expect(['abc', '日本', 'e\u0301', '\u001b[31mx\u001b[39m', '🎉', '…'].map(textWidth)).toEqual([3, 4, 1, 1, 2, 1])
})

test('columns stand under each other, whatever is in them', () => {
  const lines = alignTable(
    [{ title: 'a' }, { title: 'n', align: 'right' }],
    [['日本', '1'], 'between', ['x', '\u001b[1m10\u001b[22m']],
  )
  expect(lines).toEqual(['  a       n', '  日本    1', '  between', '  x      \u001b[1m10\u001b[22m'])
})

test('text is wrapped under its lead, and a word that is too long stays whole', () => {
  expect(wrapText('hint: ', 'one two incomprehensibilities three', 16)).toEqual([
    'hint: one two',
    '      incomprehensibilities',
    '      three',
  ])
})

function printed(error: InputError): string {
  let text = ''
  printProblems(error, { write: (part) => (text += part) }, PLAIN)
  return text
}

test('a problem shows its line with a caret under the place', () => {
  const problem = { file: 'f.yaml', line: 2, column: 9, path: 'a.b', message: 'is wrong', suggestion: 'do this' }
  expect(printed(new InputError([problem], 'x\n日本 \tab: c\n'))).toBe(
    'f.yaml:2:9: error: a.b: is wrong\n    2 │ 日本  ab: c\n      │           ^\n  hint: do this\n',
  )
})

test('of a long line only the surroundings are shown', () => {
  const text = printed(new InputError([{ file: 'f', line: 1, column: 500, message: 'm' }], 'x'.repeat(1000)))
  expect(text.split('\n')[1]).toHaveLength(8 + 1 + 60 + 40 + 1)
  expect(text.split('\n')[2]?.indexOf('^')).toBe(8 + 1 + 60)
})

test('what a terminal would obey never reaches it', () => {
  const evil = '\u001b]0;owned\u0007\u009b31m\u202e'
  const text = printed(new InputError([{ file: evil, line: 1, column: 1, message: evil, suggestion: evil }], evil))
  // oxlint-disable-next-line no-control-regex -- controls are what must not be there
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
})

test('of very many problems the first are shown, and how many more there are', () => {
  const problems = Array.from({ length: 50 }, (_, index) => ({ message: `m${index}` }))
  expect(printed(new InputError(problems))).toMatch(/m19\n\n… and 30 more problems: -v shows all of them\.\n$/)
})
