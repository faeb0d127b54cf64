/** The last line of what an attempt has written, for people who watch it. Imports Node. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** The beginning of a longer line is not worth the reading. */
const LAST_BYTES = 1000
const decoder = new TextDecoder()

/** Empty if nothing but space is in it. */
export function lastLine(bytes: Uint8Array): string {
  const lines = decoder.decode(bytes.subarray(-LAST_BYTES)).split(/[\r\n]+/)
  return lines.findLast((line) => line.trim() !== '')?.trim() ?? ''
}

export function lastLineIn(file: string): string {
  return lastLine(endOfFile(file, LAST_BYTES).bytes)
}

/** At most the last `most` bytes of a file. Empty if it cannot be read: removing a run removes its logs. */
export function endOfFile(file: string, most: number): { readonly bytes: Uint8Array; readonly isCut: boolean } {
  let handle: number | undefined
  try {
    handle = openSync(file, 'r')
    const { size } = fstatSync(handle)
    const bytes = Buffer.alloc(Math.min(size, most))
    const length = readSync(handle, bytes, 0, bytes.length, size - bytes.length)
    return { bytes: bytes.subarray(0, length), isCut: size > most }
  } catch {
    return { bytes: new Uint8Array(), isCut: false }
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}
