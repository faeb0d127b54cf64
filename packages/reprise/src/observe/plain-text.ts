/**
 * Text of others made safe to show to people: one line, bounded, without anything a terminal would obey.
 *
 * Invariants: nothing here throws, whatever was thrown at the caller: errors may have getters that throw, messages that
 * are no strings and causes that go round in circles. Imports nothing.
 */

const MAX_TEXT = 300

/** A colour or a title is dropped as a whole; what stays unfinished loses its controls and is harmless text. */
const SEQUENCES = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]`, // colours, cursor, erasing
    String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\p{Cc}]*(?:\x07|\x1b\\|\x9c)`, // titles, links, clipboard
    String.raw`\x1b[ -/]*[0-~]`, // everything else that begins with escape
  ].join('|'),
  'gu',
)
/** Controls, line and paragraph separators, and marks that turn the direction of text and so can forge a line. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** One line of at most `max` characters. */
export function plainText(text: string, max: number = MAX_TEXT): string {
  // Cut first: the work is bounded by the result, not by what came in.
  const line = text
    .slice(0, max * 4)
    .replaceAll(SEQUENCES, '')
    .replaceAll(UNSAFE, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > max ? `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…` : line
}

/** What an error says, with what caused it: `fetch failed: connect ECONNREFUSED 127.0.0.1:80`. */
export function describeError(error: unknown, max = MAX_TEXT): string {
  const messages: string[] = []
  let current = error
  // Two causes deep is where the interesting one is; more would be a stack.
  for (let depth = 0; depth < 3; depth++) {
    const message = ownText(current).slice(0, max * 4)
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message)
    current = property(current, 'cause') ?? undefined
    if (current === undefined) break
  }
  return plainText(messages.join(': '), max)
}

/** The kind of an error in a word, for attributes that must not carry its text. */
export function errorType(error: unknown): string {
  const name = property(error, 'name')
  return typeof name === 'string' && name !== '' ? plainText(name, 80) : typeof error
}

function ownText(thrown: unknown): string {
  for (const field of ['message', 'code', 'name']) {
    const text = property(thrown, field)
    if (typeof text === 'string' && text !== '') return text
  }
  return isObject(thrown) ? `a thrown ${typeof thrown}` : String(thrown)
}

/** A property, or undefined where there is none or reading it throws. */
export function property(of: unknown, name: string): unknown {
  try {
    return isObject(of) ? of[name] : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
