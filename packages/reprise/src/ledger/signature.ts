/**
 * What kind of failure it was: the error's name, its exit code or HTTP status, and its message, with placeholders for all
 * that differs from one time to the next. Dead letters and attempts are grouped by it.
 *
 * Invariants: at most `MAX_MESSAGE` of a message is looked at, so the time taken is bounded whatever was thrown; the
 * answer is short, on one line and well-formed, so that every store keeps and sorts it alike; what stands in quotes, in a
 * path or behind a host is not in it, since that is where names and secrets are. Imports types of its own layer.
 */
import type { FailureRecord } from './records.js'

const MAX_MESSAGE = 500
const MAX_NAME = 100
const MAX_SIGNATURE = 300

/**
 * In this order: what is inside of something else is gone before it could be taken for something of its own. A pattern is
 * tried where its sign is found: failures come in crowds, and most of them have no sign at all.
 */
const PLACEHOLDERS: readonly (readonly [sign: string, pattern: RegExp, placeholder: string])[] = [
  // Two words may have an apostrophe each: a quotation has no letter before it or behind.
  ["'", /(?<!\w)'[^']*'(?!\w)/g, "'…'"],
  // The end of a message that was cut is the end of its quotation.
  ['"', /"[^"]*(?:"|$)/g, '"…"'],
  ['`', /`[^`]*(?:`|$)/g, '`…`'],
  // Who is asked says more than for what; the part before an @ is a name and a password.
  ['://', /\b([a-z][a-z0-9+.-]{1,15}:\/\/)(?:[^\s/@]*@)?([^\s/?#)\]>,;]*)[^\s)\]>,;]*/gi, '$1$2/…'],
  ['\\', /\b[a-z]:\\[^\s)\]>,;:]*/gi, '<path>'],
  ['/', /(?<![\w/<])(?:~|\.{1,2})?(?:\/[\w.@+~%-]+)+\/?/g, '<path>'],
  ['-', /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, '#'],
  ['-', /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '#'],
  ['0x', /\b0x[0-9a-f]+\b/gi, '#'],
]

export function signatureOf(failure: FailureRecord | null): string {
  if (failure === null) return 'none'
  let message = plain(failure.message.slice(0, MAX_MESSAGE))
  for (const [sign, pattern, placeholder] of PLACEHOLDERS) {
    if (message.includes(sign)) message = message.replaceAll(pattern, placeholder)
  }
  if (/\d/.test(message)) message = message.replaceAll(/[a-z0-9]*\d[a-z0-9]*/gi, withoutNumbers)
  if (message.includes('#')) message = message.replaceAll(/#(?:[.,:/]#)+/g, '#')
  const name = plain(failure.name.slice(0, MAX_NAME))
  return plain(`${name}${factOf(failure)}: ${message}`.slice(0, MAX_SIGNATURE)).trim()
}

/** Numbers that are causes, where those of the message are not: exit codes 1 and 75 are different failures. */
function factOf({ exitCode, status }: FailureRecord): string {
  if (exitCode !== undefined) return ` (exit ${exitCode})`
  return status === undefined ? '' : ` (status ${status})`
}

/** One line, and nothing that a store would change: no control characters, no half of a surrogate pair. */
function plain(text: string): string {
  if (/^[!-~]+(?: [!-~]+)*$/.test(text)) return text
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').replaceAll(/\p{Cs}/gu, '\uFFFD')
}

/** Of a word with digits: an id has letters between them, or is long and hexadecimal. */
function withoutNumbers(word: string): string {
  const isId = word.length >= 8 && (/^[0-9a-f]+$/i.test(word) || /\d[a-z]+\d/i.test(word))
  return isId ? '#' : word.replaceAll(/\d+/g, '#')
}
