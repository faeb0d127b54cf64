/** Files that somebody asked for. Imports Node and the problem type. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { InputError } from '@reprise/workflow'
import { OutputError } from '../output-error.js'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  ENOTDIR: 'there is no such directory',
  EISDIR: 'this is a directory',
  EEXIST: 'something is there already',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left',
  ENAMETOOLONG: 'the name is too long',
}

/** Writes a picture, but never over something else: a forgotten file name must not cost a policy. */
export function writePicture(file: string, svg: string): void {
  refuseAnother(file, '<svg', 'is no picture', 'give the picture a name of its own, such as storm.svg')
  writeFile(file, svg)
}

/** Writes a JUnit report piece by piece, over an earlier one only; its directory is made. */
export function writeReport(file: string, pieces: Iterable<string>): void {
  refuseAnother(file, '<testsuite', 'is no JUnit report', 'give the report a name of its own, such as junit.xml')
  makeDirectory(path.dirname(file))
  orSay(file, 'written', () => {
    const handle = openSync(file, 'w')
    try {
      for (const piece of pieces) writeFileSync(handle, piece)
    } finally {
      closeSync(handle)
    }
  })
}

function refuseAnother(file: string, mark: string, said: string, suggestion: string): void {
  if (isAnotherKind(file, mark)) throw new InputError([{ file, message: `is there already, and ${said}`, suggestion }])
}

function isAnotherKind(file: string, mark: string): boolean {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false
  const head = headOf(file)
  return head !== '' && !head.includes(mark)
}

/** Enough to tell what a file is, however long it is. */
const HEAD_BYTES = 1000

function headOf(file: string): string {
  return orSay(file, 'read, so it is not overwritten', () => {
    const handle = openSync(file, 'r')
    try {
      const bytes = Buffer.alloc(HEAD_BYTES)
      return bytes.toString('utf8', 0, readSync(handle, bytes, 0, HEAD_BYTES, 0))
    } finally {
      closeSync(handle)
    }
  })
}

function writeFile(file: string, text: string): void {
  orSay(file, 'written', () => writeFileSync(file, text))
}

/** Never over something that is there; one that cannot be written whole is not left. */
export function writeNewFile(file: string, text: string): void {
  orSay(file, 'written', () => {
    const handle = openSync(file, 'wx')
    try {
      writeFileSync(handle, text)
    } catch (error) {
      rmSync(file, { force: true })
      throw error
    } finally {
      closeSync(handle)
    }
  })
}

/**
 * Makes a directory with those above it; answers with the first that had to be made, if any. One by one, since Node's
 * own way never ends where a system says that there is no such directory, as it does of one in /proc.
 */
export function makeDirectory(directory: string): string | undefined {
  const missing: string[] = []
  for (let at = path.resolve(directory); !existsSync(at); at = path.dirname(at)) missing.unshift(at)
  const made: string[] = []
  try {
    for (const one of missing) {
      orSay(one, 'made', () => mkdirSync(one))
      made.unshift(one)
    }
  } catch (error) {
    for (const one of made) rmdirSync(one)
    throw error
  }
  return missing[0]
}

export function orSay<T>(file: string, done: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    throw new OutputError([{ file, message: `cannot be ${done}: ${REASONS[code] ?? message}` }])
  }
}
