/**
 * One JSON document, as a stream where the path allows it, else whole. Imports the scanner, where JSON ends to be JSON,
 * the errors and limits of inputs.
 */
import type { Json } from 'reprise/durable'
import { jsonFaultAt } from '../values/json-fault.js'
import { isList, wordFor } from '../values/reference.js'
import type { Entry, EntryReader } from './entry.js'
import { InputDataError } from './input-data-error.js'
import { JsonScanner } from './json-scanner.js'
import { MAX_WHOLE_BYTES } from './limits.js'

/** `path` null: the document must be a list, and its elements are the entries. */
export function jsonStreamReader(name: string, path: readonly string[] | null): EntryReader {
  const refuse = (what: string, listName: string | null): InputDataError => notAList(name, what, listName)
  return new JsonStreamReader(new JsonScanner(name, path ?? [], path === null ? refuse : null))
}

class JsonStreamReader implements EntryReader {
  readonly #scanner: JsonScanner
  #position: number

  constructor(scanner: JsonScanner) {
    this.#scanner = scanner
    this.#position = 0
  }

  feed(text: string): Iterable<Entry> {
    this.#scanner.push(text)
    return this.#entries(false)
  }

  *end(): Generator<Entry> {
    yield* this.#entries(true)
    this.#scanner.finish()
  }

  *#entries(isEnd: boolean): Generator<Entry> {
    for (let item = this.#scanner.next(isEnd); item !== null; item = this.#scanner.next(isEnd)) {
      yield { value: JSON.parse(item.text) as Json, position: this.#position++, line: item.line }
    }
  }
}

export async function readWholeJson(pieces: AsyncIterable<string>, name: string): Promise<Json> {
  const texts: string[] = []
  let length = 0
  for await (const piece of pieces) {
    texts.push(piece)
    length += piece.length
    if (length <= MAX_WHOLE_BYTES) continue
    const problem = 'it is larger than 256 MiB, and this `json_path` needs the whole document in memory'
    throw new InputDataError(name, problem, 'use NDJSON, or a path of names and one `[*]` such as `$.orders[*]`')
  }
  const text = texts.join('')
  try {
    return JSON.parse(text) as Json
  } catch {
    throw notJson(text, name)
  }
}

function notJson(text: string, name: string): InputDataError {
  if (text.trim() === '') return new InputDataError(name, 'it is empty, not JSON', 'an empty list is `[]`')
  const at = jsonFaultAt(text)
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const what = at >= text.length ? 'it ends too early' : `unexpected ${JSON.stringify(text[at])}`
  return new InputDataError(`${name}:${line}:${at - before.lastIndexOf('\n')}`, `${what}: this is not JSON`)
}

/** The elements of a value that is there already. */
export function* elementsOf(value: Json, name: string): Generator<Entry> {
  if (!isList(value)) {
    const lists = typeof value === 'object' && value !== null ? Object.entries(value) : []
    throw notAList(name, wordFor(value), lists.find(([, member]) => isList(member))?.[0] ?? null)
  }
  for (const [position, element] of value.entries()) yield { value: element, position, line: null }
}

function notAList(name: string, what: string, listName: string | null): InputDataError {
  const cure =
    listName === null
      ? 'items are the elements of a list; `json_path` says where one is, as in `$.orders[*]`'
      : `\`json_path: ${pathTo(listName)}\` takes the list that is in it`
  return new InputDataError(name, `the input is ${what}, not a list`, cure)
}

function pathTo(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `$.${name}[*]` : `$[${JSON.stringify(name)}][*]`
}
