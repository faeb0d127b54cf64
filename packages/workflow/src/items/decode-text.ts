/**
 * From bytes to text in pieces, without the byte order mark. Imports the errors of inputs.
 * Invariant: bytes that are not UTF-8 are refused with their line; nothing is replaced.
 */
import { InputDataError } from './input-data-error.js'

/** Output of a command, a file, stdin. Leaving a loop over it early ends it. */
export type ByteSource = AsyncIterable<Uint8Array | string>

const NEWLINE = 10

export async function* decodedText(source: ByteSource, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  for await (const piece of source) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    const text = decoded(decoder, bytes)
    if (text === null) throw notText(name, line + badLineIn(bytes))
    line += newlinesIn(bytes)
    if (text !== '') yield text
  }
  const rest = decoded(decoder)
  if (rest === null) throw notText(name, line)
  if (rest !== '') yield rest
}

function decoded(decoder: InstanceType<typeof TextDecoder>, bytes?: Uint8Array): string | null {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
  } catch {
    return null
  }
}

function newlinesIn(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++
  return count
}

/** How many lines stand before the first one that cannot be decoded; a newline is never part of another character. */
function badLineIn(bytes: Uint8Array): number {
  // The first character may have begun in the piece before.
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  for (let line = 0, at = start; at < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, at)
    const end = newline === -1 ? bytes.length : newline + 1
    if (decoded(new TextDecoder('utf-8', { fatal: true }), bytes.subarray(at, end)) === null) return line
    at = end
  }
  return 0
}

function notText(name: string, line: number): InputDataError {
  const cure = /\.(?:gz|tgz|bz2|xz|zst|zip)$/i.test(name)
    ? 'unpack it with a command: `input: {command: gzip -dc FILE, format: …}`'
    : 'save it as UTF-8'
  return new InputDataError(`${name}:${line}`, 'this is not UTF-8 text', cure)
}
