/**
 * JSON that comes in pieces: finds the elements at the end of a plain path, one at a time, and checks everything else on
 * the way. The whole document is never in memory, only the element or the token that is being read.
 *
 * Invariants: every text that `JSON.parse` refuses is refused, with line and column, as far as it is read. A name on the
 * path that stands twice in an object is refused: `JSON.parse` takes the last one, and elements of the first have been
 * handed on by then. Imports nothing but the errors and limits of inputs.
 */
import { InputDataError } from './input-data-error.js'
import { itemTooLarge, MAX_ITEM_TEXT } from './limits.js'

/** What comes next. */
type State = 'value' | 'first_value' | 'key' | 'first_key' | 'colon' | 'after' | 'string'

/** Neither a quote, a backslash nor a control character. */
const PLAIN = /[ !#-[\]-\uffff]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y
const WORD = /[-+.\w]*/y
const VALID_WORD = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/
const LONGEST_ESCAPE = 6

/** An element, as its text. */
export interface ScannedItem {
  readonly text: string
  readonly line: number
}

export class JsonScanner {
  readonly #name: string
  readonly #path: readonly string[]
  /** Called with what the document is instead, and the name of the first list in it. */
  readonly #refuse: ((what: string, listName: string | null) => InputDataError) | null
  readonly #open: ('[' | '{')[] = []
  #state: State = 'value'
  #text = ''
  #at = 0
  #line = 1
  /** Where the line begins; negative when that has been dropped. */
  #lineStart = 0
  /** Of the string or word that is being read. */
  #tokenStart = 0
  #isKey = false
  /** How many names of the path have been gone into; -1: the document is not a list, and the path does not matter. */
  #matched = 0
  /** Names of the path that have been found, by how deep they are. */
  readonly #found = new Set<number>()
  /** The depth of the elements; 0 while they have not begun. */
  #itemDepth = 0
  #itemKeys: Set<string> | null = null
  #itemStart = -1
  #itemLine = 0
  #ended: ScannedItem | null = null
  #lastName = ''

  /** `refuse`: without it, a path that leads nowhere has no elements. */
  constructor(
    name: string,
    path: readonly string[],
    refuse: ((what: string, listName: string | null) => InputDataError) | null = null,
  ) {
    this.#name = name
    this.#path = path
    this.#refuse = refuse
  }

  push(piece: string): void {
    const from = this.#itemStart >= 0 ? this.#itemStart : Math.min(this.#at, this.#keptToken())
    if (this.#at - from > MAX_ITEM_TEXT) throw itemTooLarge(this.#place())
    this.#text = this.#text.slice(from) + piece
    this.#at -= from
    this.#lineStart -= from
    this.#tokenStart -= from
    if (this.#itemStart >= 0) this.#itemStart -= from
  }

  /** A string outside elements needs not be kept, however long it is; names are. */
  #keptToken(): number {
    return this.#state === 'string' && this.#isKey ? this.#tokenStart : this.#at
  }

  /** The next element that ends in the text so far; null if more text is needed. */
  next(isEnd: boolean): ScannedItem | null {
    for (;;) {
      const hasRead = this.#step(isEnd)
      const item = this.#ended
      this.#ended = null
      if (item !== null || !hasRead) return item
    }
  }

  /** Call when `next(true)` has answered null. */
  finish(): void {
    if (this.#state !== 'after' || this.#open.length > 0) throw this.#fault()
    if (this.#matched === -1 && this.#refuse) throw this.#refuse('an object', null)
  }

  /** One token; false if it is not complete, or if there is none. */
  #step(isEnd: boolean): boolean {
    if (this.#state === 'string') return this.#readString(isEnd)
    this.#skipSpace()
    const char = this.#text[this.#at]
    if (char === undefined) return false
    switch (this.#state) {
      case 'after':
        this.#readAfter(char)
        return true
      case 'colon':
        if (char !== ':') throw this.#fault()
        this.#at++
        this.#state = 'value'
        return true
      case 'key':
      case 'first_key':
        if (char === '}' && this.#state === 'first_key') this.#close()
        else if (char === '"') this.#beginString(true)
        else throw this.#fault()
        return true
      default:
        return this.#readValue(char, isEnd)
    }
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === 10) {
        this.#line++
        this.#lineStart = this.#at + 1
      } else if (code !== 32 && code !== 13 && code !== 9) return
      this.#at++
    }
  }

  #readAfter(char: string): void {
    const inside = this.#open.at(-1)
    if ((char === ']' && inside === '[') || (char === '}' && inside === '{')) return this.#close()
    if (char !== ',' || inside === undefined) throw this.#fault()
    this.#at++
    this.#state = inside === '[' ? 'value' : 'key'
  }

  #readValue(char: string, isEnd: boolean): boolean {
    if (char === ']' && this.#state === 'first_value') {
      this.#close()
      return true
    }
    if (this.#itemDepth > 0 && this.#open.length === this.#itemDepth && this.#itemStart === -1) {
      this.#itemStart = this.#at
      this.#itemLine = this.#line
    }
    if (this.#open.length === 0 && this.#refuse) this.#checkIsList(char)
    if (char === '[' || char === '{') {
      this.#openContainer(char)
      return true
    }
    if (char === '"') {
      this.#beginString(false)
      return true
    }
    return this.#readWord(isEnd)
  }

  #checkIsList(char: string): void {
    if (char === '{') this.#matched = -1
    else if (char === '"') throw this.#refuse!('text', null)
    else if (/[-\dtfn]/.test(char)) throw this.#refuse!(/[-\d]/.test(char) ? 'a number' : 'true, false or null', null)
  }

  #openContainer(char: '[' | '{'): void {
    const depth = this.#open.length
    if (this.#matched === -1 && depth === 1 && char === '[') throw this.#refuse!('an object', this.#lastName)
    if (this.#itemDepth === 0 && depth === this.#path.length && this.#matched === depth) {
      this.#itemDepth = depth + 1
      this.#itemKeys = char === '{' ? new Set() : null
    }
    this.#open.push(char)
    this.#at++
    this.#state = char === '[' ? 'first_value' : 'first_key'
  }

  #close(): void {
    this.#open.pop()
    this.#at++
    if (this.#open.length < this.#itemDepth) this.#itemDepth = 0
    this.#endValue()
  }

  #endValue(): void {
    this.#state = 'after'
    if (this.#itemStart >= 0 && this.#open.length === this.#itemDepth) {
      this.#ended = { text: this.#text.slice(this.#itemStart, this.#at), line: this.#itemLine }
      this.#itemStart = -1
    }
    if (this.#matched > 0 && this.#open.length === this.#matched) this.#matched--
  }

  #beginString(isKey: boolean): void {
    this.#tokenStart = this.#at
    this.#isKey = isKey
    this.#at++
    this.#state = 'string'
  }

  #readString(isEnd: boolean): boolean {
    for (;;) {
      PLAIN.lastIndex = this.#at
      PLAIN.test(this.#text)
      this.#at = PLAIN.lastIndex
      const char = this.#text[this.#at]
      if (char === undefined) return false
      if (char === '"') break
      if (char !== '\\') throw this.#fault()
      ESCAPE.lastIndex = this.#at
      if (!ESCAPE.test(this.#text)) {
        if (!isEnd && this.#text.length - this.#at < LONGEST_ESCAPE) return false
        throw this.#fault()
      }
      this.#at = ESCAPE.lastIndex
    }
    this.#at++
    if (this.#isKey) this.#endKey()
    else this.#endValue()
    return true
  }

  #endKey(): void {
    this.#state = 'colon'
    const depth = this.#open.length
    const isOnPath = this.#itemDepth === 0 && depth === this.#matched + 1 && depth <= this.#path.length
    const isItem = this.#itemKeys !== null && depth === this.#itemDepth
    if (!isOnPath && !isItem && this.#matched !== -1) return
    if (this.#matched === -1 && depth !== 1) return
    const name = JSON.parse(this.#text.slice(this.#tokenStart, this.#at)) as string
    this.#lastName = name
    if (isItem) {
      if (this.#itemKeys!.has(name)) throw this.#nameTwice(name)
      this.#itemKeys!.add(name)
    } else if (isOnPath && name === this.#path[this.#matched]) {
      if (this.#found.has(this.#matched)) throw this.#nameTwice(name)
      this.#found.add(this.#matched)
      this.#matched++
    }
  }

  #readWord(isEnd: boolean): boolean {
    WORD.lastIndex = this.#at
    WORD.test(this.#text)
    const end = WORD.lastIndex
    if (end === this.#text.length && !isEnd && end - this.#at < MAX_ITEM_TEXT) return false
    if (!VALID_WORD.test(this.#text.slice(this.#at, end))) throw this.#fault()
    this.#at = end
    this.#endValue()
    return true
  }

  #place(): string {
    return `${this.#name}:${this.#line}:${this.#at - this.#lineStart + 1}`
  }

  #nameTwice(name: string): InputDataError {
    const problem = `${JSON.stringify(name)} stands twice in one object, so it is unclear which one is meant`
    return new InputDataError(this.#place(), problem, 'rename one of them')
  }

  #fault(): InputDataError {
    const char = this.#text[this.#at]
    const isEmpty = this.#state === 'value' && this.#open.length === 0 && char === undefined
    if (isEmpty) return new InputDataError(this.#name, 'it is empty, not JSON', 'an empty list is `[]`')
    const what = char === undefined ? 'it ends too early' : `unexpected ${JSON.stringify(char)}`
    return new InputDataError(this.#place(), `${what}: this is not JSON`)
  }
}
