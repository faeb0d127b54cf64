import { expect, test } from 'vitest'
import { InputError } from './problem.js'
import { parseSource } from './source.js'

function problemsOf(text: string): readonly { line?: number; column?: number; message: string }[] {
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
  expect(problemsOf(`${keys}k7: 2\n`)).toMatchObject([{ line: 20_001, message: 'this key stands here twice' }])
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
