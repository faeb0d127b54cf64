/**
 * Lines, and NDJSON: a JSON value on each line. Imports where JSON ends to be JSON, the errors and limits of inputs.
 *
 * A line ends with LF or CR LF; the last one may have no end. An empty line is no item, nor is a blank line of NDJSON.
 */
import type { Json } from 'reprise/durable'
import { jsonFaultAt } from '../values/json-fault.js'
import type { Entry, EntryReader } from './entry.js'
import { InputDataError } from './input-data-error.js'
import { itemTooLarge, MAX_ITEM_TEXT } from './limits.js'

/** Undefined: the line is no item. */
type LineValue = (line: string, number: number) => Json | undefined

export function lineReader(name: string): EntryReader {
  return new LineReader(name, (line) => (line === '' ? undefined : line))
}

/**
 * Without a format, lines are what people mean by a list of names. Of JSON each line would become an item, so a text that
 * begins as JSON does is refused.
 */
export function guessedLineReader(name: string): EntryReader {
  let isFirst = true
  return new LineReader(name, (line, number) => {
    if (line === '') return undefined
    if (isFirst && /^\s*[[{]/.test(line)) throw looksLikeJson(name, number)
    isFirst = false
    return line
  })
}

export function ndjsonReader(name: string): EntryReader {
  return new LineReader(name, (line, number) => parsedLine(line, `${name}:${number}`))
}

class LineReader implements EntryReader {
  readonly #name: string
  readonly #valueOf: LineValue
  #rest: string
  #line: number
  #position: number

  constructor(name: string, valueOf: LineValue) {
    this.#name = name
    this.#valueOf = valueOf
    this.#rest = ''
    this.#line = 0
    this.#position = 0
  }

  *feed(piece: string): Generator<Entry> {
    const text = this.#rest + piece
    let start = 0
    for (let end = text.indexOf('\n', this.#rest.length); end !== -1; end = text.indexOf('\n', start)) {
      const entry = this.#entryOf(text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end))
      start = end + 1
      if (entry) yield entry
    }
    this.#rest = text.slice(start)
    if (this.#rest.length > MAX_ITEM_TEXT) throw itemTooLarge(`${this.#name}:${this.#line + 1}`)
  }

  *end(): Generator<Entry> {
    const entry = this.#rest === '' ? undefined : this.#entryOf(this.#rest.replace(/\r$/, ''))
    if (entry) yield entry
  }

  #entryOf(text: string): Entry | undefined {
    this.#line++
    const value = this.#valueOf(text, this.#line)
    return value === undefined ? undefined : { value, position: this.#position++, line: this.#line }
  }
}

function parsedLine(line: string, place: string): Json | undefined {
  if (/^\s*$/.test(line)) return undefined
  try {
    return JSON.parse(line) as Json
  } catch {
    const at = jsonFaultAt(line)
    const what = at >= line.length ? 'the row ends too early' : `the row has an unexpected ${JSON.stringify(line[at])}`
    throw new InputDataError(`${place}:${at + 1}`, `${what}: it is not JSON`, 'each row of NDJSON is one JSON value')
  }
}

function looksLikeJson(name: string, line: number): InputDataError {
  return new InputDataError(
    `${name}:${line}`,
    'this looks like JSON, and without a format it would be read line by line',
    'say `format: json`, `format: ndjson` or `format: lines`',
  )
}
