import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { tailOf } from './log-tail.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-tail-'))
afterAll(() => rmSync(directory, { recursive: true }))

function tail(content: string | Uint8Array, most = 3) {
  const file = path.join(directory, 'log')
  writeFileSync(file, content)
  return tailOf(file, most)
}

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('')

test.each([
  ['', [], false],
  ['one', ['one'], false],
  ['one\ntwo\n', ['one', 'two'], false],
  ['a\r\n\r\nb\r\n', ['a', '', 'b'], false],
  [numbered(5), ['line 2', 'line 3', 'line 4'], true],
  [numbered(100_000), ['line 99997', 'line 99998', 'line 99999'], true],
])('of %#, the last three lines', (content, lines, isCut) => {
  expect(tail(content)).toEqual({ lines, isCut })
})

test('what a terminal would obey is not in it, and what was written over is gone', () => {
  expect(tail('\u001b[31mred\u001b[0m  text\n10 %\r20 %\rdone\n\u001b]0;title\u0007x\n').lines).toEqual([
    'red  text',
    'done',
    'x',
  ])
})

test('a line of any length is cut, and a log of one line is still shown', () => {
  const { lines, isCut } = tail('x'.repeat(1_000_000))
  expect(lines).toEqual([`${'x'.repeat(499)}…`])
  expect(isCut).toBe(true)
})

test('a log that is gone has no lines', () => {
  expect(tailOf(path.join(directory, 'gone'), 3)).toEqual({ lines: [], isCut: false })
})
