import { expect, test } from 'vitest'
import { textWidth } from './width.js'
import { titleLines, wrapCommand, wrapText } from './wrap.js'

test('a word that does not fit beside the indent is indented less, not broken', () => {
  expect(wrapText('       ', 'see nightly-import-261118-b7bccc now', 30)).toEqual([
    '       see',
    '  nightly-import-261118-b7bccc',
    '       now',
  ])
})

test('a command that fits is one line', () => {
  expect(wrapCommand('next: ', 'reprise resume nightly-7', 40)).toEqual(['next: reprise resume nightly-7'])
})

test('a longer command goes on after a backslash, an option with its value, and is the same command to a shell', () => {
  const command = String.raw`reprise resume nightly-import-261118-b7bccc --done 'it'\''s it' --store sqlite:some/where.db`
  for (const width of [30, 40, 60]) {
    const lines = wrapCommand('next: ', command, width)
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/ \\$/)
    const joined = lines
      .join('\n')
      .replaceAll(/ \\\n\s*/g, ' ')
      .slice('next: '.length)
    expect(joined).toBe(command)
    expect(lines.join('\n')).not.toContain('--store \\')
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(Math.max(width, 32))
  }
})

test('a title and what it is about stand below each other where they do not fit beside', () => {
  expect(titleLines('import', 'run nightly-7', { screen: 40 })).toEqual(['import  run nightly-7'])
  expect(titleLines('import', 'run nightly-7', { screen: 18 })).toEqual(['import', '  run nightly-7'])
})
