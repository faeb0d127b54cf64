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

/** Empty for a file that is gone: whoever removes a run removes its logs. */
export function lastLineIn(file: string): string {
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch {
    return ''
  }
  try {
    const { size } = fstatSync(handle)
    const bytes = Buffer.alloc(Math.min(size, LAST_BYTES))
    return lastLine(bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, size - bytes.length)))
  } finally {
    closeSync(handle)
  }
}
