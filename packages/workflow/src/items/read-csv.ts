/**
 * CSV and TSV by RFC 4180: a header, then rows that become objects of texts. Imports the errors and limits of inputs.
 *
 * A field in quotes may hold separators, quotes (doubled) and line ends. Rows end with LF or CR LF. An empty line is no
 * row. A quote within a field that has none around it is an error in CSV and an ordinary character in TSV, where programs
 * write no quotes at all. Invariant: a row has as many fields as the header, or it is refused with its line.
 */
import type { Json } from 'reprise/durable'
import type { Entry, EntryReader } from './entry.js'
import { InputDataError } from './input-data-error.js'
import { itemTooLarge, MAX_ITEM_TEXT } from './limits.js'

const CSV_END = /[,\r\n"]/g
const TSV_END = /[\t\r\n]/g

interface Row {
  readonly fields: readonly string[]
  /** Behind the end of its line. */
  readonly end: number
}

export function csvReader(name: string): EntryReader {
  return new CsvReader(name, ',')
}

export function tsvReader(name: string): EntryReader {
  return new CsvReader(name, '\t')
}

class CsvReader implements EntryReader {
  readonly #name: string
  readonly #separator: string
  #header: readonly string[] | null
  #rest: string
  #line: number
  #position: number

  constructor(name: string, separator: string) {
    this.#name = name
    this.#separator = separator
    this.#header = null
    this.#rest = ''
    this.#line = 1
    this.#position = 0
  }

  feed(piece: string): Iterable<Entry> {
    this.#rest += piece
    return this.#rows(false)
  }

  end(): Iterable<Entry> {
    return this.#rows(true)
  }

  *#rows(isEnd: boolean): Generator<Entry> {
    const text = this.#rest
    let start = 0
    for (;;) {
      const row = start < text.length ? this.#rowAt(text, start, isEnd) : null
      if (row === null) break
      const line = this.#line
      for (let at = text.indexOf('\n', start); at !== -1 && at < row.end; at = text.indexOf('\n', at + 1)) this.#line++
      const isEmpty = /^\r?\n?$/.test(text.slice(start, Math.min(row.end, start + 3)))
      start = row.end
      if (isEmpty) continue
      if (this.#header === null) this.#header = this.#checkedHeader(row.fields, line)
      else yield { value: this.#objectOf(this.#header, row.fields, line), position: this.#position++, line }
    }
    this.#rest = text.slice(start)
    if (this.#rest.length > MAX_ITEM_TEXT) throw itemTooLarge(`${this.#name}:${this.#line}`)
  }

  /** null: its end has not come yet. A row is read again from its start when it has. */
  #rowAt(text: string, start: number, isEnd: boolean): Row | null {
    const fields: string[] = []
    for (let at = start; ; at++) {
      const isQuoted = text[at] === '"'
      const end = isQuoted ? quotedEnd(text, at) : this.#plainEnd(text, at)
      // A quote at the end of the text may be the first of two, and a CR the first half of a line end.
      if (!isEnd && (end >= text.length || (text[end] === '\r' && end + 1 === text.length))) return null
      if (end === -1) {
        if (!isEnd) return null
        throw this.#fault(text, start, at, 'a quote that opens here never ends', 'close it; a quote within is doubled')
      }
      fields.push(isQuoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end))
      at = end
      if (at === text.length) return { fields, end: at }
      if (text[at] === '\n') return { fields, end: at + 1 }
      if (text[at] === '\r' && text[at + 1] === '\n') return { fields, end: at + 2 }
      if (text[at] === this.#separator) continue
      throw this.#strayCharacter(text, start, at, isQuoted)
    }
  }

  /** Of a field without quotes: the separator, the line's end, or what cannot be there. */
  #plainEnd(text: string, start: number): number {
    const token = this.#separator === ',' ? CSV_END : TSV_END
    token.lastIndex = start
    return token.exec(text)?.index ?? text.length
  }

  #strayCharacter(text: string, start: number, at: number, isQuoted: boolean): InputDataError {
    if (text[at] === '\r') return this.#fault(text, start, at, 'a CR without LF is no line end', 'save it with LF')
    const cure = 'a field with quotes in it stands in quotes, and each quote within is doubled'
    return this.#fault(text, start, at, isQuoted ? 'text follows a closing quote' : 'a quote within a field', cure)
  }

  #fault(text: string, start: number, at: number, problem: string, cure: string): InputDataError {
    const line = this.#line + text.slice(start, at).split('\n').length - 1
    const column = at - Math.max(text.lastIndexOf('\n', at - 1), start - 1)
    return new InputDataError(`${this.#name}:${line}:${column}`, problem, cure)
  }

  #checkedHeader(names: readonly string[], line: number): readonly string[] {
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    if (twice === undefined) return names
    const place = `${this.#name}:${line}`
    throw new InputDataError(place, `the header names ${JSON.stringify(twice)} twice`, 'rename one of the columns')
  }

  #objectOf(header: readonly string[], fields: readonly string[], line: number): Json {
    if (fields.length !== header.length) {
      const found = `the row has ${fields.length} ${fields.length === 1 ? 'field' : 'fields'}`
      const place = `${this.#name}:${line}`
      throw new InputDataError(
        place,
        `${found}, and the header ${header.length}`,
        'a separator within a field stands in quotes',
      )
    }
    // `fromEntries` defines own properties, so that a column `__proto__` is one.
    return Object.fromEntries(header.map((name, index) => [name, fields[index] as string]))
  }
}

/** Behind the closing quote; -1 if there is none. */
function quotedEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at + 1
  }
  return -1
}
