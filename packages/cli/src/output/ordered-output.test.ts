import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import type { Output } from '../process-io.js'
import { OrderedOutput } from './ordered-output.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-ordered-'))
afterAll(() => rmSync(directory, { recursive: true }))

function fileWith(name: string, content: string): string {
  const file = path.join(directory, name)
  writeFileSync(file, content)
  return file
}

/** A reader that takes one piece a turn. */
function slowReader(): { output: Output; said: () => Promise<string>; most: () => number } {
  let said = ''
  let most = 0
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _, done) {
      most = Math.max(most, stream.writableLength)
      said += chunk.toString()
      setImmediate(done)
    },
  })
  const read = (): Promise<string> => new Promise((resolve) => stream.end(() => resolve(said)))
  return { output: stream, said: read, most: () => most }
}

test('what is said while a file is copied comes after it', async () => {
  const { output, said } = slowReader()
  const ordered = new OrderedOutput(output)
  ordered.text('before\n')
  ordered.file(fileWith('a', 'x\n'.repeat(100_000)), '<a>\n', '</a>\n')
  ordered.text('between\n')
  ordered.file(fileWith('b', 'no newline'), '<b>\n', '</b>\n')
  ordered.text('after\n')
  await ordered.flushed()
  expect((await said()).replaceAll(/(x\n)+/g, 'x…\n')).toBe(
    'before\n<a>\nx…\n</a>\nbetween\n<b>\nno newline\n</b>\nafter\n',
  )
})

test('a slow reader is waited for: no more than a piece of a large file is held', async () => {
  const { output, said, most } = slowReader()
  const ordered = new OrderedOutput(output)
  ordered.file(fileWith('large', 'y'.repeat(5_000_000)), '', '')
  await ordered.flushed()
  expect((await said()).length).toBe(5_000_001)
  expect(most()).toBeLessThan(200_000)
})

test('what can be written at once is', () => {
  let said = ''
  const ordered = new OrderedOutput({ write: (text) => (said += text) })
  ordered.text('now\n')
  expect(said).toBe('now\n')
})

test('on a terminal a file loses what that would obey', async () => {
  let said = ''
  const ordered = new OrderedOutput({ write: (text) => (said += text), isTTY: true })
  ordered.file(fileWith('evil', '\u001b[2J\u001b[31mred\u001b[0m\tgrün\n'), '', '')
  await ordered.flushed()
  expect(said).toBe('red\tgrün\n')
})

test('a log that is gone is said to be, and nothing else is lost', async () => {
  let said = ''
  const ordered = new OrderedOutput({ write: (text) => (said += text) })
  ordered.file(path.join(directory, 'gone'), '<a>\n', '</a>\n')
  ordered.text('after\n')
  await ordered.flushed()
  expect(said).toMatch(/^<a>\n\(.*gone cannot be read: .*\)\n<\/a>\nafter\n$/)
})

test('a failure of what was written later is told at the end', async () => {
  const lost = new Error('disk full')
  let writes = 0
  const output = {
    write: () => {
      if (++writes > 1) throw lost
    },
  }
  const ordered = new OrderedOutput(output)
  ordered.file(fileWith('c', 'c\n'), '', '')
  await expect(ordered.flushed()).rejects.toBe(lost)
})
