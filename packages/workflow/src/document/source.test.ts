import { expect, test } from 'vitest'
import { InputError, type Problem } from './problem.js'
import { parseSource } from './source.js'

function problemsOf(text: string): readonly Problem[] {
  try {
    parseSource('f.yaml', text)
  } catch (error) {
    if (error instanceof InputError) return error.problems
    throw error
  }
  return []
}

test('YAML and JSON become the same data', () => {
  const value = { attempts: 5, retry_on: ['network'] }
  expect(parseSource('f', 'attempts: 5\nretry_on: [network]\n').value).toEqual(value)
  expect(parseSource('f', '{\n\t"attempts": 5,\n\t"retry_on": ["network"]\n}\n').value).toEqual(value)
})

test('every fault of the syntax is told with its place, in the order of the file', () => {
  const problems = problemsOf('a: 1\na: 2\nb: "x\\q"\nc: @\n')
  expect(problems.map(({ line, column }) => [line, column])).toEqual([
    [2, 1],
    [3, 6],
    [4, 4],
  ])
})

test('a key that stands twice is found in a large map at once', () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1\n`).join('')
  expect(problemsOf(`${keys}k7: 2\n`)).toMatchObject([
    { line: 20_001, message: '`k7` is given twice', suggestion: 'keep one of them; the first is in line 8' },
  ])
})

test.each([
  ['two documents', 'a: 1\n---\nb: 2\n', 'holds more than one document'],
  ['a tag nobody knows', 'a: !gadget 1\n', 'unresolved tag: !gadget'],
  ['a key that is a list', '? [1]\n: 2\n', 'with stringKeys, all keys must be strings'],
  ['an alias without an anchor', 'a: *x\n', 'nothing before this is called &x'],
  ['deep nesting', '['.repeat(100_000), 'nests deeper than 64 levels'],
])('%s is refused', (_, text, message) => {
  expect(problemsOf(text)[0]?.message).toBe(message)
})

test('aliases that multiply are refused before they fill the memory', () => {
  const levels = Array.from({ length: 9 }, (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level}, `.repeat(10)}]`)
  expect(problemsOf(`a0: &a0 [x]\n${levels.join('\n')}\n`)[0]?.message).toBe('aliases multiply beyond measure')
})

test('keys of prototypes are keys like any other', () => {
  const { value } = parseSource('f', '__proto__: {polluted: 1}\nconstructor: 2\n')
  expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor'])
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
})

test.each([
  ['a byte order mark', '\ufeffa: 1\na: 2\n', [2, 1]],
  ['a byte order mark in the same line', '\ufeff{a: 1, a: 2}\n', [1, 9]],
  ['line ends of Windows', 'a: 1\r\n  \r\nb: 1\r\nb: 2\r\n', [4, 1]],
])('places are right with %s', (_, text, place) => {
  expect(problemsOf(text).map(({ line, column }) => [line, column])).toEqual([place])
})

test.each([
  ['steps:\n\t- x\n', 'indent with spaces'],
  ['a: echo: hi\n', 'text that holds `: ` needs quotes, or a line of its own after `|`'],
  ['a: *.txt\n', 'text that begins with `*` needs quotes'],
  ['a: !x y\n', 'text that begins with `!` needs quotes'],
  ['a: @x\n', 'text that begins so needs quotes'],
  ['a: 1\n---\nb: 1\n', 'a file holds one: split it at `---`'],
  ['a: {<<: {b: 1}}\n', 'write the fields out; what many steps share goes under `retry_defaults:` or `env:`'],
])('%j: the cure is said', (text, suggestion) => {
  expect(problemsOf(text)).toMatchObject([{ suggestion }])
})

test.each([
  ['steps:\n\t- x\n', [2, 1], 'a tab stands in the indentation', 'indent with spaces'],
  [
    'steps:\n  - name: a\n   shell: x\n',
    [3, 4],
    'this line is indented neither as a field of the item above nor as the next item',
    'indent it as the other fields of the item, or begin it with `- `',
  ],
  [
    'steps:\n  - name: a\n      shell: x\n',
    [3, 7],
    'this line is indented deeper than the field above, which has a value already',
    'indent it as the field above',
  ],
  [
    'name: x\n steps: []\n',
    [2, 2],
    'this line is indented deeper than the field above, which has a value already',
    'indent it as the field above',
  ],
  ['a:\n  - b: "x \\" y\n    c: 1\n', [2, 8], 'a quote is not closed', 'close it with `"`'],
  ["a: 'it''s\nb: 1\n", [1, 4], 'a quote is not closed', "close it with `'`; a `'` within the text is written `''`"],
  ['a: 1\nb: 2\na: 3\n', [3, 1], '`a` is given twice', 'keep one of them; the first is in line 1'],
  ['name:x\nb: 1\n', [1, 6], 'a space is missing behind `name:`', 'write `name: x`'],
  ['a:\n  - b: 1\n    shell:echo hi\n', [3, 11], 'a space is missing behind `shell:`', 'write `shell: echo hi`'],
  ['name: x\nsteps\n  - a\n', [2, 1], 'a `:` is missing behind `steps`', 'write `steps:`'],
  [
    'a: echo result: ok\n',
    [1, 15],
    '`: ` stands within a text without quotes',
    'text that holds `: ` needs quotes, or a line of its own after `|`',
  ],
  ['a: {b: 1, c: [2, 3]\nd: 1\n', [1, 4], 'a `{` is not closed', 'close it with `}`'],
  ['a:\n  b: [x, "]"\n  c: 1\n', [2, 6], 'a `[` is not closed', 'close it with `]`'],
  ['{"a": [1, 2]\n', [1, 1], 'a `{` is not closed', 'close it with `}`'],
  [
    'a: "echo" hi\n',
    [1, 11],
    'text stands behind the closing quote',
    'put all of the text within quotes of the other kind, or in a line of its own after `|`',
  ],
  [
    'a: "\\d+"\n',
    [1, 5],
    '`\\d` means nothing within double quotes',
    'write `\\\\d`, or put the text in single quotes',
  ],
  ['a: @x\n', [1, 4], 'text without quotes cannot begin with "@"', 'text that begins so needs quotes'],
  [
    'a: | echo\n  b\n',
    [1, 6],
    'text stands behind `|` or `>` in the same line',
    'write it in the lines below, indented deeper than the key',
  ],
])('%j is refused at the place to mend, in plain words', (text, [line, column], message, suggestion) => {
  expect(problemsOf(text)).toContainEqual({ file: 'f.yaml', line, column, message, suggestion })
})
