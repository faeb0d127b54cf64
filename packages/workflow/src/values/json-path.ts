/**
 * Paths by RFC 9535, `$.orders[?@.total > 10]`: reads the text once and makes functions of it. Imports what they do.
 *
 * Invariants: all of the JSONPath Compliance Test Suite passes; what is no path is refused with its offset when it is
 * read, never when it is used. A pattern of `match` and `search` takes time in proportion to the text: see `iregexp.ts`.
 */
import type { Json } from 'reprise/durable'
import {
  allSelector,
  comparison,
  filterSelector,
  indexSelector,
  nameSelector,
  type Operand,
  PATH_FUNCTIONS,
  querySelector,
  type Selector,
  segment,
  sliceSelector,
  type Test,
  valueOf,
} from './json-path-parts.js'
import { readPathString } from './json-path-string.js'
import { SetupError, TextError } from './setup-error.js'

export interface JsonPath {
  readonly text: string
  /** What it selects, in order. */
  select(document: Json): readonly Json[]
}

const MAX_TEXT = 2000

const SPACE = /[ \t\n\r]*/y
const NAME = /[A-Za-z_\u0080-\ud7ff\ue000-\u{10ffff}][\w\u0080-\ud7ff\ue000-\u{10ffff}]*/uy
const INTEGER = /(?:0|-?[1-9]\d*)(?!\d)/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /(?:true|false|null)(?![a-z_0-9(])/y
const FUNCTION = /[a-z][a-z_0-9]*(?=\()/y
const SIGN = /==|!=|<=|>=|<|>/y

/** Throws a `TextError` with the offset of what is wrong. */
export function compileJsonPath(text: string): JsonPath {
  if (text.length > MAX_TEXT) throw new TextError(`a path has at most ${MAX_TEXT} characters`, MAX_TEXT)
  const query = withinStack(
    () => new PathReader(text).read(),
    () => new TextError(`\`${text.slice(0, 60)}…\` is nested too deep`, 0),
  )
  const select = (document: Json): readonly Json[] =>
    withinStack(
      () => query(document, document),
      () => new SetupError('too_large', `\`${text}\`: the document is nested too deep for it`),
    )
  return { text, select }
}

/** A stack that overflows is the caller's document, or path. */
function withinStack<T>(work: () => T, refusal: () => Error): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof RangeError ? refusal() : error
  }
}

interface QueryRead {
  readonly select: (start: Json, root: Json) => readonly Json[]
  /** At most one node: names and indexes alone. */
  readonly isSingular: boolean
}

class PathReader {
  readonly #text: string
  #at: number

  constructor(text: string) {
    this.#text = text
    this.#at = 0
  }

  read(): QueryRead['select'] {
    if (!this.#takes('$')) throw this.#fault(undefined, 0, 'a path begins with `$`, as in `$.orders[*]`')
    const { select } = this.#query()
    if (this.#at < this.#text.length) throw this.#fault()
    return select
  }

  #query(): QueryRead {
    const segments: Selector[] = []
    let isSingular = true
    for (;;) {
      const start = this.#at
      this.#space()
      const isDescending = this.#takes('..')
      const isDotted = isDescending || this.#takes('.')
      const found = this.#selectors(isDotted, isDescending)
      if (found === null) {
        this.#at = start
        return { select: querySelector(segments), isSingular }
      }
      isSingular &&= !isDescending && found.isSingular
      segments.push(segment(found.selectors, isDescending))
    }
  }

  /** null: the query has ended before. */
  #selectors(isDotted: boolean, isDescending: boolean): { selectors: Selector[]; isSingular: boolean } | null {
    if ((!isDotted || isDescending) && this.#takes('[')) return this.#bracketed()
    if (!isDotted) return null
    if (this.#takes('*')) return { selectors: [allSelector], isSingular: false }
    const name = this.#token(NAME)
    if (name === null) throw this.#fault('behind a dot stands a name or `*`')
    return { selectors: [nameSelector(name)], isSingular: true }
  }

  #bracketed(): { selectors: Selector[]; isSingular: boolean } {
    const selectors: Selector[] = []
    let isSingular = true
    do {
      this.#space()
      const found = this.#selector()
      selectors.push(found.selector)
      isSingular &&= found.isSingular
      this.#space()
    } while (this.#takes(','))
    if (!this.#takes(']')) throw this.#fault()
    return { selectors, isSingular: isSingular && selectors.length === 1 }
  }

  #selector(): { selector: Selector; isSingular: boolean } {
    if (this.#takes('*')) return { selector: allSelector, isSingular: false }
    if (this.#takes('?')) {
      this.#space()
      return { selector: filterSelector(this.#either()), isSingular: false }
    }
    const name = this.#string()
    if (name !== null) return { selector: nameSelector(name), isSingular: true }
    const start = this.#integer()
    const behind = this.#at
    this.#space()
    if (this.#takes(':')) return { selector: this.#slice(start), isSingular: false }
    this.#at = behind
    if (start === null) throw this.#fault()
    return { selector: indexSelector(start), isSingular: true }
  }

  /** Behind the first colon. */
  #slice(start: number | null): Selector {
    this.#space()
    const end = this.#integer()
    this.#space()
    let step: number | null = null
    if (this.#takes(':')) {
      this.#space()
      step = this.#integer()
    }
    return sliceSelector(start, end, step ?? 1)
  }

  #either(): Test {
    const tests = this.#joined('||', () => this.#both())
    return tests.length === 1 ? tests[0]! : (node, root) => tests.some((test) => test(node, root))
  }

  #both(): Test {
    const tests = this.#joined('&&', () => this.#basic())
    return tests.length === 1 ? tests[0]! : (node, root) => tests.every((test) => test(node, root))
  }

  #joined(sign: string, read: () => Test): Test[] {
    const tests = [read()]
    for (;;) {
      const behind = this.#at
      this.#space()
      if (!this.#takes(sign)) {
        this.#at = behind
        return tests
      }
      this.#space()
      tests.push(read())
    }
  }

  #basic(): Test {
    const isNegated = this.#takes('!')
    if (isNegated) this.#space()
    const test = this.#takes('(') ? this.#parenthesised() : this.#comparisonOrTest(isNegated)
    return isNegated ? (node, root) => !test(node, root) : test
  }

  #parenthesised(): Test {
    this.#space()
    const test = this.#either()
    this.#space()
    if (!this.#takes(')')) throw this.#fault('a parenthesis is not closed')
    return test
  }

  #comparisonOrTest(isNegated: boolean): Test {
    const start = this.#at
    const left = this.#operand()
    const behind = this.#at
    this.#space()
    const sign = this.#token(SIGN)
    if (sign === null) {
      this.#at = behind
      return this.#testOf(left, start)
    }
    if (isNegated) throw this.#fault('`!` before a comparison needs parentheses', start)
    this.#expectComparable(left, start)
    this.#space()
    const other = this.#at
    const right = this.#operand()
    this.#expectComparable(right, other)
    return comparison(sign, valueOf(left), valueOf(right))
  }

