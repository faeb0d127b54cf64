import { expect, test } from 'vitest'
import { LineSplitter } from './line-splitter.js'

const LIMIT = 64 * 1024

function split(pieces: readonly string[]): { lines: string[]; rest: string | null } {
  const splitter = new LineSplitter()
  const lines = pieces.flatMap((piece) => splitter.push(Buffer.from(piece)).map(String))
  const rest = splitter.end()
  return { lines, rest: rest === null ? null : String(rest) }
}

test.each([
  [['one\ntwo\n'], ['one\n', 'two\n'], null],
  [['on', 'e\ntw', 'o'], ['one\n'], 'two\n'],
  [['', '\n', '\n'], ['\n', '\n'], null],
  [['a\r\n'], ['a\r\n'], null],
])('%j is cut into whole lines', (pieces, lines, rest) => {
  expect(split(pieces)).toEqual({ lines, rest })
})

test('a line is whole wherever its bytes were cut', () => {
  const bytes = Buffer.from('grün ✓\nrot\n')
  for (let at = 0; at <= bytes.length; at++) {
    const splitter = new LineSplitter()
    const lines = [...splitter.push(bytes.subarray(0, at)), ...splitter.push(bytes.subarray(at))]
    expect(lines.map(String)).toEqual(['grün ✓\n', 'rot\n'])
  }
})

test('a line without an end is handed on in pieces, so that it does not fill the memory', () => {
  const splitter = new LineSplitter()
  let shown = 0
  for (let turn = 0; turn < 100; turn++)
    for (const line of splitter.push(Buffer.alloc(10_000, 'x'))) {
      expect(line.length).toBe(LIMIT + 1)
      shown += line.length - 1
    }
  expect(shown + (splitter.end()?.length ?? 0) - 1).toBe(1_000_000)
})
