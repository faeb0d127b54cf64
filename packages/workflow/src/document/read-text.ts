/**
 * The text of a file, or of stdin for `-`. Imports Node and the problem type.
 * Invariant: never more than the limit is read, whatever the file is: a device, a pipe that does not end.
 */
import { createReadStream } from 'node:fs'
import { MAX_BYTES, TOO_LONG } from './limits.js'
import { InputError, STDIN } from './problem.js'

export const NO_FILE = 'no such file'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: NO_FILE,
  ENOTDIR: NO_FILE,
  EISDIR: 'this is a directory, not a file',
  EACCES: 'no permission to read it',
  EPERM: 'no permission to read it',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
}

/** Without `stdin`, `-` is the name of a file. */
export async function readText(
  file: string,
  stdin?: AsyncIterable<string | Uint8Array>,
): Promise<{ readonly file: string; readonly text: string }> {
  const input = file === '-' ? stdin : undefined
  const name = input === undefined ? file : STDIN
  const bytes = Buffer.concat(await collect(name, () => input ?? createReadStream(file)))
  try {
    return { file: name, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    throw new InputError([{ file: name, message: 'this is not UTF-8 text', suggestion: 'save it as UTF-8' }])
  }
}

async function collect(file: string, open: () => AsyncIterable<string | Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of open()) {
      const bytes = Buffer.from(chunk as Uint8Array)
      chunks.push(bytes)
      length += bytes.length
      // Leaving the loop closes the stream.
      if (length > MAX_BYTES) break
    }
  } catch (error) {
    throw new InputError([{ file, message: reasonOf(error) }])
  }
  if (length <= MAX_BYTES) return chunks
  throw new InputError([{ file, message: TOO_LONG }])
}

/** Why a file cannot be read, in words. */
export function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return REASONS[code] ?? `cannot be read: ${message}`
}