  #testOf(operand: Operand, start: number): Test {
    if (operand.type === 'value') throw this.#fault('this is a value: compare it, as in `… == 1`', start)
    return operand.type === 'logical' ? operand.get : (node, root) => operand.get(node, root).length > 0
  }

  #expectComparable(operand: Operand, start: number): void {
    if (operand.type === 'logical') throw this.#fault('`match` and `search` are not compared', start)
    if (operand.type === 'nodes' && !operand.isSingular) throw this.#fault('this may be several values', start)
  }

  #operand(): Operand {
    const text = this.#string()
    if (text !== null) return literal(text)
    const word = this.#token(WORD) ?? this.#token(NUMBER)
    if (word !== null) return literal(JSON.parse(word) as Json)
    if (this.#takes('@')) {
      const { select, isSingular } = this.#query()
      return { type: 'nodes', isSingular, get: select }
    }
    if (this.#takes('$')) {
      const { select, isSingular } = this.#query()
      return { type: 'nodes', isSingular, get: (_, root) => select(root, root) }
    }
    return this.#call()
  }

  #call(): Operand {
    const start = this.#at
    const name = this.#token(FUNCTION)
    const called = name !== null && Object.hasOwn(PATH_FUNCTIONS, name) ? PATH_FUNCTIONS[name] : undefined
    if (called === undefined) {
      const known = Object.keys(PATH_FUNCTIONS).join(', ')
      throw this.#fault(name === null ? undefined : `there is no function \`${name}\`, only ${known}`, start)
    }
    this.#at++
    const args = called.takes.map((type, index) => {
      this.#space()
      if (index > 0 && !this.#takes(',')) throw this.#fault(`\`${name}\` takes ${called.takes.length} arguments`)
      this.#space()
      const at = this.#at
      const operand = this.#operand()
      if (type === 'value') this.#expectComparable(operand, at)
      else if (operand.type !== 'nodes') throw this.#fault(`\`${name}\` takes a query, such as \`@.items[*]\``, at)
      return operand
    })
    this.#space()
    if (!this.#takes(')')) throw this.#fault()
    return called.make(args)
  }

  #string(): string | null {
    const quote = this.#text[this.#at]
    if (quote !== '"' && quote !== "'") return null
    const found = readPathString(this.#text, this.#at)
    if ('faultAt' in found) throw this.#fault('this cannot stand in a string', found.faultAt)
    this.#at = found.end
    return found.value
  }

  #integer(): number | null {
    const start = this.#at
    const digits = this.#token(INTEGER)
    if (digits === null) return null
    const value = Number(digits)
    if (!Number.isSafeInteger(value)) throw this.#fault('the number is too large', start)
    return value
  }

  #takes(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #space(): void {
    this.#token(SPACE)
  }

  #token(token: RegExp): string | null {
    token.lastIndex = this.#at
    const found = token.exec(this.#text)
    if (found === null) return null
    this.#at += found[0].length
    return found[0]
  }

  #fault(why?: string, at = this.#at, suggestion?: string): TextError {
    const char = this.#text[at]
    const what = char === undefined ? 'it ends too early' : `unexpected ${JSON.stringify(char)}`
    return new TextError(`\`${this.#text}\` is no path of RFC 9535: ${why ?? what}`, at, suggestion)
  }
}

function literal(value: Json): Operand {
  return { type: 'value', get: () => value }
}
