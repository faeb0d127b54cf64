/**
 * Errors of the YAML parser in plain words, each at the place to mend and with its cure. The parser often notices a slip
 * far behind it: an open quote at the end of the file. Pure. Imports types of the `yaml` package.
 */
import type { ErrorCode } from 'yaml'
import { shortened } from './shortened.js'

export interface ParserError {
  readonly code: ErrorCode
  readonly pos: readonly [start: number, end: number]
  readonly message: string
}

export interface Fault {
  readonly offset: number
  readonly message: string
  readonly suggestion?: string
}

type Explain = (error: ParserError, text: string) => Fault | undefined

/** A bracket that opened further back is not looked for: a file may have very many errors. */
const MAX_SEARCHED = 10_000
const QUOTES_CURE = 'text that holds `: ` needs quotes, or a line of its own after `|`'
const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

const EXPLAIN: Partial<Record<ErrorCode, Explain>> = {
  TAB_AS_INDENT: ({ pos }) => ({
    offset: pos[0],
    message: 'a tab stands in the indentation',
    suggestion: 'indent with spaces',
  }),
  BLOCK_AS_IMPLICIT_KEY: explainColon,
  MULTILINE_IMPLICIT_KEY: explainKey,
  MISSING_CHAR: explainMissing,
  BAD_INDENT: explainBracket,
  BAD_DQ_ESCAPE: ({ pos, message }) => {
    const escape = /\\.$/s.exec(message)?.[0] ?? 'the escape'
    return {
      offset: pos[0],
      message: `\`${escape}\` means nothing within double quotes`,
      suggestion: `write \`\\${escape}\`, or put the text in single quotes`,
    }
  },
  BAD_SCALAR_START: ({ pos }, text) => ({
    offset: pos[0],
    message: `text without quotes cannot begin with ${JSON.stringify(text.charAt(pos[0]))}`,
    suggestion: 'text that begins so needs quotes',
  }),
  UNEXPECTED_TOKEN: explainToken,
  TAG_RESOLVE_FAILED: ({ pos, message }) => ({
    offset: pos[0],
    message: tidy(message),
    suggestion: 'text that begins with `!` needs quotes',
  }),
  MULTIPLE_DOCS: ({ pos }) => ({
    offset: pos[0],
    message: 'holds more than one document',
    suggestion: 'a file holds one: split it at `---`',
  }),
}

export function explainFaults(errors: readonly ParserError[], text: string): Fault[] {
  // For a line that is indented too deep the parser has two errors at one place.
  const broken = new Set(errors.filter(({ code }) => code === 'MULTILINE_IMPLICIT_KEY').map(({ pos }) => pos[0]))
  const nested = new Set(errors.filter(({ code }) => code === 'BLOCK_AS_IMPLICIT_KEY').map(({ pos }) => pos[0]))
  return errors.flatMap((error) => {
    const [start] = error.pos
    if (error.code === 'MULTILINE_IMPLICIT_KEY' && nested.has(start)) return []
    if (error.code === 'BLOCK_AS_IMPLICIT_KEY' && broken.has(start)) return explainDeeper(start, text)
    return EXPLAIN[error.code]?.(error, text) ?? { offset: start, message: tidy(error.message) }
  })
}

/** A value stands in the line above, and this one would be a map within it. */
function explainDeeper(start: number, text: string): Fault {
  return {
    offset: lineStart(text, text.indexOf('\n', start) + 1),
    message: 'this line is indented deeper than the field above, which has a value already',
    suggestion: 'indent it as the field above',
  }
}

function explainColon({ pos }: ParserError, text: string): Fault {
  const colon = /:(?=\s)/.exec(text.slice(pos[0]))
  return {
    offset: pos[0] + (colon?.index ?? 0),
    message: '`: ` stands within a text without quotes',
    suggestion: QUOTES_CURE,
  }
}

