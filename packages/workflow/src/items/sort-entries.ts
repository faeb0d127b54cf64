/**
 * `sort_by`: all entries in memory, in the order of their keys. Imports expressions, the errors and limits of inputs.
 *
 * Stable. Numbers by size, texts by their characters, false before true; an entry whose key is missing or null is last in
 * either direction. Keys of different types have no order and are refused, as is an expression that no entry has a key
 * for: it is misspelt.
 */
import type { Json } from 'reprise/durable'
import type { ValueExpression } from '../values/expression.js'
import type { Values } from '../steps/step-context.js'
import { isList, wordFor } from '../values/reference.js'
import { type Entry, placeOf } from './entry.js'
import { InputDataError } from './input-data-error.js'
import { MAX_WHOLE_BYTES } from './limits.js'

export interface SortOrder {
  readonly expression: ValueExpression
  readonly isDescending: boolean
}

const MAX_LISTED = 10

type SortValue = string | number | boolean | null

interface Sortable {
  readonly entry: Entry
  readonly keys: readonly SortValue[]
}

export class EntrySorter {
  readonly #orders: readonly SortOrder[]
  readonly #source: string
  readonly #entries: Sortable[]
  /** By key, the first entry that has one. */
  readonly #firsts: (Entry | undefined)[]
  #length: number

  constructor(orders: readonly SortOrder[], source: string) {
    this.#orders = orders
    this.#source = source
    this.#entries = []
    this.#firsts = orders.map(() => undefined)
    this.#length = 0
  }

  /** `scope`: values of expressions, with the entry's value as `item`. `length`: of its JSON. */
  add(entry: Entry, scope: Values, length: number): void {
    this.#length += length
    if (this.#length > MAX_WHOLE_BYTES) {
      const problem = '`sort_by` needs all items in memory, and they are larger than 256 MiB'
      throw new InputDataError(this.#source, problem, 'sort the input before, or leave out `sort_by`')
    }
    const keys = this.#orders.map((order, index) => this.#keyOf(entry, order, index, scope))
    // A copy: a line is a view of the piece of text that it was read from, and would keep all of it.
    this.#entries.push({ entry: { ...entry, value: JSON.parse(JSON.stringify(entry.value)) as Json }, keys })
  }

  sorted(): Entry[] {
    const unused = this.#firsts.indexOf(undefined)
    if (unused !== -1 && this.#entries.length > 0) {
      const { text } = this.#orders[unused]!.expression
      const problem = `\`sort_by\`: no item has a value for \`${text}\``
      throw new InputDataError(this.#source, problem, `the first item is ${described(this.#entries[0]!.entry.value)}`)
    }
    return this.#entries.sort((a, b) => this.#compare(a, b)).map(({ entry }) => entry)
  }

  #keyOf(entry: Entry, { expression }: SortOrder, index: number, scope: Values): SortValue {
    const key = expression.evaluate(scope) ?? null
    if (key === null) return null
    const place = placeOf(this.#source, entry)
    if (typeof key === 'object') {
      const problem = `\`sort_by\`: \`${expression.text}\` is ${wordFor(key)}, which has no order`
      throw new InputDataError(place, problem, 'sort by text, a number, or true and false')
    }
    const first = this.#firsts[index]
    if (first === undefined) this.#firsts[index] = { ...entry, value: key }
    else if (typeof first.value !== typeof key) throw this.#mixed(expression.text, first, { ...entry, value: key })
    return key
  }

  #mixed(text: string, first: Entry, second: Entry): InputDataError {
    const [one, other] = [first, second].map((entry) => `${wordFor(entry.value)} at ${placeOf(this.#source, entry)}`)
    const cure = `make them one type, as in \`string(${text})\` or \`int(${text})\``
    return new InputDataError(placeOf(this.#source, second), `\`sort_by\`: \`${text}\` is ${one} and ${other}`, cure)
  }

  #compare(a: Sortable, b: Sortable): number {
    for (const [index, { isDescending }] of this.#orders.entries()) {
      const [left, right] = [a.keys[index] ?? null, b.keys[index] ?? null]
      if (left === right) continue
      if (left === null) return 1
      if (right === null) return -1
      return left < right === isDescending ? 1 : -1
    }
    return 0
  }
}

function described(value: Json): string {
  if (typeof value !== 'object' || value === null || isList(value)) return wordFor(value)
  const names = Object.keys(value)
  const shown = names.slice(0, MAX_LISTED).map((name) => `\`${name}\``)
  return `an object with ${[...shown, ...(names.length > MAX_LISTED ? ['…'] : [])].join(', ') || 'no fields'}`
}
