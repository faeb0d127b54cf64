import { expect, test } from 'vitest'
import { findExcess, MAX_ALIASES, MAX_DEPTH, MAX_TOKENS } from './limits.js'

const deep = (levels: number, open: string, close = ''): string => open.repeat(levels) + close.repeat(levels)
const indented = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => `${'  '.repeat(level)}k:`).join('\n')
const indentless = (levels: number): string =>
  Array.from({ length: levels / 2 }, (_, level) => `k:\n${'  '.repeat(level)}- `).join('')

test.each([
  ['brackets', deep(MAX_DEPTH, '[', ']'), deep(MAX_DEPTH + 1, '[', ']')],
  ['braces', deep(MAX_DEPTH, '{a: ', '}'), deep(MAX_DEPTH + 1, '{a: ', '}')],
  ['JSON', deep(MAX_DEPTH, '{"a":', '}'), deep(MAX_DEPTH + 1, '{"a":', '}')],
  ['brackets left open', deep(MAX_DEPTH, '['), deep(MAX_DEPTH + 1, '[')],
  ['lists in one line', deep(MAX_DEPTH, '- '), deep(MAX_DEPTH + 1, '- ')],
  ['explicit keys', deep(MAX_DEPTH, '? '), deep(MAX_DEPTH + 1, '? ')],
  ['indented keys', indented(MAX_DEPTH), indented(MAX_DEPTH + 1)],
  ['lists at the column of their key', indentless(MAX_DEPTH), indentless(MAX_DEPTH + 2)],
  ['brackets in a list', `- ${deep(MAX_DEPTH - 1, '[')}`, `- ${deep(MAX_DEPTH, '[')}`],
])('%s may nest 64 levels deep and no more', (_, within, beyond) => {
  expect(findExcess(within)).toBeUndefined()
  expect(findExcess(beyond)?.message).toBe('nests deeper than 64 levels')
})

test('what looks like nesting inside texts and comments counts as nothing', () => {
  const brackets = deep(MAX_DEPTH * 2, '[')
  const text = `a: "${brackets}"\nb: '${brackets}'\nc: x${brackets}\nd: |\n  ${brackets}\n  - - -\n# ${brackets}\n`
  expect(findExcess(text)).toBeUndefined()
})

test('a long flat file is not a deep one', () => {
  expect(findExcess('a:\n  b:\n  - c: 1\n    d: 2\n  - e\n'.repeat(500))).toBeUndefined()
})

test('a hundred aliases pass, one more does not', () => {
  const aliases = (count: number): string => `a: &x 1\nb: [${'*x, '.repeat(count)}]`
  expect(findExcess(aliases(MAX_ALIASES))).toBeUndefined()
  expect(findExcess(aliases(MAX_ALIASES + 1))?.message).toBe('has more than 100 aliases')
})

test('stars in texts are no aliases', () => {
  expect(findExcess('- "*x"\n- |\n  *x\n- 2 *x\n'.repeat(200))).toBeUndefined()
})

test.each(['"" ', '&a ', '!a ', ', ', '} ', ': '])('too many of %j are refused without reading on', (part) => {
  expect(findExcess(`[${part.repeat(MAX_TOKENS + 1)}`)?.message).toBe('has too many values')
})

test('the place of the excess is told', () => {
  expect(findExcess(`a: ${deep(70, '[')}`)?.offset).toBe(3 + MAX_DEPTH - 1)
})