/** Text that should be a key and has no colon with a space behind it. */
function explainKey({ pos }: ParserError, text: string): Fault {
  const offset = lineStart(text, pos[0])
  const line = /^[^\r\n]*/.exec(text.slice(offset))?.[0].trimEnd() ?? ''
  const [, key, value] = /^([\w-]+):(\S.*)$/.exec(line) ?? []
  if (key !== undefined && value !== undefined) {
    const suggestion = `write \`${key}: ${shortened(value)}\``
    return { offset: offset + key.length + 1, message: `a space is missing behind \`${key}:\``, suggestion }
  }
  const isWord = /^[\w-]+$/.test(line)
  return {
    offset,
    message: isWord ? `a \`:\` is missing behind \`${shortened(line)}\`` : 'this line is not a field',
    suggestion: isWord
      ? `write \`${shortened(line)}:\``
      : 'a field is written `name: value`; the lines of a text are indented deeper than its key',
  }
}

function explainMissing(error: ParserError, text: string): Fault | undefined {
  const { pos, message } = error
  if (message.startsWith('Sequence item without -')) {
    return {
      offset: lineStart(text, pos[0]),
      message: 'this line is indented neither as a field of the item above nor as the next item',
      suggestion: 'indent it as the other fields of the item, or begin it with `- `',
    }
  }
  if (message.startsWith('Implicit map keys')) return explainKey(error, text)
  const [, quote] = /^Missing closing (["'])/.exec(message) ?? []
  if (quote !== undefined) return explainQuote(quote, pos[0], text)
  return /^Flow (?:map|sequence)/.test(message) ? explainBracket(error, text) : undefined
}

/** The last quote before the place is the one that opens: had it closed, nothing would be open. */
function explainQuote(quote: string, end: number, text: string): Fault {
  let offset = text.lastIndexOf(quote, end - 1)
  // Within the text two single quotes are one, and a backslash stands before a double one.
  const [sign, length] = quote === "'" ? [quote, 2] : ['\\', 1]
  while (text[offset - 1] === sign) offset = text.lastIndexOf(quote, offset - length)
  const twice = quote === "'" ? "; a `'` within the text is written `''`" : ''
  return {
    offset: Math.max(0, offset),
    message: 'a quote is not closed',
    suggestion: `close it with \`${quote}\`${twice}`,
  }
}

function explainBracket({ pos, message }: ParserError, text: string): Fault | undefined {
  const [, close] = /end with a ([}\]])/.exec(message) ?? []
  if (close === undefined) return undefined
  if (text[lineStart(text, pos[0])] === close) {
    return {
      offset: lineStart(text, pos[0]),
      message: `this \`${close}\` is not indented`,
      suggestion: 'indent it deeper than the key above',
    }
  }
  const from = Math.max(0, pos[0] - MAX_SEARCHED)
  const found = openBracket(text.slice(from, pos[0]), close)
  if (found === undefined) return undefined
  const offset = from + found
  return {
    offset,
    message: `a \`${text[offset] ?? ''}\` is not closed`,
    suggestion: `close it with \`${close}\``,
  }
}

/** The last bracket of this kind that is open at the end of the text, quotes aside. */
function openBracket(text: string, close: string): number | undefined {
  const open: { at: number; close: string }[] = []
  for (const { 0: found, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|'[^'\n]*'|[{}[\]]/gs)) {
    const closing = CLOSING[found]
    if (closing !== undefined) open.push({ at: index, close: closing })
    else if (found === open.at(-1)?.close) open.pop()
  }
  return open.findLast((bracket) => bracket.close === close)?.at
}

function explainToken({ pos, message }: ParserError, text: string): Fault | undefined {
  const before = text.slice(text.lastIndexOf('\n', pos[0] - 1) + 1, pos[0])
  if (/[|>][+-]?\s*$/.test(before)) {
    return {
      offset: pos[0],
      message: 'text stands behind `|` or `>` in the same line',
      suggestion: 'write it in the lines below, indented deeper than the key',
    }
  }
  if (!message.startsWith('Unexpected scalar at node end') || !/["']\s*$/.test(before)) return undefined
  return {
    offset: pos[0],
    message: 'text stands behind the closing quote',
    suggestion: 'put all of the text within quotes of the other kind, or in a line of its own after `|`',
  }
}

/** Where the text of a line begins. */
function lineStart(text: string, offset: number): number {
  const start = offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1
  const indent = /^[ ]*(?:- +)*/.exec(text.slice(start))?.[0].length ?? 0
  return Math.max(offset, start + indent)
}

/** The parser's messages begin with a capital and may end with a stop; ours follow a colon. */
function tidy(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '')
}
