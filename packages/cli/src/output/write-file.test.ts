/** Files that somebody asked for: what is there already is overwritten only if it is of the same kind. */
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { InputError } from '@reprise/workflow'
import { afterAll, expect, it } from 'vitest'
import { writePicture, writeReport } from './write-file.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-write-file-'))
afterAll(() => rmSync(directory, { recursive: true }))
const file = path.join(directory, 'out')

/** Longer than the longest text of JavaScript; it takes no room on the disk. */
const LONG = 600 * 1024 * 1024

it.each([
  ['a report', () => writeReport(file, ['<testsuites/>'])],
  ['a picture', () => writePicture(file, '<svg/>')],
])('%s is never written over a file of another kind, however long that is', (_name, write) => {
  for (const length of [5, LONG]) {
    writeFileSync(file, 'notes')
    truncateSync(file, length)
    expect(write).toThrow(InputError)
    expect(statSync(file).size).toBe(length)
  }
})

it('a report is written over an earlier one, and over an empty file', () => {
  for (const before of ['<testsuites>old</testsuites>', '']) {
    writeFileSync(file, before)
    writeReport(file, ['<testsuites/>'])
    expect(readFileSync(file, 'utf8')).toBe('<testsuites/>')
  }
})
