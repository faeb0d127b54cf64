/** A file that somebody asked for. Imports Node and the problem type. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { InputError } from '@reprise/workflow'
import { OutputError } from '../output-error.js'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  ENOTDIR: 'there is no such directory',
  EISDIR: 'this is a directory',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left',
  ENAMETOOLONG: 'the name is too long',
}

/** Writes a picture, but never over something else: a forgotten file name must not cost a policy. */
export function writePicture(file: string, svg: string): void {
  if (isAnotherKind(file)) {
    const suggestion = 'give the picture a name of its own, such as storm.svg'
    throw new InputError([{ file, message: 'is there already, and is no picture', suggestion }])
  }
  writeFile(file, svg)
}

function isAnotherKind(file: string): boolean {
  try {
    if (!statSync(file).isFile()) return false
    const head = readFileSync(file, 'utf8').slice(0, 1000)
    return head !== '' && !head.includes('<svg')
  } catch {
    // Whatever it is, it cannot be read: writing will tell.
    return false
  }
}

export function writeFile(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    throw new OutputError([{ file, message: `cannot be written: ${REASONS[code] ?? message}` }])
  }
}
