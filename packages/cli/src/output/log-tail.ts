/** The last lines of a log, however long it is. Imports how a file's end is read, and harmless text. */
import { endOfFile } from '@reprise/workflow/internal'
import { harmless } from './harmless-text.js'

export interface LogTail {
  readonly lines: readonly string[]
  /** Whether there is more before them. */
  readonly isCut: boolean
}

/** Enough for lines of a usual length. */
const TAIL_BYTES = 64 * 1024
const MAX_LINE = 500

/** Plain text; empty if it cannot be read. */
export function tailOf(path: string, most: number): LogTail {
  const { bytes, isCut } = endOfFile(path, TAIL_BYTES)
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/)
  // The first one may have lost its beginning.
  const whole = isCut && lines.length > 1 ? lines.slice(1) : lines
  const shown = whole.slice(-most).map(plainLine)
  return { lines: text === '' ? [] : shown, isCut: isCut || whole.length > shown.length }
}

/** Of a line that was written over (a progress bar), what was left of it. */
function plainLine(line: string): string {
  const shown = line.slice(line.lastIndexOf('\r') + 1)
  const text = harmless(shown.slice(0, MAX_LINE * 4)).trimEnd()
  return text.length > MAX_LINE ? `${text.slice(0, MAX_LINE - 1).replace(/[\ud800-\udbff]$/, '')}…` : text
}
