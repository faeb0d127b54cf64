/** A file that somebody asked for. Imports Node and the problem type. */
import { writeFileSync } from 'node:fs'
import { OutputError } from '../problem.js'

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

export function writeFile(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    throw new OutputError([{ file, message: `cannot be written: ${REASONS[code] ?? message}` }])
  }
}
